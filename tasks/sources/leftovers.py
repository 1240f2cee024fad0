"""File names that are no sources: what editors, downloads, syncing programs and systems leave lying about."""

from __future__ import annotations

import re

_SUFFIXES = (
    ".tmp", ".temp", ".part", ".partial", ".filepart", ".crdownload", ".download", ".opdownload",
    ".unconfirmed", ".aria2", ".!ut", ".!qb", ".!sync", ".bts", ".swp", ".swo", ".swx", ".bak~", ".lock",
    ".icloud", "~",
)  # fmt: skip
_NAMES = frozenset({"thumbs.db", "ehthumbs.db", "desktop.ini", "icon\r", "$recycle.bin", "__macosx", "@eadir"})
_CONFLICT = re.compile(
    r"\.sync-conflict-\d{8}-\d{6}"                                      # Syncthing
    r"|\((?:[^()]*\s)?(?:conflicted copy|conflict|in konflikt stehende kopie)\b[^()]*\)"  # Dropbox, Nextcloud
    r"|_conflict-\d{8}-\d{6}",                                          # ownCloud
    re.IGNORECASE,
)  # fmt: skip
_COMPANION = re.compile(
    r"(.+?)(?:_files|\.files|-Dateien|_fichiers|_archivos|_file|_ficheiros|_arquivos|_bestanden|_pliki)", re.IGNORECASE
)


def is_leftover(name: str) -> bool:
    """Whether a file or folder of this name is hidden, temporary, half downloaded, or an editor's or a
    system's own.
    """
    low = name.lower()
    if low.startswith((".", "~$", "~syncthing~")) or low.endswith(_SUFFIXES) or low in _NAMES:
        return True
    return len(low) > 2 and low.startswith("#") and low.endswith("#")


def is_conflict(name: str) -> bool:
    """Whether a syncing program made this file because two machines had changed one."""
    return _CONFLICT.search(name) is not None


def is_companion(name: str, siblings: set[str]) -> bool:
    """Whether a folder holds the pictures and scripts of a web page that a browser saved beside it."""
    match = _COMPANION.fullmatch(name)
    return match is not None and any(
        f"{match[1]}.{ending}" in siblings for ending in ("html", "htm", "xhtml", "HTM", "HTML")
    )


def evicted(name: str) -> str:
    """The name of the file for which iCloud left a placeholder, or ''."""
    return name[1 : -len(".icloud")] if name.startswith(".") and name.endswith(".icloud") else ""
