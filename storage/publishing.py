"""What a commit publishes: the rows that are true with what landed, written beside the commit's other work.

A snapshot and its search index take as long as the vault's files and the ledger, and the disk is waited for in both.
Nothing refers to what is written here before the commit says that it came to its end, so it may begin early.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

from storage.encoded import Encode
from storage.journal import Intent, Plan
from storage.tables import TABLES, Row, changed_rows, dropped_ids
from tasks.commits import NO_CHANGES

if TYPE_CHECKING:
    from storage.reader import Manifest
    from storage.state import WikiState

Crash = Callable[[str], None]
"""Told of each step; a test ends the process there."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows to set and the ids to drop, by table."""

    upserts: Mapping[str, tuple[Row, ...]]
    drops: Mapping[str, tuple[str, ...]]

    def __bool__(self) -> bool:
        return bool(self.upserts or self.drops)


def rows_of(plan: Plan, landed: Iterable[Intent]) -> Rows:
    """What is true once these writes have landed; what a write brings goes before what the commit says."""
    upserts: dict[str, tuple[Row, ...]] = {}
    drops: dict[str, tuple[str, ...]] = {}
    true = [plan.changes, *(one.write.changes for one in landed)]
    true = [changes for changes in true if changes is not NO_CHANGES]
    for table in TABLES:
        final: dict[str, Row | None] = {}
        for changes in true:
            final.update(dict.fromkeys(dropped_ids(changes, table)))
            final.update({row.id: row for row in changed_rows(changes, table)})
        if rows := tuple(row for row in final.values() if row is not None):
            upserts[table] = rows
        if gone := tuple(id for id, row in final.items() if row is None):
            drops[table] = gone
    return Rows(upserts, drops)


class Publishing:
    """Publishes the rows of a commit in a thread of its own, while the caller writes files and the ledger.

    It may begin with the rows that will be true unless a file is refused; the snapshot becomes current only once the
    caller has come to its end with just these rows. What was begun with others is left for the collector.
    """

    def __init__(self, state: WikiState, plan: Plan, crash: Crash, encode: Encode) -> None:
        self.encode = encode
        self._state, self._plan, self._crash = state, plan, crash
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="publish")
        self._rows = Rows({}, {})
        self._ended: Future[None] = Future()
        self._published: Future[Manifest] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
                 ) -> None:
        if not self._ended.done():
            self._ended.set_exception(CancelledError())
        self._threads.shutdown()

    def begin(self, rows: Rows) -> None:
        """Begin with these rows, unless that was done already."""
        if rows == self._rows:
            return
        if self._published is not None:
            self._give_up(self._published)
        self._rows, self._ended, self._published = rows, Future(), None
        if rows:
            plan = self._plan
            self._published = self._threads.submit(
                self._state.snapshots.publish, plan.commit, plan.run, plan.kind, plan.now, rows.upserts, rows.drops,
                self._crash, self.encode, self._ended.result)

    def end(self) -> Manifest | None:
        """The snapshot, which is current now: the one before when there are no rows."""
        if self._published is None:
            return self._state.snapshots.current()
        self._ended.set_result(None)
        return self._published.result()

    def _give_up(self, published: Future[Manifest]) -> None:
        self._ended.set_exception(CancelledError())
        error = published.exception()
        if error is not None and not isinstance(error, CancelledError):
            raise error
