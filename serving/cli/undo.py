"""`nightwiki undo`."""

from __future__ import annotations

import click

from config.wiki import Wiki
from serving.cli.common import dry_run_option, json_option, print_json, wiki_option
from serving.cli.group import Example
from serving.schemas.runs import LeftItem, UndoAnswer

DONE, PARTIAL = 0, 3


@click.command(cls=Example, example="nightwiki undo 20261201-020000-3fa9 --dry-run")
@click.argument("run", metavar="RUN")
@click.option("--since", is_flag=True, help="Take all later runs back, too.")
@wiki_option
@dry_run_option
@json_option
def undo(wiki: Wiki, run: str, since: bool, dry_run: bool, as_json: bool) -> int:
    """Take RUN (an id, or its beginning, from `nightwiki runs`) back: its files are as they were before it.

    What you or a later run changed since stays, and is named. The run's sources are not compiled again until their
    bytes change, or by `nightwiki ingest --force`. An undo is itself a run: undo it to have all back.

    Exit code 3 means: done, but some files were left.
    """
    from flows.steps import utc_now
    from flows.undo import undo as take_back

    done = take_back(wiki, run, utc_now(), since, dry_run)
    if as_json:
        left = [LeftItem(path=one.path, reason=one.reason) for one in done.left]
        print_json(
            UndoAnswer(
                run=done.run, undone=[*done.undone], changed=[*done.changed], left=left, sources=[*done.sources]
            )
        )
        return PARTIAL if left else DONE
    would = "would be " if dry_run else ""
    for one in done.undone:
        click.echo(f"{would}taken back: {one}")
    if dry_run:
        for path in done.changed:
            click.echo(f"would change {path}")
    for kept in done.left:
        click.echo(f"left: {kept.path}: {kept.reason}")
    click.echo(f"{len(done.changed)} files {would}changed, {len(done.left)} left; {len(done.sources)} sources wait.")
    if done.run and done.changed:
        click.echo(f"To have it all again: nightwiki undo {done.run}")
    return PARTIAL if done.left else DONE
