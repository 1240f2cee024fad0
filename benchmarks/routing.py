"""What routing gains and costs: `python -m benchmarks.routing --shared DIR`.

Recall of the wiki questions, asked of the whole wiki and routed, with branches by the topic that each page of the
measuring data carries (pages without one are in no branch) and by clusters of the pages' embeddings; HotpotQA and
SciFact by clusters. Then the latency of both at 1,000 to 100,000 pages, taken in turns over one opened wiki, without
the embedding of the question, which is the same for both.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.corpora import Corpus, lines, nested, read_beir, read_wiki
from benchmarks.evaluate import Latency
from benchmarks.gate import QUESTIONS
from benchmarks.measures import Estimate, difference, estimate, per_query
from benchmarks.published import KeptVectors, Published, pages_of, tables_of
from benchmarks.retrieval import CACHE, load_model
from benchmarks.speed import Noisy, grown, questions_of
from storage.search.engine import Engine, SearchedWiki
from storage.search.search_index import build_index
from tasks.embedding import embed
from tasks.embedding.embed import Embedder
from tasks.embedding.model import Model
from tasks.search.scope import ByKeywords

NO_TOPIC = "Uncategorized"
CLUSTERS = (12, 30)
SIZES = (1_000, 2_000, 5_000, 10_033, 30_000, 100_000)
ROUNDS = 12
DEPTH = 20


@dataclass(frozen=True, slots=True)
class Recall:
    """Routed against whole: the share of questions that were routed, and recall@5 of all questions."""

    corpus: str
    branches: str
    routed: float
    scope: float  # mean share of the pages that a routed question was put to
    whole: Estimate
    lost: Estimate  # paired, whole minus routed

    def __str__(self) -> str:
        lost = f"{self.lost.mean:+.4f} ({self.lost.low:+.4f} to {self.lost.high:+.4f})"
        return (
            f"{self.corpus:16}{self.branches:14}routed {self.routed:6.1%}  of pages {self.scope:6.1%}  "
            f"recall@5 {self.whole.mean:.4f}  lost {lost}"
        )


@dataclass(frozen=True, slots=True)
class Time:
    """Milliseconds beside the embedding of a question, whole and routed, over the questions that were routed."""

    pages: int
    branches: int
    whole: Latency
    routed: Latency

    def __str__(self) -> str:
        return (
            f"{self.pages:8,} pages  P50 {self.whole.p50:7.3f} -> {self.routed.p50:7.3f} ms"
            f"   P95 {self.whole.p95:7.3f} -> {self.routed.p95:7.3f} ms"
        )


def clusters(corpus: Corpus, embedder: Embedder, count: int) -> dict[str, str]:
    """A branch for each document: k-means over the embeddings of the pages, by cosine, from a fixed start."""
    rows = embedder.embed([embed.page_text(one.title, (), one.text) for one in corpus.documents])
    generator = np.random.default_rng(1)
    centres = rows[generator.choice(len(rows), count, replace=False)]
    near = np.zeros(len(rows), np.int64)
    for _ in range(25):
        near = np.argmax(rows @ centres.T, axis=1)
        centres = np.array(
            [rows[near == one].mean(axis=0) if (near == one).any() else centres[one] for one in range(count)]
        )
        centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    return {one.id: f"cluster {number:02}" for one, number in zip(corpus.documents, near.tolist(), strict=True)}


def topics(text: Path) -> dict[str, str]:
    """The topic of each titled page of the measuring data."""
    return {row["title"]: row["topic"] for row in lines(text) if row["topic"] != NO_TOPIC}


def publish(corpus: Corpus, branch_of: Mapping[str, str], embedder: Embedder, folder: Path) -> Published:
    """The corpus as a snapshot whose pages lie in branches."""
    pages = [replace(page, branch=branch_of.get(page.slug, "")) for page in pages_of(corpus)]
    build_index(tables_of(pages, embedder), {}, None, folder)
    return Published("benchmark", folder)


def engines(published: Published, embedder: Embedder) -> tuple[Engine, Engine]:
    """One that asks the whole wiki, one that routes."""
    model = Model(lambda: embedder)
    return (
        Engine([SearchedWiki("benchmark", published, model)]),
        Engine([SearchedWiki("benchmark", published, model, chooser=ByKeywords())]),
    )


def recall(corpus: Corpus, kind: str, branch_of: Mapping[str, str], embedder: KeptVectors) -> Recall:
    """Recall@5 of every question both ways."""
    embedder.learn_questions([query.text for query in corpus.queries])
    with tempfile.TemporaryDirectory() as folder:
        whole, routed = engines(publish(corpus, branch_of, embedder, Path(folder)), embedder)
        answers = {query.id: routed.search(query.text, DEPTH) for query in corpus.queries}
        found = {
            key: [(hit.slug, hit.score) for hit in answer.hits] for key, answer in answers.items()
        }
        base = {
            query.id: [(hit.slug, hit.score) for hit in whole.search(query.text, DEPTH).hits]
            for query in corpus.queries
        }
    sizes = {name: sum(branch == name for branch in branch_of.values()) for name in set(branch_of.values())}
    outside = len(corpus.documents) - sum(sizes.values())
    narrowed = [answer.branches for answer in answers.values() if answer.branches]
    scope = [(outside + sum(sizes[name] for name in names)) / len(corpus.documents) for names in narrowed]
    first, second = (per_query(run, corpus.judged, "recall@5") for run in (base, found))
    apart = difference(list(first.values()), [second[key] for key in first])
    return Recall(
        corpus.name,
        kind,
        len(narrowed) / len(answers),
        sum(scope) / len(scope) if scope else 1.0,
        estimate(list(first.values())),
        Estimate(apart.mean, apart.low, apart.high),
    )


def timed(corpus: Corpus, branch_of: Mapping[str, str], embedder: Embedder, kept: KeptVectors, size: int) -> Time:
    """How long the questions that are routed take beside their embedding, in turns; the best of some rounds each."""
    originals = kept.embed([embed.page_text(one.title, (), one.text) for one in corpus.documents])
    large = size > len(corpus.documents)
    wiki = grown(corpus, size) if large else nested(corpus, size)
    named = {one.id: branch_of.get(one.id, branch_of.get(one.id.rpartition(" ")[0], "")) for one in wiki.documents}
    with tempfile.TemporaryDirectory() as folder:
        vectors: Embedder = Noisy(embedder, originals) if large else kept
        published = publish(wiki, named, vectors, Path(folder))
        whole, routed = engines(published, kept)
        questions = questions_of(wiki, 200, 1)
        kept.learn_questions(questions)
        questions = [one for one in questions if routed.search(one).branches]
        best: dict[str, tuple[float, float]] = {}
        for _ in range(ROUNDS):
            random.Random(3).shuffle(questions)
            for question in questions:
                took = []
                for engine in (whole, routed):
                    start = time.perf_counter()
                    engine.search(question)
                    took.append(time.perf_counter() - start)
                before = best.get(question, (9.0, 9.0))
                best[question] = (min(before[0], took[0]), min(before[1], took[1]))
    first, second = zip(*best.values(), strict=True)
    return Time(size, len(set(branch_of.values())), Latency.of(first), Latency.of(second))


def measure(shared: Path, cache: Path, sizes: Sequence[int]) -> Iterator[Recall | Time]:
    """Every figure, one after the other."""
    embedder = load_model("", "", cache)
    if embedder is None:
        return
    kept = KeptVectors(embedder, cache)
    text = shared / "text" / "enwiki-summaries.jsonl.gz"
    wiki = read_wiki(QUESTIONS / "enwiki-a.jsonl", text)
    by_topic = topics(text)
    for size in (2_000, len(wiki.documents)):
        corpus = nested(wiki, size)
        titles = {one.id for one in corpus.documents}
        yield recall(corpus, "topics", {key: value for key, value in by_topic.items() if key in titles}, kept)
        for count in CLUSTERS:
            yield recall(corpus, f"{count} clusters", clusters(corpus, kept, count), kept)
    for name in ("hotpotqa", "scifact"):
        if (shared / "retrieval" / name).is_dir():
            corpus = read_beir(shared / "retrieval" / name)
            for count in CLUSTERS:
                yield recall(corpus, f"{count} clusters", clusters(corpus, kept, count), kept)
    for size in sizes:
        yield timed(wiki, by_topic, embedder, kept, size)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints every figure."""
    options = argparse.ArgumentParser(
        prog="python -m benchmarks.routing", description=__doc__.partition("\n")[0]
    )
    options.add_argument("--shared", type=Path, default=Path("../shared/data"))
    options.add_argument("--cache", type=Path, default=CACHE)
    options.add_argument("--sizes", default=",".join(map(str, SIZES)), help="wikis to time, comma-separated")
    options.add_argument("--json", type=Path)
    chosen = options.parse_args(arguments)
    if not (chosen.shared / "text" / "enwiki-summaries.jsonl.gz").is_file():
        print(f"the measuring data is not at {chosen.shared}")
        return 0
    rows = []
    for row in measure(chosen.shared, chosen.cache, [int(size) for size in chosen.sizes.split(",") if size]):
        rows.append(row)
        print(row, flush=True)
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(row) for row in rows], indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
