"""`nightwiki schedule`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import cast

import click

from config.load import parse_settings
from config.schedule_edit import remove_entry, set_entry
from config.settings import SCHEDULED_FLOWS, ScheduledFlow, Timed
from config.wiki import SETTINGS_NAME, Wiki
from serving.cli.common import dry_run_option, json_option, print_json, print_rows, wiki_option
from serving.cli.group import Example, Group
from serving.schemas.upkeep import DeploymentItem, ScheduleAnswer, ScheduleApplyAnswer, ScheduleEditAnswer, ScheduleItem
from storage.durable import sha256
from storage.vault import Vault


@click.group(cls=Group)
def schedule() -> None:
    """When things run: the entries of `schedule` in nightwiki.yaml, and how they stand in Prefect."""


@schedule.command("list", cls=Example, example="nightwiki schedule list")
@wiki_option
@json_option
def list_(wiki: Wiki, as_json: bool) -> None:
    """List the entries, each with its next run, its last one, the last good one, and whether it is paused."""
    from flows.service.standing import standings

    zone = wiki.settings.time_zone
    items = [
        ScheduleItem(
            name=one.entry.name,
            flow=one.entry.flow,
            cron=one.entry.cron,
            time_zone=one.entry.time_zone or zone,
            next_run=one.next_run,
            last_run=one.last_run,
            last_state=one.last_state,
            last_good_run=one.last_good_run,
            paused=one.paused,
            served=one.served,
        )
        for one in standings(wiki)
    ]
    if as_json:
        print_json(ScheduleAnswer(schedules=items))
        return
    rows = [
        (
            one.name,
            one.flow,
            one.cron or "never",
            one.time_zone,
            "paused" if one.paused else one.next_run or "-",
            f"{one.last_run} {one.last_state}".strip() or "-",
            one.last_good_run or "-",
        )
        for one in items
    ]
    print_rows(rows, ("name", "flow", "cron", "time zone", "next run", "last run", "last good run"))
    if all(one.paused is None for one in items):
        click.echo("No server is up, so nothing runs by itself. Start one with: nightwiki up")


@schedule.command(cls=Example, example="nightwiki schedule add noon '0 12 * * 1-5' --flow ingest")
@click.argument("name")
@click.argument("cron")
@click.option("--flow", type=click.Choice(SCHEDULED_FLOWS), help="What runs; NAME itself when it is one of these.")
@click.option("--time-zone", metavar="ZONE", default="", help="Such as Europe/Berlin; else the wiki's.")
@wiki_option
@dry_run_option
@json_option
def add(
    wiki: Wiki, name: str, cron: str, flow: str | None, time_zone: str, dry_run: bool, as_json: bool
) -> None:
    """Add the entry NAME, or change it: CRON is minute, hour, day of month, month, weekday.

    Edits its one line in nightwiki.yaml. A `nightwiki up` that is on goes by it within seconds.
    """
    chosen = flow or (name if name in SCHEDULED_FLOWS else "")
    if not chosen:
        raise click.UsageError(f"say what '{name}' runs, with --flow")
    if not cron.strip():
        raise click.UsageError("CRON is empty; to switch an entry off use: nightwiki schedule remove")
    entry = Timed(name=name, flow=cast("ScheduledFlow", chosen), cron=cron, time_zone=time_zone)
    text = _text(wiki)
    _write(wiki, text, set_entry(text, entry, str(wiki.settings_path)), dry_run, as_json)


@schedule.command(cls=Example, example="nightwiki schedule remove noon")
@click.argument("name")
@wiki_option
@dry_run_option
@json_option
def remove(wiki: Wiki, name: str, dry_run: bool, as_json: bool) -> None:
    """Remove the entry NAME; nightly and weekly, which have a default, are switched off."""
    text = _text(wiki)
    _write(wiki, text, remove_entry(text, name, str(wiki.settings_path)), dry_run, as_json)


@schedule.command(cls=Example, example="nightwiki schedule apply --dry-run")
@wiki_option
@dry_run_option
@json_option
def apply(wiki: Wiki, dry_run: bool, as_json: bool) -> None:
    """Bring the deployments on the Prefect server to what nightwiki.yaml says.

    Only this wiki's own are touched. A pause that you made in the console stays. `nightwiki up` does this by itself.
    """
    from flows.service.standing import apply as put

    changes = put(wiki, dry_run)
    if as_json:
        items = [DeploymentItem.model_validate({"deployment": c.deployment, "change": c.change}) for c in changes]
        print_json(ScheduleApplyAnswer(deployments=items))
        return
    print_rows([(one.deployment, one.change) for one in changes], ("deployment", "would be" if dry_run else "is"))


@schedule.command(cls=Example, example="nightwiki schedule export prefect.yaml --pool nights")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), required=False)
@click.option("--pool", metavar="NAME", default="nightwiki", show_default=True, help="The process work pool.")
@wiki_option
@dry_run_option
def export(wiki: Wiki, file: Path | None, pool: str, dry_run: bool) -> None:
    """Write a prefect.yaml (to FILE, else to standard output) for a process work pool of your own server.

    Deploy it from the empty folder that it names, as the command tells then: Prefect looks for flows in the folder
    that it is called in, and would take a folder `flows` of yours for nightwiki's.
    """
    from flows.service.export_schedule import prefect_yaml
    from flows.service.server import working_folder

    text = prefect_yaml(wiki, pool)
    if file is None or dry_run:
        sys.stdout.write(text)
        return
    if file.exists():
        raise click.ClickException(f"{file}: is there already. Name another file, or delete it first.")
    file.write_text(text, encoding="utf-8")
    click.echo(f"Written: {file}. Then:")
    click.echo(f"  cd {shlex.quote(str(working_folder(wiki)))}")
    click.echo(f"  prefect deploy --all --prefect-file {shlex.quote(str(file.resolve()))}")
    click.echo(f"  prefect worker start --pool {shlex.quote(pool)} --type process")


def _text(wiki: Wiki) -> str:
    return wiki.settings_path.read_bytes().decode("utf-8")


def _write(wiki: Wiki, before: str, after: str, dry_run: bool, as_json: bool) -> None:
    """Put the edited settings in place of those that were read, and tell which entries are on."""
    if after != before and not dry_run:
        done = Vault(wiki.root).swap(SETTINGS_NAME, sha256(before.encode()), after.encode())
        if done.refused:
            raise click.ClickException(f"{wiki.settings_path}: {done.refused}. Try again.")
    entries = parse_settings(after, str(wiki.settings_path)).schedule.entries
    on = [entry for entry in entries if entry.cron]
    if as_json:
        print_json(ScheduleEditAnswer(changed=after != before, schedules=[entry.name for entry in on]))
        return
    click.echo("would be:" if dry_run else "now:")
    for entry in on:
        zone = entry.time_zone or wiki.settings.time_zone
        click.echo(f"  {entry.name}: {entry.flow}, '{entry.cron}' ({zone})")
