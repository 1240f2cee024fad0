"""What is wrong with the state is told, and only what can be derived is made again."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path

import duckdb
import pytest

from config.errors import StateError
from storage.check import check, repair
from storage.commit import commit
from storage.durable import temp_name
from storage.reader import Tables
from storage.state import WikiState
from tasks.commits import Changes, FileWrite
from tasks.records import PageRecord

NOW = "2026-05-01T02:00:00Z"


def build(tables: Tables, changed: Mapping[str, frozenset[str]], previous: Path | None, out: Path) -> None:
    (out / "index").write_text("x")


def write(name: str, text: str, before: str | None = None) -> FileWrite:
    content = f"---\nnightwiki_id: id-{name}\n---\n{text}\n".encode()
    expected = None if before is None else write(name, before).content
    digest = hashlib.sha256(content).hexdigest()
    row = PageRecord(f"id-{name}", f"wiki/{name}.md", name, name, False, digest, content.decode())
    return FileWrite(f"wiki/{name}.md", hashlib.sha256(expected).hexdigest() if expected else None, content,
                     Changes(pages=(row,)))


@pytest.fixture
def state(tmp_path: Path) -> WikiState:
    (tmp_path / "vault").mkdir()
    state = WikiState(tmp_path / "vault", tmp_path / "state", build_index=build).open()
    commit(state, "r1", "ingest", [write("a", "A"), write("b", "B")], Changes(), NOW)
    commit(state, "r2", "ingest", [write("a", "New", "A")], Changes(), NOW)
    return state


def checks(state: WikiState) -> list[str]:
    return [finding.check for finding in check(WikiState(state.vault.root, state.root, build_index=build))]


def fixed(state: WikiState) -> list[str]:
    """What remains after a repair."""
    fresh = WikiState(state.vault.root, state.root, build_index=build)
    assert repair(fresh)
    return checks(state)


def test_a_sound_wiki_has_no_findings(state: WikiState, tmp_path: Path) -> None:
    """Neither after commits, nor before the first; checking creates nothing."""
    assert check(state) == () and repair(state) == ()
    assert check(WikiState(tmp_path, tmp_path / "none")) == () and not (tmp_path / "none").exists()


def test_a_different_ledger_is_rebuilt(state: WikiState) -> None:
    """Rows that differ from the snapshot are found and made again."""
    with duckdb.connect(str(state.ledger.path)) as connection:
        connection.execute("UPDATE pages SET title = 'wrong' WHERE id = 'id-a'")
    assert checks(state) == ["ledger"] and fixed(state) == []
    assert WikiState(state.vault.root, state.root).ledger.pages()["id-a"].title == "a"


def test_a_lost_index_is_built_anew(state: WikiState) -> None:
    """The search index is derived."""
    shutil.rmtree(state.snapshots.layout.root / "index")
    assert checks(state) == ["index"] and fixed(state) == []


def test_a_damaged_pointer_is_set_to_the_newest_sound_snapshot(state: WikiState) -> None:
    """Everything it named is still there."""
    current = state.snapshots.current()
    state.snapshots.layout.pointer.write_text("x")
    with pytest.raises(StateError, match="check --repair"):
        WikiState(state.vault.root, state.root).recover()
    assert "pointer" in checks(state) and fixed(state) == []
    assert current == state.snapshots.current()


def test_a_spoilt_segment_is_told(state: WikiState) -> None:
    """A segment is truth and cannot be made again."""
    file = next(state.snapshots.layout.segments.iterdir())
    content = bytearray(file.read_bytes())
    content[30] ^= 1
    file.write_bytes(content)
    assert "segment" in checks(state)


def test_a_spoilt_blob_is_told(state: WikiState) -> None:
    """The bytes of a file from before a run are checked too."""
    state.close()
    (pack,) = (state.root / "blobs" / "packs").iterdir()
    content = bytearray(pack.read_bytes())
    content[-1] ^= 1
    pack.write_bytes(content)
    assert checks(state) == ["blob"]
    pack.unlink()
    assert checks(state) == ["blob"]


def test_copies_and_gone_files_are_told(state: WikiState) -> None:
    """A copied note carries another's id; a row whose file is gone is named."""
    shutil.copy(state.vault.root / "wiki/a.md", state.vault.root / "copy.md")
    (state.vault.root / "wiki/b.md").unlink()
    found = {(finding.check, finding.page) for finding in check(state)}
    assert found == {("identity", "copy.md"), ("page-file", "wiki/b.md")}


def test_rests_of_killed_writes_are_removed(state: WikiState) -> None:
    """Only our temp files go."""
    for name in (temp_name(), ".nightwiki-mine.tmp"):
        (state.vault.root / "wiki" / name).write_text("x")
    assert checks(state) == ["temp-file"] and fixed(state) == []
    assert (state.vault.root / "wiki" / ".nightwiki-mine.tmp").exists()


def test_an_unfinished_commit_is_told_and_finished(state: WikiState) -> None:
    """An open journal is a finding until the next run or repair."""
    def crash(step: str) -> None:
        if step == "begun":
            raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        commit(state, "r3", "ingest", [write("c", "C")], Changes(), NOW, crash)
    assert checks(state) == ["journal"] and fixed(state) == []
    assert (state.vault.root / "wiki/c.md").exists()


def test_a_newer_state_is_refused(state: WikiState) -> None:
    """A state folder of a later version is left alone."""
    (state.root / "format").write_text("2\n")
    with pytest.raises(StateError, match="newer"):
        WikiState(state.vault.root, state.root).open()
    with pytest.raises(StateError, match="newer"):
        commit(state, "r3", "ingest", [], Changes(), NOW)
