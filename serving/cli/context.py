"""`nightwiki context build`: evidence for an agent, inside a budget of tokens."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from config.errors import NightwikiError
from serving.cli.asking import asker_of, asking_options, open_wikis, words
from serving.cli.common import dry_run_option, json_option
from serving.cli.group import DefaultGroup, Example
from tasks.search.filters import Filters


@click.group(cls=DefaultGroup, default="build")
def context() -> None:
    """Passages of the wiki for an agent's prompt, cited, inside a budget of tokens."""


@click.command(cls=Example, name="build", example='nightwiki context build "history of early computers" --tokens 2000')
@click.argument("goal", nargs=-1, required=True)
@click.option("--tokens", type=int, default=4000, show_default=True, help="Most tokens of all that is printed.")
@click.option(
    "--max-per-page", type=click.IntRange(1), default=20, show_default=True, help="Most passages of one page."
)
@click.option("--exclude", multiple=True, metavar="PAGE", help="Leave out this page (its slug or id); repeatable.")
@click.option("--output", type=click.Path(dir_okay=False), metavar="FILE", help="Write the pack there instead.")
@click.option("--no-model", is_flag=True, help="Do not ask the language model that the settings name.")
@asking_options
@dry_run_option
@json_option
@click.pass_context
def build(
    ctx: click.Context,
    goal: tuple[str, ...],
    tokens: int,
    max_per_page: int,
    exclude: tuple[str, ...],
    output: str | None,
    no_model: bool,
    filters: Filters,
    as_of: str,
    folders: tuple[str, ...],
    dry_run: bool,
    as_json: bool,
) -> None:
    """Choose the passages that serve a goal, best first, and print them with where they come from.

    The budget is hard: with --json it counts the JSON, else the Markdown, to the last character. A goal of '-' is read
    from standard input.
    """
    from flows.answering.context import build_pack

    asked = open_wikis(ctx, folders)
    model, trouble = asker_of(asked.wikis, not no_model)
    text = words(goal)
    if text == "-":
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    pack = build_pack(
        asked.engine,
        text,
        tokens,
        filters,
        max_per_page,
        exclude,
        as_of,
        model,
        "json" if as_json else "markdown",
        (*asked.broken, *trouble),
    )
    if output is None:
        click.echo(pack.text, nl=False)
        return
    pages = "1 page" if len(pack.pages) == 1 else f"{len(pack.pages)} pages"
    held = f"{pack.tokens_used} tokens, {pages}"
    if not dry_run:
        _write(Path(output), pack.text)
    click.echo(f"{'Would write' if dry_run else 'Wrote'} {output}: {held}", err=True)


context.add_command(build)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise NightwikiError(str(path), f"cannot be written: {error.strerror}", "Name another file") from None
