"""What the commands share: the options -w and --json, and how results and progress are shown."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import click
from pydantic import BaseModel

from config.wiki import Wiki, find_wiki

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

Function = TypeVar("Function", bound=Callable[..., Any])


def _find(ctx: click.Context, parameter: click.Parameter, value: str | None) -> Wiki:
    if value:
        return find_wiki(value)
    wikis = named_wikis(ctx)
    if len(wikis) > 1:
        raise click.UsageError(f"this command works on one wiki, and {len(wikis)} are named", ctx)
    return find_wiki(wikis[0] if wikis else None)


def named_wikis(ctx: click.Context) -> tuple[str, ...]:
    """The folders that stand before the command, as in `nightwiki -w DIR search`."""
    return ctx.find_object(tuple) or ()


def wiki_option(function: Function) -> Function:
    """`-w DIR`; the command gets the wiki as `wiki`."""
    return click.option("-w", "--wiki", metavar="DIR", callback=_find, help="The wiki; else the one you are in.")(
        function
    )


def json_option(function: Function) -> Function:
    """`--json`; the command gets it as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, as `nightwiki schema` describes it.")(
        function
    )


def dry_run_option(function: Function) -> Function:
    """`--dry-run`, for commands that write."""
    return click.option("--dry-run", is_flag=True, help="Say what would happen, and write nothing.")(function)


def print_json(answer: BaseModel) -> None:
    """The answer as indented JSON on standard output."""
    click.echo(answer.model_dump_json(indent=2, exclude_none=True))


def print_rows(rows: Sequence[Sequence[str]], header: Sequence[str]) -> None:
    """Rows in columns as wide as their widest cell; the last one may be as long as it likes."""
    cells = [list(header), *[[" ".join(str(cell).split()) for cell in row] for row in rows]]
    widths = [max(_width(row[column]) for row in cells) for column in range(len(header))]
    for number, row in enumerate(cells):
        padded = (cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True))
        line = "  ".join(padded).rstrip()
        click.secho(line, bold=True) if number == 0 else click.echo(line)


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


class TerminalProgress:
    """A progress bar on standard error, from the second second on; nothing where nobody looks."""

    def __init__(self, wanted: bool) -> None:
        self._wanted = wanted and sys.stderr.isatty()
        self._started = time.monotonic()
        self._bar: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, name: str, done: int, total: int) -> None:
        """The step's bar, moved to `done` of `total`."""
        if not self._wanted or time.monotonic() - self._started < 2:
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._bar.start()
        if name not in self._tasks:
            self._tasks[name] = self._bar.add_task(name, total=total)
        self._bar.update(self._tasks[name], completed=done, total=total)
