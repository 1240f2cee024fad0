"""`nightwiki routing init | validate | clean`."""

from __future__ import annotations

import click

from config.wiki import Wiki
from flows.steps import DirectRunner, utc_now
from serving.cli.common import dry_run_option, json_option, print_json, wiki_option
from serving.cli.group import Example, Group
from serving.cli.lint import items, show
from serving.schemas.upkeep import CategoryItem, CheckAnswer, RoutingAnswer


@click.group(cls=Group)
def routing() -> None:
    """ROUTING.md: your table of branches, by which a question is put to the pages that it is about."""


@routing.command(cls=Example, example="nightwiki routing init")
@click.option("--force", is_flag=True, help="Replace a table that is there; what is lost is said.")
@wiki_option
@dry_run_option
@json_option
def init(wiki: Wiki, force: bool, dry_run: bool, as_json: bool) -> int:
    """Make ROUTING.md, once, from the categories of index.md. From then on it is yours."""
    from flows import routing as routes

    report = routes.init(wiki, DirectRunner(), utc_now(), force, dry_run)
    if as_json:
        rows = [CategoryItem(name=name, pages=pages) for name, pages in report.branches]
        print_json(
            RoutingAnswer(run=report.run, branches=rows, removed=[], changed=list(report.changed), left=report.left)
        )
        return 3 if report.left else 0
    would = "would be " if dry_run else ""
    if report.lost:
        gone = report.lost
        click.echo(
            f"{would}lost: {gone.branches} branches with {gone.entries} entries, {gone.lines} lines of text", err=True
        )
    for name, pages in report.branches:
        click.echo(f"{name}: {pages}")
    said = f"{would}written: ROUTING.md; {report.outside} pages in no branch, so in scope of every question."
    click.echo(report.left or said)
    return 3 if report.left else 0


@routing.command(cls=Example, example="nightwiki routing validate")
@wiki_option
@json_option
def validate(wiki: Wiki, as_json: bool) -> int:
    """Say what is wrong with ROUTING.md, and change nothing. Exit code 3 means: findings."""
    from flows import routing as routes

    findings = routes.validate(wiki, utc_now())
    if as_json:
        print_json(CheckAnswer(findings=items(findings)))
    else:
        show(findings)
        exists = (wiki.root / "ROUTING.md").is_file()
        sound = "ROUTING.md is sound." if exists else "There is no ROUTING.md: nightwiki routing init"
        click.echo(f"{len(findings)} findings." if findings else sound)
    return 3 if findings else 0


@routing.command(cls=Example, example="nightwiki routing clean --dry-run")
@wiki_option
@dry_run_option
@json_option
def clean(wiki: Wiki, dry_run: bool, as_json: bool) -> int:
    """Remove the entries whose page is gone, lead those of renamed pages there; all else stays as it is."""
    from flows import routing as routes

    report = routes.clean(wiki, DirectRunner(), utc_now(), dry_run)
    if as_json:
        print_json(
            RoutingAnswer(
                run=report.run,
                branches=[],
                removed=list(report.removed),
                renamed=list(report.renamed),
                changed=list(report.changed),
                left=report.left,
            )
        )
        return 0
    for target in report.removed:
        click.echo(f"{'would be ' if dry_run else ''}removed: [[{target}]]")
    for target in report.renamed:
        click.echo(f"{'would be ' if dry_run else ''}renamed: [[{target}]]")
    number = len(report.removed)
    said = f"{number} {'entry' if number == 1 else 'entries'} {'to be ' if dry_run else ''}removed."
    click.echo(report.left or said)
    return 0
