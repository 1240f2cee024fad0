"""`nightwiki up`."""

from __future__ import annotations

import os
import sys

import click

from config.wiki import Wiki
from serving.cli.common import TerminalProgress, wiki_option
from serving.cli.group import Example


@click.command(cls=Example, example="nightwiki up")
@click.option("--once", is_flag=True, help="Run the night's flow once, then stop the server again.")
@click.option("--api", is_flag=True, help="Also answer programs over HTTP, as `nightwiki serve` does.")
@click.option("--install", is_flag=True, help="Have your system start it at login (systemd, launchd); asks first.")
@click.option("--uninstall", is_flag=True, help="Take that back.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="With --install or --uninstall: say what would happen, and do nothing.")
@wiki_option
def up(wiki: Wiki, once: bool, api: bool, install: bool, uninstall: bool, yes: bool, dry_run: bool) -> int:
    """Start nightwiki's own Prefect server, serve the schedules, and take your edits in within a minute.

    Runs until Ctrl-C or SIGTERM, and ends what it started. Prefect's console shows every run, its log and its digest.
    """
    if sum((once, install, uninstall)) > 1:
        raise click.UsageError("--once, --install and --uninstall exclude each other")
    if dry_run and not (install or uninstall):
        raise click.UsageError("--dry-run goes with --install or --uninstall")
    if install or uninstall:
        _service(wiki, uninstall, api, yes, dry_run)
        return 0
    from flows.service import up as ups
    from flows.service.install import command

    if not once:
        if ups.up(wiki, click.echo, [("serve", "-w", str(wiki.root))] if api else []):
            sys.stdout.flush()
            os.execv(sys.executable, [*command(wiki, api)])
        return 0
    from serving.cli.ingest import EXIT_CODES
    from serving.cli.reports import show_report

    with TerminalProgress(True) as progress:
        report = ups.once(wiki, progress, lambda line: click.echo(line, err=True))
    show_report(report, wiki)
    return EXIT_CODES[report.state]


def _service(wiki: Wiki, uninstall: bool, api: bool, yes: bool, dry_run: bool) -> None:
    """Show what will be written or removed, ask, do it."""
    from flows.service import install as services

    service = services.service_of(wiki, api=api)
    if uninstall:
        if not service.path.exists():
            click.echo(f"Not installed: there is no {service.path}")
            return
        click.echo(f"Removes {service.path}, after: {'; '.join(' '.join(command) for command in service.stop)}")
    else:
        click.echo(f"Writes {service.path}:\n\n{service.text}")
        click.echo(f"Then: {'; '.join(' '.join(command) for command in service.start)}")
    if dry_run:
        return
    if not yes:
        click.confirm("Do it?", abort=True)
    if uninstall:
        services.uninstall(service)
        click.echo("Removed.")
    else:
        services.install(service)
        click.echo(f"Installed. {service.note}".rstrip())
