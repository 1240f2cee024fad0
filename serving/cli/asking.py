"""What the commands that ask wikis share: the filters, the wikis, and an engine over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from config.errors import NightwikiError
from config.wiki import Wiki, find_wiki
from serving.cli.common import named_wikis
from tasks.search.filters import LEVELS, Filters
from tasks.search.moments import is_moment
from tasks.search.result import Degraded

if TYPE_CHECKING:
    from storage.search.engine import Engine
    from tasks.llm.ask import Asker

Function = TypeVar("Function", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--tag", multiple=True, help="Only pages with this tag; each repetition narrows."),
    click.option("--status", multiple=True, help="Only pages of this status; without it, archived ones are out."),
    click.option("--type", "kind", multiple=True, help="Only pages of this type."),
    click.option("--branch", multiple=True, help="Only pages of this branch of ROUTING.md."),
    click.option(
        "--path", multiple=True, metavar="GLOB", help="Only pages at this path, in this folder, or so named."
    ),
    click.option("--source", multiple=True, help="Only pages that cite this source (its id or vault path)."),
    click.option("--confidence-min", type=click.Choice(LEVELS), help="Only pages of this confidence or better."),
    click.option("--updated-after", metavar="DATE", default="", help="Only pages updated then or later."),
    click.option("--updated-before", metavar="DATE", default="", help="Only pages updated before then."),
)
_WIKIS = click.option(
    "-w", "--wiki", "folders", metavar="DIR", multiple=True, help="The wiki; repeat it to ask several."
)
_AS_OF = click.option(
    "--as-of", metavar="WHEN", default="", help="Ask the wiki as it was: a date, a run or a snapshot."
)


def asking_options(function: Function) -> Function:
    """The filters of search, `--as-of` and a `-w` that may be repeated: `filters`, `as_of` and `folders`."""

    @wraps(function)
    def command(
        tag: tuple[str, ...],
        status: tuple[str, ...],
        kind: tuple[str, ...],
        branch: tuple[str, ...],
        path: tuple[str, ...],
        source: tuple[str, ...],
        confidence_min: str | None,
        updated_after: str,
        updated_before: str,
        **others: object,
    ) -> object:
        filters = Filters(
            tag=tag,
            status=status,
            type=kind,
            branch=branch,
            path=path,
            source=source,
            confidence_min=confidence_min or "",
            updated_after=_date(updated_after, "--updated-after"),
            updated_before=_date(updated_before, "--updated-before"),
        )
        return function(filters=filters, **others)

    decorated: Any = command
    for option in (_WIKIS, _AS_OF, *reversed(_OPTIONS)):
        decorated = option(decorated)
    return cast("Function", decorated)


def _date(text: str, option: str) -> str:
    if text and not is_moment(text):
        raise click.BadParameter(f"'{text}' is no day or time such as 2026-12-01", param_hint=option)
    return text


def words(arguments: Sequence[str]) -> str:
    """What was typed, as text: bytes that are no UTF-8 become the sign that stands for them."""
    return " ".join(arguments).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Asked:
    """The wikis to ask, an engine over them, and those of several that could not be opened."""

    wikis: tuple[Wiki, ...]
    engine: Engine
    broken: tuple[Degraded, ...]


def open_wikis(ctx: click.Context, folders: Sequence[str]) -> Asked:
    """The wikis of these folders, else those named before the command, else the one that the person stands in.

    Of several, one that cannot be opened is left out and named; NightwikiError when none can.
    """
    from serving.opening import ready
    from storage.search.engine import Engine

    found: list[Wiki] = []
    broken: list[Degraded] = []
    errors: list[NightwikiError] = []
    for folder in folders or named_wikis(ctx) or (None,):
        try:
            found.append(find_wiki(folder))
        except NightwikiError as error:
            errors.append(error)
            broken.append(Degraded("wiki", f"{error.subject}: {error.cause}", error.next_step))
    if not found:
        raise errors[0]
    engine = Engine([ready(wiki) for wiki in found])
    return Asked(tuple(found), engine, tuple(broken))


def asker_of(wikis: Sequence[Wiki], wanted: bool) -> tuple[Asker | None, tuple[Degraded, ...]]:
    """The language model of these wikis, or why it cannot be asked although their settings name one."""
    from serving.opening import answering_model

    return answering_model({str(wiki.root): wiki for wiki in wikis}) if wanted else (None, ())
