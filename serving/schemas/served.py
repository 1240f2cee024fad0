"""The JSON that only servers send, as typed models; `nightwiki schema NAME` prints these too."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from serving.schemas.asking import SearchAnswer
from serving.schemas.base import Answer, Cited, Degraded, Item
from serving.schemas.runs import RunItem, StatusAnswer


class BatchAnswer(Answer):
    answers: list[SearchAnswer] = Field(description="One for each question, in their order, all from one snapshot.")


class PageItem(Item):
    wiki: str
    id: str
    slug: str
    title: str
    path: str = Field(description="Vault path of the page.")
    status: str
    confidence: str
    type: str
    tags: list[str]
    branch: str
    updated: str


class PagesAnswer(Answer):
    snapshot: str
    total: int = Field(description="Number of pages that the conditions let through.")
    pages: list[PageItem] = Field(description="By vault path.")
    next: str = Field(description="The `cursor` to go on with; empty on the last answer.")


class HeadingItem(Item):
    level: int = Field(ge=1, le=6)
    title: str
    start: int = Field(description="Offset in the page's text, in characters.")


class PageAnswer(Answer):
    snapshot: str
    page: PageItem
    moved_from: str = Field(description="The former slug that was asked for; empty if it is the present one.")
    page_hash: str = Field(description="sha256 of the page's file in the snapshot.")
    headings: list[HeadingItem]
    section: str = Field(description="The heading whose section this is; empty for the whole page.")
    start: int = Field(description="Offset of the text in the page, in characters.")
    end: int
    next_offset: int | None = Field(None, description="The `offset` to go on with; absent at the end.")
    text: str = Field(description="Markdown, as it stands in the file, properties included.")
    citations: list[Cited] = Field(description="Behind the footnotes of this text.")


class MovedAnswer(Answer):
    moved_from: str = Field(description="The former slug that was asked for.")
    id: str
    slug: str = Field(description="What the page is called now.")
    path: str
    location: str = Field(description="Where to ask for it.")


class RunAnswer(Answer):
    run: RunItem


class IngestStarted(Answer):
    run: str = Field(description="Id of the run; ask `status` with it how it goes.")
    state: str = Field(description="running, or how it ended if it was quick.")
    message: str = Field(description="What to do next, or why it failed.")


class WikiStatus(Answer):
    wiki: str
    status: StatusAnswer
    runs: list[RunItem] = Field(description="The newest, or the one that was asked for.")


class HealthAnswer(Answer):
    state: Literal["ok", "degraded"]
    wikis: list[str] = Field(description="Names of the wikis that are served.")
    degraded: list[Degraded]


class ProblemField(Item):
    field: str
    message: str


class Problem(BaseModel):
    """An error, as RFC 9457 has it (`application/problem+json`)."""

    model_config = ConfigDict(extra="allow")
    type: str = Field(description="What kind of error this is; `about:blank` when the status says all.")
    title: str
    status: int
    detail: str = Field(description="What went wrong.")
    subject: str = Field("", description="What it is about: a name, a path.")
    next_step: str = Field("", description="What to do.")
    errors: list[ProblemField] = Field([], description="Each field that was refused.")
    holder: dict[str, Any] | None = Field(None, description="Of a lock: its process (`pid`) and start (`since`).")


SERVED: dict[str, type[BaseModel]] = {
    "search batch": BatchAnswer,
    "pages": PagesAnswer,
    "page": PageAnswer,
    "page moved": MovedAnswer,
    "wiki status": WikiStatus,
    "ingest started": IngestStarted,
    "health": HealthAnswer,
    "problem": Problem,
}
"""The answers that no command prints."""
