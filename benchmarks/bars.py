"""Every bar of search in one run, each with its interval: `python -m benchmarks.bars --shared DIR`.

Quality over nested wikis, SciFact, HotpotQA, CMRC and JaQuAD with the English model, XQuAD with a
multilingual one when its folder is given, then what search costs (`benchmarks.speed`). The table goes to
the terminal and, with `--results`, on top of RESULTS.md with the command, the machine and the date.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import speed
from benchmarks.corpora import Corpus, nested, read_beir, read_wiki
from benchmarks.evaluate import Report, evaluate
from benchmarks.gate import QUESTIONS
from benchmarks.measures import NO_WORSE, Difference
from benchmarks.retrieval import CACHE, SIZES, load_model
from tasks.embedding.embed import E5_SMALL
from tasks.search.fusion import Configuration

COMPARED: tuple[Configuration, ...] = ("bm25", "vector", "rrf", "seed", "fused")
LANGUAGES = ("zh", "de", "es", "ru", "ar", "tr")
RESULTS = Path(__file__).with_name("RESULTS.md")


@dataclass(frozen=True, slots=True)
class Row:
    """One bar: what was measured, what was asked, and whether it holds."""

    what: str
    measured: str
    asked: str
    holds: bool

    def __str__(self) -> str:
        return f"{'  ' if self.holds else '✗ '}{self.what:58}{self.measured:34}{self.asked}"


def at_least(report: Report, configuration: str, measure: str, bar: float, kind: str = "") -> Row:
    """A mean with its interval against a bar."""
    one = report.outcome(configuration).estimates[kind][measure]
    what = " ".join(part for part in (report.corpus, configuration, kind, measure) if part)
    return Row(what, f"{one.mean:.3f} ({one.low:.3f} to {one.high:.3f})", f"≥ {bar:g}", one.mean >= bar)


def no_worse(report: Report, other: str, measure: str, kind: str = "", queries: Sequence[str] = ()) -> Row:
    """Fused against another configuration, by the lower end of the paired interval."""
    apart = report.difference("fused", other, measure, queries)
    what = " ".join(part for part in (report.corpus, f"fused - {other}", kind, measure) if part)
    return Row(what, _told(apart), f"no worse: from {NO_WORSE:g}", apart.no_worse)


def _told(apart: Difference) -> str:
    return f"{apart.mean:+.3f} ({apart.low:+.3f} to {apart.high:+.3f})"


def above(report: Report, other: str, measure: str, bar: float = 0.0, queries: Sequence[str] = ()) -> Row:
    """Fused above another configuration by more than a bar."""
    apart = report.difference("fused", other, measure, queries)
    holds = apart.mean >= bar if bar else apart.mean > 0
    return Row(
        f"{report.corpus} fused - {other} {measure}", _told(apart), f"≥ {bar:g}" if bar else "> 0", holds
    )


def wiki_rows(corpus: Corpus, report: Report, whole: bool) -> Iterator[Row]:
    """The bars of one nested wiki."""

    def of(kind: str) -> list[str]:
        return [query.id for query in corpus.queries if query.kind == kind]

    for kind in ("lexical", "identifier"):
        yield no_worse(report, "bm25", "recall@5", kind, of(kind))
    if whole:
        yield at_least(report, "fused", "recall@5", 0.43, "paraphrase")
        yield above(report, "seed", "recall@5", 0.20, of("paraphrase"))
    elif report.documents == 2_000:
        yield at_least(report, "fused", "recall@5", 0.68, "paraphrase")


def beir_rows(name: str, report: Report) -> Iterator[Row]:
    """The bars of one judged corpus."""
    if name in ("cmrc-zh", "jaquad-ja"):
        apart = report.difference("fused", "bm25", "ndcg@10")
        equal = report.outcome("fused").rankings == report.outcome("bm25").rankings
        yield Row(f"{report.corpus} fused - bm25 ndcg@10, English model", _told(apart), "exactly 0", equal)
        return
    if name == "scifact":
        yield at_least(report, "bm25", "ndcg@10", 0.685)
        yield at_least(report, "fused", "ndcg@10", 0.715)
    else:
        yield at_least(report, "fused", "ndcg@10", 0.825)
        yield from (above(report, part, "ndcg@10") for part in ("bm25", "vector"))
    yield from (no_worse(report, other, "ndcg@10") for other in ("rrf", "seed"))


def quality(shared: Path, multilingual: str, cache: Path, show: Callable[[Row], None]) -> str:
    """Runs all corpora; the English model's name."""
    english = load_model("", "", cache)
    assert english is not None
    wiki = read_wiki(QUESTIONS / "enwiki-a.jsonl", shared / "text" / "enwiki-summaries.jsonl.gz")
    for size in SIZES:
        corpus = nested(wiki, size)
        report = evaluate(corpus, COMPARED, english, cache, depth=20, timed=False)
        for row in wiki_rows(corpus, report, size >= len(wiki.documents)):
            show(row)
    for name in ("scifact", "hotpotqa", "cmrc-zh", "jaquad-ja"):
        corpus = read_beir(shared / "retrieval" / name)
        configurations = COMPARED if name in ("scifact", "hotpotqa") else ("bm25", "fused")
        for row in beir_rows(name, evaluate(corpus, configurations, english, cache, depth=20, timed=False)):
            show(row)
    many = load_model(E5_SMALL, multilingual, cache) if multilingual else None
    if many is not None:
        for code in LANGUAGES:
            corpus = read_beir(shared / "retrieval" / f"xquad-{code}")
            report = evaluate(corpus, COMPARED, many, cache, depth=20, timed=False)
            show(at_least(report, "fused", "ndcg@10", 0.0))
            show(above(report, "bm25", "ndcg@10"))
        across = read_beir(shared / "retrieval" / "xquad-zh", shared / "retrieval" / "xquad-en")
        report = evaluate(across, COMPARED, many, cache, depth=20, timed=False)
        show(at_least(report, "fused", "ndcg@10", 0.80))
    else:
        print("XQuAD is left out: name a folder of multilingual-e5-small with --multilingual", file=sys.stderr)
    return english.model


