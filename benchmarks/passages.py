"""Whether context packs hold what they should: `python -m benchmarks.passages --shared ../shared/data`.

    answers    packs of 1,000 tokens over corpora whose questions carry their answers: how many hold the answer
               string, beside the recall@5 of their pages
    pages      packs of 1,000 tokens over a wiki: how many hold the right page, beside recall@5
    budget     random packs of every script, code and tables, in both forms: none may be larger than its budget
    time       what a pack of 4,000 tokens takes beyond the search for its pages, at two sizes of wiki

Packs are built by the production code; excerpts are looked through, not the head of the pack.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.corpora import Corpus, Entry, lines, nested, read_beir, read_wiki
from benchmarks.published import KeptVectors, engine_over, publish
from benchmarks.retrieval import CACHE, load_model
from config.errors import NightwikiError
from flows.answering.context import build_pack
from storage.search.engine import Engine
from tasks.embedding.embed import Embedder, should_embed_question
from tasks.packs.pack import Form
from tasks.packs.token_count import count_tokens

ANSWERS = ("xquad-en", "xquad-zh", "jaquad-ja", "cmrc-zh")
SMALL, LARGE = 1_000, 4_000  # tokens
SIZES = (2_000, 10_033)
PARTS = ("answers", "pages", "budget", "time")


@dataclass(frozen=True, slots=True)
class Line:
    """One figure and what was asked of it."""

    what: str
    measured: str
    asked: str
    holds: bool


def parser() -> argparse.ArgumentParser:
    """The options."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.passages", description=__doc__.partition("\n")[0])
    options.add_argument("--shared", type=Path, required=True, help="folder with retrieval/, questions/ and text/")
    options.add_argument("--only", default=",".join(PARTS), help=f"parts, comma-separated: {', '.join(PARTS)}")
    options.add_argument("--limit", type=int, default=0, help="most questions of one corpus")
    options.add_argument("--packs", type=int, default=10_000, help="random packs")
    options.add_argument("--json", type=Path, help="write every figure there")
    options.add_argument("--model", default="", help="embedding model by its fastembed name")
    options.add_argument("--model-path", default="", help="folder of the model's files")
    options.add_argument("--cache", type=Path, default=CACHE, help="where embeddings are kept between runs")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the parts asked for; 1 when a figure misses what was asked."""
    options = parser().parse_args(arguments)
    embedder = load_model(options.model, options.model_path, options.cache)
    only = options.only.split(",")
    found: list[Line] = []
    shared: Path = options.shared
    wiki = (shared / "questions" / "enwiki-a.jsonl", shared / "text" / "enwiki-summaries.jsonl.gz")
    if "answers" in only:
        for name in ANSWERS:
            folder = shared / "retrieval" / name
            found.append(_say(answers(read_beir(folder), folder, embedder, options.cache, options.limit)))
    if "pages" in only:
        for size in SIZES:
            found += map(_say, pages(nested(read_wiki(*wiki), size), embedder, options.cache, options.limit))
    if "budget" in only:
        found.append(_say(budget(options.packs)))
    if "time" in only:
        for size in SIZES:
            found.append(_say(beyond_search(nested(read_wiki(*wiki), size), embedder, options.cache)))
    if options.json:
        options.json.write_text(json.dumps([asdict(line) for line in found], indent=1), encoding="utf-8")
    return int(not all(line.holds for line in found))


def _say(line: Line) -> Line:
    print(f"| {line.what} | {line.measured} | {line.asked} | {'holds' if line.holds else 'missed'} |", flush=True)
    return line


# --- what packs hold -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Wiki:
    """A corpus ready to be asked."""

    engine: Engine
    corpus: Corpus

    def recalled(self, query: str, text: str) -> float:
        """Share of the pages judged right that come among the first five."""
        right = self.corpus.judged[query]
        return sum(hit.slug in right for hit in self.engine.search(text, 5).hits) / len(right)


def _asked(
    corpus: Corpus, embedder: Embedder | None, cache: Path, limit: int, work: Callable[[_Wiki], Line | list[Line]]
) -> Line | list[Line]:
    corpus = _limited(corpus, limit)
    kept = KeptVectors(embedder, cache) if embedder is not None else None
    with tempfile.TemporaryDirectory() as folder:
        engine = engine_over(publish(corpus, kept, Path(folder)), kept)
        if kept is not None:
            texts = [query.text for query in corpus.queries]
            kept.learn_questions([text for text in texts if should_embed_question(text, kept.model)])
        return work(_Wiki(engine, corpus))


def _limited(corpus: Corpus, limit: int) -> Corpus:
    from dataclasses import replace

    if not limit or limit >= len(corpus.queries):
        return corpus
    queries = random.Random(6).sample(corpus.queries, limit)
    return replace(corpus, queries=tuple(queries), judged={one.id: corpus.judged[one.id] for one in queries})


def answers(corpus: Corpus, folder: Path, embedder: Embedder | None, cache: Path, limit: int) -> Line:
    """Share of packs that hold an answer string, against the recall@5 of the pages."""
    known = {str(row["_id"]): tuple(row["answers"]) for row in lines(folder / "queries.jsonl.gz")}

    def work(wiki: _Wiki) -> Line:
        held = recalled = 0.0
        for query in wiki.corpus.queries:
            pack = build_pack(wiki.engine, query.text, SMALL)
            held += any(answer in page.excerpt for page in pack.pages for answer in known[query.id])
            recalled += wiki.recalled(query.id, query.text)
        count = len(wiki.corpus.queries)
        held, recalled = held / count, recalled / count
        what = f"{corpus.name}: packs of {SMALL:,} tokens that hold the answer, {count:,} questions"
        measured = f"{held:.3f}, {held / recalled:.3f} of recall@5 ({recalled:.3f})"
        return Line(what, measured, "at least 0.95 of it", held >= 0.95 * recalled)

    told = _asked(corpus, embedder, cache, limit, work)
    assert isinstance(told, Line)
    return told


def pages(corpus: Corpus, embedder: Embedder | None, cache: Path, limit: int) -> list[Line]:
    """Share of packs that hold a passage of the right page, by kind of question."""

    def work(wiki: _Wiki) -> list[Line]:
        found = []
        for kind in wiki.corpus.kinds():
            queries = [query for query in wiki.corpus.queries if query.kind == kind]
            present = recalled = 0.0
            for query in queries:
                right = wiki.corpus.judged[query.id]
                pack = build_pack(wiki.engine, query.text, SMALL)
                present += sum(page.slug in right for page in pack.pages) / len(right)
                recalled += wiki.recalled(query.id, query.text)
            present, recalled = present / len(queries), recalled / len(queries)
            what = f"{corpus.name}, {kind}: packs of {SMALL:,} tokens that hold the page"
            found.append(
                Line(what, f"{present:.3f} (recall@5 {recalled:.3f})", "at least recall@5", present >= recalled)
            )
        return found

    told = _asked(corpus, embedder, cache, limit, work)
    assert isinstance(told, list)
    return told


# --- the budget ------------------------------------------------------------------------------------------------------

_LATIN = (
    *("the", "relay", "held", "a", "word", "of", "memory", "while", "Grace", "wrote", "compilers", "for", "naval"),
    *("machines", "in", "1952", "über", "façade"),
)
_CJK = "継電器はベルリンの工房で作られた。计算机在一九四一年完成。컴퓨터는빠르다「真空管」，"
_CODE = (
    *("def main(argv: list[str]) -> int:", "    return sum(len(a) for a in argv)", "x = {'a': 1}", "#", "}"),
    'print(f"{x}")',
)
_ODD = ("😀", "𠀀", "ก็", "नमस्ते", "عربي", "\u200d", "&nbsp;", "[^1]", "<b>", "`", '"', "\\", "\t", "—", "\U000e0041")


def random_page(draw: random.Random) -> str:
    """A page of a few blocks in one script or several: prose, lists, tables, code, nonsense."""
    blocks = []
    for _ in range(draw.randint(1, 8)):
        size = draw.choice((3, 12, 60, 300))
        kind = draw.randrange(7)
        if kind == 0:
            text = " ".join(draw.choice(_LATIN) for _ in range(size)).capitalize() + "."
            blocks.append(text.replace(" a ", ". A "))
        elif kind == 1:
            blocks.append("".join(draw.choice(_CJK) for _ in range(size * 2)))
        elif kind == 2:
            blocks.append("```python\n" + "\n".join(draw.choice(_CODE) for _ in range(size // 3)) + "\n```")
        elif kind == 3:
            row = "| " + " | ".join(draw.choice(_LATIN) for _ in range(4)) + " |"
            blocks.append("\n".join([row, "|---|---|---|---|", *([row] * (size // 6))]))
        elif kind == 4:
            blocks.append(
                "\n".join(f"- {draw.choice(_LATIN)} {draw.choice(_CJK)} {n}[^nw-{n:08x}]" for n in range(size // 3))
            )
        elif kind == 5:
            blocks.append("".join(draw.choice((*_ODD, draw.choice(_LATIN))) for _ in range(size)))
        else:
            blocks.append(f"## {draw.choice(_LATIN)} {draw.choice(_CJK)}")
    return "\n\n".join(blocks)


def random_wiki(draw: random.Random, count: int = 40) -> Corpus:
    """A wiki of random pages, with no questions."""
    entries = tuple(
        Entry(f"p{n}-{draw.choice(_LATIN)}", f"{draw.choice(_LATIN)} {draw.choice(_CJK)} {n}", random_page(draw))
        for n in range(count)
    )
    return Corpus("random", entries, (), {})


def random_goal(draw: random.Random) -> str:
    """A goal of words of the random pages, and of signs that nobody expects."""
    words = [draw.choice((*_LATIN, *_CJK, *_ODD, "\ud800", "\n")) for _ in range(draw.choice((1, 3, 8, 400)))]
    return draw.choice(("", " ")).join(words) + "machines"


def too_large(draw: random.Random, engine: Engine) -> str:
    """What is wrong with one random pack; empty when it keeps its budget and is what it says it is."""
    goal = random_goal(draw)
    tokens = draw.choice((1, 30, 90, 150, 300, 1_000, 4_000, 100_000, draw.randint(60, 3_000)))
    form: Form = draw.choice(("markdown", "json"))
    try:
        pack = build_pack(engine, goal, tokens, form=form, max_per_page=draw.choice((1, 3, 20)))
    except NightwikiError as error:
        return "" if "Ask for" in str(error) else str(error)
    real = count_tokens(pack.text)
    if real > tokens or real > pack.tokens_used:
        return f"{goal!r}, {tokens}, {form}: {real} tokens, {pack.tokens_used} said"
    return ""


def budget(packs: int, seed: int = 9) -> Line:
    """How many of many random packs are larger than their budget."""
    draw = random.Random(seed)
    wrong = []
    for _ in range(max(1, packs // 500)):
        with tempfile.TemporaryDirectory() as folder:
            engine = engine_over(publish(random_wiki(draw), None, Path(folder)), None)
            wrong += [trouble for _ in range(min(500, packs)) if (trouble := too_large(draw, engine))]
    for trouble in wrong[:5]:
        print(trouble, file=sys.stderr)
    return Line(f"{packs:,} random packs larger than their budget", str(len(wrong)), "0", not wrong)


# --- time ------------------------------------------------------------------------------------------------------------


def beyond_search(corpus: Corpus, embedder: Embedder | None, cache: Path) -> Line:
    """P95 of a pack of 4,000 tokens beyond the P95 of the search, over questions that were embedded before."""

    def work(wiki: _Wiki) -> Line:
        build_pack(wiki.engine, wiki.corpus.queries[0].text, LARGE)
        searches, packs = [], []
        for query in wiki.corpus.queries[:300]:
            wiki.engine.search(query.text)  # the first time is the embedding's
            start = time.perf_counter()
            wiki.engine.search(query.text)
            between = time.perf_counter()
            build_pack(wiki.engine, query.text, LARGE)
            searches.append(between - start)
            packs.append(time.perf_counter() - between)
        search, pack = (1000 * float(np.percentile(times, 95)) for times in (searches, packs))
        what = f"{len(corpus.documents):,} pages: a pack of {LARGE:,} tokens beyond a search, P95"
        return Line(what, f"{pack - search:.1f} ms ({pack:.1f}, {search:.1f})", "at most 15 ms", pack - search <= 15)

    told = _asked(corpus, embedder, cache, 0, work)
    assert isinstance(told, Line)
    return told


if __name__ == "__main__":
    sys.exit(main())
