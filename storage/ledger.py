"""The ledger: the rows as of the last commit, in DuckDB, for writers.

Nothing in it is the only copy. It is opened by writers only and briefly, since DuckDB lets no second process in. When
it is missing, damaged, of another version or not at the current snapshot it is set aside and rebuilt from the
snapshot.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

import duckdb
import pyarrow as pa

from config.errors import BusyError, StateError
from storage.durable import fsync_folder, sha256
from storage.encoded import Encode, encode
from storage.reader import Snapshot, Tables
from storage.snapshots import Snapshots
from storage.tables import TABLES, Row, from_table, schema, to_table
from tasks.contradictions.claims import ContradictionRecord
from tasks.records import CandidateRecord, ChunksRecord, PageRecord, SourceRecord

R = TypeVar("R")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FileRow:
    """A vault file as last hashed. The hash holds while size and time stand, and the time was old enough when seen."""

    id: str                    # the path
    size: int
    mtime_ns: int
    hash: str
    seen_ns: int               # when it was hashed


@dataclass(frozen=True, slots=True)
class EmbeddingMeta:
    """What an embedding was made of."""

    text_hash: str
    model: str


_STORED: Mapping[str, type] = {**TABLES, "files": FileRow}
_VERSION = sha256("\n".join(f"{name}: {schema(record)}" for name, record in _STORED.items()).encode())


class Ledger:
    """The ledger of one wiki. Methods open it, work, and close it again; a session keeps it open for several."""

    def __init__(self, state_dir: Path, snapshots: Snapshots) -> None:
        self.path = state_dir / "ledger.duckdb"
        self._snapshots = snapshots
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._depth = 0
        self._lock = threading.RLock()
        self.messages: list[str] = []
        self.patience = 10.0  # seconds to wait for another process, which has it open only for a moment

    # --- rows

    def pages(self) -> Mapping[str, PageRecord]:
        """All pages by id, deleted ones included."""
        return {row.id: row for row in cast("tuple[PageRecord, ...]", self.rows("pages"))}

    def sources(self) -> Mapping[str, SourceRecord]:
        """All sources by id."""
        return {row.id: row for row in cast("tuple[SourceRecord, ...]", self.rows("sources"))}

    def candidates(self) -> Mapping[str, CandidateRecord]:
        """All candidates by id, promoted and discarded ones included."""
        return {row.id: row for row in cast("tuple[CandidateRecord, ...]", self.rows("candidates"))}

    def contradictions(self) -> Mapping[str, ContradictionRecord]:
        """All contradictions by id, decided ones included."""
        return {row.id: row for row in cast("tuple[ContradictionRecord, ...]", self.rows("contradictions"))}

    def chunks(self, ids: Collection[str]) -> Mapping[str, ChunksRecord]:
        """The chunks of the sources asked for."""
        return {row.id: row for row in cast("tuple[ChunksRecord, ...]", self.rows("chunks", ids))}

    def embeddings_meta(self) -> Mapping[str, EmbeddingMeta]:
        """By page id, what its embedding was made of."""
        table = self._table("SELECT id, text_hash, model FROM embeddings")
        columns = (table[name].to_pylist() for name in ("id", "text_hash", "model"))
        return {id: EmbeddingMeta(text_hash, model) for id, text_hash, model in zip(*columns, strict=True)}

    def rows(self, name: str, ids: Collection[str] | None = None) -> tuple[Row, ...]:
        """Records of a table by id: all, or those of `ids` that exist."""
        record = TABLES[name]
        if ids is None:
            return from_table(self._table(f"SELECT * FROM {_known(name)} ORDER BY id"), record)
        return from_table(self._table_of(_known(name), ids), record)

    def files(self) -> Mapping[str, FileRow]:
        """Vault files by path, as last hashed."""
        return {row.id: row for row in from_table(self._table("SELECT * FROM files"), FileRow)}

    def remember_files(self, rows: Sequence[FileRow], gone: Collection[str] = ()) -> None:
        """Note hashes of vault files. Only a fast path: losing them costs a reading of the files."""
        if rows or gone:
            def work(connection: duckdb.DuckDBPyConnection) -> None:
                with _transaction(connection):
                    _upsert(connection, "files", to_table(rows, FileRow), gone)
            self._do(work)

    # --- commits

    def head(self) -> str:
        """The commit whose rows the ledger holds."""
        return self._do(lambda connection: _meta(connection, "head"))

    def apply(self, commit: str, upserts: Mapping[str, Sequence[Row]], drops: Mapping[str, Collection[str]],
              files: Sequence[FileRow], gone: Collection[str], encode: Encode = encode) -> None:
        """Set and drop rows in one transaction. Doing it again changes nothing."""
        def work(connection: duckdb.DuckDBPyConnection) -> None:
            with _transaction(connection):
                for name in TABLES:
                    _upsert(connection, name, encode(name, upserts.get(name, ())), drops.get(name, ()))
                _upsert(connection, "files", to_table(files, FileRow), gone)
                if any(upserts.values()) or any(drops.values()):
                    _set_meta(connection, "head", commit)
            connection.execute("CHECKPOINT")  # now, while others work too, rather than when it is closed
        self._do(work)

    def reconcile(self) -> None:
        """Rebuild the ledger if it is not at the current snapshot; only when no journal is open."""
        manifest = self._snapshots.current()
        if self.path.exists() or manifest is not None:
            with self.session():
                if self.head() != (manifest.commit if manifest else ""):
                    self.set_aside("it was not at the current snapshot")
                    self.head()

    def set_aside(self, why: str) -> None:
        """Rename the ledger so that the next use rebuilds it from the snapshot; tells so in `messages`."""
        with self._lock:
            self._disconnect()
            stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
            aside = [file.name for file in (self.path, self._wal) if file.exists()]
            for name in aside:
                (self.path.parent / name).replace(self.path.parent / f"{name}.{stamp}.aside")
            fsync_folder(self.path.parent)
            if aside:
                self.messages.append(f"The ledger was set aside as {aside[0]}.{stamp}.aside ({why}) and is made anew.")

    def take_messages(self) -> tuple[str, ...]:
        """What a person should know since the last call."""
        told, self.messages = tuple(self.messages), []
        return told

    @contextmanager
    def session(self) -> Iterator[None]:
        """Keep the ledger open for several calls; for the writer, and only for a moment."""
        with self._lock:
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._disconnect()

    # --- the connection

    @property
    def _wal(self) -> Path:
        return self.path.with_name(self.path.name + ".wal")

    def _do(self, work: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
        """Work on the open ledger. If it fails the ledger is rebuilt from the snapshot and the work done again."""
        with self.session():
            try:
                return work(self._connect())
            except duckdb.Error as error:
                self._complain_if_full(error)
                self.set_aside(f"it could not be used: {_first_line(error)}")
            try:
                return work(self._connect())
            except duckdb.Error as error:
                self._complain_if_full(error)
                cause = f"the ledger fails even when made anew: {_first_line(error)}"
                raise StateError(str(self.path), cause, "Run `nightwiki check`.") from error

    def _complain_if_full(self, error: duckdb.Error) -> None:
        if "No space left" in str(error):
            raise StateError(str(self.path), "the disk is full", "Free some space and run again.") from None

    def _table(self, query: str) -> pa.Table:
        return self._do(lambda connection: connection.sql(query).to_arrow_table())

    def _table_of(self, name: str, ids: Collection[str]) -> pa.Table:
        wanted = pa.table({"id": pa.array(sorted(ids), type=pa.string())})
        query = f"SELECT * FROM {name} WHERE id IN (SELECT id FROM wanted) ORDER BY id"

        def work(connection: duckdb.DuckDBPyConnection) -> pa.Table:
            connection.register("wanted", wanted)
            try:
                return connection.sql(query).to_arrow_table()
            finally:
                connection.unregister("wanted")
        return self._do(work)

    def _connect(self) -> duckdb.DuckDBPyConnection:
        if self._connection is None:
            self._connection = self._open()
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            try:
                self._connection.close()
            except duckdb.Error as error:
                self.messages.append(f"The ledger did not close well ({_first_line(error)}).")
            self._connection = None

    def _open(self) -> duckdb.DuckDBPyConnection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = not self.path.exists()
        if fresh and self._wal.exists():
            self.set_aside("its file was gone, a rest of it was left")
        try:
            connection = self._attach_in_turn()
        except duckdb.Error as error:
            self._complain_if_full(error)
            self.set_aside(f"it could not be opened: {_first_line(error)}")
            connection = self._attach()
            fresh = True
        try:
            if not fresh and _meta(connection, "version") != _VERSION:
                connection.close()
                self.set_aside("it is of another version")
                connection, fresh = self._attach(), True
        except duckdb.Error:
            connection.close()
            self.set_aside("its tables are not as they should be")
            connection, fresh = self._attach(), True
        if fresh:
            self._rebuild(connection)
        return connection

    def _attach_in_turn(self) -> duckdb.DuckDBPyConnection:
        """The open ledger; BusyError when another process keeps it open for longer than `patience`."""
        until = time.monotonic() + self.patience
        while True:
            try:
                return self._attach()
            except duckdb.IOException as error:
                holder = re.search(r"PID (\d+)", str(error))
                if not holder and "Conflicting lock" not in str(error):
                    raise
                if time.monotonic() >= until:
                    cause = "another process has the ledger open" + (f" (pid {holder[1]})" if holder else "")
                    raise BusyError(str(self.path), cause, "Close it there and try again.") from None
            time.sleep(0.05)

    def _attach(self) -> duckdb.DuckDBPyConnection:
        return duckdb.connect(str(self.path), config={"threads": 2, "preserve_insertion_order": False})

    def _rebuild(self, connection: duckdb.DuckDBPyConnection) -> None:
        manifest = self._snapshots.current()
        tables: Tables | None = Snapshot(self._snapshots.layout, manifest) if manifest else None
        with _transaction(connection):
            connection.execute("CREATE TABLE meta (key VARCHAR PRIMARY KEY, value VARCHAR)")
            for name, record in _STORED.items():
                connection.register("empty", to_table([], record))
                connection.execute(f"CREATE TABLE {name} AS SELECT * FROM empty")
                connection.unregister("empty")
                connection.execute(f"ALTER TABLE {name} ADD PRIMARY KEY (id)")
                if tables is not None and name in TABLES:
                    _insert(connection, name, tables.table(name))
            _set_meta(connection, "version", _VERSION)
            _set_meta(connection, "head", manifest.commit if manifest else "")


def _known(name: str) -> str:
    """A table's name, known to be one of ours before it stands in a query."""
    if name not in _STORED:
        raise KeyError(name)
    return name


