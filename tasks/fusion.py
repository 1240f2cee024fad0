"""Joining the keyword ranking with the ranking by meaning.

Reciprocal rank fusion (Cormack, Clarke and Buettcher 2009) gives each page 1 / (k + rank) from every list that holds it, ranks
from 1. What it cannot know is when to listen to which list; the configurations differ in that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

Configuration = Literal["bm25", "vector", "rerank-only", "rrf", "seed", "fused"]
CONFIGURATIONS: tuple[Configuration, ...] = get_args(Configuration)

K = 60
DEPTH = 20
PIN_LEAD = 1.05
PIN_TOP = 3


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best pages of one list, best first, each with its score. Ties are already broken, by page id."""

    docs: tuple[int, ...] = ()
    scores: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Fused:
    """The joined ranking and what decided it."""

    ranking: Ranking
    keyword_weight: float
    vector_weight: float
    pinned: int                 # pages at the top that the keywords put there


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for the keyword list."""

    coverage: float = 1.0                # share of the question's idf mass that its best page holds, 0 to 1
    similarity: tuple[float, ...] = ()   # of each of its pages to the question by meaning; -1 for one without embedding


def fuse(configuration: Configuration, keyword: Ranking, vector: Ranking, evidence: Evidence) -> Fused:
    """Joins two rankings."""
    if configuration == "bm25" or (not vector.docs and configuration != "vector"):
        return Fused(keyword, 1.0, 0.0, 0)
    if configuration == "vector":
        return Fused(vector, 0.0, 1.0, 0)
    if configuration == "rerank-only":
        return Fused(_reranked(keyword, evidence.similarity), 0.0, 1.0, 0)
    if configuration == "rrf":
        return Fused(reciprocal(keyword, vector), 1.0, 1.0, 0)
    if configuration == "seed":
        return _pinned(keyword, reciprocal(keyword, vector), 1.0)
    weight = 1.0 if evidence.coverage >= 0.4 else 0.1
    joined = reciprocal(keyword, vector, weight)
    return _pinned(keyword, joined, weight) if evidence.coverage >= 0.4 else Fused(joined, weight, 1.0, 0)


def reciprocal(keyword: Ranking, vector: Ranking, keyword_weight: float = 1.0, vector_weight: float = 1.0) -> Ranking:
    """Weighted reciprocal rank fusion of the first 20 of each list; what lies deeper follows, keywords first."""
    scores: dict[int, float] = {}
    for ranking, weight in ((keyword, keyword_weight), (vector, vector_weight)):
        for rank, doc in enumerate(ranking.docs[:DEPTH], 1):
            scores[doc] = scores.get(doc, 0.0) + weight / (K + rank)
    best = sorted(scores, key=lambda doc: (-scores[doc], doc))
    rest = [doc for ranking in (keyword, vector) for doc in ranking.docs[DEPTH:] if doc not in scores]
    rest = list(dict.fromkeys(rest))
    return Ranking((*best, *rest), (*(scores[doc] for doc in best), *(0.0 for _ in rest)))


def _pinned(keyword: Ranking, joined: Ranking, weight: float) -> Fused:
    """With a clear keyword winner (its score 5 % ahead of the next), the best three keyword pages stay on top."""
    scores = keyword.scores
    clear = bool(scores) and (len(scores) == 1 or scores[0] >= PIN_LEAD * scores[1])
    if not clear:
        return Fused(joined, weight, 1.0, 0)
    top = keyword.docs[:PIN_TOP]
    return Fused(_on_top(top, joined), weight, 1.0, len(top))


def _on_top(top: Sequence[int], joined: Ranking) -> Ranking:
    score = dict(zip(joined.docs, joined.scores, strict=True))
    rest = [doc for doc in joined.docs if doc not in top]
    return Ranking((*top, *rest), tuple(score.get(doc, 0.0) for doc in (*top, *rest)))


def _reranked(keyword: Ranking, similarity: Sequence[float]) -> Ranking:
    """The first 20 by keyword in the order of their likeness by meaning."""
    head = sorted(range(min(DEPTH, len(keyword.docs))), key=lambda place: (-similarity[place], keyword.docs[place]))
    order = [*head, *range(len(head), len(keyword.docs))]
    return Ranking(tuple(keyword.docs[place] for place in order), tuple(similarity[place] for place in order))
