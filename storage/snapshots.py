"""Publishing: a commit's rows become small Parquet files, a manifest names them, one pointer file makes them current.

Costs what changed: a base segment a table and deltas on top, merged when there are more than eight, or into the base
when they exceed a quarter of the base. Everything is written before the pointer, so a crash leaves the former
snapshot current and some files to collect.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from storage.durable import fsync_file, fsync_folder, sha256, temp_name, write_file
from storage.encoded import Encode, encode
from storage.reader import (
    Layout,
    Manifest,
    Reader,
    Segment,
    Snapshot,
    Tables,
    encode_manifest,
    pinned,
    read_manifest,
    read_pointer,
)
from storage.tables import TABLES, Row

IndexBuilder = Callable[[Tables, Mapping[str, frozenset[str]], Path | None, Path], None]
"""Builds a search index. Takes the snapshot's tables, changed ids per table, the former index, the folder to fill."""

IndexDamage = Callable[[Path], str]
"""Says what is wrong with a search index, with the file's name; nothing when every byte is as written."""

MOST_DELTAS = 8
SYNC = "sync"               # the kind of run that only records a person's edits
GRACE = timedelta(hours=1)  # a reader elsewhere may still be opening the files of a snapshot just replaced
MOST_DROPPED = 10           # past their time that go in one night; a quarter of all, when that is more
_INDEX_GRACE = 300         # seconds, for one that is opening the index of the snapshot before
_TEXTS = frozenset({"markdown", "page", "title"})  # long columns that are never a hash
_GROUP = 256                # rows of a row group: a hit's text is read without its whole table


