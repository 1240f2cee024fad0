"""Small wikis for tests: a folder, sources as text, and nights that read them in this process."""

from __future__ import annotations

from pathlib import Path

from config.wiki import Wiki, open_wiki
from flows.night import night
from flows.steps import DirectRunner
from tasks.digest import NightReport
from tasks.reading.reading import ReadingHere

SETTINGS = "name: test\nsources:\n  settle_seconds: 0\nsearch:\n  vector: off\n"

ENIAC = """# ENIAC

ENIAC was the first programmable general-purpose electronic digital computer. It was completed in 1945 at the
University of Pennsylvania. It filled a room of 167 square metres and used about 18,000 vacuum tubes.

## Design

The machine was made of forty panels along three walls. It worked with decimal numbers and had twenty accumulators.
Programs were set up with cables and switches, which could take several days.
"""

COLOSSUS = """# Colossus

Colossus was a set of machines that British codebreakers built from 1943 to 1945. The designer was the engineer Tommy
Flowers. It used between 1,600 and 2,400 vacuum tubes and read punched paper tape at 5,000 characters a second.

## Afterwards

Most of the machines were taken apart after the war. Unlike ENIAC, their existence was kept secret until the 1970s.
"""


def make(root: Path, settings: str = SETTINGS, **sources: str) -> Wiki:
    """Return a wiki in a new folder with Markdown sources by name."""
    (root / "raw_sources").mkdir(parents=True)
    (root / "nightwiki.yaml").write_text(settings, encoding="utf-8")
    for name, text in sources.items():
        put(root, f"raw_sources/{name}.md", text)
    return open_wiki(root)


def put(root: Path, path: str, text: str) -> None:
    """Write a file as a person would, line endings as given."""
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text.encode())


def run(wiki: Wiki, day: int = 1, **options: object) -> NightReport:
    """Return the report of a night at two in the morning of a day in March 2026."""
    now = f"2026-03-{day:02d}T02:00:00Z"
    return night(wiki, DirectRunner(), now, reader=ReadingHere, **options)  # type: ignore[arg-type]


def vault(root: Path) -> dict[str, bytes]:
    """Return all files that a person sees, by path."""
    files = (path for path in sorted(root.rglob("*")) if path.is_file())
    return {str(path.relative_to(root)): path.read_bytes() for path in files if ".nightwiki" not in path.parts}


def page(root: Path, stem: str) -> str:
    """Return the text of a page."""
    return (root / "wiki" / f"{stem}.md").read_text(encoding="utf-8")
