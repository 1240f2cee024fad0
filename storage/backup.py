"""One archive of a wiki: the vault and the truth in its state, as a tar stream compressed with zstd.

What can be derived again (ledger, search index, Prefect's database) is left out. The last member lists every file
with its hash and its exact time, so that damage is noticed before anything is in place, and a restored source counts
as read.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import stat
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

import pyarrow as pa

from config.errors import NightwikiError
from storage.durable import fsync_file, fsync_folder, is_temp_name, temp_name

FORMAT = 1
VAULT, STATE, LISTING = "vault/", "state/", "nightwiki-backup.json"
OLD_STATE = ".nightwiki/"   # in a vault whose state lies elsewhere now: it would be in the way of the restored one
_TRUTH = ("format", ".gitignore", "blobs", "journal", "runs", "snapshots/current", "snapshots/manifests",
          "snapshots/segments")
_DERIVED = ("blobs/plain",)
_WHOLE = 64 * 1024 * 1024   # larger files are not read into memory
_STEP = 1024 * 1024
_MOST_LISTED = 1024 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Archived:
    """What an archive holds. Bytes are those of the files, not compressed."""

    files: int
    bytes: int
    snapshot: str


@dataclass(frozen=True, slots=True)
class _File:
    """One member: its name in the archive and where its bytes lie."""

    name: str
    path: Path


def contents(vault: Path, state: Path, snapshot: str) -> Archived:
    """What `write` would put into an archive now."""
    files = list(_files(vault, state))
    return Archived(len(files), sum(one.path.stat().st_size for one in files), snapshot)


def write(target: Path, vault: Path, state: Path, snapshot: str) -> Archived:
    """Write an archive; the caller holds the locks. NightwikiError when there is a file already; no half one stays."""
    if os.path.lexists(target):
        raise NightwikiError(str(target), "exists already", "Name a new file.")
    if not target.parent.is_dir():
        raise NightwikiError(str(target), "its folder does not exist", "Make the folder first.")
    temp = target.parent / temp_name()
    listed: list[dict[str, object]] = []
    try:
        with (
            pa.OSFile(str(temp), "wb") as file,
            pa.CompressedOutputStream(file, "zstd") as packed,
            tarfile.open(fileobj=cast("IO[bytes]", packed), mode="w|", bufsize=_STEP, format=tarfile.PAX_FORMAT) as tar,
        ):
            listed += [_put(tar, one) for one in _files(vault, state)]
            content = json.dumps({"format": FORMAT, "snapshot": snapshot, "files": listed}).encode()
            entry = tarfile.TarInfo(LISTING)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
        fsync_file(temp)
        os.link(temp, target)  # never over a file that came meanwhile
    finally:
        temp.unlink(missing_ok=True)
    fsync_folder(target.parent)
    return Archived(len(listed), sum(cast(int, one["size"]) for one in listed), snapshot)


def read(archive: Path, target: Path, state_dir: str) -> Archived:
    """Bring an archive into a new or empty folder, its state below it as `state_dir`; all or nothing.

    NightwikiError when the folder is not empty or the archive is damaged, of a newer form, or not ours.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise NightwikiError(str(target), "is not an empty folder", "Name a new or empty folder.")
    if not target.parent.is_dir():
        raise NightwikiError(str(target), "the folder above it does not exist", "Make that folder first.")
    temp = target.parent / temp_name()
    try:
        temp.mkdir()
        found = _unpack(archive, temp, state_dir)
        if target.exists():
            target.rmdir()
        temp.rename(target)
    finally:
        shutil.rmtree(temp, ignore_errors=True)
    fsync_folder(target.parent)
    return found


def verify(archive: Path) -> Archived:
    """What an archive holds, after every byte of it was checked; NightwikiError as `read`."""
    return _unpack(archive, None, ".nightwiki")


# --- writing


def _files(vault: Path, state: Path) -> Iterator[_File]:
    """Every file to keep, in the order of its name."""
    for path in _walk(vault, state.resolve(), frozenset()):
        name = path.relative_to(vault).as_posix()
        if not name.startswith(OLD_STATE):
            yield _File(VAULT + name, path)
    for part in _TRUTH:
        place = state / part
        for path in [place] if place.is_file() else _walk(place, None, frozenset()):
            name = path.relative_to(state).as_posix()
            if not any(name.startswith(one + "/") for one in _DERIVED):
                yield _File(STATE + name, path)


def _walk(folder: Path, without: Path | None, above: frozenset[Path]) -> Iterator[Path]:
    """Regular files below a folder, links followed; `without` is left out, and so are rests of interrupted writes."""
    real = folder.resolve()
    if real == without or real in above or not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            yield from _walk(path, without, above | {real})
        elif not is_temp_name(path.name) and path.is_file():
            yield path


