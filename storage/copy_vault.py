"""A clean copy of a vault: pages, evidence and sources, without state, settings and what waits for review."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from config.errors import NightwikiError
from config.globs import matches
from config.wiki import SETTINGS_NAME, Wiki
from storage.durable import fsync_folder, temp_name
from storage.vault import Vault


@dataclass(frozen=True, slots=True)
class Copied:
    """The files of a copy, and their bytes in all."""

    paths: Sequence[str]
    bytes: int


def copy_vault(wiki: Wiki, target: Path, dry_run: bool = False) -> Copied:
    """Copy a vault to a new or empty folder, all or nothing. NightwikiError when something lies there."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise NightwikiError(str(target), "is not an empty folder", "Name a new or empty folder.")
    if target.resolve().is_relative_to(wiki.root):
        raise NightwikiError(str(target), "lies within the wiki itself", "Name a folder outside of it.")
    if not target.parent.is_dir():
        raise NightwikiError(str(target), "the folder above it does not exist", "Make that folder first.")
    files = {path: stat for path, stat in Vault(wiki.root).scan(".", ()).files.items() if _belongs(wiki, path)}
    if not dry_run:
        temp = target.parent / temp_name()
        try:
            for path in files:
                place = temp / path
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(wiki.root / path, place)
            temp.mkdir(exist_ok=True)
            if target.exists():
                target.rmdir()
            temp.rename(target)
        finally:
            shutil.rmtree(temp, ignore_errors=True)
        fsync_folder(target.parent)
    return Copied(tuple(files), sum(stat.size for stat in files.values()))


def _belongs(wiki: Wiki, path: str) -> bool:
    """Whether a file is for readers: not for nightwiki alone, not a candidate, not one that the owner left out."""
    own = {SETTINGS_NAME, wiki.source_list, wiki.inbox, "ROUTING.md", "purpose.md", wiki.settings.digest.note}
    folders = [wiki.candidates_dir]
    if wiki.state_dir.is_relative_to(wiki.root):
        folders.append(wiki.state_dir.relative_to(wiki.root).as_posix())
    inside = any(path.startswith(folder + "/") for folder in folders)
    return path not in own and not inside and not matches(path, wiki.settings.adopt.ignored)
