"""What a night with a model costs beside the model: `python -m benchmarks.model_night [--sources N] [--at-once N]`.

A model on loopback, in a process of its own, takes a second for each reply and answers by rule. The night's own time is
what passes while no question is under way; while some are, as many should be as the settings allow.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import tempfile
import time
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.night import Figure, note
from config.wiki import open_wiki
from flows.night import night
from flows.steps import DirectRunner, utc_now
from tests.loopback_model import Question, loopback
from tests.writing_model import answer

SECONDS = 1.0
_SETTINGS = (
    "name: bench\nsources:\n  settle_seconds: 0\nsearch:\n  vector: off\nmodel: openai-compatible:rules\n"
    "endpoint:\n  base_url: {url}\n  concurrent: {at_once}\n  requests_per_minute: 100000\n"
)


def _model(pipe: Connection) -> None:
    """Serve until told to stop; then say when each reply was done."""
    ends: list[float] = []

    def replied(question: Question) -> str:
        said = answer(question)
        ends.append(time.monotonic())
        return said

    with loopback(replied, SECONDS) as model:
        pipe.send(model.base_url)
        pipe.recv()
        pipe.send(ends)


def measure(sources: int, at_once: int) -> list[Figure]:
    """A first night over short notes, and a second one over the same."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_model, args=(theirs,))
    process.start()
    try:
        url = ours.recv()
        with tempfile.TemporaryDirectory(prefix="nightwiki-") as folder:
            root = Path(folder)
            (root / "raw_sources").mkdir()
            (root / "nightwiki.yaml").write_text(_SETTINGS.format(url=url, at_once=at_once), encoding="utf-8")
            chance = random.Random(1)
            for number in range(sources):
                (root / f"raw_sources/device-{number}.md").write_text(note(number, chance), encoding="utf-8")
            began = time.monotonic()
            report = night(open_wiki(root), DirectRunner(), utc_now())
            ended = time.monotonic()
            again = night(open_wiki(root), DirectRunner(), utc_now())
        ours.send("stop")
        replies = [end for end in ours.recv() if end <= ended]
    finally:
        process.join(10)
    busy = _covered([(end - SECONDS, end) for end in replies])
    wall = ended - began
    return [
        Figure(f"sources; pages made: {report.created + report.staged}", sources, ""),
        Figure("calls of the first night", len(replies), ""),
        Figure("night", wall, "s"),
        Figure("while no question was under way", wall - busy, "s"),
        Figure("the same as a share of the night", (wall - busy) / wall, "", 0.05),
        Figure(f"questions under way at once, of {at_once} allowed", len(replies) * SECONDS / busy, ""),
        Figure("night over that at full concurrency", wall / (len(replies) * SECONDS / at_once), "x"),
        Figure("calls of a second night", again.cost.calls if again.cost else 0, "", 0),
    ]


def _covered(spans: list[tuple[float, float]]) -> float:
    """Seconds that lie in at least one span."""
    total, until = 0.0, float("-inf")
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.model_night", description=__doc__)
    parser.add_argument("--sources", type=int, default=40)
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args()
    figures = measure(options.sources, options.at_once)
    for one in figures:
        bar = "" if one.bar is None else f"  (bar {one.bar:g}: {'holds' if one.holds else 'MISSED'})"
        print(f"{one.name:60} {one.value:9.3f} {one.unit}{bar}")
    if options.json:
        options.json.write_text(json.dumps([asdict(one) for one in figures], indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
