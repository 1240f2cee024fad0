"""The read plane: opens the published snapshot, takes no lock, writes nothing, and never meets the ledger.

A snapshot is a manifest (which Parquet segments make up each table) and the segments. Opening one maps all of its
segments at once, so it stays whole while later ones are written and even after it was collected. Columns are read
when asked for.
"""

from __future__ import annotations

import json
import re
import weakref
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from config.errors import StateError
from storage.durable import sha256
from storage.tables import TABLES, Row, conform, from_table, schema
from tasks.records import PageRecord
from tasks.search.moments import end, is_moment

FORMAT = 1


class Tables(Protocol):
    """Arrow tables by name; those of `storage.tables.TABLES`."""

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table: ...

    def some(self, name: str, ids: Collection[str], columns: Sequence[str]) -> pa.Table: ...


@dataclass(frozen=True, slots=True)
class Segment:
    """One Parquet file of rows, and the ids that it drops from older segments."""

    file: str                    # name in `segments/`: the sha256 of its bytes and '.parquet'; empty: it only drops
    rows: int
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a snapshot is made of. Segments of a table are listed oldest first; the first is its base."""

    id: str
    sequence: int
    parent: str                  # id of the snapshot before it
    created: str
    run: str
    kind: str
    commit: str
    tables: Mapping[str, tuple[Segment, ...]] = field(default_factory=dict)
    indexed: bool = False        # a search index was built for it, in `index/<id>`


def encode_manifest(manifest: Manifest) -> bytes:
    """A manifest as JSON."""
    tables = {
        name: [{"file": one.file, "rows": one.rows, "dropped": list(one.dropped)} for one in segments]
        for name, segments in manifest.tables.items()
    }
    told = {"format": FORMAT, "id": manifest.id, "sequence": manifest.sequence, "parent": manifest.parent,
            "created": manifest.created, "run": manifest.run, "kind": manifest.kind, "commit": manifest.commit,
            "indexed": manifest.indexed, "tables": tables}
    return json.dumps(told, sort_keys=True, indent=1).encode()


def decode_manifest(content: bytes, path: Path) -> Manifest:
    """A manifest from JSON; StateError when it is damaged or of a newer version."""
    try:
        told = json.loads(content)
        if told["format"] > FORMAT:
            raise StateError(str(path), "was written by a newer nightwiki", "Update nightwiki.")
        tables = {
            name: tuple(Segment(one["file"], one["rows"], tuple(one["dropped"])) for one in segments)
            for name, segments in told["tables"].items()
        }
        return Manifest(told["id"], told["sequence"], told["parent"], told["created"], told["run"], told["kind"],
                        told["commit"], tables, told["indexed"])
    except (ValueError, KeyError, TypeError):
        raise StateError(str(path), "the snapshot's manifest is damaged", "Run `nightwiki check`.") from None


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the snapshots of a state folder lie."""

    root: Path

    @property
    def pointer(self) -> Path:
        return self.root / "current"

    @property
    def manifests(self) -> Path:
        return self.root / "manifests"

    @property
    def segments(self) -> Path:
        return self.root / "segments"

    def manifest(self, snapshot: str) -> Path:
        return self.manifests / f"{snapshot}.json"

    def segment(self, segment: Segment) -> Path:
        return self.segments / segment.file

    def index(self, snapshot: str) -> Path:
        return self.root / "index" / snapshot

    def listed(self) -> tuple[str, ...]:
        """Ids of the snapshots that are kept, oldest first."""
        return tuple(sorted(file.stem for file in self.manifests.glob("s*.json")))


def read_pointer(layout: Layout) -> tuple[str, str]:
    """Id and manifest hash of the current snapshot; two empty strings when nothing was published yet."""
    try:
        content = layout.pointer.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return "", ""
    snapshot, _, digest = content.strip().partition(" ")
    if not re.fullmatch(r"s\d{8}-[0-9a-f]{12}", snapshot) or not re.fullmatch(r"[0-9a-f]{64}", digest):
        cause = "the pointer to the snapshot is damaged"
        raise StateError(str(layout.pointer), cause, "Run `nightwiki check --repair`.")
    return snapshot, digest