def machine() -> str:
    """Processor, cores and system, in a line."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        found = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line
        ]
        name = found[0] if found else name
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"


def write_results(rows: Sequence[Row], command: str, model: str) -> None:
    """Puts a section under the heading of RESULTS.md, newest first."""
    date = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    lines = [f"## Search, {date}", "", f"`{command}` on {machine()}; model {model}.", "",
             "| what | measured | asked | |", "|---|---|---|---|"]  # fmt: skip
    lines += [
        f"| {row.what} | {row.measured} | {row.asked} | {'holds' if row.holds else '**missed**'} |"
        for row in rows
    ]
    section = "\n".join(lines) + "\n\n"
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.is_file() else "# Results\n\n"
    at = text.find("\n## ")
    at = len(text) if at < 0 else at + 1
    RESULTS.write_text(text[:at] + section + text[at:], encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints every bar; 1 when one is missed."""
    options = argparse.ArgumentParser(
        prog="python -m benchmarks.bars", description=__doc__.partition("\n")[0]
    )
    options.add_argument("--shared", type=Path, default=Path("../shared/data"))
    options.add_argument("--multilingual", default="", help="folder of multilingual-e5-small")
    options.add_argument("--cache", type=Path, default=CACHE)
    options.add_argument("--results", action="store_true", help="add the table to RESULTS.md")
    options.add_argument("--no-speed", action="store_true")
    options.add_argument("--json", type=Path)
    chosen = options.parse_args(arguments)
    text = chosen.shared / "text" / "enwiki-summaries.jsonl.gz"
    if not text.is_file():
        print(
            f"the measuring data is not at {chosen.shared}; `python -m benchmarks.retrieval fetch` brings public sets"
        )
        return 0
    rows: list[Row] = []

    def show(row: Row) -> None:
        rows.append(row)
        print(row, flush=True)

    model = quality(chosen.shared, chosen.multilingual, chosen.cache, show)
    if not chosen.no_speed:
        for figure in speed.measure(read_wiki(QUESTIONS / "enwiki-a.jsonl", text), chosen.cache, 100_000):
            bar = (
                ""
                if figure.bar is None
                else f"{'≥' if figure.at_least else '≤'} {figure.bar:g} {figure.unit}"
            )
            measured = f"{figure.value:.3f} {figure.unit} {figure.interval}".rstrip()
            show(Row(figure.name, measured, bar, figure.holds))
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(row) for row in rows], indent=1), encoding="utf-8")
    if chosen.results:
        command = "python -m benchmarks.bars " + " ".join(
            arguments if arguments is not None else sys.argv[1:]
        )
        write_results(rows, command, model)
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
