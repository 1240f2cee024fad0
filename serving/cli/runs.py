"""`nightwiki runs`, `audit` and `changes`."""

from __future__ import annotations

import click

from config.wiki import Wiki
from serving import look
from serving.cli.common import json_option, print_json, print_rows, wiki_option
from serving.cli.group import Example


@click.command(cls=Example, example="nightwiki runs")
@click.option("-n", "count", type=click.IntRange(1), default=20, help="Most runs shown (default 20; all with --json).")
@wiki_option
@json_option
def runs(wiki: Wiki, count: int, as_json: bool) -> None:
    """List the runs, newest first, also failed and running ones."""
    answer = look.runs(wiki)
    if as_json:
        print_json(answer)
        return
    rows = [
        (
            one.run,
            one.kind,
            one.state + (f", undone by {one.undone_by}" if one.undone_by else ""),
            one.started,
            one.finished,
            str(one.changed),
        )
        for one in answer.runs[:count]
    ]
    if rows:
        print_rows(rows, ("run", "kind", "state", "started", "finished", "files"))
    else:
        click.echo("No runs yet. Start one with: nightwiki ingest")


@click.command(cls=Example, example="nightwiki audit --path wiki/zuse-z3.md")
@click.argument("run", required=False, default="")
@click.option("--path", default="", help="Only writes of this vault file.")
@wiki_option
@json_option
def audit(wiki: Wiki, run: str, path: str, as_json: bool) -> None:
    """List the files that runs wrote, newest first; of one RUN if given."""
    answer = look.audit(wiki, run, path)
    if as_json:
        print_json(answer)
        return
    rows = [(one.at, one.run, one.path, _did(one.before, one.after), one.after[:12]) for one in answer.writes]
    if rows:
        print_rows(rows, ("at", "run", "file", "what", "sha256"))
    else:
        click.echo("Nothing was written.")


def _did(before: str, after: str) -> str:
    return "made" if not before else "removed" if not after else "changed"


@click.command(cls=Example, example="nightwiki changes --since 2026-12-01")
@click.option("--since", metavar="SNAPSHOT", required=True, help="A snapshot, a run, or a day or time.")
@wiki_option
@json_option
def changes(wiki: Wiki, since: str, as_json: bool) -> None:
    """List the pages made, changed or deleted since a snapshot, a run or a date."""
    answer = look.changes(wiki, since)
    if as_json:
        print_json(answer)
        return
    for one in answer.pages:
        click.echo(f"{one.change:<8} {one.path}")
    click.echo(f"{len(answer.pages)} pages changed since {answer.since or 'the beginning'}.")
