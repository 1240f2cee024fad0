"""Where quoted words stand at a place, and the whole sentences around them."""

from __future__ import annotations

import re
from functools import lru_cache

from tasks.markdown import sentences

_SAME = str.maketrans(
    {
        **dict.fromkeys("‘’‛′`´", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒–—−", "-"),
        **dict.fromkeys("\u00a0\u2002\u2003\u2009\u202f\u3000\t\n\r", " "),
    }
)
_ENDS = " \"'“”„«»‘’.…,;:"
_ITEM = re.compile(r"\n(?=\s*(?:[-*+•|]|\d{1,3}[.)])\s)")


def locate(quote: str, place: str) -> str:
    """The words of `place` that `quote` gives, as they stand there, or '' when they do not stand there.

    White space, the shape of quotation marks and dashes, and marks around the quotation do not count.
    """
    whole, within = " ".join(quote.translate(_SAME).split()), bare(quote)
    return (_locate(whole, place) or _locate(within, place)) if within else ""


def _locate(wanted: str, place: str) -> str:
    at = place.find(wanted)
    if at >= 0:
        return place[at : at + len(wanted)]
    plain, starts = _plain(place)
    at = plain.find(wanted)
    if at < 0:
        at = plain.casefold().find(wanted.casefold()) if len(plain.casefold()) == len(plain) else -1
    if at < 0:
        return ""
    return place[starts[at] : starts[at + len(wanted) - 1] + 1]


@lru_cache(maxsize=512)
def _plain(text: str) -> tuple[str, tuple[int, ...]]:
    """The text with plain marks and single blanks, and where each of its characters stood."""
    letters: list[str] = []
    starts: list[int] = []
    for at, letter in enumerate(text.translate(_SAME)):
        if letter == " " and letters[-1:] == [" "]:
            continue
        letters.append(letter)
        starts.append(at)
    return "".join(letters), tuple(starts)


def bare(text: str) -> str:
    """The text with plain marks and single blanks, without the marks at its ends."""
    return " ".join(text.translate(_SAME).split()).strip(_ENDS)


def sentences_around(quote: str, place: str) -> str:
    """The whole sentences of a place in which a quotation stands."""
    start = place.find(quote)
    end, at, first, last = start + len(quote), 0, start, start + len(quote)
    for unit in units(place):
        begins = place.find(unit, at)
        if begins < 0:
            continue
        at = begins + len(unit)
        if begins <= start < at:
            first = begins
        if begins < end <= at:
            last = at
    return place[first:last]


def units(text: str) -> list[str]:
    """Sentences, and items of lists and rows of tables as such."""
    return [unit for part in _ITEM.split(text) for unit in sentences.split(part)]
