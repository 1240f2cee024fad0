"""`nightwiki candidates list | show | promote | discard`."""

from __future__ import annotations

import click

from config.wiki import Wiki
from serving import look
from serving.cli.common import dry_run_option, json_option, print_json, print_rows, wiki_option
from serving.cli.group import DefaultGroup, Example
from serving.schemas import CandidateAnswer, ReviewAnswer


@click.group(cls=DefaultGroup, default="list")
def candidates() -> None:
    """Pages that wait for you, because nightwiki was not sure or you had edited what it would change."""


@candidates.command("list", cls=Example, example="nightwiki candidates list")
@wiki_option
@json_option
def list_candidates(wiki: Wiki, as_json: bool) -> None:
    """Every page that waits, with the reasons."""
    answer = look.candidates(wiki)
    if as_json:
        print_json(answer)
        return
    rows = [(one.slug, one.kind, one.confidence, "; ".join(one.reasons)) for one in answer.candidates]
    if rows:
        print_rows(rows, ("page", "kind", "confidence", "why"))
    else:
        click.echo("Nothing waits for review.")


@candidates.command(cls=Example, example="nightwiki candidates show zuse-z3")
@click.argument("name", metavar="PAGE")
@wiki_option
@json_option
def show(wiki: Wiki, name: str, as_json: bool) -> None:
    """The text of a waiting page, as it lies in the vault."""
    record = look.named_candidates(wiki, [name])[0]
    text = (wiki.root / record.path).read_bytes().decode("utf-8", "replace")
    if not as_json:
        click.echo(text, nl=False)
        return
    item = next(one for one in look.candidates(wiki).candidates if (one.slug, one.kind) == (record.slug, record.kind))
    print_json(CandidateAnswer(candidate=item, path=record.path, text=text))


@candidates.command(cls=Example, example="nightwiki candidates promote zuse-z3")
@click.argument("names", metavar="PAGE...", nargs=-1, required=True)
@wiki_option
@dry_run_option
@json_option
def promote(wiki: Wiki, names: tuple[str, ...], dry_run: bool, as_json: bool) -> int:
    """Make waiting pages part of the wiki, as they now lie on disk."""
    return _decide(wiki, names, (), "", dry_run, as_json)


@candidates.command(cls=Example, example='nightwiki candidates discard zuse-z3 --reason "too thin"')
@click.argument("names", metavar="PAGE...", nargs=-1, required=True)
@click.option("--reason", default="", help="Why; it is remembered with the page.")
@wiki_option
@dry_run_option
@json_option
def discard(wiki: Wiki, names: tuple[str, ...], reason: str, dry_run: bool, as_json: bool) -> int:
    """Drop waiting pages; the same proposal is not made again."""
    return _decide(wiki, (), names, reason, dry_run, as_json)


def _decide(
    wiki: Wiki,
    promoted: tuple[str, ...],
    discarded: tuple[str, ...],
    reason: str,
    dry_run: bool,
    as_json: bool,
) -> int:
    good, bad = (look.named_candidates(wiki, names) for names in (promoted, discarded))
    if dry_run:
        answer = ReviewAnswer(
            run="", promoted=[one.target for one in good], discarded=[one.slug for one in bad], refused={}
        )
    else:
        from flows import night
        from flows.reading_in import Review
        from flows.steps import DirectRunner, utc_now

        reviews = [Review(one.slug, True) for one in good] + [Review(one.slug, False, reason) for one in bad]
        report = night.review(wiki, DirectRunner(), utc_now(), reviews)
        refused = {problem.subject: problem.cause for problem in report.problems}
        waiting = {one.id for one in look.open_candidates(wiki)}
        answer = ReviewAnswer(
            run=report.run,
            promoted=[one.target for one in good if one.id not in waiting],
            discarded=[one.slug for one in bad if one.id not in waiting],
            refused=refused,
        )
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
