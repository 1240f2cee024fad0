"""The swap behind `storage.vault`: how one file goes from bytes that were seen to new bytes, or stays as it is.

Each step concerns one file: prepare (may it be written, does it have the expected bytes), write a hidden temp file,
take the name. Paths are plain strings, for thousands go through and pathlib takes several times as long.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import unicodedata
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from storage.durable import fsync_folder, sha256, temp_name, write_all

_THREADS = 8
_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_ONE_FILE = (errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ)  # errors that stop no other


@dataclass(frozen=True, slots=True)
class Stat:
    """Size and modification time of a file."""

    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Swap:
    """One file to bring from the bytes `expected` (None: absent) to `content` (None: removed)."""

    path: str
    expected: str | None
    content: bytes | None


@dataclass(frozen=True, slots=True)
class Swapped:
    """What became of a swap: `refused` is empty when it landed. `stat` is the file's afterwards."""

    path: str
    refused: str = ""
    stat: Stat | None = None


@dataclass(slots=True)
class _Prepared:
    """A swap on its way."""

    swap: Swap
    target: str
    temp: str = ""
    result: Swapped | None = None
    seen: os.stat_result | None = None


def swap_all(root: Path, protected: Sequence[tuple[str, ...]], swaps: Sequence[Swap],
             crash: Callable[[str], None]) -> tuple[Swapped, ...]:
    """As `Vault.swap_all`, in the vault at `root`; folders whose parts begin as one of `protected` are not written."""
    batch = _Batch(root)
    work = [_prepare(swap, batch, protected) for swap in swaps]
    pending = [one for one in work if one.result is None]
    try:
        for one in pending:
            _refusable(_make_folder)(one)
        crash("folders")
        _in_threads(_refusable(_write_temp), pending, lambda one: crash(f"temp:{one.swap.path}"))
        crash("temps")
        _in_threads(_refusable(_take_name), pending, lambda one: crash(f"swapped:{one.swap.path}"))
    finally:
        for one in pending:
            if one.temp:
                with contextlib.suppress(OSError):
                    os.unlink(one.temp)
    for folder in sorted({os.path.dirname(one.target) for one in pending if one.result and not one.result.refused}):
        fsync_folder(folder)
    crash("durable")
    return tuple(one.result or Swapped(one.swap.path) for one in work)


def _prepare(swap: Swap, batch: _Batch, protected: Sequence[tuple[str, ...]]) -> _Prepared:
    refused = _forbidden(swap.path, protected)
    if refused:
        return _Prepared(swap, "", result=Swapped(swap.path, refused))
    target, refused = batch.real(swap.path)
    if refused:
        return _Prepared(swap, target, result=Swapped(swap.path, refused))
    prepared = _Prepared(swap, target)
    try:
        current, prepared.seen = _look(target)
    except OSError as error:
        prepared.result = Swapped(swap.path, f"it cannot be read ({error.strerror})")
        return prepared
    if current == (None if swap.content is None else sha256(swap.content)):
        prepared.result = Swapped(swap.path, stat=_stat(prepared.seen))
    elif current != swap.expected:
        prepared.result = Swapped(swap.path, _differs(current, swap.expected))
    elif prepared.seen is not None and not prepared.seen.st_mode & _WRITABLE:
        prepared.result = Swapped(swap.path, "the file is read-only")
    elif swap.expected is None:
        twin = batch.twin(swap.path)
        if twin:
            prepared.result = Swapped(swap.path, f"'{twin}' has the same name but for case or Unicode form")
    return prepared


def _forbidden(path: str, protected: Sequence[tuple[str, ...]]) -> str:
    parts = path.split("/")
    if not path or path.startswith("/") or "\\" in path or "\0" in path or {"", ".", ".."} & set(parts):
        return "this is not a path inside the vault"
    if not storable(path):
        return "its name is not valid UTF-8"
    if any(part.startswith(".") for part in parts):
        return "hidden files and folders are never written"
    if any(tuple(parts[:len(one)]) == one for one in protected):
        return "this folder is yours alone and never written"
    return ""


