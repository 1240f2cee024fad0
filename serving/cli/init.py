"""`nightwiki init`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from config.wiki import SETTINGS_NAME
from serving.cli.common import dry_run_option, json_option, print_json
from serving.cli.group import Example
from serving.new_wiki import Plan, carry_out, plan
from serving.schemas.upkeep import InitAnswer


@click.command(cls=Example, example="nightwiki init ~/notes/computing --demo")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--demo", is_flag=True, help="Fill it with a dozen small sources on the history of computing.")
@click.option("--yes", is_flag=True, help="Do not ask before settings are put into a folder that holds notes.")
@dry_run_option
@json_option
def init(folder: Path, demo: bool, yes: bool, dry_run: bool, as_json: bool) -> None:
    """Make a wiki in DIR.

    A new folder gets settings, a sources folder and a note for its purpose. In a folder that already holds notes
    you see first what would be taken in and how; then only nightwiki.yaml and the state folder are made, and no note
    is touched.
    """
    planned = plan(folder, demo)
    if planned.kind == "adopt" and not as_json:
        _preview(planned)
    if planned.kind == "adopt" and not (yes or dry_run):
        if as_json or not sys.stdin.isatty():
            raise click.UsageError(f"{planned.root} holds notes; say --yes to go on, or --dry-run to see the plan.")
        if not click.confirm(f"Write {SETTINGS_NAME}?", err=True):
            raise click.exceptions.Exit(0)
    written = tuple(file.path for file in planned.files) if dry_run else carry_out(planned)
    if as_json:
        print_json(_answer(planned, written))
    elif dry_run:
        click.echo("\n".join(f"would write {path}" for path in written))
    else:
        _next_steps(planned)


def _answer(planned: Plan, written: tuple[str, ...]) -> InitAnswer:
    return InitAnswer(
        root=str(planned.root),
        kind=planned.kind,
        notes=planned.notes,
        pages=list(planned.settings.adopt.pages),
        ignored=list(planned.settings.adopt.ignored),
        clips=list(planned.settings.sources.clips),
        writes=list(written),
    )


def _preview(planned: Plan) -> None:
    settings = planned.settings
    click.echo(f"{planned.root} holds {planned.notes} notes. They stay yours: no note is ever changed.")
    click.echo(f"  searched and linked to: {', '.join(settings.adopt.pages) or 'none'}")
    click.echo(f"  left out:               {', '.join(settings.adopt.ignored) or 'none'}")
    click.echo(
        f"  compiled as sources:    {', '.join(settings.sources.clips)} (web clippings), {settings.sources.dir}/"
    )
    click.echo(f"  new pages go to:        {settings.pages.dir}/ and {settings.pages.evidence}/")
    click.echo(f"Only {SETTINGS_NAME} and {settings.state_dir}/ are made; change the globs there as you like.")


def _next_steps(planned: Plan) -> None:
    place = click.format_filename(planned.root)
    click.echo(f"Made a wiki in {place}")
    if planned.kind != "demo":
        click.echo(f"Put sources into {planned.settings.sources.dir}/ or links into {planned.settings.sources.inbox}.")
    click.echo(f"Next: nightwiki -w {place} ingest")
