"""What lint, scaffold and the search for contradictions cost, in CPU: `python -m benchmarks.lint [--pages N]`.

Makes a wiki of N pages as the pipeline writes them (ten links and three citations each, every page with a readable copy
of its source), and one of twice as many, and runs the real functions over both.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from config.wiki import Wiki, open_wiki
from flows.lint import lint
from flows.scaffold import scaffold
from flows.session import open_state
from flows.steps import DirectRunner, utc_now
from storage.commit import commit
from storage.readin import resolver
from tasks.commits import Changes, FileWrite
from tasks.contradictions.claims import Claim
from tasks.contradictions.find import Statement, find, named
from tasks.pages.merge import new_page
from tasks.records import BlockKind, Citation, EmbeddingRecord, PageProposal, ProposedBlock
from tasks.text_bytes import digest, encode

T = TypeVar("T")

BAR, GROWTH, INDEX_BAR = 10.0, 2.3, 5.0
WORDS = ("relay", "valve", "drum", "tape", "store", "adder", "panel", "clock", "cable", "punch", "core", "lamp")


def sentence(number: int, place: int) -> str:
    """A sentence that no other page has."""
    words = [WORDS[(number * 7 + place * 5 + step * step) % len(WORDS)] for step in range(9)]
    return f"Machine {number} used the {' '.join(words)} of set {place} in {1900 + (number + place) % 100}."


TOPICS = 300
"""Of the pages without tags; their embeddings lie around so many middles."""


def embeddings(pages: int) -> tuple[EmbeddingRecord, ...]:
    """Embeddings as a sentence model gives them: all of one direction in part, then by topic, then of their own."""
    chance = np.random.default_rng(1)
    shared, middles, own = (chance.normal(size=(rows, 384)) for rows in (1, TOPICS, pages))
    placed = shared + 0.7 * middles[np.arange(pages) % TOPICS] + 0.6 * own
    unit = (placed / np.linalg.norm(placed, axis=1, keepdims=True)).astype("<f4")
    return tuple(EmbeddingRecord(f"{n:012x}", "", "bench", row.tobytes()) for n, row in enumerate(unit))


def build(root: Path, pages: int, embedded: bool = False) -> Wiki:
    """A wiki of `pages` published pages; those with embeddings have no tags, but words of their topic in the title."""
    root.mkdir(parents=True)
    (root / "nightwiki.yaml").write_text("name: bench\nsearch:\n  vector: off\n", encoding="utf-8")
    wiki = open_wiki(root)
    now, resolve, writes = utc_now(), resolver({}), []
    for number in range(pages):
        stem, source, evidence = f"machine-{number}", f"{number:012x}", f"evidence/machine-{number}-copy.md"
        said = [sentence(number, place) for place in range(3)]
        copy = f"---\ntitle: Machine {number}\n---\n\n" + "".join(f"{s} ^p{n}\n\n" for n, s in enumerate(said, 1))
        cited = [Citation(source, evidence, f"^p{n}", s, f"nw-{digest(s.encode())[:8]}") for n, s in enumerate(said, 1)]
        others = [f"[[machine-{(number + step * step) % pages}|machine {step}]]" for step in range(1, 11)]
        blocks = [ProposedBlock("h:about", BlockKind.HEADING, "## About", level=2)]
        for n, (s, c) in enumerate(zip(said, cited, strict=True)):
            named = ", ".join(others[n * 3 : n * 3 + 3 + n // 2])
            blocks.append(
                ProposedBlock(f"p{n}", BlockKind.PARAGRAPH, f"{s[:-1]}, as {named} did.[^{c.label}]", (c,))
            )
        title = f"Machine {number} of topic{number % TOPICS}" if embedded else f"Machine {number}"
        tags = () if embedded else (WORDS[number % 12],)
        proposal = PageProposal(stem, "", title, tuple(blocks), (source,), tags=tags)
        path = f"wiki/{stem}.md"
        made = new_page(proposal, f"{number:012x}", path, now, {source: f"[[{evidence[:-3]}]]"}, resolve)
        writes.append(FileWrite(evidence, None, encode(copy)))
        writes.append(FileWrite(path, None, encode(made.text), Changes(pages=(made.record,))))
    state = open_state(wiki)
    with state.write_lock():
        commit(state, "bench", "ingest", writes, Changes(embeddings=embeddings(pages) if embedded else ()), now)
    state.close()
    return wiki


def contradictions(pages: int = 200) -> float:
    """CPU milliseconds that the search for contradictions takes on a page of two sources with 30 sentences each."""
    read = [
        [
            Statement(Claim("", f"s{source}", "t", f"^p{place}", sentence(number + source, place)))
            for source in (1, 2)
            for place in range(30)
        ]
        for number in range(pages)
    ]
    spent, _ = cpu(lambda: [find("machine", statements, named(["machine"])) for statements in read])
    return 1000 * spent / pages


def cpu(work: Callable[[], T]) -> tuple[float, T]:
    """CPU seconds that a call takes in this process, and what it returns."""
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def main() -> int:
    """Print the figures beside their bars; 1 when one is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    seconds: dict[int, float] = {}
    drawn: dict[int, float] = {}
    for pages in (options.pages, 2 * options.pages):
        with tempfile.TemporaryDirectory() as folder:
            wiki = build(Path(folder) / "wiki", pages)
            seconds[pages], report = cpu(partial(lint, wiki, DirectRunner(), utc_now()))
            print(f"lint of {pages} pages, {pages * 10} links: {seconds[pages]:.2f} s CPU, "
                  f"{len(report.findings)} findings")
            spent, _ = cpu(partial(scaffold, wiki, DirectRunner(), utc_now()))
            drawn[pages] = spent
            print(f"scaffold of {pages} pages: {spent:.2f} s CPU")
    with tempfile.TemporaryDirectory() as folder:
        wiki = build(Path(folder) / "wiki", options.pages, embedded=True)
        alike, made = cpu(partial(scaffold, wiki, DirectRunner(), utc_now()))
        print(f"scaffold of {options.pages} pages without tags, by their embeddings: {alike:.2f} s CPU, "
              f"{len(made.categories)} categories")
    first, second = seconds.values()
    bar = BAR * options.pages / 10_000
    print(f"bar {bar:.1f} s: {'kept' if first <= bar else 'MISSED'}; twice the pages cost {second / first:.2f} times "
          f"(bar {GROWTH}): {'kept' if second / first <= GROWTH else 'MISSED'}")
    half = bar * INDEX_BAR / BAR
    index = max(drawn[options.pages], alike)
    print(f"scaffold's bar {half:.1f} s: {'kept' if index <= half else 'MISSED'}")
    disputed = contradictions()
    print(f"contradictions: {disputed:.1f} ms CPU a page of two sources with 30 sentences each")
    if options.json:
        figures = {
            "lint_seconds": seconds,
            "growth": second / first,
            "scaffold_seconds": drawn,
            "scaffold_seconds_by_embeddings": alike,
            "contradictions_ms_a_page": disputed,
        }
        options.json.write_text(json.dumps(figures, indent=1))
    return 0 if first <= bar and second / first <= GROWTH and index <= half else 1


if __name__ == "__main__":
    raise SystemExit(main())
