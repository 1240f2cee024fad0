"""The keyword score: `rank_bm25.BM25Okapi` with an idf that cannot be negative, read from stored postings.

`rank_bm25` defines the score. Its idf is zero or less for a term that half of the pages hold, which a wiki of
three pages meets at once; `ln(1 + (N - n + 0.5) / (n + 0.5))`, as Lucene has it, takes its place. `Scorer` gives
the same numbers to the last bit without walking every document for every term.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from tasks.search.postings import Postings

K1 = 1.5
B = 0.75


def idf(documents: int, holding: int) -> float:
    """Weight of a term that `holding` of `documents` hold, above 0: ln(1 + (N - n + 0.5) / (n + 0.5))."""
    return math.log(1 + (documents - holding + 0.5) / (holding + 0.5))


class Okapi(BM25Okapi):  # type: ignore[misc]  # the library ships no types
    """The library's scorer with the idf above: what `Scorer` must agree with."""

    def _calc_idf(self, nd: Mapping[str, int]) -> None:
        self.idf = {term: idf(self.corpus_size, holding) for term, holding in nd.items()}


@dataclass(frozen=True, slots=True)
class Match:
    """How the documents answer one term of the question."""

    term: str
    times: int  # how often the question says it
    weight: float  # idf
    docs: NDArray[np.int32]  # that hold it, ascending
    parts: NDArray[np.float64]  # what it adds to the score of each of these, each time it is said


class Scorer(Okapi):
    """The same scores from postings."""

    def __init__(self, postings: Postings, k1: float = K1, b: float = B) -> None:
        self.k1 = k1
        self.b = b
        self.postings = postings
        self.corpus_size = len(postings.lengths)
        total = int(postings.lengths.sum())
        self.avgdl = total / self.corpus_size if total else 1.0
        self._saturation = k1 * (1 - b + b * postings.lengths / self.avgdl)

    def match(self, question: Sequence[str]) -> tuple[Match, ...]:
        """Each distinct term of the question in the order of its first use, unknown ones included."""
        times: dict[str, int] = {}
        for term in question:
            times[term] = times.get(term, 0) + 1
        found = []
        for term, repeats in times.items():
            docs, counts = self.postings.of_term(term)
            weight = idf(self.corpus_size, len(docs))
            parts = weight * (counts * (self.k1 + 1) / (counts + self._saturation[docs]))
            found.append(Match(term, repeats, weight, docs, parts))
        return tuple(found)

    def scores(
        self, question: Sequence[str], matches: Sequence[Match] | None = None
    ) -> NDArray[np.float64]:
        """The score of every document; exactly 0 where no term of the question stands."""
        by_term = {match.term: match for match in (self.match(question) if matches is None else matches)}
        scores = np.zeros(self.corpus_size)
        for term in question:  # repeats add up one by one, in order, as in the library's loop
            match = by_term[term]
            scores[match.docs] += match.parts
        return scores

    def coverage(self, matches: Sequence[Match]) -> NDArray[np.float64]:
        """Share of the question's idf mass on every document, 0 to 1; unknown words count, at the largest idf."""
        mass = np.zeros(self.corpus_size)
        for match in matches:
            mass[match.docs] += match.weight
        total = sum(match.weight for match in matches)
        return mass / total if total else mass


def most_possible(matches: Sequence[Match], k1: float = K1) -> float:
    """What no page's score exceeds: every term, as often as the question says it, at its limit idf * (k1 + 1)."""
    return sum(match.weight * match.times for match in matches) * (k1 + 1)
