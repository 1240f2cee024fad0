"""What search costs, each figure beside its bar: `python -m benchmarks.speed --text FILE --wiki-questions
FILE`.

- a question by keywords and fused, over all pages and over 100,000, against rank_bm25's own loop and the
embedding alone - a cold `nightwiki search`, from the start of the process to the answer, against a process
that only imports and loads - bringing postings and matrix up to date after 10 changed pages; embedding a
first night against a bare fastembed loop

Ratios are taken within one run, because machines and their neighbours differ.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpora import Corpus, Entry, nested, read_wiki
from benchmarks.evaluate import Latency, percentile_interval
from benchmarks.published import KeptVectors, Published, engine_over, pages_of, publish, tables_of
from benchmarks.retrieval import CACHE, load_model
from config.settings import Embedding
from storage.search.engine import Engine
from storage.search.index_files import open_index
from storage.search.search_index import build_index
from tasks.embedding import embed
from tasks.embedding.embed import Embedder
from tasks.search.bm25 import Okapi
from tasks.search.fusion import Configuration
from tasks.search.tokens import terms


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value beside its bar."""

    name: str
    value: float
    unit: str
    bar: float | None = None
    at_least: bool = False
    low: float | None = None  # bootstrap 95 % interval, where questions were drawn
    high: float | None = None

    @property
    def holds(self) -> bool:
        """Whether the bar is kept; a figure without one always holds."""
        return self.bar is None or (self.value >= self.bar if self.at_least else self.value <= self.bar)

    def __str__(self) -> str:
        bar = "" if self.bar is None else f"   bar {'≥' if self.at_least else '≤'} {self.bar:g}"
        return f"{'  ' if self.holds else '✗ '}{self.name:64}{self.value:10.3f} {self.unit:6}{self.interval:20}{bar}"

    @property
    def interval(self) -> str:
        """The interval in brackets, or nothing."""
        return "" if self.low is None or self.high is None else f"({self.low:.3f} to {self.high:.3f})"


def timed(ask: Callable[[str], object], questions: Sequence[str]) -> Latency:
    """How long each question takes."""
    seconds = []
    for question in questions:
        start = time.perf_counter()
        ask(question)
        seconds.append(time.perf_counter() - start)
    return Latency.of(seconds)


def questions_of(corpus: Corpus, count: int, seed: int) -> list[str]:
    """Questions in an order that mixes their kinds."""
    texts = [query.text for query in corpus.queries]
    random.Random(seed).shuffle(texts)
    return texts[:count]


def asked(engine: Engine, configuration: Configuration) -> Callable[[str], object]:
    return lambda question: engine.search(question, configuration=configuration)


def warm(corpus: Corpus, embedder: Embedder, published: Published, bars: tuple[float, float]) -> list[Figure]:
    """Latencies over an opened wiki; `bars`: P95 by keywords, and what fused may add to the embedding's P95."""
    name = f"{len(corpus.documents):,} pages"
    questions = questions_of(corpus, 300, 1)
    engine = engine_over(published, embedder)
    for question in questions_of(corpus, 20, 2):
        asked(engine, "fused")(question + " ")
    keywords = timed(asked(engine, "bm25"), questions)
    # alternating, so that a busy moment of the machine falls on both
    alone, fused = [], []
    for question in questions:
        start = time.perf_counter()
        embedder.embed_query(question)
        alone.append(time.perf_counter() - start)
        start = time.perf_counter()
        engine.search(question, configuration="fused")
        fused.append(time.perf_counter() - start)
    return [_p95(f"{name}: question by keywords", keywords, bars[0]), *beyond(name, alone, fused, bars[1])]


def _p95(name: str, latency: Latency, bar: float | None = None) -> Figure:
    return Figure(f"{name}, P95", latency.p95, "ms", bar, low=latency.p95_low, high=latency.p95_high)


def beyond(name: str, alone: Sequence[float], fused: Sequence[float], bar: float) -> list[Figure]:
    """What fused search adds to the embedding of the same questions."""
    embedding, joined = Latency.of(alone), Latency.of(fused)
    p95, p50 = (percentile_interval(fused, percentile, alone) for percentile in (95, 50))
    more = f"{name}: fused beyond the embedding"
    return [
        _p95(f"{name}: embedding a question", embedding),
        _p95(f"{name}: fused", joined),
        Figure(f"{more}, P95", joined.p95 - embedding.p95, "ms", bar, low=p95[0], high=p95[1]),
        Figure(f"{more}, median", joined.p50 - embedding.p50, "ms", low=p50[0], high=p50[1]),
    ]


def against_the_library(corpus: Corpus, published: Published) -> list[Figure]:
    """Our keyword search against rank_bm25's loop over the same pages."""
    library = Okapi([terms(f"{one.title} {one.text}") for one in corpus.documents])
    questions = questions_of(corpus, 40, 3)
    engine = engine_over(published, None)
    theirs = timed(lambda question: np.argsort(library.get_scores(terms(question)))[-10:], questions)
    ours = timed(asked(engine, "bm25"), questions)
    return [Figure("rank_bm25's loop over ours, P95", theirs.p95 / ours.p95, "times", 20, True)]