@contextmanager
def _transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    connection.execute("BEGIN")
    try:
        yield
    except BaseException:
        try:
            connection.execute("ROLLBACK")
        except duckdb.Error:
            connection.close()  # nothing was committed; the next use opens it afresh
        raise
    connection.execute("COMMIT")


def _upsert(connection: duckdb.DuckDBPyConnection, name: str, table: pa.Table, dropped: Collection[str]) -> None:
    if not table.num_rows and not dropped:
        return
    gone = pa.concat_arrays([*table["id"].chunks, pa.array(sorted(dropped), type=pa.string())])
    connection.register("gone", pa.table({"id": gone}))
    connection.execute(f"DELETE FROM {name} WHERE id IN (SELECT id FROM gone)")
    connection.unregister("gone")
    if table.num_rows:
        _insert(connection, name, table)


def _insert(connection: duckdb.DuckDBPyConnection, name: str, table: pa.Table) -> None:
    connection.register("incoming", table)
    connection.execute(f"INSERT INTO {name} BY NAME SELECT * FROM incoming")
    connection.unregister("incoming")


def _meta(connection: duckdb.DuckDBPyConnection, key: str) -> str:
    found = connection.execute("SELECT value FROM meta WHERE key = ?", [key]).fetchall()
    return str(found[0][0]) if found else ""


def _set_meta(connection: duckdb.DuckDBPyConnection, key: str, value: str) -> None:
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [key, value])


def _first_line(error: duckdb.Error) -> str:
    return str(error).strip().partition("\n")[0][:160]
