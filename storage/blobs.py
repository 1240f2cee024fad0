"""Bytes by their hash: fetched answers, extracted documents, model decisions, and what files held before a run.

Small blobs are appended to pack files, for a night makes thousands and a file with its own fsync costs more than the
bytes; large ones are files in fan-out folders. Both are compressed with zstd when that helps. Every read is verified.
What `put` wrote survives a killed process at once, and a power cut after `flush`, which each commit calls before it
refers to blobs.

A pack is a row of frames: magic, codec, stored size, raw size, sha256, bytes. A torn last frame is ignored.
"""

from __future__ import annotations

import os
import secrets
import struct
import threading
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from config.errors import StateError
from storage.durable import fsync_file, fsync_folder, sha256, temp_name, write_all, write_file

LARGE = 256 * 1024
PACK_LIMIT = 64 * 1024 * 1024
_FRAME = struct.Struct("<4sBQQ32s")
_MAGIC = b"nwb1"
_RAW, _ZSTD = 0, 1


@dataclass(frozen=True, slots=True)
class _Place:
    pack: Path
    offset: int
    stored: int
    raw: int
    codec: int


class Blobs:
    """The blob store of one wiki; one object serves all threads of a process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._packs = folder / "packs"
        self._plain = folder / "plain"
        self._lock = threading.RLock()
        self._index: dict[str, tuple[_Place, ...]] = {}  # more than one after damage was mended
        self._scanned: dict[Path, int] = {}
        self._descriptor = -1
        self._pack: Path | None = None
        self._owner = 0
        self._unsynced: set[Path] = set()

    def put(self, content: bytes) -> str:
        """Store bytes and return their hash. A damaged copy of the same bytes is replaced by this one."""
        digest = sha256(content)
        with self._lock:
            if self._sound(digest):
                return digest
            codec, stored = _compress(content)
            if len(content) >= LARGE:
                self._put_file(digest, codec, stored)
            else:
                self._put_frame(digest, codec, stored, len(content))
        return digest

    def get(self, digest: str) -> bytes:
        """The bytes of a hash; StateError when they are missing or damaged."""
        with self._lock:
            for name in (digest[2:], f"{digest[2:]}.zst"):
                file = self.folder / digest[:2] / name
                if file.is_file():
                    codec = _ZSTD if name.endswith(".zst") else _RAW
                    return _verified(digest, _decompress(file.read_bytes(), codec, -1), file)
            places = self._find(digest)
            if not places:
                raise StateError(f"blob {digest}", "is missing from the state folder", "Run `nightwiki check`.")
            for place in places:
                content = _read_frame(place)
                if sha256(content) == digest:
                    return content
            raise _damaged(digest, places[0].pack)

    def __contains__(self, digest: str) -> bool:
        with self._lock:
            return self._loose(digest) is not None or bool(self._find(digest))

    def path(self, digest: str) -> Path:
        """A file that holds exactly the blob's bytes, for readers that want a path; not to be written to."""
        loose = self.folder / digest[:2] / digest[2:]
        if loose.is_file():
            return loose
        plain = self._plain / digest
        if not plain.is_file():
            content = self.get(digest)
            plain.parent.mkdir(parents=True, exist_ok=True)
            temp = self._plain / temp_name()
            temp.write_bytes(content)  # a copy that can be made again: no fsync
            temp.replace(plain)
        return plain

    def flush(self) -> None:
        """Make everything put so far survive a power cut."""
        with self._lock:
            if self._unsynced:
                for file in sorted(self._unsynced):
                    fsync_file(file)
                for folder in sorted({file.parent for file in self._unsynced} | {self.folder}):
                    fsync_folder(folder)
                self._unsynced.clear()

    def close(self) -> None:
        """Flush and release the open pack."""
        self.flush()
        with self._lock:
            if self._descriptor >= 0 and self._owner == os.getpid():
                os.close(self._descriptor)
            self._descriptor, self._pack = -1, None

    def all(self) -> Iterator[str]:
        """The hash of every blob there is."""
        with self._lock:
            self._scan()
            yield from list(self._index)
        for file in self._loose_files():
            yield file.parent.name + file.name.removesuffix(".zst")

    def damaged(self) -> Iterator[tuple[str, Path]]:
        """Every blob whose bytes do not match its hash, with the file it lies in."""
        for digest in list(self.all()):
            try:
                self.get(digest)
            except StateError:
                yield digest, self._loose(digest) or self._index[digest][0].pack

    def clean(self) -> None:
        """Drop the plain copies that `path` made."""
        for file in self._plain.glob("*") if self._plain.is_dir() else ():
            file.unlink(missing_ok=True)

    def collect(self, live: Collection[str], before_ns: int) -> int:
        """Drop blobs that nothing refers to and that are older than `before_ns`; the number dropped."""
        dropped = 0
        with self._lock:
            self.close()
            for file in list(self._loose_files()):
                digest = file.parent.name + file.name.removesuffix(".zst")
                if digest not in live and file.stat().st_mtime_ns < before_ns:
                    file.unlink()
                    dropped += 1
            self._scan()
            by_pack: dict[Path, dict[str, _Place]] = {}
            for digest, several in self._index.items():
                for place in several:
                    by_pack.setdefault(place.pack, {})[digest] = place
            for pack in sorted(self._scanned):
                places = by_pack.get(pack, {})
                dead = [digest for digest in places if digest not in live]
                size = pack.stat().st_size
                if pack.stat().st_mtime_ns >= before_ns or (places and not dead):
                    continue
                if 2 * sum(_FRAME.size + places[digest].stored for digest in dead) < size and len(dead) < len(places):
                    continue  # mostly alive: rewriting would cost more than it frees
                self._rewrite(pack, {digest: places[digest] for digest in places if digest in live})
                dropped += len(dead)
        return dropped

    def _rewrite(self, pack: Path, keep: dict[str, _Place]) -> None:
        if keep:
            def frames() -> Iterator[bytes]:
                for digest, place in keep.items():
                    yield _frame(digest, place.codec, _stored_bytes(place), place.raw)
            target = self._packs / _pack_name()
            write_file(target, frames())
        pack.unlink()
        fsync_folder(self._packs)
        self._scan()

    def _sound(self, digest: str) -> bool:
        places = self._index.get(digest, ())
        if self._owner == os.getpid() and any(place.pack == self._pack for place in places):
            return True  # written by this object a moment ago
        if self._loose(digest) is None and not self._find(digest):
            return False
        try:
            self.get(digest)
        except (StateError, OSError):
            return False
        return True

    def _put_file(self, digest: str, codec: int, stored: bytes) -> None:
        folder = self.folder / digest[:2]
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / (digest[2:] + (".zst" if codec == _ZSTD else ""))
        temp = folder / temp_name()
        temp.write_bytes(stored)
        temp.replace(file)
        self._unsynced.add(file)

    def _put_frame(self, digest: str, codec: int, stored: bytes, raw: int) -> None:
        descriptor, pack = self._open_pack()
        offset = os.fstat(descriptor).st_size
        try:
            write_all(descriptor, _frame(digest, codec, stored, raw))
        except OSError:
            os.ftruncate(descriptor, offset)  # a full disk must not leave half a frame before later ones
            raise
        self._add(digest, _Place(pack, offset + _FRAME.size, len(stored), raw, codec))
        self._scanned[pack] = offset + _FRAME.size + len(stored)
        self._unsynced.add(pack)

    def _open_pack(self) -> tuple[int, Path]:
        full = self._pack is not None and self._scanned.get(self._pack, 0) > PACK_LIMIT
        if self._pack is None or self._owner != os.getpid() or full:
            if full and self._owner == os.getpid():
                os.close(self._descriptor)
            self._packs.mkdir(parents=True, exist_ok=True)
            self._pack = self._packs / _pack_name()
            self._descriptor = os.open(self._pack, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
            self._owner = os.getpid()
        return self._descriptor, self._pack

    def _loose(self, digest: str) -> Path | None:
        for name in (digest[2:], f"{digest[2:]}.zst"):
            file = self.folder / digest[:2] / name
            if file.is_file():
                return file
        return None

    def _loose_files(self) -> Iterator[Path]:
        for folder in sorted(self.folder.glob("??")):
            yield from (file for file in sorted(folder.iterdir()) if len(file.name.removesuffix(".zst")) == 62)

    def _find(self, digest: str) -> tuple[_Place, ...]:
        if digest not in self._index:
            self._scan()
        return self._index.get(digest, ())

    def _add(self, digest: str, place: _Place) -> None:
        self._index[digest] = (*self._index.get(digest, ()), place)

    def _scan(self) -> None:
        """Learn the frames that were added since the last look, by this process or another."""
        if not self._packs.is_dir():
            return
        with os.scandir(self._packs) as entries:
            present = {entry.path: entry.stat().st_size for entry in entries if entry.name.endswith(".pack")}
        gone = [pack for pack in self._scanned if str(pack) not in present]
        for pack in gone:
            del self._scanned[pack]
        if gone:
            left = {
                digest: tuple(place for place in places if place.pack in self._scanned)
                for digest, places in self._index.items()
            }
            self._index = {digest: places for digest, places in left.items() if places}
        for name in sorted(present):
            pack = Path(name)
            known = self._scanned.get(pack, 0)
            if present[name] > known:
                self._scan_pack(pack, known, present[name])

    def _scan_pack(self, pack: Path, start: int, size: int) -> None:
        with pack.open("rb") as file:
            offset = start
            while offset + _FRAME.size <= size:
                file.seek(offset)
                magic, codec, stored, raw, digest = _FRAME.unpack(file.read(_FRAME.size))
                if magic != _MAGIC or offset + _FRAME.size + stored > size:
                    break  # torn by a crash, or damaged: nothing behind it can be trusted
                self._add(digest.hex(), _Place(pack, offset + _FRAME.size, stored, raw, codec))
                offset += _FRAME.size + stored
            self._scanned[pack] = offset


def _pack_name() -> str:
    return f"{secrets.token_hex(8)}.pack"


def _frame(digest: str, codec: int, stored: bytes, raw: int) -> bytes:
    return _FRAME.pack(_MAGIC, codec, len(stored), raw, bytes.fromhex(digest)) + stored


def _compress(content: bytes) -> tuple[int, bytes]:
    if len(content) >= 128:
        packed: bytes = pa.Codec("zstd", compression_level=3).compress(content, asbytes=True)
        if len(packed) < 0.9 * len(content):
            return _ZSTD, len(content).to_bytes(8, "little") + packed
    return _RAW, content


def _decompress(stored: bytes, codec: int, raw: int) -> bytes:
    if codec == _RAW:
        return stored
    size = int.from_bytes(stored[:8], "little")
    if (raw >= 0 and size != raw) or size > 2**40:
        return b""  # the size itself is damaged; the hash check will say so
    try:
        content: bytes = pa.Codec("zstd").decompress(stored[8:], decompressed_size=size, asbytes=True)
    except (OSError, ValueError, MemoryError, pa.ArrowException):
        return b""
    return content


def _stored_bytes(place: _Place) -> bytes:
    with place.pack.open("rb") as file:
        file.seek(place.offset)
        return file.read(place.stored)


def _read_frame(place: _Place) -> bytes:
    return _decompress(_stored_bytes(place), place.codec, place.raw)


def _verified(digest: str, content: bytes, file: Path) -> bytes:
    if sha256(content) != digest:
        raise _damaged(digest, file)
    return content


def _damaged(digest: str, file: Path) -> StateError:
    return StateError(str(file), f"blob {digest} is damaged", "Run `nightwiki check` to see what refers to it.")
