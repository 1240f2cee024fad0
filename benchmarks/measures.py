"""Retrieval measures with their intervals. The measures are those of ir-measures; nothing here has a formula
of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import ir_measures
import numpy as np
from ir_measures import RR, R, nDCG
from numpy.typing import NDArray

MEASURES = {
    "recall@5": R @ 5,
    "recall@10": R @ 10,
    "recall@20": R @ 20,
    "mrr@10": RR @ 10,
    "ndcg@10": nDCG @ 10,
}
RESAMPLES = 2_000
NO_WORSE = -0.01
"""'No worse' means that the 95 % lower bound of the paired difference is at least this."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its bootstrap 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Difference:
    """A paired difference of two configurations on the same questions, with its interval and two-sided p."""

    mean: float
    low: float
    high: float
    p: float

    @property
    def no_worse(self) -> bool:
        return self.low >= NO_WORSE


Ranking = Sequence[tuple[str, float]]


def per_query(
    rankings: Mapping[str, Ranking], judged: Mapping[str, Mapping[str, int]], measure: str
) -> dict[str, float]:
    """The measure of each question; a question without an answer counts 0."""
    qrels = [
        ir_measures.Qrel(query, document, grade)
        for query, of in judged.items()
        for document, grade in of.items()
    ]
    # ranks are the engine's: scores are made to fall strictly, so that no tie is broken another way
    run = [
        ir_measures.ScoredDoc(query, document, -float(rank))
        for query, ranking in rankings.items()
        for rank, (document, _) in enumerate(ranking)
    ]
    values = dict.fromkeys(judged, 0.0)
    if run:
        values.update(
            {one.query_id: one.value for one in ir_measures.iter_calc([MEASURES[measure]], qrels, run)}
        )
    return values


def estimate(values: Sequence[float]) -> Estimate:
    """Mean and interval of one value a question."""
    means = _resampled(np.asarray(values, float))
    low, high = np.quantile(means, (0.025, 0.975))
    return Estimate(float(np.mean(values)), float(low), float(high))


def difference(ours: Sequence[float], theirs: Sequence[float]) -> Difference:
    """Ours minus theirs, question by question."""
    apart = np.asarray(ours, float) - np.asarray(theirs, float)
    means = _resampled(apart)
    low, high = np.quantile(means, (0.025, 0.975))
    p = 2 * min(float(np.mean(means <= 0)), float(np.mean(means >= 0)))
    return Difference(float(apart.mean()), float(low), float(high), min(1.0, p))


def _resampled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    generator = np.random.default_rng(20261130)
    return np.array(
        [values[generator.integers(0, len(values), len(values))].mean() for _ in range(RESAMPLES)]
    )
