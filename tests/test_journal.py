"""The journal gives back exactly what was intended."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.errors import StateError
from storage.journal import Closed, Journal, Landed, Plan, Result, intents
from storage.tables import TABLES
from tasks.commits import Changes, FileWrite, NewCandidate, Refusal
from tasks.records import PageRecord

st.register_type_strategy(int, st.integers(-(2**63), 2**63 - 1))


def few(record: type) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(st.from_type(record), max_size=2).map(tuple)


IDS = st.lists(st.text(max_size=5), max_size=2).map(tuple)
CHANGES = st.just(Changes()) | st.builds(
    Changes, **{name: few(record) for name, record in TABLES.items()}, **{f"drop_{name}": IDS for name in TABLES})
BYTES = st.none() | st.binary(max_size=20)
LAST = st.builds(FileWrite, st.text(max_size=9), st.none() | st.text(max_size=4), BYTES, CHANGES)
WRITES = st.recursive(LAST, lambda inner: st.builds(
    FileWrite, st.text(max_size=9), st.none() | st.text(max_size=4), BYTES, CHANGES, inner, st.text(max_size=4)),
    max_leaves=3)


@settings(max_examples=12, deadline=None)
@given(st.lists(WRITES, max_size=4).map(tuple), CHANGES)
def test_a_plan_comes_back(
    tmp_path_factory: pytest.TempPathFactory, writes: tuple[FileWrite, ...], changes: Changes,
) -> None:
    """Writes with their bytes, rows, fallbacks and order survive the journal."""
    journal = Journal(tmp_path_factory.mktemp("state"))
    plan = Plan("c1", "r1", "ingest", "2026-05-01T02:00:00Z", writes, changes)
    journal.begin(plan)
    assert journal.is_open() and journal.read() == plan


def plan(*paths: str) -> Plan:
    writes = tuple(FileWrite(path, None, b"x") for path in paths)
    return Plan("c1", "r1", "ingest", "2026-05-01T02:00:00Z", writes, Changes())


def test_a_candidate_that_is_yet_to_be_made_comes_back(tmp_path: Path) -> None:
    """The journal keeps what it is made of, and not its bytes; what is made of it is the same."""
    page = PageRecord("p1", "pages/a.md", "a", "A", False, "h", "# A\n")
    candidate = NewCandidate("candidates/a.md", page, ("thin", "ü"), "said", "subject", "2026-05-01T02:00:00Z")
    write = FileWrite(page.path, None, b"# A\n", Changes(pages=(page,)), candidate)
    journal = Journal(tmp_path)
    journal.begin(Plan("c1", "r1", "ingest", "2026-05-01T02:00:00Z", (write,), Changes()))
    again = journal.read()
    assert again.writes == (write,)
    assert [one.write for one in intents(again.writes)] == [one.write for one in intents([write])]
    assert b"promote" not in journal.open_path.read_bytes()


def test_fallbacks_are_numbered_behind_what_they_stand_in_for() -> None:
    """Numbers follow the order in which writes are tried."""
    write = FileWrite("a", None, b"", otherwise=FileWrite("b", None, b"", otherwise=FileWrite("c", None, b"")))
    found = [(one.number, one.fallback_of, one.write.path) for one in intents([write, FileWrite("d", None, b"")])]
    assert found == [(0, -1, "a"), (1, 0, "b"), (2, 1, "c"), (3, -1, "d")]


def test_results_grow_and_survive_a_torn_line(tmp_path: Path) -> None:
    """Each batch is a line; a torn one only means that its files are looked at again."""
    journal = Journal(tmp_path)
    journal.begin(plan("a", "b", "c"))
    journal.record([Result(0), Result(1, "changed")])
    with journal.results_path.open("ab") as file:
        file.write(b"[[2,")
    assert journal.results() == {0: Result(0), 1: Result(1, "changed")}
    journal.record([Result(2)])
    assert journal.results()[2] == Result(2)


def test_a_new_plan_forgets_old_results(tmp_path: Path) -> None:
    """Results that a crash left behind are not taken for those of the next commit."""
    journal = Journal(tmp_path)
    journal.folder.mkdir()
    journal.record([Result(0)])
    journal.begin(plan("a"))
    assert journal.results() == {}


@pytest.mark.parametrize("cut", [0, 10, 64, 65, -1])
def test_a_damaged_journal_is_never_replayed(tmp_path: Path, cut: int) -> None:
    """Any missing byte or flipped bit is noticed."""
    journal = Journal(tmp_path)
    journal.begin(plan("a", "b"))
    content = journal.open_path.read_bytes()
    journal.open_path.write_bytes(content[:cut])
    with pytest.raises(StateError, match="damaged"):
        journal.read()
    journal.open_path.write_bytes(content[:50] + bytes([content[50] ^ 1]) + content[51:])
    with pytest.raises(StateError, match="damaged"):
        journal.read()


def test_what_was_done_is_kept(tmp_path: Path) -> None:
    """A closed commit tells path, hash before and after; it can be asked for by run, and forgotten."""
    journal = Journal(tmp_path)
    journal.begin(plan("a"))
    landed, refused = (Landed("a", "", "h"),), (Refusal("b", "why"),)
    done = Closed("c1", "r1", "ingest", "2026-05-01T02:00:00Z", "s2", "s1", landed, refused)
    journal.close(done)
    assert not journal.is_open() and journal.closed() == journal.closed("r1") == (done,) and journal.closed("r2") == ()
    journal.drop_closed(["c1"])
    assert journal.closed() == ()
