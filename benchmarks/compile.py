"""How well the compilers keep to their sources: `python -m benchmarks.compile --json FILE`.

Two nights over the conformance set for each: the extractive compiler, a scripted model that answers well, and many that
answer badly; with `--model NAME` (and its key in the environment) also a real one. The scripted replies are written by
hand: they prove the machinery, not a model.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from benchmarks.compile_gold import Gold, load
from benchmarks.compile_judge import Scores, judge
from benchmarks.compile_model import BAD, scripted
from config.wiki import Wiki, open_wiki
from flows.asking import asker
from flows.night import night
from flows.session import Session
from flows.steps import DirectRunner
from storage.reader import Reader
from tasks.contradictions.claims import ContradictionRecord
from tasks.digest import NightReport
from tasks.llm.ask import Asker
from tasks.reading.reading import ReadingHere
from tasks.records import GOOD, Outcome

_SETTINGS = "name: conformance\nsources:\n  settle_seconds: 0\nsearch:\n  vector: off\nstaging:\n  policy: off\n"
_NIGHTS = (("first", "2026-03-01T02:00:00Z"), ("second", "2026-03-02T02:00:00Z"))

BARS = {
    "extractive": {"facts_kept": 0.6, "citation_precision": 1.0, "invented": 0, "duplicate_pages": 0},
    "good replies": {
        "facts_kept": 0.95,
        "citation_precision": 0.98,
        "invented": 0,
        "duplicate_pages": 0,
        "false_contradictions": 0,
        "forbidden": 0,
        "outside": 0,
        "dead_links": 0,
    },
}
"""What must be reached: shares at least, counts at most."""


def nights(
    gold: Gold, root: Path, settings: str, connect: Callable[[Session], Asker | None]
) -> tuple[NightReport, ...]:
    """Two nights over the set in a new wiki."""
    wiki = _wiki(gold, root, settings)
    reports = []
    for which, now in _NIGHTS:
        for one in gold.sources:
            if one.night == which:
                (root / "raw_sources" / f"{one.name}.md").write_text(one.source, encoding="utf-8")
        reports.append(night(wiki, DirectRunner(), now, reader=ReadingHere, connect=connect))
    return tuple(reports)


def scores(gold: Gold, root: Path, scoped: bool) -> Scores:
    """What the wiki in a folder is worth."""
    snapshot = Reader(open_wiki(root).state_dir).current()
    rows = snapshot.rows("contradictions") if snapshot is not None else ()
    return judge(gold, root, [row for row in rows if isinstance(row, ContradictionRecord)], scoped)


def bad(gold: Gold, kind: str, root: Path) -> dict[str, object]:
    """What came of one kind of bad reply: pages that were published, and sources nobody is told about."""
    reports = nights(gold, root, "model: openai:scripted\n", lambda _: scripted(gold, BAD[kind]))
    told = {line.location for report in reports for line in report.lines if line.outcome not in GOOD or line.reason}
    told |= {problem.subject for report in reports for problem in report.problems}
    told |= {place for report in reports for line in report.waiting for place in line.sources}
    skipped = {line.location for report in reports for line in report.lines if line.outcome is Outcome.OUT_OF_SCOPE}
    everything = {f"raw_sources/{one.name}.md" for one in gold.sources}
    pages = sorted(path.stem for path in (root / "wiki").glob("*.md") if path.stem != "index")
    return {"published": len(pages), "unnamed": sorted(everything - told - skipped), "pages": pages}


def _wiki(gold: Gold, root: Path, settings: str) -> Wiki:
    (root / "raw_sources").mkdir(parents=True)
    (root / "purpose.md").write_text(gold.purpose, encoding="utf-8")
    (root / "nightwiki.yaml").write_text(_SETTINGS + settings, encoding="utf-8")
    return open_wiki(root)


def failures(name: str, found: Scores) -> list[str]:
    """The bars that a compiler misses."""
    missed = []
    for key, bar in BARS.get(name, {}).items():
        value = getattr(found, key)
        if value < bar if isinstance(bar, float) else value > bar:
            missed.append(f"{name}: {key} is {value}, the bar is {bar}")
    return missed


def main(arguments: list[str] | None = None) -> int:
    """Run the set; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--model", default="", help="also a real model, as `model:` in nightwiki.yaml")
    parser.add_argument("--settings", default="", help="further lines of nightwiki.yaml for it, such as its endpoint")
    parser.add_argument("--only", default="extractive,good,bad", help="which of extractive, good, bad")
    asked = parser.parse_args(arguments)
    gold = load()
    wanted = set(asked.only.split(","))
    result: dict[str, object] = {"sources": len(gold.sources), "facts": sum(len(one.facts) for one in gold.sources)}
    missed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="nightwiki-compile-") as folder:
        runs: list[tuple[str, str, Callable[[Session], Asker | None]]] = []
        if "extractive" in wanted:
            runs.append(("extractive", "", lambda _: None))
        if "good" in wanted:
            runs.append(("good replies", "model: openai:scripted\n", lambda _: scripted(gold)))
        if asked.model:
            runs.append((asked.model, f"model: {asked.model}\n{asked.settings}\n", asker))
        for number, (name, settings, connect) in enumerate(runs):
            root = Path(folder) / str(number)
            nights(gold, root, settings, connect)
            found = scores(gold, root, name != "extractive")
            result[name] = asdict(found)
            missed += failures(name, found)
            _show(name, found)
        if "bad" in wanted:
            outcomes = {kind: bad(gold, kind, Path(folder) / f"bad{number}") for number, kind in enumerate(BAD)}
            result["bad replies"] = outcomes
            for kind, outcome in outcomes.items():
                print(f"bad: {kind}: {outcome['published']} published, {len(_list(outcome['unnamed']))} unnamed")
                if outcome["published"] or outcome["unnamed"]:
                    missed.append(f"bad replies, {kind}: {outcome}")
    result["note"] = "Good and bad replies are written by hand: they prove the machinery, not a model."
    result["missed"] = missed
    for line in missed:
        print(line, file=sys.stderr)
    if asked.json:
        asked.json.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 1 if missed else 0


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else []


def _show(name: str, found: Scores) -> None:
    print(
        f"{name}: facts {found.facts_kept:.3f}, citations {found.citation_precision:.3f} precise and"
        f" {found.citation_recall:.3f} recalled, {found.invented} invented, {found.duplicate_pages} doubles,"
        f" contradictions {found.contradictions_found} of {found.contradictions_real},"
        f" {found.false_contradictions} false; {found.pages} pages, {found.waiting} waiting"
    )


if __name__ == "__main__":
    sys.exit(main())
