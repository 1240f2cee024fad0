"""Sentences of several sources side by side: said twice, or said differently.

What is said twice stands on the page once, in the words of the better source. Where two sources give another
year or number for what reads like the same statement, both stay; which is right is for a person to decide.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from tasks import sentences

if TYPE_CHECKING:
    from tasks.assembly import Quote

_FIGURE = re.compile(r"(?<![\w.])\d+(?:[.,:]\d+)*(?=(?:st|nd|rd|th|s|[^\W\d_]{0,3})?\b|\D|$)")
_YEAR = re.compile(r"(?<!\d)(?:1[0-9]|20)\d\d(?!\d)")
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mär|Mai|Okt|Dez)[^\W\d_]*\.?"
_DAY = re.compile(rf"(\d{{1,2}})\.?\s{_MONTH}|{_MONTH}\s(\d{{1,2}})\b")
_NEGATION = re.compile(
    r"\b(?:not|never|no|nicht|kein\w*|ne|pas|не|myth|wrongly|mistakenly|claimed?|alleged\w*|rumou?r\w*|denied|"
    r"rejects?)\b|不|没",
    re.I,
)
_SAME = 0.75  # share of words in common (Jaccard) from which two sentences say the same
_LIKE = 0.5  # from which they speak of the same, when figures and the subject's own words are left out


@dataclass(frozen=True, slots=True)
class Joined:
    """What stays of all quotes."""

    kept: tuple[Quote, ...]
    differ: tuple[tuple[Quote, ...], ...]  # each two sentences of different sources
    agreed: int  # sentences that another source says too
    agreeing: frozenset[str]  # sources whose sentences were said already


@lru_cache(maxsize=4096)  # each sentence is compared with many
def figures(text: str) -> frozenset[str]:
    """The numbers and years in a text."""
    return frozenset(match.rstrip(".,:") for match in _FIGURE.findall(text))


def join(quotes: Sequence[Quote], keys: frozenset[str]) -> Joined:
    """Drops repetitions, best source first, and sets apart the pairs that give different figures."""
    common = {sentences.stem(word) for key in keys for word in key.split("-")}
    kept: list[Quote] = []
    by_word: dict[str, list[int]] = {}
    differ: list[tuple[Quote, Quote]] = []
    apart: set[int] = set()
    agreed = 0
    agreeing: set[str] = set()
    for quote in quotes:
        shared = Counter(chain.from_iterable([by_word[word] for word in quote.words if word in by_word]))
        verdict = ""
        alike = [(-count, at) for at, count in shared.items() if count > 1]
        for _, at in sorted(alike):
            other = kept[at]
            verdict = _compare(quote, other, common)
            if verdict == "same":
                if other.use is not quote.use:
                    agreed += 1
                    agreeing.add(quote.use.source_id)
                break
            if verdict == "differ" and at not in apart:
                differ.append((other, quote))
                apart.add(at)
                break
            verdict = ""
        if verdict == "same":
            continue
        place = len(kept)
        kept.append(quote)
        if verdict == "differ":
            apart.add(place)
        for word in quote.words:
            by_word.setdefault(word, []).append(place)
    firm = _leads(quotes) | {
        (before.use.source_id, before.order[1])  # a sentence that the next one leans on
        for before, quote in pairwise(quotes)
        if quote.sentence.leans and before.use is quote.use and before.section == quote.section
    }
    stay = tuple(
        quote for at, quote in enumerate(kept) if at not in apart or (quote.use.source_id, quote.order[1]) in firm
    )
    return Joined(stay, tuple(differ), agreed, frozenset(agreeing))


def _leads(quotes: Sequence[Quote]) -> set[tuple[str, int]]:
    first = next((quote.use for quote in quotes if quote.use.main and quote.use.notes.lead), None)
    return set() if first is None else {(first.source_id, at) for at in first.notes.lead}


def _compare(one: Quote, other: Quote, common: set[str]) -> str:
    """'same', 'differ' or ''."""
    both = len(one.words & other.words)
    either = len(one.words) + len(other.words) - both
    numbers, others = figures(one.sentence.text), figures(other.sentence.text)
    if numbers == others:
        if both / either >= _SAME:
            return "same"
        told = both / min(len(one.words), len(other.words))
        return "same" if one.use is not other.use and len(numbers) >= 2 and both >= 4 and told >= 0.65 else ""
    if one.use is other.use or not (one.use.main and other.use.main):
        return ""
    return "differ" if _clash(one, other, common) else ""


def _clash(one: Quote, other: Quote, common: set[str]) -> bool:
    """Whether two sentences read as one statement with another year, or another number of the same thing."""
    texts = (one.sentence.text, other.sentence.text)
    if any(_NEGATION.search(text) or text.endswith(("?", "？")) for text in texts):
        return False
    numbers, others = figures(texts[0]), figures(texts[1])
    years = [frozenset(filter(_YEAR.fullmatch, found)) for found in (numbers, others)]
    if len(years[0]) == len(years[1]) == 1 and years[0] != years[1]:
        rest = [found - year - _days(text) for found, year, text in zip((numbers, others), years, texts, strict=True)]
        if rest[0] != rest[1]:
            return False
    else:
        only, other_only = numbers - others, others - numbers
        if len(only) != 1 or len(other_only) != 1 or (only | other_only) & (years[0] | years[1]):
            return False
        (first,), (second,) = only, other_only
        if _unit(texts[0], first) != _unit(texts[1], second):
            return False
    left = {word for word in one.words - common if not word[0].isdigit()}
    right = {word for word in other.words - common if not word[0].isdigit()}
    both = left & right
    if len(both) < 2 or len(both) / min(len(left), len(right)) < 0.6 or len(both) / len(left | right) < _LIKE:
        return False
    return not (_proper(texts[0], left - right) and _proper(texts[1], right - left))


def _days(text: str) -> frozenset[str]:
    """The numbers in a text that are days of a month."""
    return frozenset(day for found in _DAY.findall(text) for day in found if day)


def _unit(text: str, figure: str) -> str:
    """The word that a number counts."""
    found = sentences.words(text[text.find(figure) + len(figure) :][:40])
    return found[0] if found else ""


def _proper(text: str, words: set[str]) -> bool:
    """Whether a word that only this sentence has is a proper name in it."""
    if any(not word.isalpha() and not word.isdigit() for word in words):  # a designation such as Z3
        return True
    return any(
        match.group()[0].isupper() and sentences.stem(match.group().lower()) in words
        for match in re.finditer(r"(?<=\s)[^\W\d_]+", text)
    )
