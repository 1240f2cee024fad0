"""An answer without a model: the passages that answer best, quoted sentence by sentence, in reading order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tasks import sentences, tokens
from tasks.answering import Reference, Sentence
from tasks.blocks import references
from tasks.found import Found, FoundPage
from tasks.pack_choice import offered
from tasks.pack_passages import CUT, Piece, hidden_spans, sentence_spans, visible, whole, window
from tasks.plain import plain
from tasks.search_result import Hit, HitCitation

MOST_PASSAGES = 4
"""Passages of an answer: more are a list of hits again."""

LONGEST = 70
"""Words of one passage."""

WORTH = 0.55
"""A passage worth less than this share of the best one is left out."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """A passage chosen for an answer: its reference and its sentences, which name it."""

    reference: Reference
    sentences: tuple[Sentence, ...]


def passages(found: Found, most: int = MOST_PASSAGES, longest: int = LONGEST) -> tuple[Quoted, ...]:
    """The passages that answer, pages in the order of their rank, passages in page order; none at a gap."""
    chosen: list[tuple[int, Piece]] = []
    said: list[frozenset[str]] = []
    best = 0.0
    spans = [hidden_spans(page.text) for page in found.pages]
    for unit in offered(found.pages):
        page = found.pages[unit.page]
        best = best or unit.worth
        if len(chosen) == most or unit.worth < WORTH * best:
            break
        piece: Piece | None = whole(page, unit.block, spans[unit.page])
        if sentences.length(piece.text if piece else "") > longest:
            piece = window(page, unit.block, spans[unit.page], longest, found.weights, sentences.length)
        words = frozenset(tokens.terms(piece.text)) if piece else frozenset()
        if piece is None or not words or any(len(words & other) >= 0.7 * len(words) for other in said):
            continue
        chosen.append((unit.page, _standing(page, piece)))
        said.append(words)
    chosen.sort(key=lambda one: (one[0], one[1].start))
    return tuple(
        quoted(found.pages[page], piece, number, spans[page]) for number, (page, piece) in enumerate(chosen, 1)
    )


def _standing(page: FoundPage, piece: Piece) -> Piece:
    """A passage that leans on the sentence before it, with that sentence."""
    block = page.blocks[piece.block]
    if piece.start == block.start or not sentences.leans_back(plain(page.text[piece.start : piece.end])):
        return piece
    before = [start for start, _ in sentence_spans(page.text[block.start : block.end])]
    earlier = [block.start + start for start in before if block.start + start < piece.start]
    return replace(piece, start=earlier[-1]) if earlier else piece


def quoted(page: FoundPage, piece: Piece, number: int, hidden: Sequence[tuple[int, int]]) -> Quoted:
    """A passage as a numbered reference with its sentences, in plain words."""
    text = page.text[piece.start : piece.end]
    table = text.lstrip().startswith(("|", "```", "~~~"))
    spans = [(0, len(text))] if table else sentence_spans(text)
    found = []
    for start, end in spans:
        seen = visible(page.text, piece.start + start, piece.start + end, hidden)
        words = seen.strip() if table else plain(seen)
        if words:
            found.append(Sentence(words, (number,), "quoted", number - 1))
    return Quoted(reference(page, piece, number, text), tuple(found))


def reference(page: FoundPage, piece: Piece, number: int, quote: str) -> Reference:
    """The reference of a passage; its sources are those that the quoted words' footnotes name."""
    labels = set(references(quote))
    hit = page.hit
    block = page.blocks[piece.block]
    return Reference(
        number,
        "pages",
        hit.wiki,
        hit.id,
        hit.slug,
        hit.title,
        hit.path,
        hit.status,
        hit.confidence,
        piece.block,
        block.start,
        block.end,
        hit.page_hash,
        headings(page, piece.block),
        quote,
        tuple(
            HitCitation(one.source, one.location, one.place, one.quote)
            for one in page.citations
            if one.label in labels
        ),
    )


def headings(page: FoundPage, number: int) -> tuple[str, ...]:
    """The headings above a block, outermost first."""
    path: list[str] = []
    level = 7
    for block in reversed(page.blocks[:number]):
        if 0 < block.level < level:
            level = block.level
            path.append(plain(page.text[block.start : block.end]))
    return tuple(reversed(path))


def of_sources(pieces: Sequence[Hit], number: int) -> tuple[Quoted, ...]:
    """Evidence that no page tells, quoted: what is offered at a gap. Numbers begin with `number`."""
    found = []
    for place, hit in enumerate(pieces):
        words = plain(hit.excerpt)
        cited = Reference(
            number + place,
            "chunks",
            hit.wiki,
            hit.id,
            "",
            hit.title,
            hit.path,
            "",
            "",
            -1,
            hit.start,
            hit.end,
            "",
            hit.heading_path,
            hit.excerpt,
            hit.citations,
        )
        parts = sentences.split(words)[:6]
        told = [Sentence(part, (number + place,), "quoted", place) for part in parts]
        found.append(Quoted(cited, tuple(told)))
    return tuple(found)


def shortened(text: str) -> str:
    """A passage's text without the marks of where it was cut."""
    return text.replace(CUT, "").strip()
