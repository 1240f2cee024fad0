"""What serving costs, each figure beside its bar:
`python -m benchmarks.serve --wiki-questions FILE --text FILE [--seconds N] [--requests N] [--soak]`.

- `/search` against the engine in this process, over the same questions in turns: P95, and processor time a request
- a context pack of 4,000 tokens against `/search`
- from the start of the process to the first answer, against a bare process that loads the model
- 32 clients while nights publish and reviews go on: failures, and answers that mix two snapshots
- memory over many requests

Every question is asked once, so that no embedding is known beforehand. `--soak` runs the clients alone, `--memory` the
many requests.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from statistics import median
from urllib.parse import quote

import psutil

from benchmarks.corpora import Corpus, nested, read_wiki
from benchmarks.evaluate import Latency
from benchmarks.published import KeptVectors
from benchmarks.retrieval import CACHE, load_model
from benchmarks.serve_client import Client, Told
from benchmarks.serve_crowd import Outcome, crowd
from benchmarks.serve_wiki import fetch, make_wiki, serving
from benchmarks.speed import _BARE, Figure, best_of
from config.wiki import Wiki, model_cache
from storage.search.engine import Engine, searched

_BLOCK = 20


def questions_of(corpus: Corpus, count: int, seed: int) -> list[str]:
    """So many questions, no two alike, and each only one: two would be looked up one by one."""
    generator = random.Random(seed)
    texts = [query.text.rstrip(" ?") for query in corpus.queries]
    return [f"{generator.choice(texts)} {generator.choice(texts).split()[-1]} {number}" for number in range(count)]


def cpu(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def against_the_engine(wiki: Wiki, url: str, pid: int, corpus: Corpus, count: int) -> Iterator[Figure]:
    """`/search` and the engine, in turns, over the same questions."""
    name = f"{len(corpus.documents):,} pages"
    engine = Engine([searched(wiki.state_dir, wiki.settings, model_cache())])
    client = Client(url)
    for question in questions_of(corpus, 40, 1):
        engine.search(question)
        client.search(question)
        client.post("/context/build", {"goal": question, "token_budget": 4000})
    alone, served, packed = [], [], []
    alone_cpu = served_cpu = 0.0
    questions = questions_of(corpus, count, 2)
    for start in range(0, count, _BLOCK):
        block = questions[start : start + _BLOCK]
        before = time.process_time()
        for question in block:
            begun = time.perf_counter()
            engine.search(question)
            alone.append(time.perf_counter() - begun)
        middle, server_before = time.process_time(), cpu(pid)
        for question in block:
            told = client.search(question)
            assert told.status == 200 and told.json["hits"], told.body
            served.append(told.seconds)
        served_cpu += cpu(pid) - server_before
        alone_cpu += middle - before
        for question in block[: _BLOCK // 2]:
            told = client.post("/context/build", {"goal": f"again {question}", "token_budget": 4000})
            assert told.status == 200, told.body
            packed.append(told.seconds)
    client.close()
    ours, theirs, packs = Latency.of(alone), Latency.of(served), Latency.of(packed)
    yield Figure(f"{name}: engine, P95", ours.p95, "ms")
    yield Figure(f"{name}: /search, P95", theirs.p95, "ms")
    yield Figure(f"{name}: /search beyond the engine, P95", theirs.p95 - ours.p95, "ms", 3)
    yield Figure(f"{name}: /search beyond the engine, median", theirs.p50 - ours.p50, "ms")
    yield Figure(f"{name}: engine, processor time a question", alone_cpu / count * 1000, "ms")
    yield Figure(f"{name}: server beyond it, processor time", (served_cpu - alone_cpu) / count * 1000, "ms", 1.5)
    yield Figure(f"{name}: pack of 4,000 tokens beyond /search, P95", packs.p95 - theirs.p95, "ms", 15)


def first_answer(root: Path, corpus: Corpus, log: Path) -> Iterator[Figure]:
    """From the start of the process to the first answer, beside a bare process that loads the model and no server."""
    seconds = []
    question = quote(corpus.queries[0].text)
    for _ in range(3):
        with serving(root, log) as server:
            told = fetch(f"{server.url}/search?question={question}")
            assert told["hits"] and not told["degraded"], told
            seconds.append(time.perf_counter() - server.started)
    bare = best_of([sys.executable, "-c", _BARE, str(model_cache())], 3)
    name = f"{len(corpus.documents):,} pages"
    yield Figure(f"{name}: start to first answer beside the model's load", median(seconds) - bare, "s", 2)


def memory(url: str, pid: int, corpus: Corpus, requests: int) -> Iterator[Figure]:
    """Growth of the server's memory from the first tenth of many requests to their end; its course on standard error.

    Four clients keep their connections and ask for searches, packs, answers, lists and pages. Most searches go by
    keywords: an embedding takes as long as five of them and leaves as little behind.
    """
    name = f"{len(corpus.documents):,} pages"
    questions = questions_of(corpus, requests, 3)
    process = psutil.Process(pid)
    course: list[int] = []
    numbers = iter(range(requests))
    guard = threading.Lock()

    def ask_on() -> None:
        client = Client(url)
        while (number := _next(numbers, guard)) is not None:
            told = _mixed(client, number, questions[number], len(corpus.documents))
            assert told.status == 200, told.body
            if number % max(1, requests // 40) == 0:
                course.append(process.memory_info().rss)
                print(f"   {number:,} requests: {course[-1] / 1e6:.1f} MB", file=sys.stderr, flush=True)
        client.close()

    with ThreadPoolExecutor(4) as clients:
        for asking in [clients.submit(ask_on) for _ in range(4)]:
            asking.result()
    ending = process.memory_info().rss
    yield Figure(f"{name}: memory of the server", ending / 1e6, "MB")
    growth = (ending - course[len(course) // 10]) / 1e6
    yield Figure(f"{name}: growth over the last nine tenths of {requests:,} requests", growth, "MB", 20)


def _next(numbers: Iterator[int], guard: threading.Lock) -> int | None:
    with guard:
        return next(numbers, None)


def _mixed(client: Client, number: int, question: str, pages: int) -> Told:
    match number % 20:
        case 3 | 13:
            return client.post("/context/build", {"goal": question, "token_budget": (500, 2000, 4000)[number % 3]})
        case 7:
            return client.post("/query", {"question": question})
        case 9:
            return client.get("/pages?limit=50")
        case 15:
            return client.get(f"/pages/notes/n{number % pages:05d}.md?limit=500")
        case 1 | 11:
            return client.search(question)
    return client.get(f"/search?configuration=bm25&question={quote(question)}")


def of_crowd(name: str, seconds: float, outcome: Outcome) -> Iterator[Figure]:
    """What a crowd saw, as figures."""
    title = f"{name}: 32 clients for {seconds:g} s"
    yield Figure(f"{title}: requests", outcome.requests, "")
    yield Figure(f"{title}: nights, reviews", outcome.nights + outcome.reviews, "")
    yield Figure(f"{title}: snapshots seen", outcome.snapshots, "", 2, True)
    yield Figure(f"{title}: /search, P95", outcome.p95 * 1000, "ms")
    yield Figure(f"{title}: failed", len(outcome.failures), "", 0)
    yield Figure(f"{title}: of {outcome.checked:,} answers mixed", outcome.mixed, "", 0)
    for failure in outcome.failures[:10]:
        print(f"   {failure}", file=sys.stderr)


def measure(corpus: Corpus, sizes: Sequence[int], cache: Path, chosen: argparse.Namespace) -> Iterator[Figure]:
    """Every figure, one wiki after the other."""
    embedder = load_model("", "", cache)
    if embedder is None:
        return
    kept = KeptVectors(embedder, cache)
    for size in sizes:
        small = nested(corpus, size)
        name = f"{len(small.documents):,} pages"
        with tempfile.TemporaryDirectory(prefix="nightwiki-bench-") as folder:
            root, log = Path(folder) / "wiki", Path(folder) / "server.log"
            wiki = make_wiki(small, kept, root)
            alone = chosen.soak or chosen.memory
            if not alone:
                yield from first_answer(root, small, log)
            with serving(root, log) as server:
                if not alone:
                    yield from against_the_engine(wiki, server.url, server.pid, small, chosen.questions)
                if not chosen.soak:
                    yield from memory(server.url, server.pid, small, chosen.requests)
                if not chosen.memory:
                    questions = [query.text for query in small.queries]
                    yield from of_crowd(name, chosen.seconds, crowd(wiki, server.url, questions, chosen.seconds))
                rss = psutil.Process(server.pid).memory_info().rss
                yield Figure(f"{name}: memory of the server after them", rss / 1e6, "MB")
            print(log.read_text("utf-8", "replace"), end="", file=sys.stderr)


def as_rows(figures: Sequence[Figure]) -> str:
    """The figures as the table that RESULTS.md holds."""
    rows = ["| what | measured | asked | |", "|---|---|---|---|"]
    for one in figures:
        value = f"{one.value:,.0f}" if one.unit in ("", "MB") else f"{one.value:.2f}"
        bar = "" if one.bar is None else f"{'at least' if one.at_least else 'at most'} {one.bar:g} {one.unit}".strip()
        verdict = "" if one.bar is None else "holds" if one.holds else "missed"
        rows.append(f"| {one.name} | {value} {one.unit} | {bar} | {verdict} |".replace("  ", " "))
    return "\n".join(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints every figure and the table; 1 when a bar is missed."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.serve", description=__doc__.partition("\n")[0])
    options.add_argument("--wiki-questions", type=Path, required=True)
    options.add_argument("--text", type=Path, required=True)
    options.add_argument("--cache", type=Path, default=CACHE)
    options.add_argument("--sizes", default="2000,10000", help="pages of each wiki")
    options.add_argument("--questions", type=int, default=400, help="asked of engine and server")
    options.add_argument("--requests", type=int, default=5_000, help="for the memory; 100000 for the whole bar")
    options.add_argument("--seconds", type=float, default=60, help="of the 32 clients; 600 for the long run")
    options.add_argument("--soak", action="store_true", help="the clients alone")
    options.add_argument("--memory", action="store_true", help="the many requests alone")
    options.add_argument("--json", type=Path)
    chosen = options.parse_args(arguments)
    figures = []
    sizes = [int(size) for size in chosen.sizes.split(",")]
    for figure in measure(read_wiki(chosen.wiki_questions, chosen.text), sizes, chosen.cache, chosen):
        figures.append(figure)
        print(figure, flush=True)
    print(f"\n{as_rows(figures)}")
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(figure) for figure in figures], indent=1), encoding="utf-8")
    return 0 if figures and all(figure.holds for figure in figures) else 1


if __name__ == "__main__":
    raise SystemExit(main())
