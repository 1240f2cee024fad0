"""What a search for passages found: pages with all their blocks scored, ready for packs and answers.

`Hit` shows one excerpt a page; packs and answers choose among all blocks of a page, so here each page carries its
text, its blocks' places and scores, and the citations behind them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.search.passages import WORD
from tasks.search.ranking import interleave
from tasks.search.result import Degraded, Hit


@dataclass(frozen=True, slots=True)
class FoundBlock:
    """A block of a page: `text[start:end]` of the page; `score` is its BM25 in the page, 0 without a common word."""

    number: int  # from 0, counted over the blocks of the page, footnote definitions left out
    start: int
    end: int
    level: int  # of a heading; 0 for everything else
    score: float


@dataclass(frozen=True, slots=True)
class Labelled:
    """A citation by the footnote label that blocks refer to it with."""

    label: str
    source: str  # source id
    location: str  # vault path of the source or its readable copy
    place: str  # anchor in it
    quote: str

    @property
    def link(self) -> str:
        """Where the words stand, such as 'evidence/zuse-z3-1b6ae6.md#^p1'."""
        return f"{self.location}#{self.place}" if self.place else self.location


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page that answers, its blocks in order, and what they cite.

    `relevance` lies between 0 and 1 and can be compared across the pages of one search.
    """

    hit: Hit
    relevance: float
    text: str
    blocks: tuple[FoundBlock, ...]
    citations: tuple[Labelled, ...] = ()
    words: NDArray[Any] = field(default_factory=lambda: np.zeros(0, WORD), compare=False, repr=False)  # of its blocks

    def terms_of(self, block: int) -> frozenset[int]:
        """Hashes of the terms of a block, as `term_hash` makes them."""
        return frozenset(self.words["term"][self.words["block"] == block].tolist())

    @property
    def key(self) -> tuple[str, str]:
        """Wiki and id: a page of one wiki is not that of another."""
        return self.hit.wiki, self.hit.id


@dataclass(frozen=True, slots=True)
class Found:
    """All that one question found, best page first."""

    question: str
    snapshot: str  # of several wikis: joined with a comma
    generated: str  # when the newest of these snapshots was published
    gap: bool  # the wiki's words do not cover the question
    degraded: tuple[Degraded, ...]
    pages: tuple[FoundPage, ...]
    pieces: tuple[Hit, ...] = ()  # evidence that no page tells, offered at a gap
    unknown: tuple[str, ...] = ()  # words of the question that no page holds, as they were asked
    weights: Mapping[str, float] = field(default_factory=dict)  # terms of the question and their idf
    cjk: float = 0.0  # share of pages written in Chinese, Japanese or Korean
    wikis: tuple[str, ...] = ()
    models: tuple[str, ...] = ()  # that embedded these wikis' pages
    sample: str = ""  # titles of a few pages in Chinese, Japanese or Korean


def together(found: Sequence[Found]) -> Found:
    """The answers to several wordings or parts of one question as one: pages interleaved by each one's own rank.

    A page that several found keeps its best place and relevance; a block its best score, measured in shares of the
    best block of that part, so that the parts weigh the same. There is a gap only where every part has one.
    """
    if len(found) == 1:
        return found[0]
    pages: dict[tuple[str, str], FoundPage] = {}
    for number, place in interleave([one.pages for one in found]):
        page = _in_shares(found[number].pages[place])
        known = pages.get(page.key)
        pages[page.key] = page if known is None else _joined(known, page)
    pieces: dict[tuple[str, str, str], Hit] = {}
    for number, place in interleave([one.pieces for one in found]):
        piece = found[number].pieces[place]
        pieces.setdefault((piece.wiki, piece.id, piece.excerpt), piece)
    weights: dict[str, float] = {}
    for one in found:
        weights.update(one.weights)
    return replace(
        found[0],
        gap=all(one.gap for one in found),
        degraded=tuple(dict.fromkeys(trouble for one in found for trouble in one.degraded)),
        pages=tuple(pages.values()),
        pieces=tuple(pieces.values()),
        unknown=tuple(dict.fromkeys(word for one in found for word in one.unknown)),
        weights=weights,
    )


def across(found: Sequence[Found]) -> Found:
    """The answers of several wikis to one question as one, interleaved by each wiki's own rank."""
    if len(found) == 1:
        return found[0]
    order = interleave([one.pages for one in found])
    pieces = interleave([one.pieces for one in found])
    unknown = [set(one.unknown) for one in found if one.snapshot]
    weights: dict[str, float] = {}
    for one in found:
        weights.update(one.weights)
    answering = [one for one in found if one.snapshot]
    return Found(
        found[0].question if found else "",
        ",".join(one.snapshot for one in found),
        max((one.generated for one in found), default=""),
        all(one.gap for one in found),
        tuple(
            replace(trouble, reason=f"{', '.join(one.wikis)}: {trouble.reason}")
            for one in found
            for trouble in one.degraded
        ),
        tuple(found[number].pages[place] for number, place in order),
        tuple(found[number].pieces[place] for number, place in pieces),
        tuple(
            word for word in dict.fromkeys(w for one in found for w in one.unknown) if all(word in o for o in unknown)
        ),
        weights,
        sum(one.cjk for one in answering) / len(answering) if answering else 0.0,
        tuple(name for one in found for name in one.wikis),
        tuple(dict.fromkeys(model for one in found for model in one.models)),
        " ".join(one.sample for one in found if one.sample),
    )


def _in_shares(page: FoundPage) -> FoundPage:
    best = max((block.score for block in page.blocks), default=0.0)
    if best <= 0:
        return page
    return replace(page, blocks=tuple(replace(block, score=block.score / best) for block in page.blocks))


def _joined(one: FoundPage, other: FoundPage) -> FoundPage:
    blocks = tuple(
        replace(block, score=max(block.score, also.score))
        for block, also in zip(one.blocks, other.blocks, strict=True)
    )
    return replace(one, relevance=max(one.relevance, other.relevance), blocks=blocks)
