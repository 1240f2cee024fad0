"""Which blocks of a page answer a question: their place, and the words in them, kept ready at indexing time.

Cutting and tokenizing ten pages takes longer than the whole search, so the index keeps, for every page,
where its blocks stand and a small hash of each word in them. Two words that share a hash can at worst
favour a neighbouring block.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.tokens import terms

BLOCK = np.dtype([("start", "<i4"), ("end", "<i4"), ("level", "u1"), ("length", "<i4")])
"""A block: character offsets in the page's text, heading level (0: not a heading), number of terms."""

WORD = np.dtype([("term", "<u4"), ("block", "<i4"), ("times", "<i4")])
"""A term of a block: hash of the term, number of the block on its page, how often."""

_GAP = re.compile(r"\n[ \t]*\n+")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$", re.MULTILINE)
_FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]:")
_FENCE = re.compile(r"^[ \t]*(```+|~~~+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PageBlocks:
    """The blocks of one page and their words, as rows of the index."""

    blocks: NDArray[Any]
    words: NDArray[Any]


@dataclass(frozen=True, slots=True)
class Passage:
    """A block that answers: character offsets in the page's text, the headings above it, its score by words."""

    start: int
    end: int
    heading_path: tuple[str, ...]
    score: float


def term_hash(term: str) -> int:
    """A 32-bit hash that is the same on every machine."""
    return zlib.crc32(term.encode("utf-8", "surrogatepass"))


def read_blocks(text: str, start: int = 0) -> PageBlocks:
    """The blocks of a page's text from `start` (behind its properties) on; footnote definitions are left out."""
    blocks: list[tuple[int, int, int, int]] = []
    words: list[tuple[int, int, int]] = []
    for first, last in _pieces(text, start):
        piece = text[first:last]
        if _FOOTNOTE.match(piece):
            continue
        heading = _HEADING.match(piece)
        counts = Counter(terms(piece))
        words.extend((term_hash(term), len(blocks), times) for term, times in counts.items())
        blocks.append((first, last, len(heading[1]) if heading else 0, counts.total()))
    return PageBlocks(np.array(blocks, BLOCK), np.array(words, WORD))


def _pieces(text: str, start: int) -> list[tuple[int, int]]:
    """Offsets of the blocks: cut at empty lines and around headings, never inside a fence."""
    found: list[tuple[int, int]] = []
    fence_from = -1
    position = start
    for gap in [*_GAP.finditer(text, start), None]:
        end = gap.start() if gap else len(text)
        piece = text[position:end]
        if fence_from < 0 and len(_FENCE.findall(piece)) % 2:
            fence_from = position
        elif fence_from >= 0 and _FENCE.search(piece):
            position, fence_from = fence_from, -1
        if fence_from < 0:
            found.extend(_around_headings(text, position, end))
        position = gap.end() if gap else end
    if fence_from >= 0:
        found.extend(_around_headings(text, fence_from, len(text)))
    return found


def _around_headings(text: str, start: int, end: int) -> list[tuple[int, int]]:
    found = []
    while (heading := _HEADING.match(text, start)) and heading.end() < end:
        found.append((start, heading.end()))
        start = heading.end() + 1
    while start < end and text[start] in "\r\n":
        start += 1
    while end > start and text[end - 1] in " \t\r\n":
        end -= 1
    return [*found, (start, end)] if start < end else found


def best(text: str, page: PageBlocks, weights: Mapping[str, float]) -> Passage:
    """The block with the highest BM25 over the page's own blocks; the first when none has a word in common.

    `weights` gives each term of the question its idf in the whole wiki.
    """
    scores = block_scores(page, weights)
    body = np.flatnonzero(page.blocks["level"] == 0)
    if not len(page.blocks):
        return Passage(0, 0, (), 0.0)
    chosen = int(body[np.argmax(scores[body])]) if len(body) else 0
    if len(body) and scores[chosen] == 0:
        chosen = int(body[0])
    row = page.blocks[chosen]
    return Passage(
        int(row["start"]), int(row["end"]), heading_path(text, page.blocks, chosen), float(scores[chosen])
    )


def by_meaning(
    text: str, page: PageBlocks, weights: Mapping[str, float], similarity: NDArray[np.float32]
) -> Passage:
    """The block that answers best by words and meaning: its share of the best BM25 on the page, plus its cosine."""
    scores = block_scores(page, weights)
    body = np.flatnonzero(page.blocks["level"] == 0)
    if not len(body):
        return best(text, page, weights)
    most = scores.max() or 1.0
    chosen = int(body[np.argmax(scores[body] / most + 2 * similarity[body])])
    row = page.blocks[chosen]
    path = heading_path(text, page.blocks, chosen)
    return Passage(int(row["start"]), int(row["end"]), path, float(scores[chosen]))


def block_scores(page: PageBlocks, weights: Mapping[str, float]) -> NDArray[np.float64]:
    """BM25 (k1 1.2, b 0.5 against the page's mean block) of each block of the page."""
    scores = np.zeros(len(page.blocks))
    if not weights or not len(page.words):
        return scores
    hashes = np.array([term_hash(term) for term in weights], np.uint32)
    idfs = np.array(list(weights.values()))
    order = np.argsort(hashes)
    place = np.searchsorted(hashes, page.words["term"], sorter=order)
    place[place == len(hashes)] = 0
    chosen = order[place]
    hit = hashes[chosen] == page.words["term"]
    times = page.words["times"][hit]
    at = page.words["block"][hit]
    lengths = page.blocks["length"]
    slack = 1.2 * (0.5 + 0.5 * lengths / max(1.0, float(lengths.mean())))
    np.add.at(scores, at, idfs[chosen[hit]] * times * 2.2 / (times + slack[at]))
    return scores


def heading_path(text: str, blocks: NDArray[Any], number: int) -> tuple[str, ...]:
    """The headings above a block, outermost first."""
    path: list[str] = []
    level = 7
    for row in blocks[number::-1]:
        if 0 < row["level"] < level:
            level = int(row["level"])
            heading = _HEADING.match(text[row["start"] : row["end"]])
            path.append(heading[2] if heading else "")
    return tuple(reversed(path))
