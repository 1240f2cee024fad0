"""How two rankings become one."""

from __future__ import annotations

import numpy as np
import pytest

from tasks.search.fusion import CONFIGURATIONS, Candidates, Configuration, Ranking, fuse, reciprocal


def candidates(**of: tuple[float, float, float]) -> Candidates:
    """Candidates p0, p1, ...: keyword share, coverage, z (NaN: not embedded)."""
    docs = np.array([int(name[1:]) for name in of], np.int32)
    columns = np.array(list(of.values()))
    return Candidates(docs, columns[:, 0], columns[:, 1], columns[:, 2])


NONE = Candidates(np.zeros(0, np.int32), np.zeros(0), np.zeros(0), np.zeros(0))


def test_reciprocal_ranks_count_from_one() -> None:
    """A page first in both lists scores 2 / 61; equal scores fall by page id."""
    fused = reciprocal(Ranking((7, 3), (2.0, 1.0)), Ranking((7, 2), (0.9, 0.8)))
    assert fused.docs == (7, 2, 3) and fused.scores[0] == 2 / 61 and fused.scores[1] == 1 / 62


def test_a_clear_keyword_winner_is_pinned_under_seed() -> None:
    """Five per cent ahead keeps the first three; less leaves the order to the ranks."""
    vector = Ranking((9, 8, 7, 6, 5), (0.9, 0.8, 0.7, 0.6, 0.5))
    clear = fuse("seed", Ranking((1, 2, 3, 4), (1.05, 1.0, 0.9, 0.8)), vector, NONE)
    close = fuse("seed", Ranking((1, 2, 3, 4), (1.04, 1.0, 0.9, 0.8)), vector, NONE)
    assert clear.ranking.docs[:3] == (1, 2, 3) and clear.pinned == 3
    assert close.ranking.docs[:2] == (1, 9) and close.pinned == 0


def test_a_lone_keyword_match_is_a_clear_winner() -> None:
    """With no second page there is nothing to be ahead of."""
    assert fuse("seed", Ranking((4,), (0.1,)), Ranking((9, 4), (0.9, 0.1)), NONE).ranking.docs == (4, 9)


def test_a_trivial_match_does_not_bury_meaning() -> None:
    """Pages that share a sliver of the question stay behind one that is far ahead by meaning."""
    trivial = {f"p{number}": (0.02, 0.1, -0.3) for number in range(5)}
    fused = fuse(
        "fused",
        Ranking(tuple(range(5)), (1.0,) * 5),
        Ranking((9,), (2.8,)),
        candidates(**trivial, p9=(0.0, 0.0, 2.8)),
    )
    assert fused.ranking.docs[0] == 9


def test_an_exact_name_is_not_buried_by_meaning() -> None:
    """A page that holds every rare word of the question stays ahead of one that is merely about the same."""
    both = candidates(p1=(0.45, 1.0, 1.0), p2=(0.05, 0.2, 6.0))
    assert fuse("fused", Ranking((1, 2), (9.0, 1.0)), Ranking((2, 1), (6.0, 1.0)), both).ranking.docs == (
        1,
        2,
    )


def test_a_page_without_embedding_is_not_punished() -> None:
    """It is taken to be as near as the other pages with its words."""
    mixed = candidates(p1=(0.5, 1.0, float("nan")), p2=(0.4, 0.9, 3.0))
    fused = fuse("fused", Ranking((1, 2), (9.0, 8.0)), Ranking((2,), (3.0,)), mixed)
    assert fused.ranking.docs == (1, 2)


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_every_configuration_takes_empty_lists(configuration: Configuration) -> None:
    """No hits on either side is no hits."""
    assert fuse(configuration, Ranking(), Ranking(), NONE).ranking == Ranking()


@pytest.mark.parametrize("configuration", sorted(set(CONFIGURATIONS) - {"vector"}))
def test_without_vectors_keywords_answer(configuration: Configuration) -> None:
    """Whatever the setting, a missing list by meaning changes nothing in the keyword ranking."""
    keyword = Ranking((3, 1), (2.0, 1.0))
    assert (
        fuse(
            configuration,
            keyword,
            Ranking(),
            candidates(p1=(0.1, 0.5, float("nan")), p3=(0.2, 1, float("nan"))),
        ).ranking
        == keyword
    )


def test_rerank_only_reorders_and_adds_nothing() -> None:
    """Pages that keywords did not find stay out."""
    both = candidates(p1=(0.3, 1.0, 0.5), p2=(0.2, 1.0, 2.0), p9=(0.0, 0.0, 5.0))
    assert fuse(
        "rerank-only", Ranking((1, 2), (2.0, 1.0)), Ranking((9, 2, 1), (5, 2, 0.5)), both
    ).ranking.docs == (2, 1)
