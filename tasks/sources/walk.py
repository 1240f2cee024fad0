"""A walk over the folders of sources that opens nothing: names, sizes and times, by the rules of what is a
source.
"""

from __future__ import annotations

import os
import posixpath
import stat
from pathlib import Path, PurePosixPath

from config.globs import matches
from config.settings import Settings
from tasks.records import Found, SourceKind
from tasks.sources.leftovers import evicted, is_companion, is_conflict, is_leftover
from tasks.sources.source_list import Problem

_MAX_DEPTH = 64


def clean(path: str) -> str:
    """A vault path in its plain form: no `./`, no trailing slash; '' is the vault itself."""
    plain = posixpath.normpath(path.replace(os.sep, "/"))
    return "" if plain == "." else plain


def is_within(path: str, folder: str) -> bool:
    """Whether a plain vault path is a folder or lies in it."""
    return folder == "" or path == folder or path.startswith(f"{folder}/")


class Walk:
    """Gathers files with their stat; what cannot be looked at is doubtful, so that nothing in it counts as
    gone.
    """

    def __init__(self, vault: Path, settings: Settings) -> None:
        self.files: dict[str, Found] = {}
        self.problems: list[Problem] = []
        self._vault = vault
        self._real_vault = os.path.realpath(vault)
        self._settings = settings
        self._doubtful: list[str] = []
        self._visited: set[tuple[int, int]] = set()
        self._lists = {clean(settings.sources.list), clean(settings.sources.inbox)}
        self._sources = clean(settings.sources.dir)
        pages = settings.pages
        own = [settings.state_dir, pages.evidence, pages.candidates or f"{pages.dir}/candidates", pages.dir]
        read = [self._sources, *(clean(folder) for folder in settings.sources.clips)]
        self._own = {folder for folder in map(clean, own) if not any(is_within(one, folder) for one in read)}

    def is_doubtful(self, path: str) -> bool:
        """Whether a path lies where this walk could not look."""
        return any(is_within(path, folder) for folder in self._doubtful)

    def folder(self, folder: str, kind: SourceKind) -> None:
        """Take in a folder of the settings with all below it; a clip folder need not exist."""
        path = clean(folder)
        if PurePosixPath(folder).is_absolute() or ".." in PurePosixPath(folder).parts:
            self._report(folder, "the folder lies outside the vault", "Set a folder inside the vault.")
        elif (self._vault / path).is_dir():
            self._folder(path, kind, 0)
        else:
            self._doubtful.append(path)
            if kind is SourceKind.FILE:
                self._report(path, "the sources folder is not there", "Create it, or connect its drive.")

    def file(self, path: str) -> None:
        """Take in one adopted note, unless it is one of nightwiki's own or a list."""
        path = clean(path)
        if path in self._lists or any(is_within(path, folder) for folder in self._own):
            return
        full = self._vault / path
        try:
            inside = _is_inside(os.path.realpath(full), self._real_vault)
            info = full.stat()
        except OSError:
            return
        if inside and stat.S_ISREG(info.st_mode) and path not in self.files:
            self.files[path] = Found(SourceKind.FILE, path, path, info.st_size, info.st_mtime_ns)

    def _folder(self, folder: str, kind: SourceKind, depth: int) -> None:
        try:
            info = (self._vault / folder).stat()
            if (info.st_dev, info.st_ino) in self._visited:
                return
            self._visited.add((info.st_dev, info.st_ino))
            with os.scandir(self._vault / folder) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError as error:
            self._doubtful.append(folder)
            self._report(folder, f"the folder cannot be read: {error.strerror}", "Check its permissions.")
            return
        names = {entry.name for entry in entries}
        for entry in entries:
            path = _join(folder, entry.name)
            if away := evicted(entry.name):
                self._doubtful.append(_join(folder, away))
                self._report(_join(folder, away), "its bytes are in iCloud only", "Let the Finder download it.")
            if is_leftover(entry.name) or path in self._lists or self._is_ignored(path):
                continue
            try:
                self._entry(entry, path, kind, depth, names)
            except OSError as error:
                self._doubtful.append(path)
                self._report(path, f"it cannot be looked at: {error.strerror}", "Check its permissions.")

    def _entry(self, entry: os.DirEntry[str], path: str, kind: SourceKind, depth: int, names: set[str]) -> None:
        if entry.is_symlink() and not self._may_follow(path):
            return
        if entry.is_dir():
            if path in self._own or is_companion(entry.name, names):
                return
            if depth < _MAX_DEPTH:
                self._folder(path, kind, depth + 1)
            else:
                self._doubtful.append(path)
                self._report(path, f"folders are nested deeper than {_MAX_DEPTH}")
            return
        if path in self.files or not entry.is_file():
            return
        if is_conflict(entry.name):
            self._report(path, "a copy left by a sync conflict is not read", "Delete it, or rename it to keep it.")
            return
        if kind is SourceKind.CLIP and not entry.name.lower().endswith(".md"):
            return
        try:
            path.encode("utf-8")
        except UnicodeEncodeError:
            shown = path.encode("utf-8", "backslashreplace").decode()
            self._report(shown, "the file's name is not valid Unicode", "Rename it.")
            return
        info = entry.stat()
        self.files[path] = Found(kind, path, path, info.st_size, info.st_mtime_ns)

    def _may_follow(self, path: str) -> bool:
        """Whether a link leads to a place in the vault that is not nightwiki's own."""
        target = os.path.realpath(self._vault / path)
        if not Path(target).exists():
            self._report(path, "a link to nothing", "Remove it, or connect its drive.")
            self._doubtful.append(path)
            return False
        inner = clean(os.path.relpath(target, self._real_vault))
        if not _is_inside(target, self._real_vault):
            self._report(path, "a link that leaves the vault is not followed", "Put the file itself here.")
            return False
        if Path(target).is_dir() and is_within(inner, self._sources):
            return False  # its files are met where they lie
        if any(is_within(inner, folder) or is_within(folder, inner) for folder in self._own):
            self._report(path, "a link to nightwiki's own pages is not followed", "Remove it.")
            return False
        return True

    def _is_ignored(self, path: str) -> bool:
        globs = self._settings.sources.ignore
        if not globs:
            return False
        return matches(path, globs) or matches(path.removeprefix(f"{self._sources}/"), globs)

    def _report(self, path: str, cause: str, next_step: str = "") -> None:
        self.problems.append(Problem(path, 0, cause, next_step))


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _is_inside(real: str, real_folder: str) -> bool:
    return real == real_folder or real.startswith(real_folder.rstrip(os.sep) + os.sep)