def _put(tar: tarfile.TarFile, one: _File) -> dict[str, object]:
    with one.path.open("rb") as file:
        found = os.fstat(file.fileno())
        entry = tarfile.TarInfo(one.name)
        entry.mode, entry.mtime = stat.S_IMODE(found.st_mode) & 0o777, int(found.st_mtime)
        entry.size = found.st_size
        source: IO[bytes] = file
        if found.st_size <= _WHOLE:  # one that is being written to is taken as it is at one moment
            content = file.read()
            entry.size, source = len(content), io.BytesIO(content)
        hashed = _Hashing(source)
        try:
            tar.addfile(entry, cast("IO[bytes]", hashed))
        except OSError as error:
            if "unexpected end of data" not in str(error):
                raise
            raise NightwikiError(str(one.path), "was cut short while it was read", "Try again.") from None
    return {"name": one.name, "size": entry.size, "sha256": hashed.digest.hexdigest(), "mtime_ns": found.st_mtime_ns}


class _Hashing:
    """A file that hashes what is read from it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = sha256()

    def read(self, size: int = -1) -> bytes:
        content = self._file.read(size)
        self.digest.update(content)
        return content


# --- reading


def _unpack(archive: Path, target: Path | None, state_dir: str) -> Archived:
    """Check every member, and write it below `target` if there is one."""
    seen: dict[str, tuple[int, str]] = {}
    told: dict[str, Any] | None = None
    with (
        _plainly(archive),
        pa.memory_map(str(archive)) as file,
        pa.CompressedInputStream(file, "zstd") as packed,
        tarfile.open(fileobj=cast("IO[bytes]", packed), mode="r|", bufsize=_STEP) as tar,
    ):
        for entry in tar:
            if told is not None or not entry.isreg() or entry.name in seen:
                raise ValueError("it holds something that no backup has")
            content = tar.extractfile(entry)
            assert content is not None
            if entry.name == LISTING:
                if entry.size > _MOST_LISTED:
                    raise ValueError("its list is too long")
                told = json.loads(content.read())
                continue
            place = _place(entry.name, state_dir)
            seen[entry.name] = _copy(content, target / place if target is not None else None, entry.mode & 0o777)
        if told is None:
            raise ValueError("its end is missing")
        if told["format"] > FORMAT:
            raise NightwikiError(str(archive), "was written by a newer nightwiki", "Update nightwiki.")
        listed = {one["name"]: (one["size"], one["sha256"]) for one in told["files"]}
        if listed != seen:
            raise ValueError("files in it are not as they were put in")
        if target is not None:
            for one in told["files"]:
                os.utime(target / _place(one["name"], state_dir), ns=(one["mtime_ns"], one["mtime_ns"]))
        return Archived(len(seen), sum(size for size, _ in seen.values()), str(told["snapshot"]))


def _place(name: str, state_dir: str) -> str:
    """Where a member goes, below the folder; ValueError for a name that would lead elsewhere."""
    for prefix, folder in ((VAULT, ""), (STATE, state_dir + "/")):
        rest = name.removeprefix(prefix)
        if rest != name and not {"", ".", ".."} & set(rest.split("/")) and "\\" not in rest and "\0" not in rest:
            return str(PurePosixPath(folder + rest))
    raise ValueError(f"it holds a file of the name {name!r}, which would lead elsewhere")


def _copy(content: IO[bytes], path: Path | None, mode: int) -> tuple[int, str]:
    """Size and hash of a member, written to a path if one is given."""
    digest, size = sha256(), 0
    with ExitStack() as opened:
        out = None
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            out = opened.enter_context(path.open("xb"))
            os.fchmod(out.fileno(), mode | stat.S_IRUSR | stat.S_IWUSR)
        while part := content.read(_STEP):
            digest.update(part)
            size += len(part)
            if out is not None:
                out.write(part)
    return size, digest.hexdigest()


@contextmanager
def _plainly(archive: Path) -> Iterator[None]:
    """Whatever is wrong with an archive, as one line."""
    if not archive.is_file():
        raise NightwikiError(str(archive), "there is no such file")
    try:
        yield
    except FileExistsError as error:
        cause = f"holds two files whose names this disk takes for one ({error.filename})"
        raise NightwikiError(str(archive), cause, "Restore it to another disk.") from None
    except OSError as error:
        if error.errno is not None and error.filename is not None:
            raise  # of the disk it is written to
        raise NightwikiError(str(archive), "is no backup, or is damaged", "Use another one.") from None
    except (tarfile.TarError, ValueError, KeyError, TypeError, pa.ArrowException, EOFError) as error:
        cause = f"is no backup, or is damaged ({' '.join(str(error).split())[:100]})"
        raise NightwikiError(str(archive), cause, "Use another one.") from None
