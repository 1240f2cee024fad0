"""An answer without a model: the passages that answer best, quoted sentence by sentence, in reading order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tasks.answers.answering import Reference, Sentence
from tasks.markdown import sentences
from tasks.markdown.blocks import references
from tasks.markdown.plain import plain, readable
from tasks.packs.choice import offered
from tasks.packs.passages import Piece, hidden_spans, sentence_spans, visible, whole, window
from tasks.search import tokens
from tasks.search.found import Found, FoundPage
from tasks.search.result import Hit, HitCitation

_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")

MOST_PASSAGES = 4
"""Passages of an answer: more are a list of hits again."""

MOST_ROWS = 6
"""Rows of a table."""

LONGEST = 70
"""Words of one passage."""

WORTH = 0.55
"""A passage worth less than this share of the best one is left out."""

SPEAKS_OF_IT = 0.5
"""Share of the question's weight that a piece of a source must hold to be offered at a gap."""

SAYS_AS_MUCH = 0.7
SAYS_MORE = 0.3
"""Shares of what the best passage so far holds of the question: as much of it again, or so much that is new."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """A passage chosen for an answer: its reference and its sentences, which name it."""

    reference: Reference
    sentences: tuple[Sentence, ...]


def passages(found: Found, most: int = MOST_PASSAGES, longest: int = LONGEST) -> tuple[Quoted, ...]:
    """The passages that answer, pages in the order of their rank, passages in page order; none at a gap."""
    chosen: list[tuple[int, Piece]] = []
    said: list[frozenset[str]] = []
    held: list[Mapping[str, float]] = []
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
        carried = _carries(words, page, found.weights)
        if held and not _adds(carried, held):
            continue
        chosen.append((unit.page, _standing(page, piece)))
        said.append(words)
        held.append(carried)
    chosen.sort(key=lambda one: (one[0], one[1].start))
    return tuple(
        quoted(found.pages[page], piece, number, spans[page], found.weights)
        for number, (page, piece) in enumerate(chosen, 1)
    )


def _carries(words: frozenset[str], page: FoundPage, weights: Mapping[str, float]) -> dict[str, float]:
    """What a passage holds of the question beyond its page's title, which every passage of the page is about."""
    title = tokens.terms(page.hit.title)
    return {word: weights[word] for word in words if word in weights and word not in title}


def _adds(carried: Mapping[str, float], before: Sequence[Mapping[str, float]]) -> bool:
    """Whether a passage holds most of what the best one holds of the question, or a good part that none held yet."""
    mass, most = sum(carried.values()), max(sum(one.values()) for one in before)
    fresh = sum(weight for word, weight in carried.items() if not any(word in one for one in before))
    return mass > 0 and (mass >= SAYS_AS_MUCH * most or fresh >= SAYS_MORE * most)


def _standing(page: FoundPage, piece: Piece) -> Piece:
    """A passage that leans on the sentence before it, with that sentence."""
    block = page.blocks[piece.block]
    if piece.start == block.start or not sentences.leans_back(plain(page.text[piece.start : piece.end])):
        return piece
    before = [start for start, _ in sentence_spans(page.text[block.start : block.end])]
    earlier = [block.start + start for start in before if block.start + start < piece.start]
    return replace(piece, start=earlier[-1]) if earlier else piece


def quoted(
    page: FoundPage, piece: Piece, number: int, hidden: Sequence[tuple[int, int]], weights: Mapping[str, float]
) -> Quoted:
    """A passage as a numbered reference and its sentences in plain words; of a table, head and the rows that answer."""
    text = page.text[piece.start : piece.end]
    block = page.blocks[piece.block]
    whole_block = page.text[block.start : block.end]
    if whole_block.startswith(("|", "```", "~~~")):
        shown = visible(page.text, block.start, block.end, hidden)
        lines = [readable(_rows(shown, weights) if shown.startswith("|") else text).strip("\r\n")]
        return Quoted(reference(page, piece, number, text), (Sentence(lines[0], (number,), "quoted"),))
    found = []
    for start, end in sentence_spans(text):
        words = spoken(visible(page.text, piece.start + start, piece.start + end, hidden))
        if words:
            found.append(Sentence(words, (number,), "quoted"))
    return Quoted(reference(page, piece, number, text), tuple(found))


def _rows(table: str, weights: Mapping[str, float]) -> str:
    head, rows = table.split("\n")[:2], table.split("\n")[2:]
    worth = {row: sum(weights.get(term, 0.0) for term in set(tokens.terms(row))) for row in rows}
    best = sorted(rows, key=lambda row: -worth[row])[:MOST_ROWS]
    return "\n".join([*head, *(row for row in rows if row in best and (worth[row] > 0 or not any(worth.values())))])


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


def spoken(markdown: str) -> str:
    """The words of a passage as a reader sees them, on one line."""
    return _ESCAPED.sub(r"\1", plain(markdown))


def headings(page: FoundPage, number: int) -> tuple[str, ...]:
    """The headings above a block, outermost first."""
    path: list[str] = []
    level = 7
    for block in reversed(page.blocks[:number]):
        if 0 < block.level < level:
            level = block.level
            path.append(plain(page.text[block.start : block.end]))
    return tuple(reversed(path))


def of_sources(pieces: Sequence[Hit], weights: Mapping[str, float]) -> tuple[Quoted, ...]:
    """Evidence that no page tells, quoted: what is offered at a gap, where it holds half of the question's weight."""
    found: list[Quoted] = []
    for hit in pieces:
        held = sum(weights.get(term, 0.0) for term in set(tokens.terms(hit.excerpt)))
        if held < SPEAKS_OF_IT * sum(weights.values()) or held <= 0:
            continue
        number, words = len(found) + 1, spoken(hit.excerpt)
        cited = Reference(
            number,
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
        told = [Sentence(part, (number,), "quoted") for part in parts]
        found.append(Quoted(cited, tuple(told)))
    return tuple(found)
