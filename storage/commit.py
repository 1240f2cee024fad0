"""A commit: vault files, ledger rows and a published snapshot as one transaction that can be finished after any
crash.

Order matters. The plan is journalled; files change one by one through the vault's gate and each result is recorded;
then the ledger takes the rows of what really landed and the snapshot, written meanwhile, becomes current, the audit
tells, and the journal closes. A replay walks the same way: a file that has its new bytes has landed, one that has its
old bytes is written now, and one that has other bytes belongs to a person and is refused.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from errno import EDQUOT, EFBIG, ENOSPC
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from config.errors import StateError
from storage.durable import sha256
from storage.encoded import EncodedRows, encode
from storage.journal import Closed, Intent, Landed, Plan, Result, intents, made
from storage.ledger import FileRow
from storage.publishing import Crash, Publishing, rows_of
from storage.runs import AuditRow
from storage.tables import TABLES, Row, changed_rows, dropped_ids
from storage.vault import Stat, Swap
from tasks.commits import NO_CHANGES, Changes, CommitResult, FileWrite, NewCandidate, Refusal
from tasks.review.review import candidate_of

if TYPE_CHECKING:
    from storage.state import WikiState

_BATCH = 256  # files between two records of results


def no_crash(step: str) -> None:
    """The crash hook of real life: nothing happens."""


def commit(state: WikiState, run_id: str, kind: str, writes: Sequence[FileWrite], changes: Changes, now: str,
           crash: Crash = no_crash) -> CommitResult:
    """Carry out the writes and record the rows that became true; takes the write lock.

    A commit left open by a crash is finished first. With nothing to do it writes nothing. Raises StateError when the
    disk is full (the next start finishes the commit) and BusyError when another process is writing.
    """
    with plainly(state), state.write_lock(), state.ledger.session():
        found = state.recover(crash)
        plan = Plan(f"c{secrets.token_hex(8)}", run_id, kind, now, *_only_news(state, writes, changes))
        if not _anything(state, plan):
            current = state.snapshots.current()
            landed = tuple(one.path for one in writes)
            return CommitResult(landed, (), current.id if current else "", False, found.messages)
        with Publishing(state, plan, crash, EncodedRows().encode) as publishing:
            publishing.begin(rows_of(plan, (one for one in intents(plan.writes) if one.fallback_of < 0)))
            for _, write in made(intents(plan.writes)):
                _keep_before(state, write)
            state.blobs.flush()
            crash("before-images")
            state.journal.begin(plan, publishing.encode)
            crash("begun")
            done = _finish(state, plan, crash, publishing)
        return replace(done, messages=(*found.messages, *done.messages))


def finish(state: WikiState, plan: Plan, crash: Crash = no_crash) -> CommitResult:
    """Carry the open journal's plan to its end, from wherever it stands. Needs the write lock."""
    with plainly(state), state.ledger.session(), Publishing(state, plan, crash, encode) as publishing:
        return _finish(state, plan, crash, publishing)


def _finish(state: WikiState, plan: Plan, crash: Crash, publishing: Publishing) -> CommitResult:
    files = _Files(state, plan, crash)
    files.write()
    true = rows_of(plan, files.landed_intents())
    publishing.begin(true)
    landed = files.landed()
    seen = time.time_ns()
    last = {one.path: one.after for one in landed}
    rows = [
        FileRow(path, stat.size, stat.mtime_ns, after, seen)
        for path, after in last.items() if after and (stat := files.stats.get(path)) is not None
    ]
    gone = [path for path, after in last.items() if not after]
    state.ledger.apply(plan.commit, true.upserts, true.drops, rows, gone, publishing.encode)
    crash("ledger")
    current = publishing.end()
    snapshot = current.id if current else ""
    changed = [one for one in landed if one.before != one.after]
    audit = [AuditRow(plan.run, one.path, one.before, one.after, plan.now, plan.commit) for one in changed]
    state.runs.add_audit(audit, again=state.recovering)
    crash("audit")
    refused = files.refused()
    published = bool(true)
    before = current.parent if current is not None and published else snapshot
    closed = Closed(plan.commit, plan.run, plan.kind, plan.now, snapshot, before, tuple(changed), refused)
    state.journal.close(closed)
    crash("closed")
    messages = (*state.ledger.take_messages(), *state.snapshots.take_messages())
    return CommitResult(tuple(one.path for one in landed), refused, snapshot, published, messages)


