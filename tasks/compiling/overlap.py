"""Sentences of several sources side by side: what is said twice stands on the page once, in the better one's words."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tasks.compiling.material import Quote

_FIGURE = re.compile(r"(?<![\w.])\d+(?:[.,:]\d+)*(?=(?:st|nd|rd|th|s|[^\W\d_]{0,3})?\b|\D|$)")
_DENIES = re.compile(r"\b(?:not|never|no longer|cannot|nicht|kein\w*|ne|pas|jamais|nunca)\b|n['’]t\b|不|没", re.I)
_SAME = 0.75  # share of words in common (Jaccard) from which two sentences say the same
_TOLD = 0.65  # ... of the shorter one's words, from which it says no more than the other
_FEW = 0.6  # share of the shorter one's words below which neither is reached, so that nothing is worked out


@dataclass(frozen=True, slots=True)
class Joined:
    """What stays of all quotes."""

    kept: tuple[Quote, ...]
    agreed: int  # sentences that another source says too
    agreeing: frozenset[str]  # sources whose sentences were said already


@lru_cache(maxsize=4096)  # each sentence is compared with many
def figures(text: str) -> frozenset[str]:
    """The numbers and years in a text."""
    return frozenset(match.rstrip(".,:") for match in _FIGURE.findall(text))


def join(quotes: Sequence[Quote]) -> Joined:
    """Drops repetitions, best source first."""
    kept: list[Quote] = []
    by_word: dict[str, list[int]] = defaultdict(list)
    agreed = 0
    agreeing: set[str] = set()
    for quote in quotes:
        shared = Counter(chain.from_iterable([by_word[word] for word in quote.words if word in by_word]))
        size = len(quote.words)
        alike = sorted(
            (-count, at)
            for at, count in shared.items()
            if count > 1 and count >= _FEW * min(size, len(kept[at].words))
        )
        said = next((kept[at] for count, at in alike if _same(quote, kept[at], -count)), None)
        if said is not None:
            if said.use is not quote.use:
                agreed += 1
                agreeing.add(quote.use.source_id)
            continue
        place = len(kept)
        for word in quote.words:
            by_word[word].append(place)
        kept.append(quote)
    return Joined(tuple(kept), agreed, frozenset(agreeing))


def _same(one: Quote, other: Quote, both: int) -> bool:
    """Whether two sentences say the same; `both` is the number of words that they have in common."""
    if both / (len(one.words) + len(other.words) - both) < _SAME:
        told = both / min(len(one.words), len(other.words))
        if one.use is other.use or both < 4 or told < _TOLD or len(figures(one.sentence.text)) < 2:
            return False
    return figures(one.sentence.text) == figures(other.sentence.text) and _denies(one) == _denies(other)


def _denies(quote: Quote) -> bool:
    return _DENIES.search(quote.sentence.text) is not None
