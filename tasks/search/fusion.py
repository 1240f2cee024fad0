"""Joining the keyword ranking with the ranking by meaning.

Reciprocal rank fusion (Cormack, Clarke and Büttcher 2009) gives a page 1 / (k + rank) from every list that
holds it. It looks at ranks alone, so it cannot tell a list that is sure from one that guesses: asked in
words of one's own, the keyword list still has twenty pages that share some word, and they take half of the
places. `fused` looks at the evidence instead:

    score = z + 20 · coverage · BM25 / most · rarity

z         similarity of page and question, in standard deviations above the mean of all pages of the wiki, so that
          models whose similarities lie between 0.7 and 0.9 and those that use the whole range weigh the same
coverage  share of the question's idf mass that stands on the page; words that no page has count, at the largest idf
most      what BM25 could reach at best for this question, so BM25 / most lies between 0 and 1
rarity    the largest idf of the question's known words over the largest idf there is: matching only a word that half of
          the pages have is little evidence, however often it is there

All factors are between 0 and 1 and smooth; nothing switches at a threshold. A page that holds every word of
the question gets about 8 for it, as much as the surest match by meaning; one that shares a fifth of the idf
mass gets a tenth of a point. The weight 20 was chosen on the development corpora, where 12 to 32 do about
as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

Configuration = Literal["bm25", "vector", "rerank-only", "rrf", "seed", "fused"]
CONFIGURATIONS: tuple[Configuration, ...] = get_args(Configuration)

RRF_K = 60
RRF_DEPTH = 20
PIN_LEAD = 1.05
PIN_TOP = 3
KEYWORD_WEIGHT = 20.0
DEPTH = 100  # pages of each list that `fused` looks at


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best pages of one list, best first, each with its score. Ties are already broken, by page id."""

    docs: tuple[int, ...] = ()
    scores: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidates:
    """Every page of either list, by number, with what both sides know of it."""

    docs: NDArray[np.int32]
    keyword: NDArray[np.float64]  # BM25 / most * rarity, 0 to 1
    coverage: NDArray[np.float64]  # share of the question's idf mass on the page, 0 to 1
    similarity: NDArray[np.float64]  # z; NaN for a page without embedding


@dataclass(frozen=True, slots=True)
class Fused:
    """The joined ranking and how many of its first pages the keywords put there by rule."""

    ranking: Ranking
    configuration: Configuration
    pinned: int = 0

    def weights(self, candidates: Candidates, place: int) -> tuple[float, float]:
        """What the keyword list and the list by meaning weighed for one candidate."""
        if self.configuration == "fused":
            return KEYWORD_WEIGHT * float(candidates.coverage[place]), 1.0
        return float(self.configuration not in ("vector", "rerank-only")), float(self.configuration != "bm25")


def fuse(configuration: Configuration, keyword: Ranking, vector: Ranking, candidates: Candidates) -> Fused:
    """Joins two rankings. Without one by meaning, the keyword ranking is the answer, whatever the configuration."""
    if configuration == "bm25" or (not vector.docs and configuration != "vector"):
        return Fused(keyword, "bm25")
    if configuration == "vector":
        return Fused(vector, "vector")
    if configuration == "rerank-only":
        return Fused(_reranked(keyword, candidates), "rerank-only")
    if configuration == "rrf":
        return Fused(reciprocal(keyword, vector), "rrf")
    if configuration == "seed":
        return _pinned(keyword, reciprocal(keyword, vector))
    keyword_part, vector_part = parts(candidates)
    total = keyword_part + vector_part
    order = np.lexsort((candidates.docs, -total))
    return Fused(Ranking(tuple(candidates.docs[order].tolist()), tuple(total[order].tolist())), "fused")


def parts(candidates: Candidates) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What keywords and meaning add to each candidate's score under `fused`.

    A page without embedding is taken to be as near in meaning as the other pages with its words are on average.
    """
    similarity = candidates.similarity
    absent = np.isnan(similarity)
    if absent.any():
        known = similarity[~absent & (candidates.keyword > 0)]
        similarity = np.where(absent, known.mean() if len(known) else 0.0, similarity)
    return KEYWORD_WEIGHT * candidates.coverage * candidates.keyword, similarity


def reciprocal(keyword: Ranking, vector: Ranking) -> Ranking:
    """Reciprocal rank fusion of the first 20 of each list, ranks from 1; what lies deeper follows, keywords first."""
    scores: dict[int, float] = {}
    for ranking in (keyword, vector):
        for rank, doc in enumerate(ranking.docs[:RRF_DEPTH], 1):
            scores[doc] = scores.get(doc, 0.0) + 1 / (RRF_K + rank)
    best = sorted(scores, key=lambda doc: (-scores[doc], doc))
    deeper = dict.fromkeys(doc for ranking in (keyword, vector) for doc in ranking.docs[RRF_DEPTH:])
    rest = [doc for doc in deeper if doc not in scores]
    return Ranking((*best, *rest), (*(scores[doc] for doc in best), *(0.0 for _ in rest)))


def _pinned(keyword: Ranking, joined: Ranking) -> Fused:
    """With a clear keyword winner (its score 5 % ahead of the next), the best three keyword pages stay on top."""
    scores = keyword.scores
    if not scores or (len(scores) > 1 and scores[0] < PIN_LEAD * scores[1]):
        return Fused(joined, "seed")
    score = dict(zip(joined.docs, joined.scores, strict=True))
    pinned = keyword.docs[:PIN_TOP]
    order = (*pinned, *(doc for doc in joined.docs if doc not in pinned))
    return Fused(Ranking(order, tuple(score[doc] for doc in order)), "seed", len(pinned))


def _reranked(keyword: Ranking, candidates: Candidates) -> Ranking:
    """The first 20 by keyword in the order of their likeness by meaning; those without embedding last."""
    place = {int(doc): number for number, doc in enumerate(candidates.docs)}
    near = {doc: float(np.nan_to_num(candidates.similarity[place[doc]], nan=-np.inf)) for doc in keyword.docs}
    head: Sequence[int] = sorted(keyword.docs[:RRF_DEPTH], key=lambda doc: (-near[doc], doc))
    order = (*head, *keyword.docs[RRF_DEPTH:])
    return Ranking(order, tuple(near[doc] for doc in order))
