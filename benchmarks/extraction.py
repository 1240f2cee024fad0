"""How well and how fast articles are read from web pages, beside trafilatura alone.

    python -m benchmarks.extraction ../shared/data/sources/html

The folder holds `NAME.html.gz` and `ground-truth.json` ({NAME: {"articleBody": ...}}). Word F1 is the harmonic mean of
precision and recall over the multiset of lower-case words, averaged over pages. Both run in one process, one after the
other, after a warm-up; times are CPU seconds.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Measured:
    """One reader's mean word F1 and CPU milliseconds a page."""

    name: str
    f1: float
    milliseconds: float


def word_f1(text: str, gold: str) -> float:
    """F1 over the multisets of words, 0 to 1; two empty texts agree."""
    found, wanted = (Counter(_WORD.findall(words.lower())) for words in (text, gold))
    common = sum((found & wanted).values())
    if not common:
        return float(not found and not wanted)
    precision, recall = common / sum(found.values()), common / sum(wanted.values())
    return 2 * precision * recall / (precision + recall)


def measure(folder: Path) -> tuple[Measured, ...]:
    """trafilatura's defaults and the whole reading step, over every page of `folder`."""
    import trafilatura

    from config.settings import Settings
    from tasks.reading.reading import ReadJob, read

    truth = json.loads((folder / "ground-truth.json").read_text("utf-8"))
    with tempfile.TemporaryDirectory() as place:
        for name in truth:
            (Path(place) / f"{name}.html").write_bytes(gzip.decompress((folder / f"{name}.html.gz").read_bytes()))
        settings = Settings()

        def alone(name: str) -> str:
            return trafilatura.extract((Path(place) / f"{name}.html").read_bytes()) or ""

        def whole(name: str) -> str:
            result = read(ReadJob(name, str(Path(place) / f"{name}.html"), f"raw_sources/{name}.html"), settings)
            return "\n".join(part.text for part in result.document.parts) if result.document else ""

        gold = {name: entry["articleBody"] for name, entry in truth.items()}
        return (_run("trafilatura.extract", alone, gold), _run("the reading step", whole, gold))


def _run(name: str, reader: Callable[[str], str], gold: dict[str, str]) -> Measured:
    for page in list(gold)[:5]:
        reader(page)
    begin = time.process_time()
    texts = {page: reader(page) for page in gold}
    seconds = time.process_time() - begin
    f1 = sum(word_f1(texts[page], body) for page, body in gold.items()) / len(gold)
    return Measured(name, f1, seconds * 1000 / len(gold))


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path)
    rows = measure(parser.parse_args(arguments).folder)
    for row in rows:
        print(f"{row.name:22} word F1 {row.f1:.4f}   {row.milliseconds:6.1f} ms a page")
    print(f"time, the reading step over trafilatura alone: {rows[1].milliseconds / rows[0].milliseconds:.2f}")


if __name__ == "__main__":
    main()
