"""The diary tells of every run, also of those that never ended."""

from __future__ import annotations

from pathlib import Path

from storage.locks import run_lock
from storage.runs import AuditRow, Runs

NOW = "2026-05-01T02:00:00Z"


def test_a_run_is_told_from_start_to_end(tmp_path: Path) -> None:
    """Start, end and undo of a run are one record."""
    runs = Runs(tmp_path)
    runs.start("r1", "ingest", NOW, pid=7)
    runs.finish("r1", "partial", "2026-05-01T02:10:00Z", changed=3, digest="d", message="2 sources failed")
    runs.undone("r1", "r2", "2026-05-02T02:00:00Z")
    (record,) = runs.all()
    assert (record.kind, record.state, record.changed, record.undone_by) == ("ingest", "partial", 3, "r2")
    assert (record.started, record.finished, record.pid) == (NOW, "2026-05-01T02:10:00Z", 7)


def test_a_run_without_end_has_crashed_unless_its_lock_is_held(tmp_path: Path) -> None:
    """Only the last unfinished run can be alive."""
    runs = Runs(tmp_path)
    runs.start("r1", "ingest", NOW)
    runs.start("r2", "ingest", NOW)
    with run_lock(tmp_path):
        assert [run.state for run in runs.all()] == ["crashed", "running"]
    assert [run.state for run in runs.all()] == ["crashed", "crashed"]


def test_a_resumed_run_keeps_its_start(tmp_path: Path) -> None:
    """A run that is taken up again is one run."""
    runs = Runs(tmp_path)
    runs.start("r1", "ingest", NOW)
    runs.start("r1", "ingest", "2026-05-01T09:00:00Z")
    runs.finish("r1", "ok", "2026-05-01T09:30:00Z")
    assert [(run.started, run.state) for run in runs.all()] == [(NOW, "ok")]


def test_a_run_that_was_refused_is_not_told_of(tmp_path: Path) -> None:
    """Until another one begins under its id, in the same second."""
    runs = Runs(tmp_path)
    runs.start("r1", "sources", NOW)
    runs.refuse("r1", NOW)
    assert runs.all() == ()
    runs.start("r1", "sources", NOW)
    assert [run.state for run in runs.all()] == ["crashed"]


def test_a_torn_line_spoils_only_itself(tmp_path: Path) -> None:
    """What a crash left half written is skipped, and the next line starts afresh."""
    runs = Runs(tmp_path)
    runs.start("r1", "ingest", NOW)
    with (tmp_path / "runs" / "runs.jsonl").open("ab") as file:
        file.write(b'{"event": "finish", "run": "r1", "sta')
    runs.start("r2", "sync", NOW)
    assert [(run.run, run.state) for run in runs.all()] == [("r1", "crashed"), ("r2", "crashed")]


def test_a_replayed_audit_is_told_once(tmp_path: Path) -> None:
    """Rows that a crashed commit had already told are not repeated."""
    rows = [AuditRow("r1", f"{name}.md", "", "h", NOW, "c1") for name in "ab"]
    runs = Runs(tmp_path)
    runs.add_audit(rows[:1])
    runs.add_audit(rows, again=True)
    assert runs.audit() == tuple(rows)
    assert runs.audit(path="b.md") == (rows[1],) and runs.audit(run="r2") == ()
