"""`nightwiki contradictions list | resolve | dismiss`."""

from __future__ import annotations

import textwrap

import click

from config.wiki import Wiki
from serving import disputed, look
from serving.cli.common import dry_run_option, json_option, print_json, wiki_option
from serving.cli.group import DefaultGroup, Example
from serving.schemas.review import ClaimItem, ContradictionAnswer
from tasks.contradictions.claims import Decision


@click.group(cls=DefaultGroup, default="list")
def contradictions() -> None:
    """Sentences of two sources that cannot both be right; you decide."""


@contradictions.command("list", cls=Example, example="nightwiki contradictions list")
@click.option("--all", "everything", is_flag=True, help="Those that were decided, too.")
@wiki_option
@json_option
def list_contradictions(wiki: Wiki, everything: bool, as_json: bool) -> None:
    """List the contradictions that wait for a decision, with both sentences and their places."""
    answer = disputed.contradictions(wiki, everything)
    if as_json:
        print_json(answer)
        return
    for number, one in enumerate(answer.contradictions):
        if number:
            click.echo()
        click.secho(f"{one.id}  {one.page}  {one.kind}{'' if one.state == 'open' else f'  ({one.state})'}", bold=True)
        _show("old", one.old)
        _show("new", one.new)
    if not answer.contradictions:
        click.echo("No contradiction waits for you.")


def _show(name: str, claim: ClaimItem) -> None:
    place = f"{claim.source}#{claim.place}" if claim.place else claim.source
    when = claim.when or (f"published {claim.published[:10]}" if claim.published else "")
    text = f'{name}: "{" ".join(claim.quote.split())}" ({place}{", " + when if when else ""})'
    for line in textwrap.wrap(text, 110, subsequent_indent="     ", break_long_words=False):
        click.echo(f"  {line}")


@contradictions.command(cls=Example, example="nightwiki contradictions resolve 3fa94c1e07 take-new")
@click.argument("name", metavar="ID|PAGE")
@click.argument("how", type=click.Choice(["keep-old", "take-new", "both"]))
@click.option("--old-when", default="", metavar="TEXT", help="For both: when the old one holds, say 'to 2024'.")
@click.option("--new-when", default="", metavar="TEXT", help="For both: when the new one holds.")
@click.option("--reason", default="", help="Why; it is remembered.")
@wiki_option
@dry_run_option
@json_option
def resolve(
    wiki: Wiki, name: str, how: str, old_when: str, new_when: str, reason: str, dry_run: bool, as_json: bool
) -> int:
    """Keep the old sentence, take the new one, or keep both with their times.

    The sentence that loses leaves the page and stays out until it reads otherwise in its source. Text that you wrote
    yourself is not changed; what would change in it waits as a candidate.
    """
    if how != "both" and (old_when or new_when):
        raise click.UsageError("--old-when and --new-when go with both.")
    return _decide(wiki, name, Decision(how), reason, (old_when, new_when), dry_run, as_json)


@contradictions.command(cls=Example, example='nightwiki contradictions dismiss 3fa94c1e07 --reason "two machines"')
@click.argument("name", metavar="ID|PAGE")
@click.option("--reason", default="", help="Why; it is remembered.")
@wiki_option
@dry_run_option
@json_option
def dismiss(wiki: Wiki, name: str, reason: str, dry_run: bool, as_json: bool) -> int:
    """Say that two sentences do not contradict each other; they are not set against each other again."""
    return _decide(wiki, name, Decision.DISMISSED, reason, ("", ""), dry_run, as_json)


def _decide(
    wiki: Wiki, name: str, decision: Decision, reason: str, times: tuple[str, str], dry_run: bool, as_json: bool
) -> int:
    from flows.contradictions import Verdict, decide
    from flows.steps import DirectRunner, utc_now

    done = decide(wiki, DirectRunner(), utc_now(), Verdict(name, decision, reason, *times), dry_run)
    answer = ContradictionAnswer(
        run=done.run,
        contradiction=disputed.item(done.row, done.slug, done.page, look.locations(wiki)),
        changed=list(done.changed),
        staged=done.staged,
        left=done.left,
    )
    if as_json:
        print_json(answer)
        return 3 if answer.left else 0
    click.echo(f"{'would be decided' if dry_run else 'decided'}: {decision}, on {done.page}")
    for path in answer.changed:
        click.echo(f"{'would be written' if dry_run else 'written'}: {path}")
    if answer.staged:
        click.echo(f"{answer.staged}: text of yours would change, so it waits for you", err=True)
    if answer.left:
        click.echo(answer.left, err=True)
    return 3 if answer.left else 0
