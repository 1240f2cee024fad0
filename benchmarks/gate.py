"""Search quality must not fall: figures are held against `floors.json`, by corpus and digest.

    python -m benchmarks.gate --shared DIR [--small] [--json FILE]    measure; 1 when a figure is below its floor
    python -m benchmarks.gate --shared DIR --raise                    lift floors to what is measured now
    python -m benchmarks.gate --shared DIR --lower REASON             let floors fall, and keep the reason in the file

A floor lies a little below what was measured, because an int8 model gives slightly other vectors on another
processor.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.corpora import Corpus, nested, read_beir, read_wiki
from benchmarks.evaluate import Report, evaluate
from benchmarks.retrieval import CACHE, load_model
from tasks.search.fusion import Configuration

FLOORS = Path(__file__).with_name("floors.json")
QUESTIONS = Path(__file__).with_name("questions")
SLACK = 0.02
SMALL = 200
HELD: tuple[Configuration, ...] = ("bm25", "seed", "fused")

Figures = dict[str, float]  # 'fused paraphrase recall@5' -> value


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A figure below its floor, or a corpus that is not the one its floor was set on."""

    corpus: str
    what: str
    measured: float
    floor: float

    def __str__(self) -> str:
        return f"{self.corpus}: {self.what} is {self.measured:.4f}, its floor is {self.floor:.4f}"


def figures(report: Report) -> Figures:
    """What floors are about: recall@5 by kind, or nDCG@10 where there are no kinds."""
    found = {}
    for outcome in report.outcomes:
        kinds = [kind for kind in outcome.estimates if kind]
        for kind in kinds:
            found[f"{outcome.configuration} {kind} recall@5"] = outcome.estimates[kind]["recall@5"].mean
        if not kinds:
            found[f"{outcome.configuration} ndcg@10"] = outcome.estimates[""]["ndcg@10"].mean
    return found


def shortfalls(
    corpus: str, digest: str, measured: Mapping[str, float], floors: Mapping[str, Any]
) -> list[Shortfall]:
    """What is below its floor. A corpus without floors, or another one by that name, is a shortfall too."""
    held = floors.get(corpus)
    if held is None or held["digest"] != digest:
        return [Shortfall(corpus, f"a floor for digest {digest}", 0.0, 1.0)]
    return [
        Shortfall(corpus, what, measured.get(what, 0.0), floor)
        for what, floor in held["floors"].items()
        if measured.get(what, 0.0) < floor
    ]


def moved(
    corpus: str, digest: str, measured: Mapping[str, float], floors: Mapping[str, Any], reason: str = ""
) -> dict[str, Any]:
    """The floors of one corpus after measuring: lifted, and lowered only with a reason, which is kept."""
    held = floors.get(corpus, {"digest": digest, "floors": {}, "lowered": []})
    fresh = {what: round(max(0.0, value - SLACK), 4) for what, value in measured.items()}
    if held["digest"] != digest:
        return {"digest": digest, "floors": fresh, "lowered": held["lowered"]}
    lowered = list(held["lowered"])
    result = {}
    for what, floor in {**fresh, **held["floors"]}.items():
        new = fresh.get(what, floor)
        if new < floor and reason and measured.get(what, 0.0) < floor:
            lowered.append({"what": what, "from": floor, "to": new, "reason": reason})
            result[what] = new
        else:
            result[what] = max(new, floor)
    return {"digest": digest, "floors": result, "lowered": lowered}


def corpora(shared: Path, small: bool) -> Iterator[Corpus]:
    """The corpora that are there, smallest first."""
    text = shared / "text" / "enwiki-summaries.jsonl.gz"
    if text.is_file():
        wiki = read_wiki(QUESTIONS / "enwiki-a.jsonl", text)
        yield from (nested(wiki, size) for size in ((SMALL,) if small else (SMALL, 2_000, 10_033)))
    for name in () if small else ("scifact", "hotpotqa", "cmrc-zh", "jaquad-ja"):
        if (shared / "retrieval" / name).is_dir():
            yield read_beir(shared / "retrieval" / name)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures and compares; 1 when a figure is below its floor."""
    options = argparse.ArgumentParser(
        prog="python -m benchmarks.gate", description=__doc__.partition("\n")[0]
    )
    options.add_argument("--shared", type=Path, default=Path("../shared/data"))
    options.add_argument("--small", action="store_true")
    options.add_argument("--cache", type=Path, default=CACHE)
    options.add_argument("--raise", dest="lift", action="store_true")
    options.add_argument("--lower", metavar="REASON", default="")
    chosen = options.parse_args(arguments)
    floors: dict[str, Any] = json.loads(FLOORS.read_text(encoding="utf-8")) if FLOORS.is_file() else {}
    embedder = load_model("", "", chosen.cache)
    if embedder is None:
        return 1
    missed = []
    for corpus in corpora(chosen.shared, chosen.small):
        report = evaluate(corpus, HELD, embedder, chosen.cache, depth=20, timed=False)
        measured = figures(report)
        if chosen.lift or chosen.lower:
            floors[report.corpus] = moved(report.corpus, report.digest, measured, floors, chosen.lower)
        found = shortfalls(report.corpus, report.digest, measured, floors)
        missed += found
        print(
            f"{report.corpus}: {'held' if not found else 'below'}", *(f"  {one}" for one in found), sep="\n"
        )
    if chosen.lift or chosen.lower:
        FLOORS.write_text(json.dumps(floors, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    for one in missed:
        print(one, file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