class Snapshots:
    """The snapshots of one wiki, for the writer. Every method but `current` needs the write lock."""

    def __init__(self, state_dir: Path, build_index: IndexBuilder | None = None,
                 index_damage: IndexDamage = lambda folder: "") -> None:
        self.layout = Layout(state_dir / "snapshots")
        self.build_index = build_index
        self._index_damage = index_damage
        self.messages: list[str] = []

    def current(self) -> Manifest | None:
        """The manifest the pointer names, or None before the first; StateError when damaged."""
        snapshot, digest = read_pointer(self.layout)
        return read_manifest(self.layout, snapshot, digest) if snapshot else None

    def publish(self, commit: str, run: str, kind: str, created: str, upserts: Mapping[str, tuple[Row, ...]],
                drops: Mapping[str, tuple[str, ...]], crash: Callable[[str], None] = lambda step: None,
                encode: Encode = encode, booked: Callable[[], None] = lambda: None) -> Manifest:
        """Publish the rows of a commit on top of the current snapshot; publishing a commit again does nothing.

        `booked` is called before the snapshot becomes current: it returns when that may be, or raises.
        """
        parent = self.current()
        if parent is not None and parent.commit == commit:
            return parent
        tables: dict[str, tuple[Segment, ...]] = dict(parent.tables) if parent else {}
        for name in TABLES:
            rows, dropped = upserts.get(name, ()), drops.get(name, ())
            if rows or dropped:
                segment = self._write_segment(name, rows, tuple(sorted(dropped)), encode)
                tables[name] = self._compact(name, (*tables.get(name, ()), segment))
                crash(f"segment:{name}")
        sequence = parent.sequence + 1 if parent else 1
        draft = Manifest("", sequence, parent.id if parent else "", created, run, kind, commit, tables)
        manifest = replace(draft, id=f"s{sequence:08d}-{sha256(encode_manifest(draft))[:12]}")
        fsync_folder(self.layout.segments)
        changed = {
            name: frozenset({row.id for row in upserts.get(name, ())} | set(drops.get(name, ()))) for name in TABLES
        }
        manifest = replace(manifest, indexed=self._index(manifest, changed, parent))
        crash("index")
        content = encode_manifest(manifest)
        booked()
        write_file(self.layout.manifest(manifest.id), [content])
        crash("manifest")
        write_file(self.layout.pointer, [f"{manifest.id} {sha256(content)}\n".encode()])
        crash("pointer")
        self._drop_old_indexes(manifest)
        return manifest

    def rebuild_index(self) -> bool:
        """Build the current snapshot's search index anew if it is missing or damaged; whether one was built."""
        if not self.index_damage():
            return False
        manifest = self.current()
        assert manifest is not None
        target = self.layout.index(manifest.id)
        aside = target.parent / temp_name()
        if target.is_dir():
            target.rename(aside)  # who has it open keeps it
        try:
            return self._index(manifest, {name: frozenset[str]() for name in TABLES}, None)
        finally:
            shutil.rmtree(aside, ignore_errors=True)

    def index_damage(self) -> str:
        """What is wrong with the current snapshot's search index; empty when it is sound, or none is built."""
        manifest = self.current()
        if manifest is None or self.build_index is None:
            return ""
        folder = self.layout.index(manifest.id)
        return self._index_damage(folder) if folder.is_dir() else f"{folder}: the search index is missing"

    def retention(self, keep_days: int, now: str) -> tuple[str, ...]:
        """Drop snapshots replaced longer than `keep_days` ago, and files nothing names; the ids dropped.

        The current one stays, those open in this process, and those replaced within the last hour. Of snapshots that
        one sync after another made, a day later only the last is kept. The oldest go first, and only some at a time: a
        clock that runs a year ahead for a night does not take the whole past along.
        """
        current = self.current()
        if current is None:
            return ()
        limit = _moment(now) - max(timedelta(days=keep_days), GRACE)
        thin = _moment(now) - max(min(timedelta(days=keep_days), timedelta(days=1)), GRACE)
        open_here = pinned(self.layout.root)
        manifests = Reader(self.layout.root.parent).history()
        dropped = []
        aged, most_aged = 0, max(MOST_DROPPED, len(manifests) // 4)
        for index, manifest in enumerate(manifests):
            if manifest.id == current.id or manifest.id in open_here:
                continue
            replaced = manifests[index + 1].created if index + 1 < len(manifests) else manifest.created
            # One edit, one snapshot: of yesterday's edits only the last before a run, and the last of all, is kept.
            between = manifest.kind == SYNC and index + 1 < len(manifests) and manifests[index + 1].kind == SYNC
            old = _moment(replaced) < limit and aged < most_aged
            aged += old
            if old or (between and _moment(replaced) < thin):
                self.layout.manifest(manifest.id).unlink(missing_ok=True)
                dropped.append(manifest.id)
        kept = [manifest for manifest in manifests if manifest.id not in dropped]
        self._drop_unnamed([*kept, current], open_here)
        return tuple(dropped)

    def named_hashes(self, manifests: Iterable[Manifest]) -> frozenset[str]:
        """Every hash that a row of these snapshots holds in a column of its own: what blobs must stay."""
        named: set[str] = set()
        segments = {one for manifest in manifests for parts in manifest.tables.values() for one in parts}
        for segment in sorted(segments, key=lambda one: one.file):
            if segment.file:
                file = pq.ParquetFile(self.layout.segment(segment))
                strings = (item.name for item in file.schema_arrow if item.type == pa.string())
                columns = [name for name in strings if name not in _TEXTS]
                for column in file.read(columns).columns:
                    hashes = column.filter(pc.match_substring_regex(column, "^[0-9a-f]{64}$"))
                    named.update(hashes.to_pylist())
        return frozenset(named)

    def take_messages(self) -> tuple[str, ...]:
        """What a person should know since the last call."""
        told, self.messages = tuple(self.messages), []
        return told

    def set_pointer(self, manifest: Manifest) -> None:
        """Make a kept snapshot current: only for repair, when the pointer or its manifest is damaged."""
        content = self.layout.manifest(manifest.id).read_bytes()
        write_file(self.layout.pointer, [f"{manifest.id} {sha256(content)}\n".encode()])

    def open(self, manifest: Manifest) -> Snapshot:
        """A snapshot of this wiki, opened for reading."""
        return Snapshot(self.layout, manifest)

    def _write_segment(self, name: str, rows: tuple[Row, ...], dropped: tuple[str, ...], encode: Encode) -> Segment:
        if not rows:
            return Segment("", 0, dropped)
        table = encode(name, sorted(rows, key=lambda row: row.id))
        return self._write_table(name, table, dropped)

    def _write_table(self, name: str, table: pa.Table, dropped: tuple[str, ...] = ()) -> Segment:
        sink = pa.BufferOutputStream()
        compression = dict.fromkeys(_leaves(table.schema), "zstd")
        compression.update({column: "none" for column in compression if column == "vector"})
        pq.write_table(table, sink, compression=compression, use_dictionary=False, write_statistics=False,
                       row_group_size=_GROUP)
        buffer = sink.getvalue()
        file = f"{sha256(buffer)}.parquet"
        if not (self.layout.segments / file).exists():
            write_file(self.layout.segments / file, [memoryview(buffer)])
        return Segment(file, table.num_rows, dropped)

    def _compact(self, name: str, segments: tuple[Segment, ...]) -> tuple[Segment, ...]:
        """Fewer segments that say the same: deltas that grew large join the base, many small ones become one."""
        base, *deltas = segments
        moved = sum(one.rows + len(one.dropped) for one in deltas)
        if deltas and moved * 4 > base.rows:
            return (self._write_table(name, self._overlay(name, segments)),)
        if len(deltas) > MOST_DELTAS:
            table = self._overlay(name, tuple(deltas))
            dropped = {id for one in deltas for id in one.dropped} - set(table["id"].to_pylist())
            return base, self._write_table(name, table, tuple(sorted(dropped)))
        return segments

    def _overlay(self, name: str, segments: tuple[Segment, ...]) -> pa.Table:
        return Snapshot(self.layout, Manifest("", 0, "", "", "", "", "", {name: segments})).table(name)

    def _index(self, manifest: Manifest, changed: Mapping[str, frozenset[str]], parent: Manifest | None) -> bool:
        """Build the index beside the snapshot. It is derived: its failure is told, and the snapshot is published."""
        if self.build_index is None:
            return False
        target = self.layout.index(manifest.id)
        if target.is_dir():
            return True
        previous = self.layout.index(parent.id) if parent else None
        temp = target.parent / temp_name()
        try:
            temp.mkdir(parents=True)
            known = previous if previous is not None and previous.is_dir() else None
            self.build_index(Snapshot(self.layout, manifest), changed, known, temp)
            for file in sorted(temp.rglob("*")):
                if file.is_file():
                    fsync_file(file)
            temp.rename(target)
            fsync_folder(target.parent)
        except Exception as error:  # whatever is wrong with a derived file must not stop a night
            shutil.rmtree(temp, ignore_errors=True)
            self.messages.append(f"The search index could not be built ({type(error).__name__}: {error}).")
            return False
        return True

    def _drop_old_indexes(self, current: Manifest) -> None:
        """Drop the indexes of former snapshots: large, derived, and asked for by nobody who opens the current one."""
        keep = {current.id, current.parent} | pinned(self.layout.root)
        limit = time.time() - _INDEX_GRACE
        for folder in (self.layout.root / "index").glob("*"):
            if folder.name not in keep and folder.stat().st_mtime < limit:
                shutil.rmtree(folder, ignore_errors=True)

    def _drop_unnamed(self, kept: list[Manifest], open_here: frozenset[str]) -> None:
        files = {segment.file for one in kept for segments in one.tables.values() for segment in segments}
        for file in self.layout.segments.glob("*"):
            if file.name not in files:
                file.unlink(missing_ok=True)
        ids = {one.id for one in kept} | open_here
        for folder in (self.layout.root / "index").glob("*"):
            if folder.name not in ids:
                shutil.rmtree(folder, ignore_errors=True)


def _leaves(arrow_schema: pa.Schema) -> list[str]:
    """Dotted names of the Parquet columns that a schema has."""
    names: list[str] = []

    def walk(prefix: str, kind: pa.DataType) -> None:
        if pa.types.is_struct(kind):
            for index in range(kind.num_fields):
                walk(f"{prefix}.{kind.field(index).name}", kind.field(index).type)
        elif pa.types.is_list(kind):
            walk(f"{prefix}.list.element", kind.value_type)
        else:
            names.append(prefix)

    for item in arrow_schema:
        walk(item.name, item.type)
    return names


def _moment(time: str) -> datetime:
    return datetime.fromisoformat(time.replace("Z", "+00:00"))

