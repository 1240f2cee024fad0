"""What REST bodies, query strings and MCP arguments may say: one model a question, with the limits of each field.

A wrong type, an unknown name or a value out of bounds is refused here, so that nothing behind it has to expect one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Any, Literal, NoReturn

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from serving.cli.choosing import Filters as CandidateFilters
from serving.cli.choosing import span
from tasks.search.filters import Filters
from tasks.search.fusion import Configuration
from tasks.search.moments import is_moment

MOST_CHARACTERS = 20_000
"""Of a question or a goal."""
MOST_TOKENS = 1_000_000
MOST_QUESTIONS = 100

Text = Annotated[str, Field(max_length=MOST_CHARACTERS)]
Name = Annotated[str, Field(max_length=500)]
Said = Annotated[str, Field(min_length=1, max_length=500)]
Names = Annotated[tuple[Said, ...], Field(max_length=50)]  # tuples, for the default of a list is copied each time
Level = Literal["low", "medium", "high"]
Date = Annotated[
    str, Field(max_length=40), AfterValidator(lambda text: text if not text or is_moment(text) else _no_date(text))
]


def _no_date(text: str) -> NoReturn:
    raise ValueError(f"'{text}' is no day or time such as 2026-12-01 or 2026-12-01T09:00:00+01:00")


def refusals(errors: Sequence[Mapping[str, Any]], skip: int = 0) -> list[tuple[str, str]]:
    """What is wrong with a request: each field, without the first `skip` parts of its place, and why it is refused."""
    fields = [".".join(map(str, one["loc"][skip:])) for one in errors]
    whys = [_PLAIN.get(one["type"]) or str(one["msg"]).removeprefix("Value error, ") for one in errors]
    return list(zip(fields, whys, strict=True))


_PLAIN = {"tuple_type": "Input should be a list", "model_attributes_type": "Input should be an object",
          "model_type": "Input should be an object", "dict_type": "Input should be an object"}  # fmt: skip


class Asked(BaseModel):
    """A request: closed against names that it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class OfWiki(Asked):
    wiki: Name = Field("", description="Name of the wiki; if left out, all that are served answer together.")


class OfWikis(Asked):
    wiki: Names = Field((), description="Names of the wikis to ask; all, if left out.")
    snapshot: Name = Field(
        "", description="Read this kept snapshot (an answer's `snapshot`, a run, or a date); the newest, if left out."
    )


class Filtered(OfWikis):
    """The conditions that pages must fulfil, the same everywhere. Of several values one must fit, of tags every one."""

    tag: Names = Field((), description="Only pages with all of these tags.")
    status: Names = Field((), description="Only pages of these statuses; if left out, archived ones are not found.")
    type: Names = Field((), description="Only pages of these types.")
    branch: Names = Field((), description="Only pages of these branches of ROUTING.md.")
    path: Names = Field((), description="Only pages at these vault paths, in these folders, or matching these globs.")
    source: Names = Field((), description="Only pages that cite one of these sources (id or vault path).")
    confidence_min: Level | None = Field(None, description="Only pages of this confidence or better.")
    updated_after: Date = Field(
        "", description="Only pages updated on this day or at this time (UTC, unless it names a zone) or later."
    )
    updated_before: Date = Field("", description="Only pages updated before this day or time.")

    @property
    def filters(self) -> Filters:
        """The same as search takes them."""
        return Filters(
            tag=self.tag,
            status=self.status,
            type=self.type,
            branch=self.branch,
            path=self.path,
            source=self.source,
            confidence_min=self.confidence_min or "",
            updated_after=self.updated_after,
            updated_before=self.updated_before,
        )


class _Searched(Filtered):
    k: int | None = Field(None, ge=1, le=200, description="Most hits; the wiki's own setting, if left out.")
    layer: Literal["pages", "chunks", "both"] = Field("pages", description="Pages, pieces of sources, or both.")
    configuration: Configuration | None = Field(None, description="How keyword and meaning rankings are joined.")
    explain: bool = Field(False, description="Say for each hit why it stands where it stands.")


class SearchRequest(_Searched):
    question: Text = Field(description="A question or some words.", examples=["who built the Z3"])


class BatchRequest(_Searched):
    questions: tuple[Text, ...] = Field(
        min_length=1,
        max_length=MOST_QUESTIONS,
        description="They are embedded together and answered from one snapshot.",
        examples=[["who built the Z3", "what is a compiler"]],
    )


class QueryRequest(Filtered):
    question: Text = Field(min_length=1, description="A question.", examples=["When was the Z3 finished?"])


class ContextRequest(Filtered):
    goal: Text = Field(
        min_length=1, description="What the evidence is for.", examples=["history of early computing pioneers"]
    )
    token_budget: int = Field(4000, ge=1, le=MOST_TOKENS, description="The pack never holds more tokens than this.")
    max_per_page: int | None = Field(None, ge=1, le=100, description="Most passages of one page.")
    exclude_ids: Annotated[tuple[Said, ...], Field(max_length=1000)] = Field(
        (), description="Ids or slugs of pages to leave out; those that no page has change nothing."
    )


class PagesRequest(Filtered):
    limit: int = Field(50, ge=1, le=500, description="Most pages in one answer.")
    cursor: Name = Field("", description="`next` of the answer before, to go on from there.")


class PageRequest(OfWikis):
    section: Name = Field("", description="Only the section below this heading.")
    offset: int = Field(0, ge=0, le=10**9, description="Begin at this character of the page's text.")
    limit: int = Field(20_000, ge=1, le=200_000, description="Most characters in one answer.")


class ReadPageRequest(PageRequest):
    page: Name = Field(min_length=1, description="Slug (also a former one), id or vault path.", examples=["zuse-z3"])


class ChangesRequest(OfWiki):
    since: Name = Field(
        min_length=1,
        description="A snapshot, a run, or a day or time: from its beginning on.",
        examples=["2026-12-01"],
    )


class CandidateRequest(Asked):
    wiki: Name = Field("", description="Name of the wiki; if left out, the one where this page waits.")


class CandidatesRequest(OfWiki):
    older_than: str = Field("", pattern=r"^(\d{1,4}[hdwHDW]?)?$", description="Waiting so long: 14d, 2w or 36h.")
    confidence: tuple[Level, ...] = Field((), max_length=3, description="Only of these confidences.")
    source: Names = Field((), description="Parts of a source's location, or globs.")

    @property
    def filters(self) -> CandidateFilters:
        """The same as the command line takes them."""
        age: timedelta | None = span(self.older_than) if self.older_than else None
        return CandidateFilters(age, self.confidence, self.source)


class ReviewRequest(Asked):
    reason: str = Field("", max_length=2000, description="Why, for a discard; it is remembered with the page.")
    dry_run: bool = Field(False, description="Say what would happen, and write nothing.")


class SourcesRequest(OfWiki):
    outcome: Names = Field((), description="Only these outcomes.")
    failed: bool = Field(False, description="Only those that need a person or another night.")


class RunsRequest(OfWiki):
    limit: int = Field(50, ge=1, le=1000, description="Most runs, newest first.")
