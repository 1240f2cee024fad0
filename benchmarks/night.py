"""What a night costs, as ratios measured in one run:
`python -m benchmarks.night [--pages N] [--scale N] [--json FILE]`.

- a first night over HTML pages, against trafilatura alone on the same pages in as many processes;
- the same night as a Prefect flow, once a server is up, against the plain one;
- an unchanged night over very many sources;
- committing 10 changed pages against committing all;
- opening the published snapshot for a search; peak memory.

The HTML pages are those of `--html` (a folder of .html or .html.gz; the measuring data's news pages when it is there),
repeated with other titles and numbers until there are enough.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from config.wiki import Wiki, open_wiki
from flows.night import night
from flows.session import open_state
from flows.steps import DirectRunner, StepRunner, utc_now
from storage.commit import commit
from tasks.commits import Changes, FileWrite
from tasks.records import PageRecord
from tasks.text_bytes import digest, encode

ROOT = Path(__file__).resolve().parents[1]
NEWS = ROOT.parent / "shared" / "data" / "sources" / "html"
SETTINGS = "name: bench\nsources:\n  settle_seconds: 0\nsearch:\n  vector: off\nstaging:\n  policy: off\n"
WORKERS = os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value beside its bar."""

    name: str
    value: float
    unit: str
    bar: float | None = None
    note: str = ""

    @property
    def holds(self) -> bool:
        """Whether the bar is kept; a figure without one always holds."""
        return self.bar is None or self.value <= self.bar


