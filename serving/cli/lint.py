"""`nightwiki lint`."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import click

from config.wiki import Wiki
from serving.cli.common import TerminalProgress, dry_run_option, json_option, print_json, wiki_option
from serving.cli.group import Example
from serving.schemas.upkeep import FindingItem, LintAnswer
from tasks.records import Finding
from tasks.text_bytes import shown


@click.command(cls=Example, example="nightwiki lint --fix")
@click.option("--fix", is_flag=True, help="Put right what is safe, in text that nightwiki wrote itself.")
@wiki_option
@dry_run_option
@json_option
def lint(wiki: Wiki, fix: bool, dry_run: bool, as_json: bool) -> int:
    """Check the pages: links, citations, properties, names, duplicates, orphans. Exit code 3 means: findings.

    The vault is looked at as it is now. --fix is a run of its own and never changes a line of yours.
    """
    from flows import lint as lints
    from flows.steps import DirectRunner, utc_now

    with TerminalProgress(not as_json) as progress:
        report = lints.lint(wiki, DirectRunner(progress), utc_now(), fix, dry_run)
    if as_json:
        print_json(
            LintAnswer(
                findings=items(report.findings),
                fixed=items(report.fixed),
                run=report.run,
                changed=[shown(path) for path in report.changed],
            )
        )
        return 3 if report.findings else 0
    for one in report.fixed:
        click.echo(f"{'would be fixed' if dry_run else 'fixed'}: {place(one)}: {one.message}")
    show(report.findings)
    click.echo(f"{len(report.findings)} findings." if report.findings else "Nothing is wrong.")
    return 3 if report.findings else 0


def items(findings: Sequence[Finding]) -> list[FindingItem]:
    """Findings as JSON shows them."""
    return [
        FindingItem(
            check=one.check,
            severity=one.severity,
            page=shown(one.page),
            line=one.line,
            message=one.message,
            fix=one.fix,
        )
        for one in findings
    ]


def place(finding: Finding) -> str:
    """A finding's place as `path:line`."""
    return f"{shown(finding.page)}:{finding.line}" if finding.line else shown(finding.page)


def show(findings: Sequence[Finding]) -> None:
    """The findings under a heading for each check."""
    last = ""
    for one in findings:
        if one.check != last:
            last = one.check
            number = sum(other.check == last for other in findings)
            click.secho(f"{one.severity}: {last} ({number})", bold=True)
        for number, line in enumerate(textwrap.wrap(f"{place(one)}: {one.message}. {one.fix}", 116)):
            click.echo(f"  {line}" if number == 0 else f"    {line}")
