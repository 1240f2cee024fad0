"""Contradictions of a run that is taken back: those that it found are forgotten, what it decided is open again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from storage.history import Past
from storage.journal import Closed
from storage.reader import Snapshot
from tasks.commits import Changes
from tasks.contradictions.claims import ContradictionRecord, Decision
from tasks.contradictions.page import shown_on
from tasks.records import PageRecord


def reopen(
    current: Snapshot | None, past: Past, commits: Sequence[Closed], pages: Mapping[str, PageRecord]
) -> Changes:
    """The rows as they were before `commits`, where nothing later has changed them; `pages` are the live ones then.

    A row goes with its page: while a page that stays shows the contradiction it is not forgotten, and one that a page
    shows no longer is not open.
    """
    if current is None:
        return Changes()
    now = _rows(current)
    back: dict[str, ContradictionRecord | None] = {}
    for commit in reversed(commits):
        if commit.snapshot == commit.parent:
            continue
        after, before = (_rows(past.at(snapshot)) for snapshot in (commit.snapshot, commit.parent))
        for name in sorted(after.keys() | before.keys()):
            held = back[name] if name in back else now.get(name)
            if after.get(name) != before.get(name) and held == after.get(name):
                back[name] = before.get(name)
    shown = {name for page in pages.values() for name in shown_on(page)}
    fitting = {
        name: row
        for name, row in back.items()
        if row != now.get(name) and (name in shown) == (row is not None and row.state in (Decision.OPEN, Decision.BOTH))
    }
    return Changes(
        contradictions=tuple(row for row in fitting.values() if row is not None),
        drop_contradictions=tuple(name for name, row in fitting.items() if row is None),
    )


def _rows(snapshot: Snapshot | None) -> Mapping[str, ContradictionRecord]:
    if snapshot is None:
        return {}
    return {row.id: row for row in cast("tuple[ContradictionRecord, ...]", snapshot.rows("contradictions"))}
