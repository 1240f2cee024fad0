"""Search over snapshots: what it finds, what it says when something is missing, and that it keeps up with the
nights.
"""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from config.errors import ModelUnavailableError
from storage.search.engine import Engine, SearchedWiki
from tasks.embedding.embed import Embedder
from tasks.embedding.model import Model
from tasks.records import Chunk, ChunksRecord, Citation, SourceKind, SourceRecord
from tasks.search.filters import Filters
from tasks.search.fusion import CONFIGURATIONS
from tests.search_wiki import Concepts, Snapshots, Tables, embedded, engine, page, publish

SHIPS = Concepts({"vessel": "ship", "boat": "ship", "freighter": "ship"})
FLEET = [
    page(1, "Freighter", "A freighter carries goods.", tags=("sea",), confidence="high"),
    page(
        2,
        "Lighthouse",
        "It stands on the rock IT-644.",
        tags=("sea", "coast"),
        branch="coast",
        confidence="low",
    ),
    page(3, "Old chart", "A chart of goods.", status="archived", type="map", path="maps/old/chart.md"),
]


def titles(found: Engine, question: str, *args: object, **options: object) -> list[str]:
    return [hit.title for hit in found.search(question, *args, **options).hits]  # type: ignore[arg-type]


def test_words_and_meaning_find_pages(tmp_path: Path) -> None:
    """A name by its words, a paraphrase by what it means."""
    search = engine(tmp_path, FLEET, SHIPS)
    assert titles(search, "IT-644 rock")[0] == "Lighthouse"
    assert titles(search, "vessel")[0] == "Freighter"
    assert titles(search, "vessel", configuration="bm25") == []


@pytest.mark.parametrize(
    "question", ["", " ", "the of and", "😀", "\0", "x" * 100_000, "a " * 50_000, "\ud800", "ქართული"]
)
@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_any_question_is_answered(tmp_path: Path, question: str, configuration: str) -> None:
    """Whatever is typed there is an answer that can be printed."""
    result = engine(tmp_path, FLEET, SHIPS).search(question, configuration=configuration)  # type: ignore[arg-type]
    assert json.dumps(result.to_json())


def test_an_empty_wiki_has_no_hits(tmp_path: Path) -> None:
    """No pages, and a page without words."""
    assert engine(tmp_path / "none", []).search("ship").hits == ()
    assert engine(tmp_path / "blank", [page(1, "", "")]).search("ship").hits == ()


def test_tiny_wikis_work(tmp_path: Path) -> None:
    """A page that holds the word is found when one, or every page does."""
    assert titles(engine(tmp_path / "one", FLEET[:1]), "goods") == ["Freighter"]
    assert len(titles(engine(tmp_path / "all", [page(n, f"P{n}", "goods") for n in range(3)]), "goods")) == 3


def test_meaning_is_not_buried_by_a_stop_like_word(tmp_path: Path) -> None:
    """Ten pages, five hold a word that says little; the page far ahead by meaning stays in the top three."""
    pages = [page(n, f"Item {n}", f"thing{n} stuff {'company' if n < 5 else ''}") for n in range(9)]
    search = engine(tmp_path, [*pages, page(9, "Boat", "freighter vessel")], SHIPS)
    hits = search.search("company boat ship", explain=True).hits
    place = [hit.title for hit in hits].index("Boat")
    assert place < 3 and hits[place].explain is not None
    assert (hits[place].explain.vector_rank, hits[0].explain is not None) == (1, True)


def test_filters_come_before_ranking(tmp_path: Path) -> None:
    """A filter never starves the list: the one page it lets through is found behind fifty better ones."""
    many = [page(n, f"Goods {n}", "goods goods goods") for n in range(50)]
    search = engine(tmp_path, [*many, page(99, "Other", "goods among other things", tags=("rare",))])
    assert titles(search, "goods", 5, Filters(tag=("rare",))) == ["Other"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(), {"Freighter"}),
        (Filters(status=("archived",)), {"Old chart"}),
        (Filters(status=("active", "archived")), {"Freighter", "Old chart"}),
        (Filters(status=("archived",), type=("map",)), {"Old chart"}),
        (Filters(status=("archived",), path=("maps",)), {"Old chart"}),
        (Filters(path=("maps/old",)), set()),
        (Filters(status=("archived",), path=("maps/*/chart.md",)), {"Old chart"}),
        (Filters(confidence_min="high"), {"Freighter"}),
        (Filters(branch=("coast",)), set()),
        (Filters(updated_after="2026-11-30"), {"Freighter"}),
        (Filters(updated_after="2026-12-01"), set()),
        (Filters(updated_before="2026-11-30"), set()),
        (Filters(tag=("#Sea",)), {"Freighter"}),
        (Filters(tag=("sea", "coast")), set()),
        (Filters(source=("no-such",)), set()),
    ],
)
def test_each_filter(tmp_path: Path, filters: Filters, expected: set[str]) -> None:
    """Archived pages are out unless asked for; every other filter narrows."""
    assert set(titles(engine(tmp_path, FLEET), "goods", 10, filters)) == expected


