"""Questions from a person's own pages, and the comparison over them."""

from __future__ import annotations

from pathlib import Path

from storage.own_benchmark import Found, OwnReport, compare
from tasks.search.own_questions import OwnPage, draw, is_paraphrase, spread_of
from tests.search_wiki import Concepts, engine, page

TEXTS = {
    "Zuse Z3": "The Zuse Z3 was a programmable calculator of telephone relays in Berlin. It held 2,600 relays.",
    "ENIAC": "ENIAC was a computer of vacuum tubes at the Moore School. It weighed thirty tons in all.",
    "Unix": "Unix is an operating system born at Bell Labs after Multics. Ken Thompson wrote it in weeks.",
}
PAGES = [OwnPage(f"p{number:04d}", title, text) for number, (title, text) in enumerate(TEXTS.items())]


def test_questions_are_drawn_from_every_page() -> None:
    """One of each kind a page, the same for the same seed, in words and names that stand on the page."""
    questions = draw(PAGES, 10)
    assert questions == draw(PAGES, 10)
    assert sorted((one.page_id, one.kind) for one in questions) == [
        (one.id, kind) for one in PAGES for kind in ("identifier", "lexical")
    ]
    texts = {one.id: f"{one.title} {one.markdown}" for one in PAGES}
    assert all(word in texts[one.page_id] for one in questions for word in one.text.split())


def test_a_page_without_names_gives_no_identifier() -> None:
    """Nothing is made up."""
    assert [one.kind for one in draw([OwnPage("a", "x", "")], 5)] == []


def test_a_paraphrase_is_checked_mechanically() -> None:
    """No telling word of the title, at most two others of the page."""
    spread = spread_of(PAGES)
    assert is_paraphrase("Which German machine used phone switches?", PAGES[0], spread, len(PAGES))
    assert not is_paraphrase("What was the Z3?", PAGES[0], spread, len(PAGES))
    assert not is_paraphrase("A calculator with relays in Berlin by telephone", PAGES[0], spread, len(PAGES))


def test_configurations_are_compared_on_them(tmp_path: Path) -> None:
    """Exact names and own words find their pages by keywords, and the paragraph says who is best."""
    wiki = [page(number, title, text) for number, (title, text) in enumerate(TEXTS.items())]
    report = compare(engine(tmp_path, wiki, Concepts({})), draw(PAGES, 10), ("bm25", "fused"))
    assert report.share("bm25") == report.share("fused") == 1.0
    assert "fused found 100.0% of the pages among the first 5" in report.paragraph()


def test_the_paragraph_names_the_winner_and_its_weak_side() -> None:
    """By how much, and which kind of question is the weakest."""
    found = (Found("bm25", "lexical", 10, 10), Found("bm25", "paraphrase", 10, 2),
             Found("fused", "lexical", 10, 10), Found("fused", "paraphrase", 10, 7))  # fmt: skip
    told = OwnReport(found, ()).paragraph()
    assert "fused found 85.0%" in told and "by 25.0%" in told and "paraphrase questions, at 70.0%" in told


def test_no_questions_is_said() -> None:
    """An empty wiki has nothing to compare."""
    assert "No questions" in OwnReport((), ()).paragraph()
