"""The past of a wiki as its kept commits and snapshots tell it: what runs did to files, and how rows were before."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from config.errors import StateError
from storage.journal import Closed
from storage.reader import Manifest, Reader, Snapshot
from storage.runs import RunRecord
from storage.state import WikiState
from storage.tables import Row

ABSENT = ""
"""Stands for the hash of a file that is not there."""


def in_order(commits: Sequence[Closed]) -> tuple[Closed, ...]:
    """Commits oldest first; of those with one snapshot the one that published it comes first."""
    return tuple(sorted(commits, key=lambda one: (one.snapshot, one.parent == one.snapshot, one.now)))


class Past:
    """Snapshots by id, each opened once; of one that is no longer kept the nearest before it stands in."""

    def __init__(self, state: WikiState) -> None:
        self._state = state
        self._manifests = Reader(state.root).history()
        self._open: dict[str, Snapshot] = {}
        self._places: dict[tuple[str, str], Mapping[str, tuple[str, ...]]] = {}

    def at(self, snapshot: str) -> Snapshot | None:
        """The snapshot of an id, None for the time before the first; StateError when it is past retention."""
        if not snapshot:
            return None
        # Ids sort by their sequence. Only snapshots that did nothing but take edits in are dropped between others.
        kept = [one for one in self._manifests if one.id <= snapshot]
        if not kept:
            oldest = self._manifests[0].created[:10] if self._manifests else "no day"
            cause = f"the past is kept from {oldest} on (snapshots.keep_days)"
            raise StateError(snapshot, cause, "What is older cannot be taken back.")
        return self._opened(kept[-1])

    def after(self, snapshot: str) -> Snapshot | None:
        """The snapshot of an id, or the first that is kept after it."""
        kept = [one for one in self._manifests if one.id >= snapshot]
        return self._opened(kept[0]) if kept else None

    def rows(self, snapshot: str, table: str, ids: Collection[str]) -> Mapping[str, Row]:
        """Rows of a table as they were, by id; those of `ids` that existed."""
        found = self.at(snapshot) if ids else None
        return {row.id: row for row in found.rows(table, ids)} if found is not None else {}

    def ids_at(self, snapshot: str, table: str, path: str) -> tuple[str, ...]:
        """Ids of the live pages, or of the open candidates, whose file had this path."""
        key = (snapshot, table)
        if key not in self._places:
            found = self.at(snapshot)
            places: dict[str, tuple[str, ...]] = {}
            if found is not None:
                column, live = ("deleted", "") if table == "pages" else ("state", "open")
                for row in found.table(table, ["id", "path", column]).to_pylist():
                    if row[column] == live:
                        places[row["path"]] = (*places.get(row["path"], ()), row["id"])
            self._places[key] = places
        return self._places[key].get(path, ())

    def _opened(self, manifest: Manifest) -> Snapshot:
        if manifest.id not in self._open:
            self._open[manifest.id] = self._state.snapshots.open(manifest)
        return self._open[manifest.id]


@dataclass(frozen=True, slots=True)
class Restored:
    """A file that goes back to former bytes: from `current` to `before` (hashes; empty: absent), as of commit `of`."""

    path: str
    current: str
    before: str
    of: Closed                 # the commit before which it had these bytes


@dataclass(frozen=True, slots=True)
class Kept:
    """A file that stays as it is, and why."""

    path: str
    reason: str


@dataclass(slots=True)
class Unwound:
    """What taking commits back does to files: those that go back, by path, and those that stay."""

    files: dict[str, Restored] = field(default_factory=dict)
    kept: dict[str, Kept] = field(default_factory=dict)


def unwind(state: WikiState, commits: Sequence[Closed], later: Sequence[Closed]) -> Unwound:
    """Follow each file back through `commits`, newest first, as long as its bytes are those that a commit left.

    Where they are not, `later` commits or a person wrote to it in between: it goes back to there and no further.
    """
    writers = {(one.path, one.after): each for each in later for one in each.landed}
    found = Unwound()
    disk: dict[str, str] = {}
    for commit in reversed(commits):
        for one in reversed(commit.landed):
            path = one.path
            if path in found.kept:
                continue
            if path not in disk:
                disk[path] = state.vault.hash(path) or ABSENT
            step = found.files.get(path)
            now = step.before if step is not None else disk[path]
            if now == one.after:
                found.files[path] = Restored(path, disk[path], one.before, commit)
            elif now != one.before:
                found.kept[path] = Kept(path, _reason(now, one.after, writers.get((path, now))))
    return found


def _reason(now: str, after: str, writer: Closed | None) -> str:
    if writer is not None:
        return f"run {writer.run} changed it later"
    if now == ABSENT:
        return "you have renamed or deleted it since"
    return "you have made a file of this name since" if after == ABSENT else "you have changed it since"


def run_named(runs: Sequence[RunRecord], name: str) -> RunRecord | None:
    """The run of this id, or the only one whose id begins so."""
    exact = [run for run in runs if run.run == name]
    alike = exact or [run for run in runs if name and run.run.startswith(name)]
    return alike[0] if len(alike) == 1 else None