class _Batch:
    """What one batch of swaps knows of folders, each looked at once: where links lead, and which names are taken."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._real_root = os.path.realpath(root)
        self._folders: dict[str, tuple[str, str]] = {}
        self._names: dict[str, dict[str, str]] = {}

    def real(self, path: str) -> tuple[str, str]:
        """Where the bytes really go, links followed, and why they may not go there."""
        folder, _, name = path.rpartition("/")
        if folder not in self._folders:
            self._folders[folder] = self._real_folder(os.path.join(self._root, folder))
        real, refused = self._folders[folder]
        target = os.path.join(real, name)
        if refused:
            return target, refused
        if os.path.islink(target):
            target = os.path.realpath(target)
            if not self._is_inside(target):
                return target, "a link on its way leaves the vault"
            if os.path.islink(target):
                return target, "its links lead in a circle"
        return target, "a folder has this name" if os.path.isdir(target) else ""

    def twin(self, path: str) -> str:
        """The existing path that a case-insensitive file system would take for `path`; empty if none."""
        folder, done = self._root, ""
        for part in path.split("/"):
            known = self._listing(folder)
            other = known.setdefault(_fold(part), part)
            if other != part:
                return done + other
            folder, done = f"{folder}/{part}", f"{done}{part}/"
        return ""

    def _real_folder(self, folder: str) -> tuple[str, str]:
        real = os.path.realpath(folder)
        if not self._is_inside(real):
            return real, "a link on its way leaves the vault"
        above = real
        while not os.path.lexists(above):
            above = os.path.dirname(above)
        return real, "" if os.path.isdir(above) else "a file has the name of its folder"

    def _is_inside(self, real: str) -> bool:
        return real == self._real_root or real.startswith(self._real_root.rstrip("/") + "/")

    def _listing(self, folder: str) -> dict[str, str]:
        if folder not in self._names:
            try:
                names = os.listdir(folder)
            except OSError:
                names = []
            self._names[folder] = {_fold(name): name for name in names}
        return self._names[folder]


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def storable(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _differs(current: str | None, expected: str | None) -> str:
    if current is None:
        return "the file is gone"
    return "a file of this name was made meanwhile" if expected is None else "the file was changed meanwhile"


def _look(target: str) -> tuple[str | None, os.stat_result | None]:
    """Hash and stat of a file that belong together."""
    try:
        descriptor = os.open(target, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return None, None
    with open(descriptor, "rb") as file:
        seen = os.fstat(descriptor)
        return sha256(file.read()), seen


def _lstat(target: str) -> os.stat_result | None:
    try:
        return os.lstat(target)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _same(before: os.stat_result | None, now: os.stat_result | None) -> bool:
    if before is None or now is None:
        return before is now
    return (before.st_ino, before.st_size, before.st_mtime_ns, before.st_ctime_ns) == (
        now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns)


def _stat(seen: os.stat_result | None) -> Stat | None:
    return Stat(seen.st_size, seen.st_mtime_ns) if seen else None


def _make_folder(one: _Prepared) -> None:
    if one.swap.content is not None:
        _make_folders(os.path.dirname(one.target))


def _make_folders(folder: str) -> None:
    if os.path.isdir(folder):
        return
    _make_folders(os.path.dirname(folder))
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder)
    fsync_folder(os.path.dirname(folder))


def _write_temp(one: _Prepared) -> None:
    """The new bytes, durable, in a hidden file beside the target, with the target's mode and owner."""
    content = one.swap.content
    if content is None:
        return
    temp = os.path.join(os.path.dirname(one.target), temp_name())
    descriptor = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    one.temp = temp
    try:
        write_all(descriptor, content)
        if one.seen is not None:
            with contextlib.suppress(PermissionError):
                mine = os.fstat(descriptor)
                if (mine.st_uid, mine.st_gid) != (one.seen.st_uid, one.seen.st_gid):
                    os.fchown(descriptor, one.seen.st_uid, one.seen.st_gid)
            os.fchmod(descriptor, stat.S_IMODE(one.seen.st_mode))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _take_name(one: _Prepared) -> None:
    """The swap itself. The file is looked at once more, right before, by its stat."""
    target, swap = one.target, one.swap
    current, _ = _look(target) if not _same(one.seen, _lstat(target)) else (swap.expected, one.seen)
    if current != swap.expected:
        one.result = Swapped(swap.path, _differs(current, swap.expected))
    elif swap.content is None:
        os.unlink(target)
        one.result = Swapped(swap.path)
    elif one.temp:
        if swap.expected is None:
            if not _link(one.temp, target):
                one.result = Swapped(swap.path, _differs("", None))
                return
        else:
            os.replace(one.temp, target)
        one.temp = ""
        one.result = Swapped(swap.path, stat=_stat(_lstat(target)))


def _in_threads(step: Callable[[_Prepared], None], work: Sequence[_Prepared], done: Callable[[_Prepared], None]
                ) -> None:
    """A step over all, several at a time, for it mostly waits for the disk (a rename over a file too: up to 3 ms)."""

    def every(start: int, stride: int) -> None:
        for one in work[start::stride]:
            step(one)
            done(one)

    if len(work) < 2 * _THREADS:
        every(0, 1)
        return
    with ThreadPoolExecutor(_THREADS) as pool:
        for future in [pool.submit(every, start, _THREADS) for start in range(_THREADS)]:
            future.result()


def _refusable(step: Callable[[_Prepared], None]) -> Callable[[_Prepared], None]:
    """A step whose failure concerns one file alone (rights, a name too long): it is refused and the others go on."""

    def guarded(one: _Prepared) -> None:
        if one.result is not None:
            return
        try:
            step(one)
        except OSError as error:
            if error.errno not in _ONE_FILE:
                raise
            one.result = Swapped(one.swap.path, f"it cannot be written ({error.strerror})")

    return guarded


def _link(temp: str, target: str) -> bool:
    """Give the temp file's bytes a new name unless it is taken; where hard links are unknown, by a rename."""
    try:
        os.link(temp, target)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV):
            raise
        if os.path.lexists(target):
            return False
        os.replace(temp, target)
        return True
    os.unlink(temp)
    return True
