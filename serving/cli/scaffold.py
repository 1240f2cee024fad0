"""`nightwiki scaffold`."""

from __future__ import annotations

import click

from config.wiki import Wiki
from serving.cli.common import TerminalProgress, dry_run_option, json_option, print_json, wiki_option
from serving.cli.group import Example
from serving.schemas.upkeep import CategoryItem, ScaffoldAnswer


@click.command(cls=Example, example="nightwiki scaffold --dry-run")
@wiki_option
@dry_run_option
@json_option
def scaffold(wiki: Wiki, dry_run: bool, as_json: bool) -> int:
    """Make index.md anew below its marker: each page in one category, under the headings that are there.

    What stands above the marker is yours and stays byte for byte; a file without the marker gets it at its end. New
    categories are named by the language model, if one is set, else by tags and by the words that pages share.
    """
    from flows import scaffold as scaffolds
    from flows.steps import DirectRunner, utc_now

    with TerminalProgress(not as_json) as progress:
        report = scaffolds.scaffold(wiki, DirectRunner(progress), utc_now(), dry_run)
    if as_json:
        rows = [CategoryItem(name=name, pages=pages) for name, pages in report.categories]
        print_json(
            ScaffoldAnswer(
                run=report.run,
                index=report.index,
                categories=rows,
                changed=list(report.changed),
                left=report.left,
                note=report.note,
            )
        )
        return 3 if report.left else 0
    would = "would be " if dry_run else ""
    if report.index in report.changed:
        click.echo(f"{would}written: {report.index}")
    for name, pages in report.categories:
        click.echo(f"{name}: {pages}")
    pages = sum(number for _, number in report.categories)
    click.echo(report.left or f"{pages} pages in {len(report.categories)} categories.")
    if report.note:
        click.echo(f"Note: {report.note}", err=True)
    return 3 if report.left else 0
