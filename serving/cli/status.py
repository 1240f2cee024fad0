"""`nightwiki status`."""

from __future__ import annotations

import click

from config.wiki import Wiki
from serving import look
from serving.cli.common import json_option, print_json, wiki_option
from serving.cli.group import Example
from serving.schemas.runs import LintCount
from storage.tally import Tally


@click.command(cls=Example, example="nightwiki status --json")
@wiki_option
@json_option
def status(wiki: Wiki, as_json: bool) -> None:
    """Show how many pages there are, what became of the sources, and whether anything needs you."""
    answer = look.status(wiki)
    if as_json:
        print_json(answer)
        return
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in answer.sources.items())
    rows = [
        ("wiki", f"{wiki.name} ({wiki.root})"),
        ("pages", str(answer.pages)),
        ("waiting for review", str(answer.candidates)),
        ("sources", outcomes or "none yet"),
        ("snapshot", answer.snapshot or "none yet"),
        ("last good night", answer.last_good_night or "none yet"),
        *([("contradictions", f"{answer.contradictions} to decide on")] if answer.contradictions else []),
        *([("lint", _lint(answer.lint))] if answer.lint is not None else []),
        *(("held now", f"{lock.name} lock, by process {lock.pid} since {lock.since}") for lock in answer.locks),
        *(("degraded", f"{one.what}: {one.reason}. {one.next_step}") for one in answer.degraded),
    ]
    for name, value in rows:
        click.echo(f"{name:<19} {value}")


def _lint(found: LintCount) -> str:
    told = Tally(found.at, found.errors, found.warnings, found.new)
    return f"{told.line()} ({found.at[:10]})"
