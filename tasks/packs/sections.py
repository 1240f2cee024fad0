"""What a pack says of one page: its passages under their headings, what they cite, and a word of caution.

The same passages go into one pack after the other, so whether a short one gives orders is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from tasks.markdown.blocks import references
from tasks.packs.pack import PackedBlock, PackedCitation, PackedPage
from tasks.packs.passages import Piece
from tasks.reading.sanitise import orders
from tasks.search import tokens
from tasks.search.found import FoundPage
from tasks.search.passages import term_hash

_LONGEST_KEPT = 3_000  # characters of a text about which is kept what was found out


@dataclass(frozen=True, slots=True)
class Section:
    """What a pack says of a page: passages, where they stand, and what they cite."""

    excerpt: str
    blocks: tuple[PackedBlock, ...]
    citations: tuple[PackedCitation, ...]


def section_of(page: FoundPage, pieces: Sequence[Piece]) -> Section:
    """Passages in page order, each under its heading, and the citations that they refer to."""
    texts: list[str] = []
    blocks: list[PackedBlock] = []
    last_heading = -1
    for piece in sorted(pieces, key=lambda one: one.start):
        heading = _heading(page, piece.block)
        if heading > last_heading:
            block = page.blocks[heading]
            texts.append(page.text[block.start : block.end])
            blocks.append(PackedBlock(block.start, block.end))
            last_heading = heading
        texts.append(piece.text)
        blocks.append(PackedBlock(piece.start, piece.end, piece.cut))
    excerpt = "\n\n".join(texts)
    labels = set(references(excerpt)) if page.citations else set()
    cited = tuple(PackedCitation(one.label, one.location, one.place) for one in page.citations if one.label in labels)
    return Section(excerpt, tuple(blocks), cited)


def packed_page(page: FoundPage, pieces: Sequence[Piece]) -> PackedPage:
    """A page with its passages in page order, each under its heading, and the citations that they refer to."""
    section = section_of(page, pieces)
    hit = page.hit
    return PackedPage(
        hit.wiki,
        hit.id,
        hit.slug,
        hit.title,
        round(page.relevance, 2),
        section.excerpt,
        hit.path,
        hit.confidence,
        hit.status,
        hit.tags,
        section.blocks,
        section.citations,
    )


def cautioned(page: PackedPage) -> PackedPage:
    """The page with the words of its excerpt that order a machine about."""
    found = _orders(page.excerpt) if len(page.excerpt) <= _LONGEST_KEPT else orders(page.excerpt)
    return replace(page, caution=found) if found else page


@lru_cache(maxsize=1024)
def _orders(excerpt: str) -> str:
    return orders(excerpt)


def words_of(page: FoundPage, piece: Piece) -> frozenset[int]:
    """Hashes of the terms of a passage: of a whole block those that the index keeps."""
    block = page.blocks[piece.block]
    if not piece.cut and len(piece.text) == block.end - block.start:
        return page.terms_of(piece.block)
    return frozenset(map(term_hash, tokens.terms(piece.text)))


def figures_of(text: str) -> frozenset[str]:
    """The terms of a text that hold a digit or sign."""
    return frozenset(word for word in tokens.terms(text) if not word.isalpha())


def _heading(page: FoundPage, number: int) -> int:
    """Number of the heading that a block stands under, -1 for none or for the page's title."""
    for block in reversed(page.blocks[:number]):
        if block.level:
            return block.number if block.level > 1 else -1
    return -1
