"""Which blocks of a page answer a question: their place, and the words in them, kept ready at indexing time.

Cutting and tokenizing ten pages takes longer than the whole search, so the index keeps, for every page,
where its blocks stand and a small hash of each word in them. Two words that share a hash can at worst
favour a neighbouring block.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.search.tokens import terms

BLOCK = np.dtype([("start", "<i4"), ("end", "<i4"), ("level", "u1"), ("length", "<i4")])
"""A block: character offsets in the page's text, heading level (0: not a heading), number of terms."""

WORD = np.dtype([("term", "<u4"), ("block", "<i4"), ("times", "<i4")])
"""A term of a block: hash of the term, number of the block on its page, how often."""

WARNING = "> [!warning]"
"""How a callout begins that stands beside a page's subject, such as that its sources contradict each other."""

_MOST_HASHES = 400_000
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


class _Hashes(dict[str, int]):
    """The hashes of terms that were met, which are few for the texts they stand in."""

    def __missing__(self, term: str) -> int:
        if len(self) >= _MOST_HASHES:
            self.clear()
        self[term] = found = term_hash(term)
        return found


_hashes = _Hashes()


def read_blocks(text: str, start: int = 0) -> PageBlocks:
    """The blocks of a page's text from `start` (behind its properties) on; footnote definitions are left out."""
    blocks: list[tuple[int, int, int, int]] = []
    hashes: list[int] = []
    times: list[int] = []
    sizes: list[int] = []  # how many words each block has
    for first, last in _pieces(text, start):
        piece = text[first:last]
        if _FOOTNOTE.match(piece):
            continue
        heading = _HEADING.match(piece)
        counts = Counter(terms(piece))
        hashes.extend(map(_hashes.__getitem__, counts))
        times.extend(counts.values())
        sizes.append(len(counts))
        blocks.append((first, last, len(heading[1]) if heading else 0, counts.total()))
    words = np.empty(len(hashes), WORD)
    words["term"], words["times"] = hashes, times
    words["block"] = np.repeat(np.arange(len(sizes)), sizes)
    return PageBlocks(np.array(blocks, BLOCK), words)


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


@dataclass(frozen=True, slots=True)
class Wanted:
    """The terms of a question as blocks are searched for them: hashes ascending, and the idf of each in the wiki."""

    hashes: NDArray[np.uint32]
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, weights: Mapping[str, float]) -> Wanted:
        """From term and idf."""
        hashes = np.array([term_hash(term) for term in weights], np.uint32)
        order = np.argsort(hashes)
        return cls(hashes[order], np.array(list(weights.values()))[order] if weights else np.zeros(0))


def block_worth(texts: Sequence[str], pages: Sequence[PageBlocks], wanted: Wanted) -> list[NDArray[np.float64]]:
    """`block_scores`, with 0 for what a page says about itself where it says the same of its subject.

    A warning that two sources contradict each other repeats their sentences, and often more of the question's words
    than any sentence of the page; it is an answer only where nothing else on the page is.
    """
    found = block_scores(pages, wanted)
    for text, page, scores in zip(texts, pages, found, strict=True):
        if WARNING not in text:
            continue
        starts = page.blocks["start"].tolist()
        beside = np.array([text.startswith(WARNING, start) for start in starts], np.bool_)
        if scores[~beside & (page.blocks["level"] == 0)].max(initial=0.0) > 0:
            scores[beside] = 0.0
    return found


def by_words(texts: Sequence[str], pages: Sequence[PageBlocks], wanted: Wanted) -> list[Passage]:
    """Of each page the block with the highest BM25; the first one when none has a word in common."""
    scored = block_worth(texts, pages, wanted)
    return [best_passage(*one) for one in zip(texts, pages, scored, strict=True)]


def best_passage(text: str, page: PageBlocks, scores: NDArray[np.float64]) -> Passage:
    """The block of a page with the highest score; the first one when none has any."""
    return _passage(text, page, scores, _best_body(page, scores))


def by_meaning(
    texts: Sequence[str], pages: Sequence[PageBlocks], wanted: Wanted, similarity: NDArray[np.float32]
) -> list[Passage]:
    """Of each page the block that answers best by words and meaning: its share of the page's best BM25, plus its
    cosine twice. `similarity` runs over the blocks of all pages."""
    found, start = [], 0
    for text, page, scores in zip(texts, pages, block_worth(texts, pages, wanted), strict=True):
        near = similarity[start : start + len(scores)]
        start += len(scores)
        joined = scores / (scores.max(initial=0.0) or 1.0) + 2 * near
        found.append(_passage(text, page, scores, _best_body(page, joined)))
    return found


def _best_body(page: PageBlocks, scores: NDArray[np.floating]) -> int:
    """The first of the blocks with the highest score that is no heading; 0 when all are."""
    return int(np.where(page.blocks["level"] == 0, scores, -np.inf).argmax()) if len(scores) else 0


def _passage(text: str, page: PageBlocks, scores: NDArray[np.float64], number: int) -> Passage:
    if not len(page.blocks):
        return Passage(0, 0, (), 0.0)
    row = page.blocks[number]
    path = heading_path(text, page.blocks, number)
    return Passage(int(row["start"]), int(row["end"]), path, float(scores[number]))


def block_scores(pages: Sequence[PageBlocks], wanted: Wanted) -> list[NDArray[np.float64]]:
    """BM25 (k1 1.2, b 0.5 against the page's mean block) of each block of each page."""
    sizes = [len(page.blocks) for page in pages]
    edges = np.cumsum([0, *sizes])
    scores = np.zeros(int(edges[-1]))
    if len(wanted.hashes) and pages:
        words = np.concatenate([page.words for page in pages])
        shift = np.repeat(edges[:-1], [len(page.words) for page in pages])
        terms = words["term"]
        place = np.minimum(np.searchsorted(wanted.hashes, terms), len(wanted.hashes) - 1)
        hit = np.flatnonzero(wanted.hashes[place] == terms)
        times, at = words["times"][hit], words["block"][hit] + shift[hit]
        lengths = np.concatenate([page.blocks["length"] for page in pages])
        owner = np.repeat(np.arange(len(pages)), sizes)
        mean = np.maximum(np.bincount(owner, lengths, len(pages)) / np.maximum(sizes, 1), 1.0)
        slack = 1.2 * (0.5 + 0.5 * lengths / mean[owner])
        gains = wanted.weights[place[hit]] * times * 2.2 / (times + slack[at])
        scores = scores + np.bincount(at, gains, len(scores))
    return [scores[start:end] for start, end in pairwise(edges)]


def heading_path(text: str, blocks: NDArray[Any], number: int) -> tuple[str, ...]:
    """The headings above a block, outermost first."""
    path: list[str] = []
    level = 7
    levels = blocks["level"][: number + 1].tolist()
    for place in range(number, -1, -1):
        if 0 < levels[place] < level:
            level = levels[place]
            row = blocks[place]
            heading = _HEADING.match(text[row["start"] : row["end"]])
            path.append(heading[2] if heading else "")
    return tuple(reversed(path))