def grown(corpus: Corpus, size: int) -> Corpus:
    """The corpus repeated with changed words until it has `size` pages."""
    documents = list(corpus.documents)
    generator = random.Random(5)
    round_number = 0
    while len(documents) < size:
        round_number += 1
        for one in corpus.documents[: size - len(documents)]:
            words = one.text.split(" ")
            for _ in range(max(1, len(words) // 8)):
                place = generator.randrange(len(words))
                words[place] = f"{words[place]}{generator.randrange(5000)}"
            title = f"{one.title} {round_number}"
            documents.append(Entry(title, title, " ".join(words)))
    return replace(corpus, name=f"{corpus.name}-{size}", documents=tuple(documents))


class Noisy:
    """The vectors of the grown pages: those of the originals, shaken, so that 100,000 need no day to embed."""

    def __init__(self, embedder: Embedder, originals: NDArray[np.float32]) -> None:
        self.model = embedder.model
        self._embedder = embedder
        self._originals = originals

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        generator = np.random.default_rng(6)
        rows = np.resize(self._originals, (len(texts), self._originals.shape[1]))
        rows = rows + generator.standard_normal(rows.shape, np.float32) * np.float32(0.02)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)

    def embed_query(self, question: str) -> NDArray[np.float32]:
        return self._embedder.embed_query(question)

    def embed_queries(self, questions: Sequence[str]) -> NDArray[np.float32]:
        return self._embedder.embed_queries(questions)


def large(corpus: Corpus, embedder: Embedder, kept: Embedder, size: int, folder: Path) -> list[Figure]:
    """100,000 pages in a process of its own, so that its memory can be told."""
    originals = kept.embed([embed.page_text(one.title, (), one.text) for one in corpus.documents])
    publish(grown(corpus, size), Noisy(embedder, originals), folder / "large")
    code = "from benchmarks.speed import large_child; large_child()"
    told = {"folder": str(folder / "large"), "questions": questions_of(corpus, 200, 4), "size": size}
    answer = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(told), capture_output=True, text=True, check=True
    )
    return [Figure(**row) for row in json.loads(answer.stdout)]


def large_child() -> None:
    """Answers questions over the large wiki and prints its figures as JSON."""
    told = json.loads(sys.stdin.read())
    embedder = load_model("", "", CACHE)
    assert embedder is not None
    queries = told["questions"]
    engine = engine_over(Published("large", Path(told["folder"])), embedder)
    for question in queries[:10]:
        engine.search(question + " ")
    keywords = timed(asked(engine, "bm25"), queries)
    alone, fused = [], []
    for question in queries:
        start = time.perf_counter()
        embedder.embed_query(question)
        alone.append(time.perf_counter() - start)
        start = time.perf_counter()
        engine.search(question)
        fused.append(time.perf_counter() - start)
    memory = peak_memory()
    name = f"{told['size']:,} pages"
    figures = [
        _p95(f"{name}: question by keywords", keywords, 15),
        *beyond(name, alone, fused, 20),
        Figure(f"{name}: memory of the searching process", memory, "GB", 1.2),
    ]
    print(json.dumps([asdict(figure) for figure in figures]))


def peak_memory() -> float:
    """Most memory this process has held, in GB. (`getrusage` would tell that of the parent it was forked from.)"""
    status = Path("/proc/self/status")
    if status.is_file():
        kilobytes = next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(kilobytes) / 1024**2
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**3  # bytes on macOS


_BARE = """
import sys, os
os.environ["HF_HUB_OFFLINE"] = "1"
import click, pydantic, yaml, numpy, pyarrow, pyarrow.parquet, pyarrow.compute
if len(sys.argv) > 1:
    import fastembed, pathlib
    from config.settings import Embedding
    from tasks.embedding import embed
    embed.load(Embedding(model=embed.MINILM), pathlib.Path(sys.argv[1])).embed_query("warm")
"""


def cold(corpus: Corpus, kept: Embedder, size: int, folder: Path) -> list[Figure]:
    """`nightwiki search` from the start of its process, against a process that imports the same and loads the model."""
    from config.wiki import model_cache
    from storage.state import WikiState
    from tasks.commits import Changes
    from tasks.records import EmbeddingRecord

    wiki = folder / "cold"
    wiki.mkdir()
    settings = f"name: cold\nembedding:\n  model: {embed.MINILM}\nprefect:\n  mode: none\n"
    (wiki / "nightwiki.yaml").write_text(settings, encoding="utf-8")
    small = nested(corpus, size)
    pages = pages_of(small)
    vectors = kept.embed([embed.page_text(page.title, page.tags, page.markdown) for page in pages])
    rows = tuple(
        EmbeddingRecord(page.id, "", kept.model, vector.tobytes())
        for page, vector in zip(pages, vectors, strict=True)
    )
    changes = Changes(pages=tuple(pages), embeddings=rows)
    from storage.commit import commit

    state = WikiState(wiki, wiki / ".nightwiki", (), build_index).open()
    commit(state, "bench", "bench", (), changes, "2026-11-30T00:00:00Z")
    question = small.queries[0].text
    command = [sys.executable, "-m", "serving.cli", "search", question, "-w", str(wiki), "--json"]
    search = best_of([*command])
    keywords = best_of([*command, "--configuration", "bm25"])
    bare = best_of([sys.executable, "-c", _BARE, str(model_cache())])
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert told["hits"] and not told["degraded"], told["degraded"]
    return [
        Figure(
            f"{size:,} pages: cold search over a bare process that loads the model",
            search / bare,
            "times",
            1.5,
        ),
        Figure(f"{size:,} pages: cold search", search * 1000, "ms"),
        Figure(f"{size:,} pages: cold search by keywords over that", keywords / (1.5 * bare), "times", 0.6),
    ]


