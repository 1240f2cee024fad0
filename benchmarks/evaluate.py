"""Configurations compared on one corpus, through the production search path."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.corpora import Corpus
from benchmarks.measures import MEASURES, RESAMPLES, Difference, Estimate, Ranking, difference, estimate, per_query
from benchmarks.published import KeptVectors, engine_over, publish
from storage.search.engine import Engine
from tasks.embedding.embed import Embedder, should_embed_question
from tasks.search.fusion import Configuration

RUN_DEPTH = 100
LATENCY_QUESTIONS = 300


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds a question takes, at its median and at the 95th percentile, with its bootstrap interval."""

    p50: float
    p95: float
    p95_low: float
    p95_high: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Latency:
        p50, p95 = np.percentile(np.array(seconds) * 1000, (50, 95))
        return cls(float(p50), float(p95), *percentile_interval(seconds, 95))


def percentile_interval(
    seconds: Sequence[float], percentile: float, without: Sequence[float] = ()
) -> tuple[float, float]:
    """Bootstrap 95 % interval of a percentile, in milliseconds; of what it exceeds that of `without` by, if given.

    Both are drawn by the same questions.
    """
    generator = np.random.default_rng(20261130)
    drawn = generator.integers(0, len(seconds), (RESAMPLES, len(seconds)))
    found = np.percentile(np.asarray(seconds)[drawn], percentile, axis=1)
    if without:
        found = found - np.percentile(np.asarray(without)[drawn], percentile, axis=1)
    low, high = np.quantile(found * 1000, (0.025, 0.975))
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One configuration on one corpus."""

    configuration: str
    estimates: dict[str, dict[str, Estimate]]  # kind ('' for all) -> measure
    latency: Latency | None
    rankings: dict[str, Ranking]
    per_query: dict[str, dict[str, float]]  # measure -> question


@dataclass(frozen=True, slots=True)
class Report:
    """All configurations on one corpus."""

    corpus: str
    digest: str
    documents: int
    questions: int
    model: str
    outcomes: tuple[Outcome, ...]
    embedding: Latency | None  # of one question, by itself

    def outcome(self, configuration: str) -> Outcome:
        return next(one for one in self.outcomes if one.configuration == configuration)

    def difference(self, ours: str, theirs: str, measure: str, queries: Sequence[str] = ()) -> Difference:
        """Paired difference of two configurations, over all questions or those of these ids."""
        first, second = self.outcome(ours).per_query[measure], self.outcome(theirs).per_query[measure]
        keys = list(queries) or list(first)
        return difference([first[key] for key in keys], [second[key] for key in keys])


def rank(engine: Engine, corpus: Corpus, configuration: Configuration, depth: int) -> dict[str, Ranking]:
    """The ranking of every question, as (document id, score)."""
    return {
        query.id: [
            (hit.slug, hit.score)
            for hit in engine.search(query.text, depth, configuration=configuration).hits
        ]
        for query in corpus.queries
    }


def evaluate(
    corpus: Corpus,
    configurations: Sequence[Configuration],
    embedder: Embedder | None,
    cache: Path,
    *,
    depth: int = RUN_DEPTH,
    timed: bool = True,
) -> Report:
    """Quality from rankings `depth` deep; latency from questions asked anew with the real embedder, ten hits each."""
    kept = KeptVectors(embedder, cache) if embedder is not None else None
    with tempfile.TemporaryDirectory() as folder:
        published = publish(corpus, kept, Path(folder))
        engine = engine_over(published, kept)
        if kept is not None:
            texts = [query.text for query in corpus.queries]
            kept.learn_questions([text for text in texts if should_embed_question(text, kept.model)])
        outcomes = []
        for configuration in configurations:
            rankings = rank(engine, corpus, configuration, depth)
            values = {measure: per_query(rankings, corpus.judged, measure) for measure in MEASURES}
            latency = None
            if timed:
                latency = time_questions(engine_over(published, embedder), corpus, configuration)
            outcomes.append(Outcome(configuration, _by_kind(corpus, values), latency, rankings, values))
    alone = time_embedding(embedder, corpus) if embedder is not None and timed else None
    model = embedder.model if embedder is not None else ""
    return Report(
        corpus.name,
        corpus.digest(),
        len(corpus.documents),
        len(corpus.queries),
        model,
        tuple(outcomes),
        alone,
    )


def _by_kind(corpus: Corpus, values: dict[str, dict[str, float]]) -> dict[str, dict[str, Estimate]]:
    kinds = [kind for kind in corpus.kinds() if kind]
    found = {"": {measure: estimate(list(of.values())) for measure, of in values.items()}}
    for kind in kinds:
        ids = [query.id for query in corpus.queries if query.kind == kind]
        found[kind] = {measure: estimate([of[key] for key in ids]) for measure, of in values.items()}
    return found


def time_questions(engine: Engine, corpus: Corpus, configuration: Configuration) -> Latency:
    """How long a warm engine takes for questions it has not seen."""
    questions = [query.text for query in corpus.queries]
    for question in questions[-3:]:
        engine.search(f"{question} again", configuration=configuration)
    seconds = []
    for question in questions[:LATENCY_QUESTIONS]:
        start = time.perf_counter()
        engine.search(question, configuration=configuration)
        seconds.append(time.perf_counter() - start)
    return Latency.of(seconds)


def time_embedding(embedder: Embedder, corpus: Corpus) -> Latency:
    """How long embedding a question takes by itself."""
    seconds = []
    for query in corpus.queries[:LATENCY_QUESTIONS]:
        start = time.perf_counter()
        embedder.embed_query(query.text)
        seconds.append(time.perf_counter() - start)
    return Latency.of(seconds)