def read_manifest(layout: Layout, snapshot: str, digest: str = "") -> Manifest:
    """The manifest of a snapshot, verified against `digest` if given; StateError when missing or damaged."""
    path = layout.manifest(snapshot)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise StateError(str(path), "the snapshot is missing", "Run `nightwiki check`.") from None
    if digest and sha256(content) != digest:
        raise StateError(str(path), "the snapshot's manifest is damaged", "Run `nightwiki check`.")
    return decode_manifest(content, path)


class Snapshot:
    """One immutable state of the wiki. Safe to share between threads."""

    def __init__(self, layout: Layout, manifest: Manifest) -> None:
        self.manifest = manifest
        self.id = manifest.id
        self.created = manifest.created
        self.run = manifest.run
        self.index_dir = layout.index(manifest.id)
        self._layout = layout
        self._files: dict[str, pa.Buffer] = {}
        for segments in manifest.tables.values():
            for segment in segments:
                if segment.file:
                    self._files[segment.file] = self._map(layout.segment(segment))
        _OPEN.add(self)

    def __reduce__(self) -> tuple[type[Snapshot], tuple[Layout, Manifest]]:
        return Snapshot, (self._layout, self.manifest)  # another process opens it for itself

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """The live rows of a table by id, with the columns asked for (all if None), in that order."""
        wanted = list(columns) if columns is not None else schema(TABLES[name]).names
        return self._overlay(name, wanted, None)

    def rows(self, name: str, ids: Collection[str] | None = None) -> tuple[Row, ...]:
        """Records of a table by id: all, or those of `ids` that exist."""
        return from_table(self._overlay(name, schema(TABLES[name]).names, ids), TABLES[name])

    def some(self, name: str, ids: Collection[str], columns: Sequence[str]) -> pa.Table:
        """As `table`, for a few rows: reads only the parts of the files that hold them."""
        return self._overlay(name, list(columns), ids)

    def pages(self) -> tuple[PageRecord, ...]:
        """All page records, by id."""
        return self.rows("pages")  # type: ignore[return-value]

    def count(self, name: str) -> int:
        """How many rows a table has."""
        return int(self.table(name, ["id"]).num_rows)

    def _overlay(self, name: str, columns: list[str], ids: Collection[str] | None) -> pa.Table:
        record = TABLES[name]
        read = columns if "id" in columns else ["id", *columns]
        newer: list[pa.Array] = []
        parts: list[pa.Table] = []
        only = pa.array(sorted(ids), type=pa.string()) if ids is not None else None
        for segment in reversed(self.manifest.tables.get(name, ())):
            if segment.file:
                part, keys = self._read(name, segment, read, only)
                if newer:
                    part = part.filter(pc.invert(pc.is_in(part["id"], value_set=pa.concat_arrays(newer))))
                parts.append(part)
                newer.append(keys)
            if segment.dropped:
                newer.append(pa.array(segment.dropped, type=pa.string()))
        if not parts:
            return pa.Table.from_batches([], schema=schema(record)).select(columns)
        if len(parts) == 1:
            return parts[0].select(columns)
        joined = pa.concat_tables(reversed(parts))
        return joined.take(pc.sort_indices(joined["id"])).select(columns)

    def _read(self, name: str, segment: Segment, columns: list[str], only: pa.Array | None
              ) -> tuple[pa.Table, pa.Array]:
        """Rows of one segment, and the ids of all rows it has."""
        record = TABLES[name]
        try:
            file = pq.ParquetFile(pa.BufferReader(self._files[segment.file]))
            present = set(file.schema_arrow.names)
            if not set(columns) <= present:
                part = conform(file.read(), record).select(columns)
                keys = _one_array(part["id"])
            elif only is None:
                part = file.read(columns)
                keys = _one_array(part["id"])
            else:
                keys = _one_array(file.read(["id"])["id"])
                part = self._groups(file, columns, pc.is_in(keys, value_set=only))
            if only is not None:
                part = part.filter(pc.is_in(part["id"], value_set=only))
            return part, keys
        except (pa.ArrowException, OSError) as error:
            path = self._layout.segment(segment)
            raise StateError(str(path), f"the snapshot's file is damaged ({error})", "Run `nightwiki check`.") from None

    def _groups(self, file: pq.ParquetFile, columns: list[str], hits: pa.Array) -> pa.Table:
        groups, start = [], 0
        for number in range(file.metadata.num_row_groups):
            length = file.metadata.row_group(number).num_rows
            if pc.any(hits.slice(start, length)).as_py():
                groups.append(number)
            start += length
        return file.read_row_groups(groups, columns)

    def _map(self, path: Path) -> pa.Buffer:
        try:
            with pa.memory_map(str(path)) as file:
                return file.read_buffer()
        except FileNotFoundError:
            raise StateError(str(path), "the snapshot's file is missing", "Run `nightwiki check`.") from None
        except (OSError, pa.ArrowException) as error:
            cause = f"the snapshot's file cannot be read ({error})"
            raise StateError(str(path), cause, "Run `nightwiki check`.") from None