def best_of(command: Sequence[str], times: int = 7) -> float:
    """Median seconds of a process from start to end."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        subprocess.run(
            command, capture_output=True, check=True, env={**os.environ, "PYTHONPATH": str(Path.cwd())}
        )
        seconds.append(time.perf_counter() - start)
    return median(seconds)


def opening(name: str, folder: Path, bar: float) -> Figure:
    """Opening an index and asking it its first question."""
    seconds = []
    for _ in range(9):
        start = time.perf_counter()
        open_index(folder)
        seconds.append(time.perf_counter() - start)
    return Figure(f"{name}: opening the index", median(seconds), "s", bar)


def update(corpus: Corpus, kept: Embedder, published: Published, folder: Path) -> list[Figure]:
    """Postings and matrix after 10 changed pages, beside the embedding itself."""
    pages = pages_of(corpus)
    changed = [
        replace(page, markdown=f"{page.markdown} changed words") for page in pages[:: len(pages) // 10][:10]
    ]
    by_id = {page.id: page for page in pages} | {page.id: page for page in changed}
    tables = tables_of(list(by_id.values()), kept)
    ids = frozenset(page.id for page in changed)
    start = time.perf_counter()
    build_index(tables, {"pages": ids, "embeddings": ids}, published.index_dir, folder / "updated")
    seconds = time.perf_counter() - start
    return [Figure(f"{len(pages):,} pages: index after 10 changed pages", seconds, "s", 0.5)]


def throughput(corpus: Corpus, embedder: embed.FastEmbedder, count: int) -> list[Figure]:
    """Embedding a first night against a bare fastembed loop over the same text with the same settings."""
    texts = [embed.page_text(one.title, (), one.text) for one in corpus.documents]
    random.Random(7).shuffle(texts)
    texts = texts[:count]
    batch = Embedding().batch
    ours, bare = [], []
    for start in range(0, count, count // 4):  # in turns, so that a busy moment of the machine falls on both
        part = texts[start : start + count // 4]
        begin = time.perf_counter()
        list(embedder.bare.embed(part, batch_size=batch))
        middle = time.perf_counter()
        embedder.embed(part)
        bare.append(middle - begin)
        ours.append(time.perf_counter() - middle)
    return [
        Figure(
            "first night: embedding over a bare fastembed loop", sum(bare) / sum(ours), "times", 0.95, True
        ),
        Figure("first night: pages embedded", count / sum(ours), "/s"),
    ]


def measure(corpus: Corpus, cache: Path, large_size: int) -> Iterator[Figure]:
    """Every figure, one after the other."""
    embedder = load_model("", "", cache)
    if not isinstance(embedder, embed.FastEmbedder):
        return
    kept = KeptVectors(embedder, cache)
    name = f"{len(corpus.documents):,} pages"
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        start = time.perf_counter()
        published = publish(corpus, kept, folder / "all")
        yield Figure(f"{name}: index from nothing, embeddings there", time.perf_counter() - start, "s")
        yield opening(name, folder / "all", 0.4)
        yield from warm(corpus, embedder, published, (2, 3))
        yield from against_the_library(corpus, published)
        yield from update(corpus, kept, published, folder)
        yield from throughput(corpus, embedder, 400)
        yield from cold(corpus, kept, 2_000, folder)
        if large_size:
            yield from large(corpus, embedder, kept, large_size, folder)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints every figure; 1 when a bar is missed."""
    options = argparse.ArgumentParser(
        prog="python -m benchmarks.speed", description=__doc__.partition("\n")[0]
    )
    options.add_argument("--wiki-questions", type=Path, required=True)
    options.add_argument("--text", type=Path, required=True)
    options.add_argument("--cache", type=Path, default=CACHE)
    options.add_argument("--large", type=int, default=100_000)
    options.add_argument("--json", type=Path)
    chosen = options.parse_args(arguments)
    figures = []
    for figure in measure(read_wiki(chosen.wiki_questions, chosen.text), chosen.cache, chosen.large):
        figures.append(figure)
        print(figure, flush=True)
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(figure) for figure in figures], indent=1), encoding="utf-8")
    return 0 if figures and all(figure.holds for figure in figures) else 1


if __name__ == "__main__":
    raise SystemExit(main())
