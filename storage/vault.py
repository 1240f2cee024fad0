"""The vault on disk, and the one gate through which files in it are written.

Compare and swap: a file is replaced only if it still has the bytes that the writer saw. The new bytes go to a hidden
temp file in the same folder and are made durable before they take the name, so a crash at any moment leaves the old
or the new file whole. Nothing is written through a link that leaves the vault, and no name is made that another file
system would take for one that exists (other case, other Unicode form).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from config.errors import StateError
from storage.durable import is_temp_name, sha256
from storage.gate import Stat as Stat
from storage.gate import Swap as Swap
from storage.gate import Swapped as Swapped
from storage.gate import storable, swap_all


@dataclass(frozen=True, slots=True)
class ScanProblem:
    """A file or folder that a scan had to leave out. Below an unreadable folder nothing is known to be gone."""

    path: str
    reason: str
    folder: bool = False


@dataclass(frozen=True, slots=True)
class Scan:
    """The files of a folder, with what could not be looked at."""

    files: Mapping[str, Stat]
    problems: tuple[ScanProblem, ...] = ()


class Vault:
    """The folder that a person opens in Obsidian. `protected` folders are the person's alone: never written."""

    def __init__(self, root: Path, protected: Sequence[str] = ()) -> None:
        self.root = Path(root)
        self._protected = tuple(PurePosixPath(one).parts for one in protected)

    # --- reading

    def read(self, path: str) -> bytes:
        """The bytes of a vault file; FileNotFoundError when there is none."""
        return (self.root / path).read_bytes()

    def hash(self, path: str) -> str | None:
        """The hash of a vault file, None when there is none."""
        try:
            return sha256(self.read(path))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def stat(self, folder: str = ".", suffixes: Sequence[str] = (".md",)) -> Mapping[str, Stat]:
        """Files below a folder by path, with size and time. Hidden ones are left out; see `scan` for problems."""
        return self.scan(folder, suffixes).files

    def scan(self, folder: str = ".", suffixes: Sequence[str] = (".md",)) -> Scan:
        """As `stat`, with the names and folders that had to be left out. No suffixes: every file."""
        if not self.root.is_dir():
            raise StateError(str(self.root), "the vault's folder is missing", "Is its disk mounted?")
        files: dict[str, Stat] = {}
        problems: list[ScanProblem] = []
        endings = tuple(suffix.lower() for suffix in suffixes)
        start = self.root / folder
        prefix = "" if folder in ("", ".") else PurePosixPath(folder).as_posix() + "/"
        pending: list[tuple[str, str, frozenset[tuple[int, int]]]] = [(str(start), prefix, frozenset())]
        while pending:
            where, prefix, above = pending.pop()
            try:
                here = os.stat(where)
                key = (here.st_dev, here.st_ino)
                if key in above:
                    continue  # a link back to a folder we came through
                with os.scandir(where) as entries:
                    listed = sorted(entries, key=lambda entry: entry.name)
            except FileNotFoundError:
                continue
            except OSError as error:
                reason = error.strerror or "cannot be read"
                problems.append(ScanProblem(prefix.rstrip("/") or ".", reason, folder=True))
                continue
            for entry in listed:
                if entry.name.startswith("."):
                    continue
                path = prefix + entry.name
                if not storable(path):
                    shown = path.encode("utf-8", "replace").decode()
                    problems.append(ScanProblem(shown, "its name is not valid UTF-8"))
                    continue
                try:
                    if entry.is_dir():
                        if entry.is_symlink() and self._overlaps(entry.path):
                            continue  # its files are scanned under their own path
                        pending.append((entry.path, path + "/", above | {key}))
                    elif entry.name.lower().endswith(endings) if endings else True:
                        found = entry.stat()
                        if stat.S_ISREG(found.st_mode):
                            files[path] = Stat(found.st_size, found.st_mtime_ns)
                except FileNotFoundError:
                    continue  # a broken link, or gone since the folder was listed
                except OSError as error:
                    problems.append(ScanProblem(path, error.strerror or "cannot be read"))
        return Scan(dict(sorted(files.items())), tuple(problems))

    # --- writing

    def swap(self, path: str, expected: str | None, content: bytes | None) -> Swapped:
        """Write or remove one file, as `swap_all`."""
        return self.swap_all([Swap(path, expected, content)])[0]

    def swap_all(self, swaps: Sequence[Swap], crash: Callable[[str], None] = lambda step: None) -> tuple[Swapped, ...]:
        """Write or remove files, each by compare and swap, durable when this returns; results in the order given.

        A file that already has its new bytes counts as landed. Raises OSError (disk full, read-only) with the temp
        files cleaned up; swaps before it may have landed then.
        """
        return swap_all(self.root, self._protected, swaps, crash)

    def clean_temp(self, folders: Iterable[str]) -> tuple[str, ...]:
        """Remove the temp files that a killed write left in these folders; their paths."""
        removed = []
        for path in self.temp_files(folders):
            (self.root / path).unlink(missing_ok=True)
            removed.append(path)
        return tuple(removed)

    def temp_files(self, folders: Iterable[str]) -> tuple[str, ...]:
        """Temp files of ours that lie in these folders."""
        found = []
        for folder in sorted(set(folders)):
            try:
                with os.scandir(self.root / folder) as entries:
                    found += [
                        PurePosixPath(folder, entry.name).as_posix() for entry in entries
                        if is_temp_name(entry.name) and entry.is_file(follow_symlinks=False)
                    ]
            except OSError:
                continue
        return tuple(sorted(found))

    def _overlaps(self, link: str) -> bool:
        """Whether a link leads to a place inside the vault, or to one that holds the vault."""
        root, real = os.path.realpath(self.root) + "/", os.path.realpath(link) + "/"
        return real.startswith(root) or root.startswith(real)
