"""Contradictions in ledger, snapshots and journals, also of a wiki that was made before there were any."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from flows.night import review
from flows.night_steps.reading_in import Review
from flows.session import open_state
from flows.steps import DirectRunner
from serving.disputed import contradictions
from storage import journal as journals
from storage.commit import commit
from storage.journal import Journal
from storage.state import WikiState
from tasks.commits import Changes, FileWrite
from tasks.contradictions.claims import Claim, Clash, ClashKind, ContradictionRecord, Decision, clash_id, known_as
from tasks.records import PageRecord
from tests import wikis
from tests.invariants import broken
from tests.test_contradictions import NEW, OLD, ONE, TWO
from tests.wikis import page, run

NOW = "2026-05-01T02:00:00Z"
ROW = ContradictionRecord(
    "c1", "limit", "p1", ClashKind.NUMBER, Claim("p1", "s1", "t", "^p1", OLD), Claim("p1", "s2", "t", "^p2", NEW), "why"
)
PAGE = PageRecord("p1", "wiki/p1.md", "p1", "One", False, "0" * 64, "text")


@pytest.fixture
def state(tmp_path: Path) -> WikiState:
    (tmp_path / "wiki").mkdir()
    return WikiState(tmp_path / "wiki", tmp_path / "state").open()


def test_a_ledger_without_the_table_gets_it(state: WikiState) -> None:
    """Of a wiki that an older version made nothing is lost."""
    commit(state, "r1", "ingest", [], Changes(pages=(PAGE,), contradictions=(ROW,)), NOW)
    with duckdb.connect(str(state.ledger.path)) as connection:
        connection.execute("DROP TABLE contradictions")
        connection.execute("UPDATE meta SET value = 'older' WHERE key = 'version'")
    fresh = WikiState(state.vault.root, state.root).open()
    fresh.recover()
    assert dict(fresh.ledger.pages()) == {"p1": PAGE} and dict(fresh.ledger.contradictions()) == {"c1": ROW}
    done = commit(fresh, "r2", "ingest", [], Changes(drop_contradictions=("c1",)), NOW)
    assert done.published and dict(fresh.ledger.contradictions()) == {}


def test_an_open_journal_that_ends_before_the_table_is_finished(
    state: WikiState, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit that an older version began is carried to its end."""
    older = {name: record for name, record in journals.TABLES.items() if name != "contradictions"}
    plan = journals.Plan("c1", "r1", "ingest", NOW, (FileWrite("a.md", None, b"A"),), Changes(pages=(PAGE,)))
    state.prepare()
    with monkeypatch.context() as patch:
        patch.setattr(journals, "TABLES", older)
        state.journal.begin(plan)
    assert Journal(state.root).read().changes.pages == (PAGE,)
    state.recover()
    assert (state.vault.root / "a.md").read_bytes() == b"A" and dict(state.ledger.pages()) == {"p1": PAGE}


def test_a_pair_is_the_same_in_whatever_order_and_form() -> None:
    """White space and which sentence comes first make no other pair; another source or word does."""
    one, other = ROW.old, ROW.new
    spaced = Claim("p9", "s1", "elsewhere", "^p7", OLD.replace(" ", "\n "))
    assert clash_id(one, other) == clash_id(other, spaced) != clash_id(one, Claim("p1", "s3", "t", "", NEW))
    longer = Claim("", "s2", "t", "^p2", f"{NEW} It is new.")
    clash = Clash(clash_id(longer, one), "limit", "", ClashKind.STATED, longer, one, "")
    assert known_as(clash, {"c1": ROW}) is ROW
    assert known_as(clash, {"c1": ContradictionRecord(**{**_fields(ROW), "new": Claim("", "s4", "", "", NEW)})}) is None


def _fields(row: ContradictionRecord) -> dict[str, object]:
    return {name: getattr(row, name) for name in row.__slots__}


def test_a_page_that_waits_contradicts_nothing_until_it_is_live(tmp_path: Path) -> None:
    """Candidates are outside of the lists; once promoted the page's contradiction waits for a decision."""
    wiki = wikis.make(tmp_path / "w", wikis.SETTINGS + "staging:\n  policy: all\n", one=ONE, two=TWO)
    run(wiki, 1)
    assert contradictions(wiki).contradictions == []
    review(wiki, DirectRunner(), "2026-03-02T12:00:00Z", [Review("acme-gateway", True)])
    (item,) = contradictions(wiki).contradictions
    assert "[!warning]" in page(wiki.root, "acme-gateway") and item.page == "acme-gateway"
    assert broken(wiki) == [] and open_state(wiki).ledger.contradictions()[item.id].state is Decision.OPEN


def test_the_table_travels_as_arrow(state: WikiState) -> None:
    """Claims are kept as structures in the snapshot, so that any reader of Parquet can look at them."""
    commit(state, "r1", "ingest", [], Changes(contradictions=(ROW,)), NOW)
    snapshot = state.reader.current()
    assert snapshot is not None and pa.types.is_struct(snapshot.table("contradictions").schema.field("old").type)