def seconds(work: Callable[[], object]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


# --- sources --------------------------------------------------------------------------------------------------------


def html_pages(folder: Path, count: int) -> Iterator[tuple[str, bytes]]:
    """Names and bytes of `count` pages, each with a title of its own."""
    files = sorted([*folder.glob("*.html"), *folder.glob("*.html.gz")])
    if not files:
        raise SystemExit(f"{folder}: no .html or .html.gz files; name a folder of them with --html")
    base = [gzip.decompress(f.read_bytes()) if f.suffix == ".gz" else f.read_bytes() for f in files]
    for number in range(count):
        page = base[number % len(base)]
        turn = number // len(base)
        yield f"page-{number:05d}.html", _retitled(page, turn) if turn else page


def _retitled(page: bytes, turn: int) -> bytes:
    """The page under another title, with other numbers in its text."""
    mark = f" (edition {turn})".encode()
    page = re.sub(rb"(?is)(<title[^>]*>[^<]{3,})(</title>)", rb"\1" + mark + rb"\2", page)
    page = re.sub(rb"(?is)(<h1[^>]*>(?:\s*<[^>]+>)*[^<]{3,})(<)", rb"\1" + mark + rb"\2", page)
    page = re.sub(rb'(?i)(property="og:title"\s+content="[^"]{3,})(")', rb"\1" + mark + rb"\2", page)
    return re.sub(rb"(?<=[a-z] )(\d{2})(?= [a-z])", lambda m: str((int(m[1]) + turn) % 90 + 10).encode(), page)


def note(number: int, chance: random.Random) -> str:
    """A short source about one invented thing."""
    words = " ".join(chance.choices(_WORDS, k=60))
    return (
        f"# Device {number}\n\nDevice {number} is a machine of the series {number % 97}. It was built in "
        f"{1900 + number % 120} and weighed {number} kilograms. {words.capitalize()}.\n\n"
        f"## Use\n\nIt was used for {words[:80]}. "
        f"People who worked with it said that {words[-90:]}.\n"
    )


_WORDS = [
    "relay",
    "drum",
    "paper",
    "tape",
    "valve",
    "counter",
    "panel",
    "wire",
    "clock",
    "signal",
    "storage",
    "adder",
    "shift",
    "register",
    "card",
    "reader",
    "printer",
    "motor",
    "engineer",
    "laboratory",
    "war",
    "office",
    "census",
    "weather",
    "table",
    "number",
    "result",
    "error",
    "switch",
    "lamp",
    "frame",
    "cable",
    "power",
]


@contextmanager
def new_wiki() -> Iterator[Path]:
    """A folder for a wiki, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="nightwiki-bench-") as folder:
        root = Path(folder) / "wiki"
        (root / "raw_sources").mkdir(parents=True)
        (root / "nightwiki.yaml").write_text(SETTINGS, encoding="utf-8")
        yield root


_ALONE = """
import sys
from multiprocessing import get_context
from pathlib import Path
import trafilatura

def extract(path):
    return len(trafilatura.extract(Path(path).read_bytes().decode("utf-8", "replace")) or "")

if __name__ == "__main__":
    paths = sorted(str(path) for path in Path(sys.argv[1]).iterdir())
    with get_context("fork").Pool(int(sys.argv[2])) as pool:
        print(sum(pool.imap_unordered(extract, paths, chunksize=8)))
"""


def trafilatura_alone(folder: Path) -> float:
    """Seconds for trafilatura's own extraction of every page in as many processes as a night uses, start included."""
    command = [sys.executable, "-c", _ALONE, str(folder), str(WORKERS)]
    return seconds(lambda: subprocess.run(command, check=True, capture_output=True))


# --- measurements ---------------------------------------------------------------------------------------------------


def first_night(html: Path, pages: int, rounds: int, runner: Callable[[], StepRunner] = DirectRunner) -> list[Figure]:
    """A night over HTML pages against trafilatura alone, in turns; medians of `rounds`."""
    nights, alone = [], []
    with new_wiki() as source:
        for name, content in html_pages(html, pages):
            (source / "raw_sources" / name).write_bytes(content)
        for _ in range(rounds):
            alone.append(trafilatura_alone(source / "raw_sources"))
            with new_wiki() as root:
                for file in (source / "raw_sources").iterdir():
                    (root / "raw_sources" / file.name).write_bytes(file.read_bytes())
                nights.append(seconds(partial(night, open_wiki(root), runner(), utc_now())))
    base = statistics.median(alone)
    ratio = statistics.median(n / a for n, a in zip(nights, alone, strict=True))
    return [
        Figure(f"trafilatura alone, {pages} pages", base, "s"),
        Figure(f"night over {pages} pages, no embedding", statistics.median(nights), "s"),
        Figure("night against trafilatura alone", ratio, "x", 1.3),
    ]


def prefect_share(html: Path, pages: int) -> list[Figure]:
    """The same night as a flow on nightwiki's own server, which is up; its share of the whole."""
    with new_wiki() as source:
        for name, content in html_pages(html, pages):
            (source / "raw_sources" / name).write_bytes(content)
        script = [sys.executable, "-m", "benchmarks.night_flow", str(source)]
        done = subprocess.run(script, capture_output=True, text=True, check=True, cwd=ROOT)
    plain, flow = json.loads(done.stdout.splitlines()[-1])
    return [
        Figure(f"night over {pages} pages, plain", plain, "s"),
        Figure("the same as a Prefect flow", flow, "s"),
        Figure("Prefect's share of the night", max(0.0, (flow - plain) / flow), "", 0.1),
    ]


def large_wiki(root: Path, count: int) -> Wiki:
    """A wiki after its first night over `count` small sources."""
    chance = random.Random(1)
    for number in range(count):
        folder = root / "raw_sources" / f"{number // 500:03d}"
        folder.mkdir(exist_ok=True)
        (folder / f"device-{number}.md").write_text(note(number, chance), encoding="utf-8")
    wiki = open_wiki(root)
    night(wiki, DirectRunner(), utc_now())
    return wiki


def unchanged_night(wiki: Wiki, count: int) -> list[Figure]:
    """A night in which nothing changed: its time, and that it wrote no file and no snapshot."""
    night(wiki, DirectRunner(), utc_now())  # files written within the clock's tick are hashed once more
    before = {path: path.stat().st_mtime_ns for path in wiki.root.rglob("*.md")}
    snapshot = open_state(wiki).reader.current()
    took = seconds(lambda: night(wiki, DirectRunner(), utc_now()))
    after = {path: path.stat().st_mtime_ns for path in wiki.root.rglob("*.md")}
    now = open_state(wiki).reader.current()
    written = sum(after.get(path) != stamp for path, stamp in before.items()) + len(after) - len(before)
    assert snapshot is not None and now is not None
    return [
        Figure(f"unchanged night over {count} sources", took, "s", 5.0),
        Figure("files and snapshots it wrote", written + (snapshot.id != now.id), "", 0),
    ]


def _edited(page: PageRecord, turn: int) -> FileWrite:
    text = f"{page.markdown}\nTurn {turn}.\n"
    content = encode(text)
    changed = replace(page, markdown=text, file_hash=digest(content))
    return FileWrite(page.path, page.file_hash, content, Changes(pages=(changed,)))


def commits(wiki: Wiki) -> list[Figure]:
    """Committing 10 changed pages against committing all of them, snapshot and search index included."""
    state = open_state(wiki)

    def change(turn: int, few: int | None) -> float:
        pages = [page for page in state.ledger.pages().values() if not page.deleted][:few]
        writes = [_edited(page, turn) for page in pages]
        return seconds(lambda: commit(state, f"bench-{turn}", "bench", writes, Changes(), utc_now()))

    whole = change(0, None)
    few = statistics.median(change(turn, 10) for turn in range(1, 6))
    return [
        Figure("commit of all pages", whole, "s"),
        Figure("commit of 10 pages", few, "s"),
        Figure("10 pages against all", few / whole, "x", 0.1),
    ]


_OPEN = """
import sys, time
from pathlib import Path
from storage.search.engine import Engine
from config.wiki import open_wiki
wiki = open_wiki(Path(sys.argv[1]))
from storage.search.index_files import open_index
from storage.reader import Reader
start = time.perf_counter()
snapshot = Reader(wiki.state_dir).current()
index = open_index(snapshot.index_dir)
index.page_blocks(0)
print(time.perf_counter() - start)
"""


def opening(wiki: Wiki, count: int, bar: float) -> list[Figure]:
    """Opening the published snapshot for a search in a fresh process, imports aside; median of five."""
    times = []
    for _ in range(5):
        command = [sys.executable, "-c", _OPEN, str(wiki.root)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
        times.append(float(done.stdout.split()[-1]))
    return [Figure(f"opening the snapshot of {count} pages", statistics.median(times), "s", bar)]


def memory() -> list[Figure]:
    """Peak memory of this process so far, its reading processes apart."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return [Figure("peak memory", peak / (1 << 20 if sys.platform != "darwin" else 1 << 30), "GB", 1.5)]


def main() -> int:
    """Measure, print a table, and exit 3 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1000, help="HTML pages of the first night")
    parser.add_argument("--scale", type=int, default=10_000, help="sources of the large wiki")
    parser.add_argument("--rounds", type=int, default=3, help="repetitions of the first night")
    parser.add_argument("--html", type=Path, default=NEWS, help="folder of HTML pages")
    parser.add_argument("--only", default="", help="names of parts, comma-separated: first,prefect,large")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    parts = options.only.split(",") if options.only else ["large", "first", "prefect"]
    figures: list[Figure] = []

    def take(found: list[Figure]) -> None:
        for figure in found:
            bar = "" if figure.bar is None else f"  (bar {figure.bar:g}: {'holds' if figure.holds else 'MISSED'})"
            print(f"{figure.name:45s} {figure.value:10.3f} {figure.unit}{bar}", flush=True)
        figures.extend(found)

    if "large" in parts:
        for count, bar in ((2000, 0.15), (options.scale, 0.4)):
            with new_wiki() as root:
                took = time.perf_counter()
                wiki = large_wiki(root, count)
                take([Figure(f"first night over {count} notes", time.perf_counter() - took, "s")])
                take(opening(wiki, count, bar))
                if count == options.scale:
                    take(unchanged_night(wiki, count))
                    take(commits(wiki))
                    take(memory())
    if "first" in parts:
        take(first_night(options.html, options.pages, options.rounds))
    if "prefect" in parts:
        take(prefect_share(options.html, options.pages))
    if options.json:
        options.json.write_text(json.dumps([asdict(figure) for figure in figures], indent=1), encoding="utf-8")
    return 0 if all(figure.holds for figure in figures) else 3


if __name__ == "__main__":
    sys.exit(main())