class _Files:
    """The files of a plan and what became of each."""

    def __init__(self, state: WikiState, plan: Plan, crash: Crash) -> None:
        self.state = state
        self.crash = crash
        self.numbered = intents(plan.writes)
        self.results = dict(state.journal.results())
        self.stats: dict[str, Stat] = {}

    def write(self) -> None:
        """Try every intent that is due, wave by wave, until none is left."""
        if self.results or self.state.recovering:
            self.state.vault.clean_temp(str(PurePosixPath(one.path).parent) for one in self.numbered)
        while due := self._due():
            for start in range(0, len(due), _BATCH):
                self._write_batch(due[start:start + _BATCH])
        # What is left waits for a write that waits for it in turn.
        left = [one for one in self.numbered if not self._decided(one)]
        self._record([Result(one.number, f"it waits for '{one.after}'") for one in left])

    def landed(self) -> tuple[Landed, ...]:
        """What landed, in the order of the plan."""
        writes = (one.write for one in self.landed_intents())
        return tuple(Landed(one.path, one.expected or "", _new_hash(one) or "") for one in writes)

    def landed_intents(self) -> Iterator[Intent]:
        return (one for one in self.numbered if self._has_landed(one.number))

    def refused(self) -> tuple[Refusal, ...]:
        """What was refused and why, in the order of the plan."""
        return tuple(
            Refusal(one.path, self.results[one.number].refused)
            for one in self.numbered if one.number in self.results and self.results[one.number].refused
        )

    def _due(self) -> list[Intent]:
        """Undecided intents whose time has come: one a path, so that two writes of a file keep their order."""
        landed = {one.path for one in self.landed_intents()}
        open_paths = Counter(one.path for one in self.numbered if not self._decided(one))
        due: dict[str, Intent] = {}
        hopeless: list[Result] = []
        waiting: set[str] = set()
        for one in self.numbered:
            path, after = one.path, one.after
            if self._decided(one):
                continue
            if one.fallback_of >= 0 and one.fallback_of not in self.results:
                waiting.add(path)
            elif not after or after in landed:
                if path not in waiting:
                    due.setdefault(path, one)
            elif not open_paths[after]:
                hopeless.append(Result(one.number, f"it was to follow '{after}', which was not written"))
            else:
                waiting.add(path)
        if hopeless:
            self._record(hopeless)
            return self._due()
        return list(due.values())

    def _write_batch(self, batch: list[Intent]) -> None:
        swaps = [Swap(one.path, one.expected, one.content) for one in (each.write for each in batch)]
        done = self.state.vault.swap_all(swaps, self.crash)
        self.stats.update({one.path: one.stat for one in done if one.stat is not None})
        self._record([Result(one.number, swapped.refused) for one, swapped in zip(batch, done, strict=True)])
        self.crash("recorded")

    def _record(self, results: Sequence[Result]) -> None:
        self.state.journal.record(results)
        self.results.update({one.number: one for one in results})

    def _decided(self, one: Intent) -> bool:
        """Whether it landed, was refused, or is a fallback that nobody needs."""
        if one.number in self.results:
            return True
        return one.fallback_of >= 0 and (self._has_landed(one.fallback_of) or self._idle(one.fallback_of))

    def _idle(self, number: int) -> bool:
        return number not in self.results and self._decided(self.numbered[number])

    def _has_landed(self, number: int) -> bool:
        return number in self.results and not self.results[number].refused


def _only_news(state: WikiState, writes: Sequence[FileWrite], changes: Changes
               ) -> tuple[tuple[FileWrite, ...], Changes]:
    """The same without rows that are stored already. An id named twice is left as it is: order decides there."""
    everyone = [changes, *(write.changes for _, write in made(intents(writes)))]
    everything = [one for one in everyone if one is not NO_CHANGES]
    drops = any(dropped_ids(one, table) for one in everything for table in TABLES)
    if not drops and not state.ledger.head():
        return tuple(writes), changes  # a first night: everything is news
    named: dict[str, Counter[str]] = {table: Counter() for table in TABLES}
    for one in everything:
        for table, counter in named.items():
            counter.update(row.id for row in changed_rows(one, table))
            counter.update(dropped_ids(one, table))
    stored: dict[str, dict[str, Row]] = {}
    for table, counter in named.items():
        once = [id for id, count in counter.items() if count == 1]
        stored[table] = {row.id: row for row in state.ledger.rows(table, once)} if once else {}
    if not drops and not any(stored.values()):
        return tuple(writes), changes

    def news(of: Changes) -> Changes:
        if of == NO_CHANGES:
            return of
        kept: dict[str, tuple[object, ...]] = {}
        for table, rows in stored.items():
            often = named[table]
            kept[table] = tuple(
                row for row in changed_rows(of, table) if often[row.id] > 1 or rows.get(row.id) != row
            )
            kept[f"drop_{table}"] = tuple(id for id in dropped_ids(of, table) if often[id] > 1 or id in rows)
        return Changes(**kept)  # type: ignore[arg-type]

    def only(write: FileWrite) -> FileWrite:
        new, fallback = news(write.changes), write.otherwise
        if isinstance(fallback, NewCandidate) and new != write.changes:
            fallback = candidate_of(fallback)  # in the journal it is made of the row that is left out here
        return replace(write, changes=new, otherwise=only(fallback) if isinstance(fallback, FileWrite) else fallback)

    return tuple(map(only, writes)), news(changes)


def _anything(state: WikiState, plan: Plan) -> bool:
    """Whether a plan changes a row or a file."""
    if plan.changes != NO_CHANGES or any(write.changes != NO_CHANGES for _, write in made(intents(plan.writes))):
        return True
    return any(state.vault.hash(write.path) != _new_hash(write) for write in plan.writes)


def _keep_before(state: WikiState, write: FileWrite) -> None:
    """Put the bytes that a write will replace into the blobs, for undo."""
    if write.expected is None or write.expected == _new_hash(write):
        return
    try:
        content = state.vault.read(write.path)
    except OSError:
        return  # gone or unreadable: the gate will refuse it and say so
    if sha256(content) == write.expected:
        state.blobs.put(content)


def _new_hash(write: FileWrite) -> str | None:
    return None if write.content is None else sha256(write.content)


@contextmanager
def plainly(state: WikiState) -> Iterator[None]:
    """Turn a failing disk into one line; what was begun stays in the journal."""
    try:
        yield
    except OSError as error:
        open_one = state.journal.is_open()
        full = error.errno in (ENOSPC, EDQUOT, EFBIG)
        cause = "the disk is full" if full else f"the disk cannot be written ({error.strerror or error})"
        if open_one:
            cause += "; the commit is half done, nothing is lost"
        next_step = "Free some space and run again." if full else "Mend it and run again."
        raise StateError(str(error.filename or state.root), cause, next_step) from error

