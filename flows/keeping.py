"""Backups: a wiki written into one file while no run is under way, and brought back from it, ready to be asked."""

from __future__ import annotations

from pathlib import Path

from config.edit import set_value
from config.errors import NightwikiError
from config.wiki import SETTINGS_NAME, Wiki, open_wiki
from flows.session import open_state
from storage import backup
from storage.backup import Archived
from storage.durable import write_file

STATE = ".nightwiki"


def back_up(wiki: Wiki, target: Path, dry_run: bool = False) -> Archived:
    """Write one archive of a wiki; waits for a sync alone: BusyError names another run that is under way."""
    target = target.expanduser().absolute()
    for place in (wiki.root, wiki.state_dir):
        if target.resolve().is_relative_to(place):
            raise NightwikiError(str(target), "lies within the wiki itself", "Name a file outside of it.")
    state = open_state(wiki)
    if dry_run:
        return backup.contents(wiki.root, wiki.state_dir, _snapshot(wiki))
    with state.run_lock(kind="backup"), state.write_lock():
        state.recover()
        return backup.write(target, wiki.root, wiki.state_dir, _snapshot(wiki))


def restore(archive: Path, target: Path, dry_run: bool = False) -> Archived:
    """Bring an archive into a new or empty folder and make there what is derived; a dry run checks the archive."""
    archive, target = archive.expanduser(), target.expanduser().absolute()
    if dry_run:
        return backup.verify(archive)
    found = backup.read(archive, target, STATE)
    path = target / SETTINGS_NAME
    if path.is_file():
        text = path.read_text(encoding="utf-8")
        wiki = open_wiki(target)
        if wiki.state_dir != (target / STATE).resolve():  # never that of the wiki it was taken from
            write_file(path, [set_value(text, ("state_dir",), STATE, str(path)).encode()])
            wiki = open_wiki(target)
        open_state(wiki).recover()
    return found


def size_of(archive: Path) -> int:
    """Bytes of an archive's file; 0 when there is none."""
    return archive.stat().st_size if archive.is_file() else 0


def _snapshot(wiki: Wiki) -> str:
    current = open_state(wiki).reader.current()
    return current.id if current is not None else ""
