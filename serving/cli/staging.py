"""`nightwiki staging policy`."""

from __future__ import annotations

import click

from config.edit import set_value
from config.load import parse_settings
from config.wiki import SETTINGS_NAME, Wiki
from serving.cli.common import dry_run_option, json_option, print_json, wiki_option
from serving.cli.group import Example, Group
from serving.schemas.review import StagingAnswer
from storage.durable import sha256
from storage.vault import Vault

POLICIES = ("off", "all", "threshold")
LEVELS = ("high", "medium", "low")


@click.group(cls=Group)
def staging() -> None:
    """Which pages wait for review before they are published."""


@staging.command(cls=Example, example="nightwiki staging policy threshold --min-confidence high")
@click.argument("policy", type=click.Choice(POLICIES), required=False)
@click.option("--min-confidence", type=click.Choice(LEVELS), help="Lowest confidence that is published unread.")
@wiki_option
@dry_run_option
@json_option
def policy(wiki: Wiki, policy: str | None, min_confidence: str | None, dry_run: bool, as_json: bool) -> None:
    """Show the policy, or set it in nightwiki.yaml: off (nothing waits), all, or threshold. The next run goes by it."""
    before = wiki.settings_path.read_bytes()
    text = before.decode("utf-8")
    if policy:
        text = set_value(text, ("staging", "policy"), policy, str(wiki.settings_path))
    if min_confidence:
        text = set_value(text, ("staging", "min_confidence"), min_confidence, str(wiki.settings_path))
    chosen = parse_settings(text, str(wiki.settings_path)).staging
    if text.encode() != before and not dry_run:
        done = Vault(wiki.root).swap(SETTINGS_NAME, sha256(before), text.encode())
        if done.refused:
            raise click.ClickException(f"{wiki.settings_path}: {done.refused}. Try again.")
    if as_json:
        print_json(StagingAnswer(policy=chosen.policy, min_confidence=chosen.min_confidence))
        return
    changed = text.encode() != before
    said = "would be: " if changed and dry_run else "now: " if changed else ""
    limit = f" {chosen.min_confidence}" if chosen.policy == "threshold" else ""
    click.echo(f"{said}{chosen.policy}{limit}")
