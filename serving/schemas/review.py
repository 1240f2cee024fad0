"""The JSON of the commands by which a person decides: candidates, contradictions, staging."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from serving.schemas.base import Answer, Item


class CandidateItem(Item):
    slug: str
    kind: Literal["new", "update"]
    confidence: str
    reasons: list[str]
    source: list[str] = Field(description="Locations of the sources it came from.")
    ingested: str
    candidate_of: str = Field(description="Slug of the page it updates; empty for a new page.")
    wiki: str | None = Field(None, description="Name of the wiki; absent where one is asked.")


class CandidatesAnswer(Answer):
    candidates: list[CandidateItem]


class CandidateAnswer(Answer):
    candidate: CandidateItem
    path: str
    text: str


class CandidateDiffAnswer(Answer):
    slug: str
    path: str = Field(description="Vault path of the candidate.")
    target: str = Field(description="Vault path of the page it updates or will become.")
    current: bool = Field(description="False when the page has changed since the update was made.")
    diff: str = Field(description="Unified diff from the page to the candidate.")


class ReviewAnswer(Answer):
    run: str
    promoted: list[str] = Field(description="Vault paths of pages now live.")
    discarded: list[str] = Field(description="Slugs of candidates discarded.")
    refused: dict[str, str] = Field(description="Reason for each candidate that was left.")


class ClaimItem(Item):
    source: str = Field(description="Location of the source that says it.")
    place: str = Field(description="Where in it: `page=3`, `^p7` or a heading.")
    quote: str = Field(description="The sentence, word for word.")
    published: str = Field(description="Date of the source, if it says so.")
    when: str = Field(description="The time at which it holds, as you said; empty otherwise.")


class ContradictionItem(Item):
    id: str
    state: Literal["open", "keep-old", "take-new", "both", "dismissed"]
    kind: Literal["number", "date", "negation", "stated"]
    page: str = Field(description="Slug of the page that shows it.")
    path: str = Field(description="Vault path of that page.")
    reason: str = Field(description="Why the two cannot both be right.")
    old: ClaimItem
    new: ClaimItem
    opened: str
    decided: str
    note: str = Field(description="The reason that you gave.")


class ContradictionsAnswer(Answer):
    contradictions: list[ContradictionItem]


class ContradictionAnswer(Answer):
    run: str = Field(description="Id of the run, which can be undone; empty for a dry run.")
    contradiction: ContradictionItem
    changed: list[str] = Field(description="Vault paths written, or that a dry run would write.")
    staged: str = Field(description="Vault path of a candidate, where text of yours would change; empty otherwise.")
    left: str = Field(description="Why a file was left as it was; empty otherwise.")


class StagingAnswer(Answer):
    policy: Literal["off", "all", "threshold"]
    min_confidence: Literal["high", "medium", "low"]
