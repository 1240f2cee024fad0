"""What agents may say to the tools, beside what REST takes too: cursors, and smaller answers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field

from serving import requests as asked
from serving.requests import Name, Names, OfWiki
from serving.schemas.asking import SearchAnswer
from serving.schemas.review import CandidatesAnswer

A = TypeVar("A", bound=BaseModel)

MOST_HITS = 200


def understood(model: type[A], told: Mapping[str, Any]) -> A:
    """The arguments as an agent means them. Raises ValidationError.

    Agents fill in what they could leave out with null or an empty text, and write one value where a list is wanted.
    """
    lists, optional = _shape(model)
    meant: dict[str, Any] = {}
    for name, value in told.items():
        if name in optional and (value is None or value == ""):
            continue
        meant[name] = [value] if name in lists and isinstance(value, str) else value
    return model.model_validate(meant)


@lru_cache(maxsize=32)
def _shape(model: type[BaseModel]) -> tuple[frozenset[str], frozenset[str]]:
    """The fields that hold lists, and those that may be left out."""
    schema = model.model_json_schema()
    properties: Mapping[str, Mapping[str, Any]] = schema["properties"]
    lists = frozenset(name for name, one in properties.items() if one.get("type") == "array")
    return lists, frozenset(properties.keys() - set(schema.get("required", ())))


class SearchTool(asked.SearchRequest):
    k: int | None = Field(None, ge=1, le=50, description="Most hits at once; the wiki's own setting, if left out.")
    cursor: Name = Field("", description="`next` of the answer before, to go on with the same question.")


class ReadPageTool(asked.ReadPageRequest):
    limit: int = Field(8_000, ge=1, le=50_000, description="Most characters in one answer.")


class ListPagesTool(asked.PagesRequest):
    limit: int = Field(50, ge=1, le=200, description="Most pages in one answer.")


class ContextTool(asked.ContextRequest):
    token_budget: int = Field(4000, ge=1, le=32_000, description="The evidence never takes more tokens than this.")


class CandidatesTool(asked.CandidatesRequest):
    limit: int = Field(50, ge=1, le=200, description="Most in one answer.")
    cursor: str = Field("", pattern=r"^\d{0,9}$", description="`next` of the answer before.")


class StatusTool(OfWiki):
    run: Name = Field("", description="Id of a run, such as `ingest` gives: how it goes.")


class IngestTool(OfWiki):
    wiki: Name = Field("", description="Name of the wiki; may be left out where one is served.")
    sources: Names = Field(
        (), description="Addresses (https://…), or files of the wiki's sources folder; all that is new, if left out."
    )
    force: bool = Field(False, description="Compile again what has not changed.")


class ReviewTool(OfWiki):
    wiki: Name = Field("", description="Name of the wiki; if left out, the one where this page waits.")
    page: Name = Field(min_length=1, description="Slug of a page that waits.")
    decision: Literal["promote", "discard"]
    reason: str = Field("", max_length=2000, description="Why, for a discard.")
    dry_run: bool = Field(False, description="Say what would happen, and write nothing.")


class SearchTold(SearchAnswer):
    next: str = Field("", description="The `cursor` to go on with; empty at the end.")


class CandidatesTold(CandidatesAnswer):
    next: str = Field("", description="The `cursor` to go on with; empty at the end.")
