"""`nightwiki page history`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from config.wiki import Wiki
from serving.cli.common import json_option, print_json, print_rows, wiki_option
from serving.cli.group import Example, Group
from serving.schemas.runs import PageHistoryAnswer, VersionItem

if TYPE_CHECKING:
    from storage.versions import Version


@click.group(cls=Group)
def page() -> None:
    """What is known of a single page."""


@page.command(cls=Example, example="nightwiki page history zuse-z3 --diff")
@click.argument("name", metavar="PAGE")
@click.option("--diff", is_flag=True, help="Show what each version changed.")
@wiki_option
@json_option
def history(wiki: Wiki, name: str, diff: bool, as_json: bool) -> None:
    """Show the versions of PAGE, newest first: which run or person made it so, and how much of it changed.

    PAGE is a slug, also a former one, a path or an id. Texts are kept as long as snapshots (snapshots.keep_days).
    """
    from storage import versions

    found = versions.history(wiki.state_dir, name)
    if as_json:
        print_json(
            PageHistoryAnswer(
                id=found.page.id,
                slug=found.page.slug,
                title=found.page.title,
                path=found.page.path,
                former_slugs=[*found.page.former_slugs],
                versions=[_item(one, diff) for one in found.versions],
            )
        )
        return
    if diff:
        for one in found.versions:
            click.secho(f"{one.at}  {one.who}  {one.change}  {one.path}  {one.run}", bold=True)
            click.echo(f"{one.diff}\n" if one.diff else "")
        return
    rows = [(one.at, one.who, one.change, _size(one), one.path, one.run) for one in found.versions]
    print_rows(rows, ("at", "by", "what", "lines", "file", "run"))


def _size(one: Version) -> str:
    return f"+{one.added} -{one.removed}" if one.snapshot else "not kept"


def _item(one: Version, diff: bool) -> VersionItem:
    return VersionItem(
        run=one.run,
        at=one.at,
        who="run" if one.who == "run" else "person",
        change=one.change,
        path=one.path,
        size=one.size,
        added=one.added,
        removed=one.removed,
        snapshot=one.snapshot,
        diff=one.diff if diff else None,
    )
