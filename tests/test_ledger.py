"""Nothing in the ledger is the only copy."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from config.errors import BusyError
from storage.commit import commit
from storage.state import WikiState
from storage.vault import Stat
from tasks.commits import Changes, FileWrite
from tasks.records import EmbeddingRecord, Outcome, PageRecord, SourceKind, SourceRecord

NOW = "2026-05-01T02:00:00Z"
PAGES = tuple(
    PageRecord(f"p{n}", f"wiki/p{n}.md", f"p{n}", f"Page {n}", False, "0" * 64, f"text {n} " * 50) for n in range(40)
)
SOURCES = (SourceRecord("s1", SourceKind.WEB, "https://example.org", Outcome.OK, topics=("a", "b")),)


@pytest.fixture
def state(tmp_path: Path) -> WikiState:
    """A wiki with pages, a source and an embedding, all committed."""
    (tmp_path / "wiki").mkdir()
    state = WikiState(tmp_path / "wiki", tmp_path / "state").open()
    changes = Changes(pages=PAGES, sources=SOURCES, embeddings=(EmbeddingRecord("p1", "h", "m", b"1234"),))
    commit(state, "r1", "ingest", [], changes, NOW)
    return state


def again(state: WikiState) -> WikiState:
    return WikiState(state.vault.root, state.root).open()


def holds_everything(state: WikiState) -> bool:
    rows = (*PAGES, *SOURCES)
    return {row.id: row for row in rows} == {**state.ledger.pages(), **state.ledger.sources()}


def test_rows_come_back_by_id(state: WikiState) -> None:
    """Each table answers with its records; embeddings only with what they were made of."""
    assert holds_everything(state)
    assert state.ledger.rows("pages", ["p3", "none"]) == (PAGES[3],)
    meta = state.ledger.embeddings_meta()
    assert list(meta) == ["p1"] and (meta["p1"].text_hash, meta["p1"].model) == ("h", "m")
    assert state.ledger.candidates() == {} and state.ledger.chunks(["s1"]) == {}


def test_a_deleted_ledger_is_made_again(state: WikiState) -> None:
    """Deleting DuckDB loses nothing."""
    state.ledger.path.unlink()
    assert holds_everything(again(state)) and again(state).recover().messages == ()


@pytest.mark.parametrize("where", [0.0, 0.3, 0.6, 0.9])
def test_a_damaged_ledger_is_set_aside_and_made_again(state: WikiState, where: float) -> None:
    """Whatever part of the file is spoilt, the rows are right afterwards, and the damage is told when it is met."""
    content = bytearray(state.ledger.path.read_bytes())
    start = int(where * len(content))
    content[start:start + 4096] = b"\xa5" * len(content[start:start + 4096])
    state.ledger.path.write_bytes(content)
    fresh = again(state)
    fresh.recover()
    assert holds_everything(fresh)
    done = commit(fresh, "r2", "ingest", [], Changes(pages=(PAGES[0],), drop_sources=("s1",)), NOW)
    assert done.published and again(state).ledger.sources() == {}


def test_a_ledger_cut_short_is_told_and_kept_for_a_look(state: WikiState) -> None:
    """The damaged file is renamed, not deleted."""
    state.ledger.path.write_bytes(state.ledger.path.read_bytes()[:5000])
    fresh = again(state)
    messages = fresh.recover().messages
    assert len(messages) == 1 and "set aside" in messages[0] and holds_everything(fresh)
    assert list(state.root.glob("ledger.duckdb.*.aside"))


CRASH = """
import os, sys
from pathlib import Path
import duckdb
connection = duckdb.connect(sys.argv[1])
connection.execute("SET checkpoint_threshold = '1TB'")
connection.execute("UPDATE meta SET value = 'elsewhere' WHERE key = 'head'")
connection.execute("DELETE FROM pages")
os._exit(9)
"""


@pytest.mark.parametrize("damage", ["as it is", "flipped", "without the file"])
def test_a_log_left_behind_does_no_harm(state: WikiState, damage: str) -> None:
    """A write-ahead log of a killed process, sound or damaged, never decides what the wiki holds."""
    subprocess.run([sys.executable, "-c", CRASH, str(state.ledger.path)], check=False)
    wal = state.ledger.path.with_name("ledger.duckdb.wal")
    assert wal.exists()
    if damage == "flipped":
        content = bytearray(wal.read_bytes())
        content[len(content) // 2] ^= 255
        wal.write_bytes(content)
    elif damage == "without the file":
        state.ledger.path.unlink()
    fresh = again(state)
    fresh.recover()
    assert holds_everything(fresh)


def test_an_old_ledger_is_brought_to_the_snapshot(state: WikiState, tmp_path: Path) -> None:
    """A ledger from a backup is behind the snapshot, and is rebuilt."""
    shutil.copy(state.ledger.path, tmp_path / "old")
    commit(state, "r2", "ingest", [], Changes(drop_sources=("s1",)), NOW)
    shutil.copy(tmp_path / "old", state.ledger.path)
    fresh = again(state)
    assert "not at the current snapshot" in fresh.recover().messages[0]
    assert fresh.ledger.sources() == {}


HOLD = "import duckdb, sys, time; c = duckdb.connect(sys.argv[1]); print('held', flush=True); time.sleep(60)"


def test_another_process_that_has_it_open_is_named(state: WikiState) -> None:
    """The second process gets one line with the pid, and nothing is set aside."""
    other = subprocess.Popen([sys.executable, "-c", HOLD, str(state.ledger.path)], stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        busy = again(state)
        busy.ledger.patience = 0.1
        with pytest.raises(BusyError, match=rf"pid {other.pid}"):
            commit(busy, "r2", "ingest", [FileWrite("a.md", None, b"A")], Changes(drop_sources=("s1",)), NOW)
    finally:
        other.kill()
        other.communicate()
    assert not (state.vault.root / "a.md").exists() and holds_everything(again(state))


def test_unchanged_files_are_not_read_again(state: WikiState) -> None:
    """A hash is remembered while size and time stand; a file changed a moment ago is read again to be sure."""
    file = state.vault.root / "a.md"
    file.write_bytes(b"A")
    stats = state.vault.stat()
    first = state.file_hashes(stats)
    old = {"a.md": Stat(1, stats["a.md"].mtime_ns - 10**10)}
    remembered = state.file_hashes(old)
    file.write_bytes(b"B")
    assert state.file_hashes(old) == remembered == first
    assert state.file_hashes(stats) != first and state.file_hashes({}) == {}