_OPEN: weakref.WeakSet[Snapshot] = weakref.WeakSet()


def pinned(root: Path) -> frozenset[str]:
    """Ids of the snapshots below `root` that are open in this process."""
    return frozenset(snapshot.id for snapshot in list(_OPEN) if snapshot._layout.root == root)


class Reader:
    """Opens snapshots of one wiki; keeps the current one until another is published."""

    def __init__(self, state_dir: Path) -> None:
        self._layout = Layout(Path(state_dir) / "snapshots")
        self._current: Snapshot | None = None
        self._stamp: tuple[int, int, int] | None = None

    def current(self) -> Snapshot | None:
        """The published snapshot, or None before the first. Looks at one file's stat when nothing changed."""
        try:
            stat = self._layout.pointer.stat()
        except FileNotFoundError:
            return None
        stamp = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
        held = self._current
        if held is None or stamp != self._stamp:
            held = self._open_current()
            self._current, self._stamp = held, stamp
        return held

    def at(self, ref: str) -> Snapshot:
        """A kept snapshot by its id, by a run's id (the last one that run published), or by a day or time
        (the newest one not later; a bare day counts to its end). StateError when there is none."""
        manifests = self.history()
        found = [one for one in manifests if ref in (one.id, one.run)]
        if not found and is_moment(ref):
            found = [one for one in manifests if one.created <= end(ref)]
        if not found and len(ref) >= 9:
            found = [one for one in manifests if one.id.startswith(ref)]
        if not found:
            kept = f"kept are {manifests[0].created} to {manifests[-1].created}" if manifests else "none is kept"
            raise StateError(ref, f"no snapshot goes by that; {kept}", "See `nightwiki runs`.")
        held = self._current
        return held if held and held.id == found[-1].id else Snapshot(self._layout, found[-1])

    def history(self) -> tuple[Manifest, ...]:
        """The manifests that are kept, oldest first; damaged ones are left out."""
        manifests = []
        for snapshot in self._layout.listed():
            try:
                manifests.append(read_manifest(self._layout, snapshot))
            except StateError:
                continue
        return tuple(manifests)

    def _open_current(self) -> Snapshot | None:
        last: StateError | None = None
        for _ in range(3):  # between reading the pointer and its files, a newer one may have replaced both
            snapshot, digest = read_pointer(self._layout)
            if not snapshot:
                return None
            if self._current is not None and self._current.id == snapshot:
                return self._current
            try:
                return Snapshot(self._layout, read_manifest(self._layout, snapshot, digest))
            except StateError as error:
                last = error
        assert last is not None
        raise last


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    joined = column.combine_chunks()
    return joined if isinstance(joined, pa.Array) else pa.concat_arrays(joined.chunks)
