"""Passages as a pack can hold them: blocks without what a reader does not see, cut at sentence ends where too long."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tasks.markdown.sentences import split
from tasks.packs.token_count import TokenCounter
from tasks.reading.sanitise import clean
from tasks.search import tokens
from tasks.search.found import FoundPage

CUT = "[…]"
"""Stands where a part of a block was left out."""

_MARK = re.compile(r"\[\^[^\]\s]+\]")
_HIDDEN = re.compile(
    r"(?P<code>^[ \t]*(?P<fence>```+|~~~+).*?(?:^[ \t]*(?P=fence)|\Z)|`[^`\n]+`)"
    r"|<!--.*?(?:-->|\Z)|%%.*?(?:%%|\Z)"
    r"|<(?P<tag>\w+)\b[^>]*(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|\shidden\b)[^>]*>"
    r".*?(?:</(?P=tag)>|\Z)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_LINES = re.compile(r"[ \t]*(?:[|>`~]|[-*+] |\d+[.)] )")


@dataclass(frozen=True, slots=True)
class Piece:
    """A passage of a page: `text` is `page_text[start:end]` without hidden text, with marks where it was cut."""

    block: int  # number of the block on its page
    start: int
    end: int
    text: str
    cut: bool = False


def whole(page: FoundPage, number: int, hidden: Sequence[tuple[int, int]]) -> Piece:
    """A block as it stands on its page, without the hidden spans; its text is empty when nothing is left."""
    block = page.blocks[number]
    return Piece(number, block.start, block.end, visible(page.text, block.start, block.end, hidden))


def hidden_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Where a page says something that no reader sees: comments and hidden elements, outside code."""
    if "<" not in text and "%%" not in text:
        return ()
    return tuple(match.span() for match in _HIDDEN.finditer(text) if match["code"] is None)


def visible(text: str, start: int, end: int, hidden: Sequence[tuple[int, int]]) -> str:
    """`text[start:end]` without the hidden spans and without invisible characters."""
    parts = []
    for first, last in hidden:
        if last <= start or first >= end:
            continue
        parts.append(text[start : max(start, first)])
        start = min(end, last)
    parts.append(text[start:end])
    seen, _ = clean("".join(parts))
    return seen if len(parts) == 1 else seen.strip()


def window(
    page: FoundPage,
    number: int,
    hidden: Sequence[tuple[int, int]],
    limit: int,
    weights: Mapping[str, float],
    count: TokenCounter,
) -> Piece | None:
    """The part of a block that answers best, at most `limit` tokens with its cut marks; None when no sentence fits.

    It begins with the sentence (of a list, table or code: the line) that holds most of the question and grows to the
    side that holds more, so that it is one stretch of the text.
    """
    block = page.blocks[number]
    text = page.text[block.start : block.end]
    spans = _units(text)
    if not spans:
        return None
    scores = [_worth(text[start:end], weights) for start, end in spans]
    sizes: dict[int, int] = {}

    def size(place: int) -> int:
        if place not in sizes:
            start, end = spans[place]
            sizes[place] = count(visible(page.text, block.start + start, block.start + end, hidden)) + 1
        return sizes[place]

    room = limit - 2 * (count(CUT) + 1)
    best_first = sorted(range(len(spans)), key=lambda place: (-scores[place], place))
    chosen = next((place for place in best_first if size(place) <= room), None)
    if chosen is None or scores[chosen] <= 0 < max(scores):
        return None  # what answers does not fit, and the rest says nothing
    first = last = chosen
    room -= size(first)
    while True:
        before = scores[first - 1] if first > 0 and size(first - 1) <= room else -1.0
        after = scores[last + 1] if last + 1 < len(spans) and size(last + 1) <= room else -1.0
        if before < 0 and after < 0:
            break
        if after >= before:
            last += 1
            room -= size(last)
        else:
            first -= 1
            room -= size(first)
    start, end = block.start + spans[first][0], block.start + spans[last][1]
    return _marked(number, start, end, visible(page.text, start, end, hidden), first > 0, last + 1 < len(spans), text)


def beginning(
    page: FoundPage, number: int, hidden: Sequence[tuple[int, int]], limit: int, count: TokenCounter
) -> Piece | None:
    """As much of a block's beginning as `limit` tokens hold, cut between words: for text without sentences."""
    block = page.blocks[number]
    low, high = 0, block.end - block.start
    while low < high:
        middle = (low + high + 1) // 2
        size = count(f"{visible(page.text, block.start, block.start + middle, hidden)} {CUT}")
        low, high = (middle, high) if size <= limit else (low, middle - 1)
    text = page.text[block.start : block.start + low]
    open_mark = text.rfind("[^")
    if open_mark >= 0 and "]" not in text[open_mark:]:
        low = open_mark  # never inside a citation
    elif " " in text[low // 2 :]:
        low = text.rindex(" ")
    if low < 1:
        return None
    seen = visible(page.text, block.start, block.start + low, hidden)
    return Piece(number, block.start, block.start + low, f"{seen} {CUT}", True)


def _marked(number: int, start: int, end: int, seen: str, before: bool, after: bool, block: str) -> Piece:
    joint = "\n" if _LINES.match(block) else " "
    text = f"{CUT}{joint}{seen}" if before else seen
    return Piece(number, start, end, f"{text}{joint}{CUT}" if after else text, before or after)


def _units(text: str) -> list[tuple[int, int]]:
    """Where a block may be cut: sentences with their footnote marks, or lines of a list, table, quote or code."""
    if _LINES.match(text):
        found, start = [], 0
        for line in text.splitlines(keepends=True):
            end = start + len(line.rstrip("\r\n"))
            if line.strip():
                found.append((start, end))
            start += len(line)
        return found
    masked = _MARK.sub(lambda match: "”" * len(match.group()), text)
    found, position = [], 0
    for sentence in split(masked):
        start = masked.find(sentence, position)
        if start < 0:
            continue
        position = start + len(sentence)
        found.append((start, position))
    return found


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where the sentences of a block stand, footnote marks with the sentence before them."""
    return _units(text)


def _worth(text: str, weights: Mapping[str, float]) -> float:
    return sum(weights.get(term, 0.0) for term in dict.fromkeys(tokens.terms(text)))
