"""The JSON of runs and what they did: ingest, sources, status, runs, audit, changes, page history, undo."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from serving.schemas.base import Answer, Degraded, Item


class SourceItem(Item):
    id: str
    location: str
    kind: str
    outcome: str
    reason: str
    next_step: str
    pages: list[str] = Field(description="Slugs of the pages that cite it.")
    ignored: bool = False
    wiki: str | None = Field(None, description="Name of the wiki; absent where one is asked.")


class SourcesAnswer(Answer):
    sources: list[SourceItem]


class PageCounts(Item):
    created: int
    updated: int
    staged: int


class Cost(Item):
    tokens: int = Field(0, description="Sent to the language model and received.")
    money: float = Field(0.0, description="Dollars, by the price table.")
    calls: int = 0
    expected: str = Field("", description="What was reckoned with before the model was asked.")


class IngestAnswer(Answer):
    run: str = Field(description="Id of the run; empty for a dry run.")
    state: Literal["ok", "partial", "failed"]
    sources: dict[str, int] = Field(description="Number of sources by outcome.")
    pages: PageCounts
    changed: list[str] = Field(description="Vault paths written, or that a dry run would write.")
    cost: Cost = Field(default_factory=Cost)


class Lock(Item):
    name: str
    pid: int
    since: str


class LintCount(Item):
    at: str = Field(description="When pages were last checked by `lint --fix` or the weekly tidying.")
    errors: int
    warnings: int
    new: int = Field(description="Of them those that the lint before had not.")


class StatusAnswer(Answer):
    pages: int
    candidates: int
    sources: dict[str, int] = Field(description="Number of sources by outcome.")
    snapshot: str
    last_good_night: str = Field(description="When the last night ended well; empty if none did.")
    lint: LintCount | None = Field(None, description="Absent until the pages were checked once.")
    contradictions: int = Field(0, description="Contradictions that wait for a decision.")
    locks: list[Lock] = Field(description="Locks held right now, and by whom.")
    degraded: list[Degraded]
    wiki: str | None = Field(None, description="Name of the wiki; absent where one is asked.")
    wikis: list[StatusAnswer] | None = Field(None, description="Where several were asked: each one's own.")


class RunItem(Item):
    run: str
    kind: str
    state: str
    started: str
    finished: str
    changed: int = Field(description="Number of vault files written.")
    undone_by: str
    wiki: str | None = Field(None, description="Name of the wiki; absent where one is asked.")


class RunsAnswer(Answer):
    runs: list[RunItem]


class AuditItem(Item):
    run: str
    at: str
    path: str
    before: str = Field(description="sha256 of the file before; empty when there was none.")
    after: str = Field(description="sha256 of the file after; empty when it was removed.")


class AuditAnswer(Answer):
    writes: list[AuditItem]


class ChangeItem(Item):
    id: str
    slug: str
    title: str
    path: str
    change: Literal["created", "updated", "deleted"]
    wiki: str | None = Field(None, description="Name of the wiki; absent where one is asked.")


class ChangesAnswer(Answer):
    since: str = Field(description="Id of the former snapshot; empty for the time before the first.")
    snapshot: str
    pages: list[ChangeItem]


class VersionItem(Item):
    run: str
    at: str
    who: Literal["run", "person"]
    change: Literal["created", "changed", "renamed", "deleted"]
    path: str
    size: int = Field(description="Bytes; 0 when the page was deleted, or its text is kept no longer.")
    added: int = Field(description="Lines, against the version before.")
    removed: int
    snapshot: str = Field(description="Where its text is kept; empty when it is kept no longer.")
    diff: str | None = Field(None, description="With --diff: a unified diff against the version before.")


class PageHistoryAnswer(Answer):
    id: str
    slug: str
    title: str
    path: str
    former_slugs: list[str]
    versions: list[VersionItem] = Field(description="Newest first.")


class LeftItem(Item):
    path: str
    reason: str = Field(description="Why the file stays as it is.")


class UndoAnswer(Answer):
    run: str = Field(description="Id of the undo, which can itself be undone; empty for a dry run.")
    undone: list[str] = Field(description="Runs taken back, newest first.")
    changed: list[str] = Field(description="Vault paths written, or that a dry run would write.")
    left: list[LeftItem] = Field(description="Files that a later run or a person changed.")
    sources: list[str] = Field(description="Locations of sources that wait until their bytes change.")
