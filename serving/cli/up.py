"""`nightwiki up`."""

from __future__ import annotations

import click

from config.wiki import Wiki
from serving.cli.common import TerminalProgress, wiki_option
from serving.cli.group import Example


@click.command(cls=Example, example="nightwiki up")
@click.option("--once", is_flag=True, help="Run the night's flow once, then stop the server again.")
@click.option("--api", is_flag=True, help="Also answer programs over HTTP, as `nightwiki serve` does.")
@wiki_option
def up(wiki: Wiki, once: bool, api: bool) -> int:
    """Start nightwiki's own Prefect server, serve the schedules, and take your edits in within a minute.

    Runs until Ctrl-C or SIGTERM, and ends what it started. Prefect's console shows every run, its log and its digest.
    """
    from flows import up as ups

    if not once:
        ups.up(wiki, click.echo, [("serve", "-w", str(wiki.root))] if api else [])
        return 0
    from serving.cli.ingest import EXIT_CODES
    from serving.cli.reports import show_report

    with TerminalProgress(True) as progress:
        report = ups.once(wiki, progress, lambda line: click.echo(line, err=True))
    show_report(report, wiki)
    return EXIT_CODES[report.state]
