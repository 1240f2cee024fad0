"""`nightwiki sources list | ignore | retry | withdraw`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from config.wiki import Wiki
from serving import look
from serving.cli.common import dry_run_option, json_option, print_json, print_rows, wiki_option
from serving.cli.group import DefaultGroup, Example
from serving.cli.reports import ingest_answer, show_report
from tasks.records import GOOD, Outcome

if TYPE_CHECKING:
    from flows.marks import Marked


@click.group(cls=DefaultGroup, default="list")
def sources() -> None:
    """What became of each source; ignore, retry or withdraw one. Alone, it lists them."""


@sources.command("list", cls=Example, example="nightwiki sources list --failed")
@click.option("--failed", is_flag=True, help="Only those that need you or another night.")
@click.option(
    "--outcome", multiple=True, type=click.Choice([one.value for one in Outcome]), help="Only these outcomes."
)
@wiki_option
@json_option
def list_sources(wiki: Wiki, failed: bool, outcome: tuple[str, ...], as_json: bool) -> None:
    """List the sources, each with its outcome, the reason, and the next step."""
    answer = look.sources(wiki)
    answer.sources = [
        one
        for one in answer.sources
        if (not failed or (one.outcome not in GOOD and not one.ignored)) and (not outcome or one.outcome in outcome)
    ]
    if as_json:
        print_json(answer)
        return
    rows = [
        (
            one.id,
            "ignored" if one.ignored else one.outcome,
            one.location,
            ". ".join(filter(None, (one.reason, one.next_step))),
        )
        for one in answer.sources
    ]
    if rows:
        print_rows(rows, ("id", "outcome", "source", "reason"))
    else:
        click.echo("No such sources.")


@sources.command(cls=Example, example="nightwiki sources ignore raw_sources/scan.pdf")
@click.argument("names", metavar="SOURCE...", nargs=-1, required=True)
@wiki_option
@dry_run_option
@json_option
def ignore(wiki: Wiki, names: tuple[str, ...], dry_run: bool, as_json: bool) -> None:
    """Leave sources (ids or locations) out of every later run; `sources retry` takes one in again."""
    from flows import marks
    from flows.steps import utc_now

    marked = marks.ignore(wiki, names, utc_now(), dry_run)
    _tell(wiki, marked, "would ignore" if dry_run else "ignored", as_json)


@sources.command(cls=Example, example="nightwiki sources retry 3fa94c1e77d0")
@click.argument("names", metavar="SOURCE...", nargs=-1, required=True)
@wiki_option
@dry_run_option
@json_option
def retry(wiki: Wiki, names: tuple[str, ...], dry_run: bool, as_json: bool) -> None:
    """Have the next run read sources (ids or locations) again, whatever became of them before."""
    from flows import marks
    from flows.steps import utc_now

    marked = marks.retry(wiki, names, utc_now(), dry_run)
    _tell(wiki, marked, "would read again" if dry_run else "the next run reads again", as_json)


@sources.command(cls=Example, example="nightwiki sources withdraw raw_sources/flyer.pdf --dry-run")
@click.argument("names", metavar="[SOURCE]...", nargs=-1)
@click.option("--suspected", is_flag=True, help="All sources held back because they carry instructions to a machine.")
@wiki_option
@dry_run_option
@json_option
def withdraw(wiki: Wiki, names: tuple[str, ...], suspected: bool, dry_run: bool, as_json: bool) -> None:
    """Take sources (ids or locations) back: what only they said leaves the pages, and what waits for review of them.

    The files stay where they are. `sources retry` takes a withdrawn source in again.
    """
    from flows import night
    from flows.night_steps import leaving
    from flows.steps import DirectRunner, utc_now

    wanted = (*names, *(leaving.suspected(look.open_candidates(wiki)) if suspected else ()))
    if not wanted and not suspected:
        raise click.UsageError("Name the sources to withdraw, or say --suspected.")
    if not wanted:
        click.echo("No source is suspected.")
        return
    report = night.night(wiki, DirectRunner(), utc_now(), kind="withdraw", dry_run=dry_run, leaving=wanted)
    if as_json:
        print_json(ingest_answer(report))
    else:
        show_report(report, wiki)


def _tell(wiki: Wiki, marked: Marked, verb: str, as_json: bool) -> None:
    if as_json:
        print_json(look.sources(wiki, [source.id for source in marked.sources]))
    else:
        for source in marked.sources:
            click.echo(f"{verb}: {source.location}")
