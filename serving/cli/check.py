"""`nightwiki check`."""

from __future__ import annotations

import click

from config.wiki import Wiki
from serving.cli.common import dry_run_option, json_option, print_json, wiki_option
from serving.cli.group import Example
from serving.schemas.upkeep import CheckAnswer, FindingItem


@click.command(cls=Example, example="nightwiki check --repair")
@click.option("--repair", is_flag=True, help="Rebuild what can be rebuilt; the vault is never touched.")
@wiki_option
@dry_run_option
@json_option
def check(wiki: Wiki, repair: bool, dry_run: bool, as_json: bool) -> int:
    """Check that the wiki's state is sound: hashes, pointer, journal, ledger, search index and identities.

    Exit code 3 means: something was found. With --dry-run nothing is rebuilt, only told.
    """
    from flows.session import open_state
    from storage.check import check as find
    from storage.check import repair as mend

    state = open_state(wiki)
    if repair and not dry_run:
        for line in mend(state):
            click.echo(line, err=True)
    findings = find(state)
    answer = CheckAnswer(
        findings=[
            FindingItem(
                check=one.check,
                severity=one.severity,
                page=one.page,
                line=one.line,
                message=one.message,
                fix=one.fix,
            )
            for one in findings
        ]
    )
    if as_json:
        print_json(answer)
    else:
        for one in answer.findings:
            said = ". ".join(filter(None, (one.message.rstrip("."), one.fix)))
            click.echo(f"{one.severity}: {one.check}: {one.page + ': ' if one.page else ''}{said}")
        number = f"{len(findings)} finding{'' if len(findings) == 1 else 's'}."
        click.echo(number if findings else "The state is sound.")
    return 3 if findings else 0
