"""What models put around the sentences of an answer: citations in other notations than asked for, and their thoughts.

The answer is read as it comes, so both are recognised in a text of which the end is still missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_ITEM = r"(?:passages?\s*|sources?\s*)?\^?\d{1,2}(?:†[^\]】］)]{0,40})?"
_CITED = re.compile(
    rf"(?P<gap>\s?)(?:[\[【［](?P<square>\s*{_ITEM}(?:(?:\s*[,;、，&–-]\s*|\s+and\s+){_ITEM})*\s*)[\]】］]"
    rf"|\((?P<round>\s*(?:passages?|sources?)\s*\d{{1,2}}(?:(?:\s*[,;&–-]\s*|\s+and\s+){_ITEM})*\s*)\))",
    re.IGNORECASE,
)
_RANGE = re.compile(r"(\d{1,2})\s*[–-]\s*(\d{1,2})")
_NUMBER = re.compile(r"\d{1,2}(?!\d)")
_NOTE = re.compile(r"†[^\]】］)]*")
_GLUED = re.compile(r"(?<=[.!?]\])(?=\w)|(?<=[.!?])((?:\[\d{1,2}\])+)(?=\w)")
_BEGUN = re.compile(r"\s?(?:[\[【［][^\]】］]{0,60}|\([^)]{0,60})\Z")
"""A citation that may have begun at the end of a text."""

_OPENS = re.compile(r"\s*<(think|thinking|thought|reasoning)\b[^>]*>", re.IGNORECASE)
_MAY_OPEN = re.compile(r"\s*(?:<[a-z]{0,9}[^>]{0,40})?\Z", re.IGNORECASE)


def usual(text: str) -> str:
    """The text with its citations as `[1][2]`: also those like '【1†source】', '[passage 1, 2]' or '(passages 1-3)'."""
    return _GLUED.sub(lambda match: f"{match[1] or ''} ", _CITED.sub(_plain, text))


def unfinished(text: str) -> bool:
    """Whether a text may end within a citation."""
    return _BEGUN.search(text) is not None


def without_thoughts(stream: Iterable[str]) -> Iterator[str]:
    """The pieces of an answer without the thoughts that it begins with."""
    held, name, over = "", "", False
    for piece in stream:
        if over:
            yield piece
            continue
        held += piece
        if not name and (begun := _OPENS.match(held)):
            name, held = begun[1], held[begun.end() :]
        if name:
            _, closed, rest = held.partition(f"</{name}>")
            if closed:
                held, over = rest, True
            else:
                held = held[-len(name) - 3 :]
                continue
        elif _MAY_OPEN.match(held):
            continue
        over = True
        yield held
        held = ""
    if not name:
        yield held


def _plain(match: re.Match[str]) -> str:
    said = _NOTE.sub("", match["square"] or match["round"])
    whole = _RANGE.sub(lambda span: " ".join(map(str, range(int(span[1]), int(span[2]) + 1))), said)
    marks = "".join(f"[{int(number)}]" for number in _NUMBER.findall(whole))
    return f"{match['gap']}{marks}"