def test_a_hit_quotes_its_page_and_cites_its_source(tmp_path: Path) -> None:
    """The excerpt is the page's own text at its offsets, with the citations that its footnotes name."""
    cited = Citation("s1", "evidence/a.md", "^p7", "built in 1941", "nw-12345678")
    wiki = [
        page(
            1,
            "Z3",
            "Lead.\n\n## History\n\nIt was built in 1941.[^nw-12345678]",
            citations=(cited,),
            sources=("s1",),
        )
    ]
    hit = engine(tmp_path, wiki).search("when built 1941").hits[0]
    assert wiki[0].markdown[hit.start : hit.end] == hit.excerpt == "It was built in 1941.[^nw-12345678]"
    assert hit.heading_path == ("Z3", "History")
    assert [(one.source, one.location, one.place, one.quote) for one in hit.citations] == [
        ("s1", "evidence/a.md", "^p7", "built in 1941")
    ]


def test_an_alias_leads_to_its_page_and_to_what_speaks_of_it(tmp_path: Path) -> None:
    """PC, the alias of Program Counter, finds a page that only says program counter; 'pcs' is another word."""
    wiki = [
        page(1, "Program Counter", "A register.", aliases=("PC",)),
        page(2, "Jump", "It sets the program counter."),
    ]
    search = engine(tmp_path, wiki)
    assert set(titles(search, "what changes the PC?")) == {"Program Counter", "Jump"}
    assert titles(search, "PCX") == []


def test_a_chinese_question_is_left_to_keywords(tmp_path: Path) -> None:
    """With an English model, fused and bm25 give the same, in order and in number."""
    wiki = [*FLEET, page(4, "船", "貨船運載貨物。"), page(5, "燈塔", "燈塔立於岩石上。")]
    search = engine(tmp_path, wiki, SHIPS)
    assert titles(search, "貨船 boat") == titles(search, "貨船 boat", configuration="bm25") == ["船"]


def test_a_gap_offers_the_evidence(tmp_path: Path) -> None:
    """When no page has the words, pieces of sources are offered as such; the meaning of a page hides no gap."""
    pieces = (ChunksRecord("s1", (Chunk(0, ("Report",), "Krakatoa erupted in 1883.", "^p2"),)),)
    sources = (
        SourceRecord(
            "s1", SourceKind.FILE, "raw_sources/r.pdf", "ok", title="Report", evidence="evidence/r.md"
        ),
    )  # type: ignore[arg-type]
    search = engine(tmp_path, FLEET, SHIPS, chunks=pieces, sources=sources)
    result = search.search("Krakatoa 1883 vessel", 3)
    piece = result.hits[-1]
    assert result.gap and (piece.type, piece.id, piece.path) == ("chunk", "s1", "evidence/r.md")
    assert piece.citations[0].place == "^p2" and [hit.rank for hit in result.hits] == list(
        range(1, len(result.hits) + 1)
    )
    assert not search.search("freighter goods").gap
    assert [hit.type for hit in search.search("Krakatoa", layer="chunks").hits] == ["chunk"]


def test_without_a_model_it_says_so(tmp_path: Path) -> None:
    """Keywords answer, and every answer names the cause and the next step."""

    def missing() -> Embedder:
        raise ModelUnavailableError("some/model", "is not on this machine", "Install it")

    snapshot = publish(tmp_path, Tables(FLEET, embedded(FLEET, SHIPS)))
    search = Engine([SearchedWiki("w", Snapshots(snapshot), Model(missing))])
    result = search.search("freighter")
    assert result.hits[0].title == "Freighter"
    assert [(one.what, one.next_step) for one in result.degraded] == [("embeddings", "Install it")]


def test_another_model_is_never_mixed_in(tmp_path: Path) -> None:
    """Vectors of another file by the same name are not compared; the answer says that a rebuild is needed."""
    snapshot = publish(tmp_path, Tables(FLEET, embedded(FLEET, SHIPS)))
    other = replace(SHIPS, model="concepts@ffffffff/256", dimensions=32)
    result = Engine([SearchedWiki("w", Snapshots(snapshot), Model(lambda: other))]).search("vessel")
    assert result.hits == () and "rebuild needed" in result.degraded[0].reason


def test_pages_not_embedded_yet_are_counted(tmp_path: Path) -> None:
    """A half-embedded wiki says how many are missing, and still finds the others by words."""
    snapshot = publish(tmp_path, Tables(FLEET, embedded(FLEET[:1], SHIPS)))
    result = Engine([SearchedWiki("w", Snapshots(snapshot), Model(lambda: SHIPS))]).search("lighthouse")
    assert result.hits[0].title == "Lighthouse" and "2 of 3 pages" in result.degraded[0].reason


