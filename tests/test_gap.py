"""Whether a wiki covers what is asked is judged once, whichever way it is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.answering.context import build_pack
from flows.answering.query import answer
from tasks.records import Chunk, ChunksRecord
from tasks.search.filters import Filters
from tests.search_wiki import engine, page

PAGES = [
    page(1, "Harbour", "A harbour shelters ships. The pier was built in 1890."),
    page(2, "Lighthouse", "A lighthouse warns ships of rocks."),
    page(3, "燈塔", "燈塔警告船隻有岩石。"),
    page(4, "منارة", "المنارة تحذر السفن من الصخور."),
]


@pytest.mark.parametrize(
    ("question", "gap"),
    [
        ("how many ships does a harbour shelter", False),
        ("Krakatoa eruption", True),
        ("explain the lighthouse please", False),
        ("燈塔警告什麼", False),
        ("火山爆發", True),
        ("المنارة", False),
        ("البركان", True),
        ("🚢🚢", True),
        ("Wann wurde der Harbour gebaut?", False),
        ("Quand est-ce que le lighthouse a été construit ?", False),
        ("Когда был построен Lighthouse?", False),
        ("Wann wurde der Turm gebaut?", True),
        ("harbor", True),  # may be meant for a harbour, and may not
        ("?", True),
    ],
)
def test_hits_answers_and_packs_judge_alike(tmp_path: Path, question: str, gap: bool) -> None:
    """A gap of the search is one of the answer and of the pack, in every script."""
    search = engine(tmp_path, PAGES)
    told = answer(search, question)
    pack = build_pack(search, question)
    assert [search.search(question).gap, told.gap, pack.gap] == [gap] * 3


def test_words_that_only_ask_are_not_missing(tmp_path: Path) -> None:
    """A source about 'wiki' and 'say' would not help whom nobody told of volcanoes."""
    told = answer(engine(tmp_path, PAGES), "What does the wiki say about volcanoes?")
    assert (told.unknown, "about volcanoes would help" in told.note) == (("volcanoes",), True)


def test_filters_hold_for_the_evidence_beside(tmp_path: Path) -> None:
    """At a gap only pieces of sources are offered that pages within the filters cite, or that are asked for by name."""
    pieces = tuple(
        ChunksRecord(source, (Chunk(0, (), f"Krakatoa erupted, says {source}.", "^p1"),)) for source in ("s1", "s2")
    )
    search = engine(tmp_path, PAGES, chunks=pieces)

    def offered(filters: Filters) -> set[str]:
        return {hit.id for hit in search.search("Krakatoa eruption", 5, filters).hits if hit.type == "chunk"}

    assert offered(Filters()) == {"s1", "s2"}
    assert offered(Filters(source=("s2",))) == {"s2"}
    assert offered(Filters(tag=("none-has-it",))) == set()


def test_pages_left_out_are_no_gap(tmp_path: Path) -> None:
    """Who has read the page that answers is not told that the wiki does not speak of it."""
    search = engine(tmp_path, PAGES)
    pack = build_pack(search, "ships and rocks at the pier", exclude_ids=("lighthouse", "no-such-page"))
    assert "lighthouse" not in [one.slug for one in pack.pages] and not pack.gap
