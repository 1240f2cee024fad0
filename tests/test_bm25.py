"""The keyword score is rank_bm25's own, read from postings."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tasks.search.bm25 import Okapi, Scorer, idf, most_possible
from tasks.search.postings import Postings, count

WORDS = st.sampled_from(["ada", "byte", "c++", "disk", "érr", "漢", "z3", "q"])
DOCUMENTS = st.lists(st.lists(WORDS, max_size=12), min_size=1, max_size=12).filter(any)


def scorer(documents: list[list[str]]) -> Scorer:
    return Scorer(Postings.of([count(document) for document in documents]))


@given(DOCUMENTS, st.lists(st.one_of(WORDS, st.just("unknown")), max_size=8))
def test_scores_equal_the_librarys_loop(documents: list[list[str]], question: list[str]) -> None:
    """To the last bit, with empty documents, repeated and unknown words."""
    expected = Okapi(documents).get_scores(question)
    assert scorer(documents).scores(question).tobytes() == expected.tobytes()


@given(DOCUMENTS, st.lists(WORDS, min_size=1, max_size=5))
def test_no_score_exceeds_the_most_possible(documents: list[list[str]], question: list[str]) -> None:
    """The bound that fusion divides by holds."""
    ours = scorer(documents)
    assert ours.scores(question).max() <= most_possible(ours.match(question))


def test_a_page_with_the_word_always_outranks_one_without() -> None:
    """Also when one, half or all of the pages hold it."""
    for documents in ([["ada"]], [["ada"], ["disk"]], [["ada"], ["ada", "disk"]]):
        scores = scorer(documents).scores(["ada"])
        assert [bool(score > 0) for score in scores] == ["ada" in document for document in documents]


def test_no_pages_and_empty_pages() -> None:
    """An empty index and a page without words score nothing."""
    assert Scorer(Postings.of([])).scores(["ada"]).tolist() == []
    assert scorer([[]]).scores(["ada"]).tolist() == [0.0]


def test_idf_is_never_negative() -> None:
    """A term on every page still weighs a little."""
    assert 0 < idf(1_000_000, 1_000_000) < idf(1_000_000, 1) < idf(1_000_000, 0)


def test_scores_are_float64() -> None:
    """Rounding is the library's."""
    assert scorer([["ada"]]).scores(["ada"]).dtype == np.float64
