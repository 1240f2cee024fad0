"""Cutting a document into chunks, the pieces of evidence that search returns.

Text without structure gets a fixed window (500 characters, 80 shared with its neighbour). Documents with headings
are cut at headings down to level 3, each chunk under its path of titles; a long section gets the window inside. A
window ends at a sentence or word edge where one is near, otherwise exactly where the fixed rule says.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

from tasks.records import BlockKind, Chunk, Document, Part

STRUCTURED = frozenset({"markdown", "html", "docx", "pptx", "xlsx"})
MAX_LEVEL = 3
GAP = "\n\n"
_SENTENCE_END = re.compile(r"[.!?…]['\"”’»)\]]*\s|[。！？]['\"”’」』)\]]*|\n")


@dataclass(frozen=True, slots=True)
class Window:
    """A piece of a text: `text[start:end]`."""

    start: int
    end: int


def windows(text: str, size: int, overlap: int) -> tuple[Window, ...]:
    """Windows of at most `size` characters over the whole text; neighbours share at most `overlap` characters."""
    overlap = min(overlap, size // 2)
    found: list[Window] = []
    start = 0
    while len(text) - start > size:
        end = _end(text, start, size, overlap)
        found.append(Window(start, end))
        start = _start(text, start, end, overlap)
    if text:
        found.append(Window(start, len(text)))
    return tuple(found)


def _end(text: str, start: int, size: int, overlap: int) -> int:
    """Where the window from `start` ends: a sentence edge in its last quarter, else a word edge, else its full size."""
    limit = start + size
    low = start + max(size * 3 // 4, overlap + 1)
    sentences = [match.end() for match in _SENTENCE_END.finditer(text, low, limit)]
    if sentences:
        return sentences[-1]
    for position in range(limit, low, -1):
        if text[position - 1].isspace():
            return position
    while limit > low and unicodedata.combining(text[limit]):
        limit -= 1
    return limit


def _start(text: str, start: int, end: int, overlap: int) -> int:
    """Where the next window starts: `overlap` before `end`, moved forward to the start of a word where there is one."""
    wanted = max(end - overlap, start + 1)
    for position in range(wanted, end):
        if text[position - 1].isspace():
            return position
    while wanted < end and unicodedata.combining(text[wanted]):
        wanted += 1
    return wanted


def chunk(document: Document, size: int = 500, overlap: int = 80) -> tuple[Chunk, ...]:
    """All chunks of a document in reading order; their windows cover its whole text."""
    root = (document.title,) if document.title else ()
    if document.media not in STRUCTURED:
        pieces = _cut(document.parts, root, size, overlap)
    else:
        pieces = []
        for path, parts in _sections(document.parts, root):
            pieces += _cut(parts, path, size, overlap)
    return tuple(Chunk(number, path, text, anchor) for number, (path, text, anchor) in enumerate(pieces))


def _sections(parts: tuple[Part, ...], root: tuple[str, ...]) -> list[tuple[tuple[str, ...], tuple[Part, ...]]]:
    """The parts below each heading to level 3, with the path of titles; an empty section is its heading."""
    sections: list[tuple[tuple[str, ...], tuple[Part, ...]]] = []
    open_titles: list[tuple[int, str]] = []
    body: list[Part] = []
    heading: Part | None = None

    def path() -> tuple[str, ...]:
        titles = tuple(title for _, title in open_titles)
        return titles if root and titles[:1] == root else root + titles

    def close(next_level: int) -> None:
        if body:
            sections.append((path(), tuple(body)))
        elif heading is not None and next_level <= heading.level and heading.text not in root:
            sections.append((path(), (heading,)))

    for part in parts:
        if part.kind is not BlockKind.HEADING or part.level > MAX_LEVEL:
            body.append(part)
            continue
        close(part.level)
        body, heading = [], part
        open_titles = [(level, title) for level, title in open_titles if level < part.level]
        open_titles.append((part.level, part.text))
    close(0)
    return sections


def _cut(
    parts: tuple[Part, ...], path: tuple[str, ...], size: int, overlap: int
) -> list[tuple[tuple[str, ...], str, str]]:
    text = GAP.join(part.text for part in parts)
    offsets = [0, *accumulate(len(part.text) + len(GAP) for part in parts)]
    pieces = []
    for window in windows(text, size, overlap):
        piece = text[window.start : window.end]
        words = piece.strip()
        if words:
            first = window.start + len(piece) - len(piece.lstrip())
            part = parts[min(bisect_right(offsets, first) - 1, len(parts) - 1)]
            pieces.append((path, words, part.anchor))
    return pieces
