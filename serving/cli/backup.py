"""`nightwiki backup` and `nightwiki restore`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from config.wiki import Wiki
from serving.cli.common import dry_run_option, json_option, print_json, wiki_option
from serving.cli.group import Example
from serving.schemas.upkeep import BackupAnswer

if TYPE_CHECKING:
    from storage.backup import Archived


@click.command(cls=Example, example="nightwiki backup ~/backups/computing-2026-12-01.tar.zst")
@click.argument("file", type=click.Path(path_type=Path))
@wiki_option
@dry_run_option
@json_option
def backup(wiki: Wiki, file: Path, dry_run: bool, as_json: bool) -> None:
    """Write the whole wiki into FILE: the vault and what nightwiki knows, but not what it can derive again.

    FILE is a tar archive compressed with zstd. No run is let in meanwhile.
    """
    from flows import keeping

    found = keeping.back_up(wiki, file, dry_run)
    size = 0 if dry_run else keeping.size_of(file.expanduser())
    if as_json:
        print_json(_answer(file, wiki.root, size, found))
    else:
        verb = "would write" if dry_run else "wrote"
        packed = "" if dry_run else f" in {size:,}"
        click.echo(f"{verb} {found.files} files, {found.bytes:,} bytes{packed}, to {file}")


@click.command(cls=Example, example="nightwiki restore ~/backups/computing-2026-12-01.tar.zst ~/computing-again")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@dry_run_option
@json_option
def restore(file: Path, folder: Path, dry_run: bool, as_json: bool) -> None:
    """Bring the wiki in FILE back as DIR, a new or empty folder. It answers the same, and reads nothing again.

    Every byte is checked first; a damaged FILE leaves nothing behind. With --dry-run it is only checked.
    """
    from flows import keeping

    found = keeping.restore(file, folder, dry_run)
    if as_json:
        print_json(_answer(file, folder, keeping.size_of(file.expanduser()), found))
    elif dry_run:
        click.echo(f"{file} is sound: {found.files} files, {found.bytes:,} bytes")
    else:
        click.echo(f"restored {found.files} files, {found.bytes:,} bytes, to {folder}")


def _answer(file: Path, root: Path, size: int, found: Archived) -> BackupAnswer:
    return BackupAnswer(
        file=str(file), root=str(root), files=found.files, bytes=found.bytes, size=size, snapshot=found.snapshot
    )
