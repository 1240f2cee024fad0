"""The diary of runs and the audit of files: append-only JSON lines that can be read at any time.

A run that failed or was killed must still show, so nothing here waits for a commit. Readers skip a torn last line.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from storage.durable import append_line, fsync_folder
from storage.locks import holder


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run as the diary tells it."""

    run: str
    kind: str                  # ingest, nightly, sync, review, undo, ...
    state: str                 # running | ok | partial | failed | crashed
    started: str
    finished: str = ""
    changed: int = 0           # files that landed
    digest: str = ""           # blob of the digest as JSON, or its text
    message: str = ""          # one line when it failed
    undone_by: str = ""        # the run that took this one back
    counts: str = ""           # JSON object: sources by outcome, pages created, updated, staged
    pid: int = 0
    undoing: tuple[str, ...] = ()  # the runs that this one takes back
    leaves: bool = False       # ... but for some files


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One file that a run wrote or removed."""

    run: str
    path: str
    before: str                # hash of the bytes that were there; empty: the file is new
    after: str                 # hash of the bytes now there; empty: it was removed
    at: str
    commit: str


class Runs:
    """`runs.jsonl` and `audit.jsonl` of one wiki."""

    def __init__(self, state_dir: Path) -> None:
        self._state_dir = state_dir
        self._diary = state_dir / "runs" / "runs.jsonl"
        self._audit = state_dir / "runs" / "audit.jsonl"

    def start(self, run: str, kind: str, now: str, pid: int = 0) -> None:
        """Note that a run begins."""
        self._append(self._diary, {"event": "start", "run": run, "kind": kind, "at": now, "pid": pid})

    def finish(self, run: str, state: str, now: str, changed: int = 0, digest: str = "", message: str = "",
               counts: str = "") -> None:
        """Note how a run ended: state is ok, partial or failed."""
        self._append(self._diary, {"event": "finish", "run": run, "state": state, "at": now, "changed": changed,
                                   "digest": digest, "message": message, "counts": counts})

    def refuse(self, run: str, now: str) -> None:
        """Take back that a run began: what was wished for is not there, so nothing was done, and nothing is told."""
        self._append(self._diary, {"event": "refuse", "run": run, "at": now})

    def undoing(self, run: str, runs: Sequence[str], leaves: bool, now: str) -> None:
        """Note what a run is about to take back, so that it can be told of where the run ends before it does."""
        self._append(self._diary, {"event": "undoing", "run": run, "runs": list(runs), "leaves": leaves, "at": now})

    def undone(self, run: str, by: str, now: str) -> None:
        """Note that a later run took this one back."""
        self._append(self._diary, {"event": "undone", "run": run, "by": by, "at": now})

    def all(self) -> tuple[RunRecord, ...]:
        """Every run, oldest first. One that never ended is 'running' while the run lock is held, else 'crashed'."""
        told: dict[str, dict[str, object]] = {}
        for event in _lines(self._diary):
            run = str(event.get("run", ""))
            entry = told.setdefault(run, {"run": run, "kind": "", "state": "", "started": ""})
            if event.get("event") == "start":
                entry.update(kind=event.get("kind", ""), started=entry["started"] or event.get("at", ""),
                             state="", finished="", pid=event.get("pid", 0))
            elif event.get("event") == "refuse":
                del told[run]
            elif event.get("event") == "undoing":
                names = event.get("runs")
                entry.update(undoing=tuple(names) if isinstance(names, list) else (), leaves=event.get("leaves", False))
            elif event.get("event") == "finish":
                entry.update({key: event.get(key, "") for key in ("state", "digest", "message", "counts")},
                             finished=event.get("at", ""), changed=event.get("changed", 0))
            elif event.get("event") == "undone":
                entry["undone_by"] = event.get("by", "")
        # A lock lets one run go on at a time, so only the last unfinished one can be alive.
        open_runs = [run for run, entry in told.items() if not entry["state"]]
        alive = open_runs[-1] if open_runs and holder(self._state_dir, "run") else ""
        for run in open_runs:
            told[run]["state"] = "running" if run == alive else "crashed"
        return tuple(RunRecord(**entry) for entry in told.values())  # type: ignore[arg-type]

    def audit(self, run: str = "", path: str = "") -> tuple[AuditRow, ...]:
        """The files that landed, oldest first, of one run or one path if given."""
        names = AuditRow.__slots__
        rows = (AuditRow(*(str(line.get(name, "")) for name in names)) for line in _lines(self._audit))
        return tuple(row for row in rows if run in ("", row.run) and path in ("", row.path))

    def deleted_by_person(self, path: str) -> bool:
        """Whether a file that is not there was taken out by a person: the last that a run did was to write it."""
        rows = self.audit(path=path)
        return bool(rows) and rows[-1].after != ""

    def add_audit(self, rows: Sequence[AuditRow], again: bool = False) -> None:
        """Append rows; `again` leaves out those that a commit cut off before had already told."""
        told = {(row.commit, row.path, row.after) for row in self.audit()} if again and rows else set()
        fresh = [row for row in rows if (row.commit, row.path, row.after) not in told]
        if fresh:
            names = AuditRow.__slots__
            lines = [_dump({name: getattr(row, name) for name in names}) for row in fresh]
            self._append_text(self._audit, "\n".join(lines))

    def _append(self, path: Path, event: dict[str, object]) -> None:
        self._append_text(path, _dump(event))

    def _append_text(self, path: Path, text: str) -> None:
        fresh = not path.exists()
        append_line(path, text)
        if fresh:
            fsync_folder(path.parent)


class AuditTail:
    """What runs have written since a moment, read from the end of the audit as it grows."""

    def __init__(self, state_dir: Path) -> None:
        self._path = state_dir / "runs" / "audit.jsonl"
        self._written: dict[str, str] = {}
        self._read = self._size()

    def written(self) -> Mapping[str, str]:
        """The hash of the bytes that the last run left in each file, by vault path; empty for one that it removed."""
        if self._size() < self._read:  # another wiki's, brought back from a backup
            self._read = 0
        with contextlib.suppress(OSError), self._path.open("rb") as audit:
            audit.seek(self._read)
            whole = audit.read().rpartition(b"\n")[0]  # a line that is being written is for the next time
            self._read += len(whole) + 1 if whole else 0
            for row in _events(whole):
                self._written[str(row.get("path", ""))] = str(row.get("after", ""))
        return self._written

    def forget(self) -> None:
        """Begin anew: what was written up to now no longer counts."""
        self.written()
        self._written.clear()

    def _size(self) -> int:
        try:
            return self._path.stat().st_size
        except OSError:
            return 0


def _dump(value: dict[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _lines(path: Path) -> Iterator[dict[str, object]]:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return
    yield from _events(content)


def _events(content: bytes) -> Iterator[dict[str, object]]:
    for line in content.split(b"\n"):
        try:
            event = json.loads(line)
        except ValueError:
            continue  # torn by a crash
        if isinstance(event, dict):
            yield event
