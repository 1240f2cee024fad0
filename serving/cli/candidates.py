"""`nightwiki candidates list | show | diff | promote | discard`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import click

from config.wiki import Wiki
from serving import look
from serving.cli.choosing import Filters, Function, asked, chosen, confirmed, filter_options
from serving.cli.common import dry_run_option, json_option, print_json, print_rows, wiki_option
from serving.cli.group import DefaultGroup, Example
from serving.deciding import decide
from serving.schemas.review import CandidateAnswer
from tasks.records import CandidateRecord


@click.group(cls=DefaultGroup, default="list")
def candidates() -> None:
    """Pages that wait for you, because nightwiki was not sure or you had edited what it would change."""


@candidates.command("list", cls=Example, example="nightwiki candidates list --older-than 14d --confidence low")
@filter_options
@wiki_option
@json_option
def list_candidates(
    wiki: Wiki, older_than: timedelta | None, confidence: tuple[str, ...], source: tuple[str, ...], as_json: bool
) -> None:
    """List the pages that wait, with the reasons."""
    answer = look.candidates(wiki, chosen(wiki, Filters(older_than, confidence, source)))
    if as_json:
        print_json(answer)
        return
    rows = [(one.slug, one.kind, one.confidence, "; ".join(one.reasons)) for one in answer.candidates]
    if rows:
        print_rows(rows, ("page", "kind", "confidence", "why"))
    else:
        click.echo("Nothing of the kind waits." if look.open_candidates(wiki) else "Nothing waits for review.")


@candidates.command(cls=Example, example="nightwiki candidates show zuse-z3")
@click.argument("name", metavar="PAGE")
@wiki_option
@json_option
def show(wiki: Wiki, name: str, as_json: bool) -> None:
    """Show the text of a waiting page, as it lies in the vault."""
    record = look.named_candidates(wiki, [name])[0]
    text = (wiki.root / record.path).read_bytes().decode("utf-8", "replace")
    if not as_json:
        click.echo(text, nl=False)
        return
    item = next(one for one in look.candidates(wiki).candidates if (one.slug, one.kind) == (record.slug, record.kind))
    print_json(CandidateAnswer(candidate=item, path=record.path, text=text))


@candidates.command(cls=Example, example="nightwiki candidates diff zuse-z3")
@click.argument("name", metavar="PAGE")
@wiki_option
@json_option
def diff(wiki: Wiki, name: str, as_json: bool) -> None:
    """Show what promoting a waiting page would change, as it and the live page lie on disk now."""
    answer = look.candidate_diff(wiki, look.named_candidates(wiki, [name])[0])
    if as_json:
        print_json(answer)
        return
    click.echo(answer.diff, nl=False)
    if not answer.current:
        click.echo("The page has changed since; the next night compares again.", err=True)


def _all_options(function: Function) -> Function:
    """`--all` with its filters, and `--yes`."""
    for option in (
        click.option("--yes", is_flag=True, help="Do not ask; for --all."),
        filter_options,
        click.option("--all", "everything", is_flag=True, help="Every page that waits, or that passes the filters."),
    ):
        function = option(function)
    return function


@candidates.command(cls=Example, example="nightwiki candidates promote zuse-z3")
@click.argument("names", metavar="[PAGE]...", nargs=-1)
@_all_options
@wiki_option
@dry_run_option
@json_option
def promote(
    wiki: Wiki,
    names: tuple[str, ...],
    everything: bool,
    older_than: timedelta | None,
    confidence: tuple[str, ...],
    source: tuple[str, ...],
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Make waiting pages part of the wiki, as they now lie on disk. --all asks first."""
    records = asked(wiki, names, everything, Filters(older_than, confidence, source))
    if everything and not confirmed(records, "Promote", yes or dry_run):
        return 0
    return _decide(wiki, records, (), "", dry_run, as_json)


@candidates.command(cls=Example, example='nightwiki candidates discard zuse-z3 --reason "too thin"')
@click.argument("names", metavar="[PAGE]...", nargs=-1)
@_all_options
@click.option("--reason", default="", help="Why; it is remembered with the page.")
@wiki_option
@dry_run_option
@json_option
def discard(
    wiki: Wiki,
    names: tuple[str, ...],
    everything: bool,
    older_than: timedelta | None,
    confidence: tuple[str, ...],
    source: tuple[str, ...],
    yes: bool,
    reason: str,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Drop waiting pages; the same proposal is not made again. --all asks first."""
    records = asked(wiki, names, everything, Filters(older_than, confidence, source))
    if everything and not confirmed(records, "Discard", yes or dry_run):
        return 0
    return _decide(wiki, (), records, reason, dry_run, as_json)


def _decide(
    wiki: Wiki,
    good: Sequence[CandidateRecord],
    bad: Sequence[CandidateRecord],
    reason: str,
    dry_run: bool,
    as_json: bool,
) -> int:
    answer = decide(wiki, good, bad, reason, dry_run)
    if as_json:
        print_json(answer)
    else:
        would = "would be " if dry_run else ""
        for path in answer.promoted:
            click.echo(f"{would}promoted: {path}")
        for slug in answer.discarded:
            click.echo(f"{would}discarded: {slug}")
        for subject, cause in answer.refused.items():
            click.echo(f"{subject}: {cause}", err=True)
    return 3 if answer.refused else 0