def test_a_new_snapshot_is_noticed(tmp_path: Path) -> None:
    """The next question is answered from it; a pinned one stays where it was."""
    first = publish(tmp_path, Tables(FLEET), "s1")
    second = publish(tmp_path, Tables([page(7, "Anchor", "iron")]), "s2")
    reader = Snapshots(first, {"s1": first})
    search = Engine([SearchedWiki("w", reader)])
    assert search.search("iron").hits == ()
    reader.shown = second
    assert titles(search, "iron") == ["Anchor"]
    assert titles(search, "freighter", as_of="s1") == ["Freighter"]


def test_a_torn_index_is_refused_and_made_in_memory(tmp_path: Path) -> None:
    """The answer is that of the snapshot asked, and names the file."""
    first = publish(tmp_path, Tables(FLEET), "s1")
    second = publish(tmp_path, Tables(FLEET), "s2")
    (second.index_dir / "page-docs.npy").write_bytes(b"torn")
    reader = Snapshots(first)
    search = Engine([SearchedWiki("w", reader)])
    whole = search.search("freighter")
    reader.shown = second
    result = search.search("freighter")
    assert result.snapshot == "s2" and result.hits == whole.hits
    assert "page-docs.npy" in result.degraded[0].reason


def test_a_missing_index_is_made_in_memory(tmp_path: Path) -> None:
    """With nothing to fall back on, the answer is the same as with an index, and says what is missing."""
    snapshot = publish(tmp_path, Tables(FLEET))
    expected = Engine([SearchedWiki("w", Snapshots(snapshot))]).search("goods").hits
    (snapshot.index_dir / "manifest.json").unlink()
    result = Engine([SearchedWiki("w", Snapshots(snapshot))]).search("goods")
    assert result.hits == expected and result.degraded[0].what == "index"


def test_several_wikis_take_turns(tmp_path: Path) -> None:
    """First of each, then second of each: scores of different wikis are not compared."""
    one = publish(tmp_path, Tables([page(1, "Goods A", "goods"), page(2, "Goods B", "goods")]), "one")
    other = publish(tmp_path, Tables([page(n, f"Goods {n}", "goods " * 9) for n in range(3)]), "other")
    search = Engine([SearchedWiki("one", Snapshots(one)), SearchedWiki("other", Snapshots(other))])
    hits = search.search("goods", 4).hits
    assert [(hit.wiki, hit.rank) for hit in hits] == [("one", 1), ("other", 2), ("one", 3), ("other", 4)]


def test_threads_share_an_engine_while_snapshots_change(tmp_path: Path) -> None:
    """No question is dropped, and each is answered from one snapshot."""
    shots = [publish(tmp_path, Tables([page(1, f"Night {n}", "goods")]), f"s{n}") for n in range(4)]
    reader = Snapshots(shots[0])
    search = Engine([SearchedWiki("w", reader)])
    seen: list[tuple[str, str]] = []

    def ask() -> None:
        for _ in range(40):
            result = search.search("goods")
            seen.append((result.snapshot[1:], result.hits[0].title[-1]))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for shot in shots:
        reader.shown = shot
    for thread in threads:
        thread.join()
    assert len(seen) == 160 and all(snapshot == night for snapshot, night in seen)


def test_explanations_add_up(tmp_path: Path) -> None:
    """What words and meaning gave is the score of a fused hit."""
    for hit in engine(tmp_path, FLEET, SHIPS).search("freighter goods vessel", explain=True).hits:
        assert hit.explain is not None
        assert hit.score == pytest.approx(hit.explain.keyword_part + hit.explain.vector_part)


def test_passages_by_meaning(tmp_path: Path) -> None:
    """The excerpt is the block that means the same, though it shares no word with the question."""
    wiki = [page(1, "Log", "weather report\n\nboat freighter\n\ncargo list"), page(2, "Other", "else")]
    hit = engine(tmp_path, wiki, SHIPS).search("vessel", 1, passages_by_meaning=True).hits[0]
    assert hit.excerpt == "boat freighter"


def test_the_json_has_the_agreed_fields(tmp_path: Path) -> None:
    """Names and nesting are fixed; `explain` is there only when asked for."""
    told = engine(tmp_path, FLEET).search("freighter").to_json()
    assert set(told) == {"schema_version", "question", "snapshot", "gap", "degraded", "hits"}
    assert set(told["hits"][0]) == {
        "wiki",
        "id",
        "slug",
        "title",
        "path",
        "rank",
        "score",
        "status",
        "confidence",
        "type",
        "tags",
        "branch",
        "updated",
        "heading_path",
        "excerpt",
        "start",
        "end",
        "page_hash",
        "citations",
    }


def test_a_slip_of_the_pen_finds_what_was_meant(tmp_path: Path) -> None:
    """The misspelt word counts as the known one, but fills no gap; a known word is never taken for another."""
    wiki = [page(1, "Transistor", "A transistor amplifies."), page(2, "Transit", "Planets in transit.")]
    result = engine(tmp_path, wiki).search("transistr", explain=True)
    assert [hit.title for hit in result.hits] == ["Transistor"] and result.gap
    assert result.hits[0].explain is not None and result.hits[0].explain.terms[0].term == "transistor"
    assert titles(engine(tmp_path / "again", wiki), "transit") == ["Transit"]
