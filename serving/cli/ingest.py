"""`nightwiki ingest` and `nightwiki sync`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from config.wiki import Wiki
from serving.cli.common import TerminalProgress, dry_run_option, json_option, print_json, wiki_option
from serving.cli.group import Example
from serving.cli.reports import ingest_answer, show_report
from serving.schemas.runs import IngestAnswer, PageCounts

if TYPE_CHECKING:
    from tasks.llm.estimate import Estimate

EXIT_CODES = {"ok": 0, "partial": 3, "failed": 1}


@click.command(cls=Example, example="nightwiki ingest ~/Downloads/paper.pdf https://example.org/article")
@click.argument("sources", metavar="[SOURCE]...", nargs=-1)
@click.option("--force", is_flag=True, help="Compile again what has not changed.")
@click.option("--direct", is_flag=True, help="Run here, even if a Prefect server is up.")
@click.option("--yes", is_flag=True, help="Spend what the language model is expected to cost without asking.")
@wiki_option
@dry_run_option
@json_option
def ingest(
    wiki: Wiki, sources: tuple[str, ...], force: bool, direct: bool, yes: bool, dry_run: bool, as_json: bool
) -> int:
    """Read new and changed sources into the wiki, now.

    SOURCE is a file or folder (one outside the wiki is copied into its sources folder, never moved), an address
    (added to the list of links), or the location of a known source. Without SOURCE, everything new is read, as in
    the night.

    Before a night that is expected to cost more than `budget.ask_above` you are asked; where nobody can answer, the
    sources wait for `--yes`. Scheduled nights keep to the caps of the budget. `--dry-run` tells the price.

    Exit code 3 means: done, but some sources could not be read.
    """
    from flows import night
    from flows.night_steps.model_compiling import with_model
    from flows.service import server
    from flows.steps import DirectRunner, utc_now
    from serving.bring import Brought, bring
    from tasks.llm.estimate import agreed

    brought = bring(wiki, sources, _known(wiki), dry_run) if sources else Brought((), (), ())
    for line in brought.done:
        click.echo(line, err=True)
    only = tuple(place for place in brought.locations if not dry_run or place not in brought.writes)
    if dry_run and sources and not only:
        return _only_brought(brought.writes, as_json)
    approve = agreed if yes else _ask
    asks = not yes and with_model(wiki.settings) and _is_paid(wiki)  # a flow could not
    endpoint = None if dry_run or direct or asks else server.find_server(wiki)
    if endpoint is None and not (dry_run or direct or asks) and wiki.settings.prefect.mode != "none":
        click.echo("No Prefect server is up (`nightwiki up` starts it); running directly.", err=True)
    with TerminalProgress(not as_json) as progress:
        if endpoint is None:
            report = night.night(
                wiki, DirectRunner(progress), utc_now(), only=only, force=force, dry_run=dry_run, approve=approve
            )
        else:
            from flows.service.up import run_flow

            report = run_flow(wiki, endpoint, "ingest", progress, only, force)
    if as_json:
        print_json(ingest_answer(report, brought.writes if dry_run else ()))
    else:
        show_report(report, wiki)
    return EXIT_CODES[report.state]


@click.command(cls=Example, example="nightwiki sync")
@wiki_option
@dry_run_option
@json_option
def sync(wiki: Wiki, dry_run: bool, as_json: bool) -> int:
    """Take in what you edited, renamed, deleted or ticked in Obsidian, so that search knows it; read no source."""
    from flows import night
    from flows.steps import DirectRunner, utc_now

    if dry_run:
        return _would_sync(wiki, as_json)
    with TerminalProgress(not as_json) as progress:
        report = night.sync(wiki, DirectRunner(progress), utc_now())
    if as_json:
        print_json(ingest_answer(report))
    else:
        show_report(report, wiki)
    return EXIT_CODES[report.state]


def _would_sync(wiki: Wiki, as_json: bool) -> int:
    """Which files a sync would take in, and which ticks it would carry out; nothing is locked or written."""
    from flows.night_steps.reading_in import take_in
    from flows.session import looking
    from flows.steps import utc_now

    with looking(wiki, "sync", utc_now()) as session:
        vault = take_in(session).vault
    taken = [page.path for page in vault.changed]
    ticked = [vault.candidates[tick.id].path for tick in vault.ticks]
    if as_json:
        counts = PageCounts(created=0, updated=0, staged=0)
        print_json(IngestAnswer(run="", state="ok", sources={}, pages=counts, changed=ticked))
    else:
        for path in taken:
            click.echo(f"would take in {path}")
        for path in ticked:
            click.echo(f"would carry out the tick in {path}")
        click.echo(f"{len(taken)} pages changed by you, {len(ticked)} decided.")
    return 0


def _ask(expected: Estimate) -> bool:
    """Whether the person at the terminal agrees to the price; no, where there is none."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    click.echo(f"The model is to be asked: {expected.sentence()}.", err=True)
    return click.confirm("Go on?", err=True)


def _is_paid(wiki: Wiki) -> bool:
    """Whether one of the wiki's models costs money, or may."""
    from tasks.llm.ask import Role
    from tasks.llm.prices import FREE, model_for, price_of

    named = [model_for(role, wiki.settings) for role in Role]
    return any(name is not None and price_of(name, wiki.settings) != FREE for name in named)


def _known(wiki: Wiki) -> Sequence[str]:
    """Locations of the sources that the wiki knows."""
    from storage.reader import Reader

    snapshot = Reader(wiki.state_dir).current()
    return snapshot.table("sources", ["location"]).column("location").to_pylist() if snapshot else ()


def _only_brought(writes: tuple[str, ...], as_json: bool) -> int:
    """A dry run over nothing but new files and addresses: they would be brought in, and then read."""
    if as_json:
        counts = PageCounts(created=0, updated=0, staged=0)
        print_json(IngestAnswer(run="", state="ok", sources={}, pages=counts, changed=list(writes)))
    return 0
