"""From scores to rankings: the best few of many, with a fixed order among equals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tasks.search.bm25 import Match
from tasks.search.fusion import Ranking


def top(scores: NDArray[np.floating], depth: int, numbers: NDArray[np.int32] | None = None) -> Ranking:
    """The `depth` highest scores, highest first, equal ones by number; `numbers` names the documents, in any order."""
    if depth <= 0 or not len(scores):
        return Ranking()
    if len(scores) > depth:
        limit = np.partition(scores, len(scores) - depth)[len(scores) - depth]
        near = np.flatnonzero(
            scores >= limit
        )  # all that tie for the last place, so that ties fall the same way every time
    else:
        near = np.arange(len(scores))
    names = near if numbers is None else numbers[near]
    order = np.lexsort((names, -scores[near]))[:depth]
    chosen, docs = near[order], names[order]
    return Ranking(tuple(docs.tolist()), tuple(scores[chosen].tolist()))


def top_matching(
    scores: NDArray[np.floating],
    depth: int,
    mask: NDArray[np.bool_] | None = None,
    numbers: NDArray[np.int32] | None = None,
) -> Ranking:
    """As `top`, of the documents that hold any term at all (without `numbers`) and that the mask lets through."""
    if numbers is not None:
        if mask is None:
            return top(scores, depth, numbers)
        found = np.flatnonzero(mask)
        return top(scores[found], depth, numbers[found])
    found = np.flatnonzero(scores > 0 if mask is None else (scores > 0) & mask)
    return top(scores[found], depth, found.astype(np.int32))


def holds(match: Match, doc: int) -> bool:
    """Whether a page holds a term."""
    place = int(np.searchsorted(match.docs, doc))
    return place < len(match.docs) and int(match.docs[place]) == doc


def interleave(rankings: Sequence[Sequence[object]]) -> list[tuple[int, int]]:
    """(ranking, place) in the order first of all, second of all, …: scores of different wikis cannot be compared."""
    longest = max((len(ranking) for ranking in rankings), default=0)
    return [
        (number, place)
        for place in range(longest)
        for number in range(len(rankings))
        if place < len(rankings[number])
    ]
