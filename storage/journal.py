"""The journal of a commit: what is intended, written down before the first file changes, so that it can be finished.

An open journal is two files. `open.journal` holds everything a replay needs: the intents with their new bytes, and
the rows that become true with each; it is written once, atomically, and ends with its own hash. `open.results` grows
by one line a batch of files. Closing leaves `closed/<commit>.json` with path, hash before and hash after of what
landed; the bytes before are blobs.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from config.errors import StateError
from storage.durable import append_line, fsync_folder, sha256, write_file
from storage.encoded import Encode, encode
from storage.tables import TABLES, Row, changed_rows, dropped_ids, from_table, to_table
from tasks.commits import NO_CHANGES, Changes, FileWrite, NewCandidate, Refusal
from tasks.review.review import candidate_of

FORMAT = "2"
COMMIT_LEVEL = -1


@dataclass(frozen=True, slots=True)
class Plan:
    """A commit as intended."""

    commit: str
    run: str
    kind: str
    now: str
    writes: tuple[FileWrite, ...]
    changes: Changes


@dataclass(frozen=True, slots=True)
class Landed:
    """A file that a commit brought to new bytes. Hashes are empty where there is no file."""

    path: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Result:
    """What became of the intent `number`: it landed, or it was refused for a reason."""

    number: int
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Closed:
    """A commit that is done: what it did to files. `before` bytes are in the blobs."""

    commit: str
    run: str
    kind: str
    now: str
    snapshot: str
    parent: str                # snapshot before it
    landed: tuple[Landed, ...]
    refused: tuple[Refusal, ...]


@dataclass(frozen=True, slots=True)
class Intent:
    """A planned write with its number in the plan, and that of the write whose fallback it is (-1: of none)."""

    number: int
    fallback_of: int
    planned: FileWrite | NewCandidate

    @property
    def path(self) -> str:
        """The file it concerns."""
        return self.planned.path

    @property
    def after(self) -> str:
        """Path of the write that it follows, '' for none."""
        return self.planned.after if isinstance(self.planned, FileWrite) else ""

    @property
    def write(self) -> FileWrite:
        """The write; one that was yet to be made is made anew each time."""
        return self.planned if isinstance(self.planned, FileWrite) else candidate_of(self.planned)


@dataclass(frozen=True, slots=True)
class _IntentRow:
    number: int
    fallback_of: int
    path: str
    expected: str | None
    content: bytes | None
    after: str
    candidate: str = ""        # what a candidate that is yet to be made is made of, as JSON


@dataclass(frozen=True, slots=True)
class _Drop:
    intent: int
    table: str
    id: str


def intents(writes: Sequence[FileWrite]) -> tuple[Intent, ...]:
    """The writes and their fallbacks, numbered in the order in which they are tried."""
    flat: list[Intent] = []
    for write in writes:
        fallback_of = -1
        one: FileWrite | NewCandidate | None = write
        while one is not None:
            flat.append(Intent(len(flat), fallback_of, one))
            fallback_of, one = len(flat) - 1, one.otherwise if isinstance(one, FileWrite) else None
    return tuple(flat)


def made(numbered: Sequence[Intent]) -> Iterator[tuple[int, FileWrite]]:
    """Those intents whose writes are made already, by number."""
    for one in numbered:
        if isinstance(one.planned, FileWrite):
            yield one.number, one.planned


class Journal:
    """The journal of one wiki; used under the write lock."""

    def __init__(self, state_dir: Path) -> None:
        self.folder = state_dir / "journal"
        self.open_path = self.folder / "open.journal"
        self.results_path = self.folder / "open.results"

    def is_open(self) -> bool:
        """Whether a commit was begun and not finished."""
        return self.open_path.exists()

    def begin(self, plan: Plan, encode: Encode = encode) -> None:
        """Write a plan down, durably."""
        self.results_path.unlink(missing_ok=True)
        body = _encode(plan, encode)
        write_file(self.open_path, [body, sha256(body).encode()])

    def read(self) -> Plan:
        """The plan of the open journal; StateError when it is damaged or of a newer version."""
        content = self.open_path.read_bytes()
        body, digest = content[:-64], content[-64:]
        if sha256(body).encode() != digest:
            cause = "the journal of the last commit is damaged"
            raise StateError(str(self.open_path), cause, "Run `nightwiki check --repair`.")
        return _decode(body, self.open_path)

    def record(self, results: Sequence[Result]) -> None:
        """Append what became of a batch of intents."""
        if results:
            append_line(self.results_path, json.dumps([[one.number, one.refused] for one in results]))

    def results(self) -> Mapping[int, Result]:
        """What is recorded so far, by intent number."""
        found: dict[int, Result] = {}
        try:
            lines = self.results_path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return found
        for line in lines:
            try:
                found |= {number: Result(number, refused) for number, refused in json.loads(line)}
            except ValueError:
                continue  # torn by a crash: those files are looked at again
        return found

    def close(self, closed: Closed) -> None:
        """Keep what was done and remove the open journal."""
        told = {"commit": closed.commit, "run": closed.run, "kind": closed.kind, "now": closed.now,
                "snapshot": closed.snapshot, "parent": closed.parent,
                "landed": [[one.path, one.before, one.after] for one in closed.landed],
                "refused": [[one.path, one.reason] for one in closed.refused]}
        content = json.dumps(told, ensure_ascii=False, sort_keys=True).encode()
        write_file(self.folder / "closed" / f"{closed.commit}.json", [content])
        self.open_path.unlink()
        fsync_folder(self.folder)
        self.results_path.unlink(missing_ok=True)

    def closed(self, run: str = "") -> tuple[Closed, ...]:
        """Commits that are done, oldest first, of one run if given; unreadable ones are left out."""
        found = []
        for file in (self.folder / "closed").glob("*.json"):
            try:
                told = json.loads(file.read_bytes())
                landed = tuple(Landed(*one) for one in told.pop("landed"))
                refused = tuple(Refusal(*one) for one in told.pop("refused"))
                found.append(Closed(**told, landed=landed, refused=refused))
            except (ValueError, KeyError, TypeError):
                continue
        return tuple(sorted((one for one in found if run in ("", one.run)), key=lambda one: (one.now, one.snapshot)))

    def drop_closed(self, commits: Sequence[str]) -> None:
        """Forget commits that are past retention."""
        for commit in commits:
            (self.folder / "closed" / f"{commit}.json").unlink(missing_ok=True)

    def set_aside(self) -> str:
        """Rename a damaged open journal so that work can go on; its new name."""
        target = self.folder / f"damaged-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}.journal"
        self.open_path.replace(target)
        self.results_path.unlink(missing_ok=True)
        fsync_folder(self.folder)
        return target.name


def _encode(plan: Plan, encode: Encode) -> bytes:
    numbered = intents(plan.writes)
    everyone = [(COMMIT_LEVEL, plan.changes), *((number, write.changes) for number, write in made(numbered))]
    holders = [(number, changes) for number, changes in everyone if changes is not NO_CHANGES]
    rows = list(map(_intent_row, numbered))
    drops = [
        _Drop(number, table, id)
        for number, changes in holders for table in TABLES for id in dropped_ids(changes, table)
    ]
    sink = pa.BufferOutputStream()
    head = {"format": FORMAT, "commit": plan.commit, "run": plan.run, "kind": plan.kind, "now": plan.now}
    _write_stream(sink, to_table(rows, _IntentRow).replace_schema_metadata(head))
    _write_stream(sink, to_table(drops, _Drop))
    for table in TABLES:
        owned = [(number, row) for number, changes in holders for row in changed_rows(changes, table)]
        encoded = encode(table, [row for _, row in owned])
        owners = pa.array([number for number, _ in owned], type=pa.int64())
        _write_stream(sink, encoded.append_column("_intent", owners))
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _intent_row(one: Intent) -> _IntentRow:
    planned = one.planned
    if isinstance(planned, FileWrite):
        return _IntentRow(
            one.number, one.fallback_of, planned.path, planned.expected, planned.content, planned.after)
    told = json.dumps([planned.reasons, planned.proposal_hash, planned.subject, planned.ingested])
    return _IntentRow(one.number, one.fallback_of, planned.path, None, None, "", told)


def _write_stream(sink: pa.NativeFile, table: pa.Table) -> None:
    options = pa.ipc.IpcWriteOptions(compression="lz4")  # a fraction of zstd's time, for a file that lives for seconds
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)


def _decode(body: bytes, path: Path) -> Plan:
    source = pa.BufferReader(body)
    intent_table = _read_stream(source)
    head = {key.decode(): value.decode() for key, value in (intent_table.schema.metadata or {}).items()}
    if head.get("format") != FORMAT:
        next_step = "Finish the commit with the nightwiki that began it."
        raise StateError(str(path), "the journal is of another version", next_step)
    drops = from_table(_read_stream(source), _Drop)
    rows: dict[str, dict[int, list[Row]]] = {}
    for name, record in TABLES.items():
        by_owner = rows.setdefault(name, {})
        if source.tell() == source.size():
            continue  # it was begun by a nightwiki that did not know this table
        table = _read_stream(source)
        owners = table["_intent"].to_pylist()
        for owner, row in zip(owners, from_table(table.drop_columns(["_intent"]), record), strict=True):
            by_owner.setdefault(owner, []).append(row)
    dropped: dict[tuple[int, str], list[str]] = {}
    for drop in drops:
        dropped.setdefault((drop.intent, drop.table), []).append(drop.id)

    def changes_of(number: int) -> Changes:
        sets = {name: tuple(rows[name].get(number, ())) for name in TABLES}
        gone = {f"drop_{name}": tuple(dropped.get((number, name), ())) for name in TABLES}
        return Changes(**sets, **gone)  # type: ignore[arg-type]

    writes: dict[int, FileWrite] = {}
    fallback_of: dict[int, int] = {}
    for one in from_table(intent_table, _IntentRow):
        if one.candidate:
            reasons, *words = json.loads(one.candidate)
            instead = writes[one.fallback_of]
            candidate = NewCandidate(one.path, instead.changes.pages[0], tuple(reasons), *words)
            writes[one.fallback_of] = replace(instead, otherwise=candidate)
            continue
        writes[one.number] = FileWrite(one.path, one.expected, one.content, changes_of(one.number), None, one.after)
        fallback_of[one.number] = one.fallback_of
    for number in sorted(writes, reverse=True):  # a fallback's own fallback is joined to it before it is joined itself
        if fallback_of[number] >= 0:
            primary = fallback_of[number]
            writes[primary] = replace(writes[primary], otherwise=writes[number])
    listed = tuple(writes[number] for number in sorted(writes) if fallback_of[number] < 0)
    return Plan(head["commit"], head["run"], head["kind"], head["now"], listed, changes_of(COMMIT_LEVEL))


def _read_stream(source: pa.NativeFile) -> pa.Table:
    with pa.ipc.open_stream(source) as reader:
        return reader.read_all()

