"""Which of the waiting pages a command is about: by name, or all that pass the filters."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any, TypeVar

import click

from config.wiki import Wiki
from serving import look
from tasks.records import CandidateRecord

Function = TypeVar("Function", bound=Callable[..., Any])

LEVELS = ("high", "medium", "low")
_AGE = re.compile(r"(\d+)\s*(h|d|w)?$", re.I)
_HOURS = {"h": 1, "d": 24, "w": 24 * 7}


@dataclass(frozen=True, slots=True)
class Filters:
    """What a person asked for; empty means everything."""

    older_than: timedelta | None = None
    confidence: tuple[str, ...] = ()
    source: tuple[str, ...] = ()  # parts of a location, or globs

    def passes(self, record: CandidateRecord, locations: Sequence[str], now: datetime) -> bool:
        """Whether a candidate is one of those asked for."""
        if self.confidence and record.confidence not in self.confidence:
            return False
        if self.source and not any(_names(wanted, place) for wanted in self.source for place in locations):
            return False
        if self.older_than is None:
            return True
        return datetime.fromisoformat(record.ingested.replace("Z", "+00:00")) <= now - self.older_than


class Age(click.ParamType):  # type: ignore[type-arg]  # generic in some releases of click only
    """A span such as `14d`, `2w` or `36h`; a bare number is days."""

    name = "AGE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        found = span(str(value))
        if found is None:
            self.fail(f"'{value}' is no age; write for example 14d, 2w or 36h.", param, ctx)
        return found


def span(text: str) -> timedelta | None:
    """The span of time that a text such as `14d` says, or None."""
    match = _AGE.match(text.strip())
    if match is None or len(match[1]) > 4:
        return None
    return timedelta(hours=int(match[1]) * _HOURS[(match[2] or "d").lower()])


def filter_options(function: Function) -> Function:
    """`--older-than`, `--confidence` and `--source`; the command makes `Filters` of them."""
    for option in (
        click.option("--source", multiple=True, metavar="TEXT", help="Part of a source's location, or a glob."),
        click.option("--confidence", multiple=True, type=click.Choice(LEVELS), help="Only of this confidence."),
        click.option("--older-than", type=Age(), help="Waiting at least so long, such as 14d, 2w or 36h."),
    ):
        function = option(function)
    return function


def chosen(wiki: Wiki, filters: Filters) -> tuple[CandidateRecord, ...]:
    """The waiting candidates that pass the filters, by name."""
    locations = look.locations(wiki)
    now = datetime.now(UTC)
    return tuple(
        record
        for record in look.open_candidates(wiki)
        if filters.passes(record, [locations.get(one, one) for one in record.sources], now)
    )


def asked(wiki: Wiki, names: Sequence[str], everything: bool, filters: Filters) -> tuple[CandidateRecord, ...]:
    """The candidates that a person named, or with `everything` all that pass the filters. UsageError for neither."""
    if everything and names:
        raise click.UsageError("Name pages, or ask for --all, not both.")
    if everything:
        return chosen(wiki, filters)
    if filters != Filters():
        raise click.UsageError("--older-than, --confidence and --source go with --all.")
    if not names:
        raise click.UsageError("Name the pages, or ask for --all.")
    return look.named_candidates(wiki, names)


def confirmed(records: Sequence[CandidateRecord], verb: str, yes: bool) -> bool:
    """Whether a person wants this done to all of them; they are shown before."""
    if yes or not records:
        return True
    for record in records:
        click.echo(f"{record.slug}  {record.kind}  {record.confidence}", err=True)
    pages = "1 page" if len(records) == 1 else f"{len(records)} pages"
    if click.confirm(f"{verb} {pages}?", default=False, err=True):
        return True
    click.echo("Nothing was done.", err=True)
    return False


def _names(wanted: str, place: str) -> bool:
    if any(mark in wanted for mark in "*?["):
        return fnmatchcase(place.casefold(), wanted.casefold())
    return wanted.casefold() in place.casefold()
