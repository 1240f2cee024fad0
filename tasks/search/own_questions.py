"""Questions drawn from a wiki's own pages, so that search can be measured where it is used.

By rule, without a model: a lexical question is made of a page's own telling words, an identifier question
is an exact name, number or date on it. Paraphrases need a model to write them; `is_paraphrase` is the
mechanical check that such a question really avoids the page's words.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tasks.markdown.plain import plain
from tasks.search.tokens import STOP_WORDS, fold, terms

Kind = Literal["lexical", "identifier", "paraphrase"]

COMMON_SHARE = 0.10
"""A word is distinctive when it stands on at most this share of the pages."""
MOST_SHARED = 2
"""Distinctive words of the page that a paraphrase may use."""
_SENTENCE = re.compile(r"[^.!?]{30,}[.!?]")
_NAME = re.compile(
    r"\b(?:[A-Z][\w.'’-]*\d[\w.-]*|[A-Z]{2,}[\w-]*|\d{4}|\d[\d.,]+\d|[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)+)"
)
_WORD = re.compile(r"[^\W_][\w'’-]*")


@dataclass(frozen=True, slots=True)
class OwnPage:
    """A page as questions are drawn from it."""

    id: str
    title: str
    markdown: str


@dataclass(frozen=True, slots=True)
class OwnQuestion:
    """A question whose answer is on a known page."""

    page_id: str
    kind: Kind
    text: str


def spread_of(pages: Sequence[OwnPage]) -> dict[str, int]:
    """On how many pages each term stands."""
    spread: dict[str, int] = {}
    for page in pages:
        for term in set(terms(f"{page.title} {plain(page.markdown)}")):
            spread[term] = spread.get(term, 0) + 1
    return spread


def draw(pages: Sequence[OwnPage], count: int, seed: int = 411) -> tuple[OwnQuestion, ...]:
    """At most one lexical and one identifier question from each of `count` pages drawn by `seed`."""
    spread = spread_of(pages)
    chosen = random.Random(seed).sample(sorted(pages, key=lambda page: page.id), min(count, len(pages)))
    found = []
    for page in chosen:
        made = (("lexical", lexical(page, spread, len(pages))), ("identifier", identifier(page, spread)))
        found += [OwnQuestion(page.id, kind, text) for kind, text in made if text]  # type: ignore[arg-type]
    return tuple(found)


def lexical(page: OwnPage, spread: Mapping[str, int], pages: int) -> str:
    """The most telling sentence of the page, shortened to its distinctive words and those between; may be empty."""
    best, most = "", 1
    for sentence in _SENTENCE.findall(plain(page.markdown))[:40]:
        words = _WORD.findall(sentence)
        telling = [word for word in words if any(_distinctive(term, spread, pages) for term in terms(word))]
        if len(telling) > most:
            best, most = " ".join(_between(words, telling)[:14]), len(telling)
    return best


def _between(words: Sequence[str], telling: Sequence[str]) -> list[str]:
    kept = {*telling}
    return [word for word in words if word in kept or fold(word) not in STOP_WORDS]


def identifier(page: OwnPage, spread: Mapping[str, int]) -> str:
    """The rarest name, number or date of the page, with the page's title when a bare number would say little."""
    names = dict.fromkeys(_NAME.findall(plain(page.markdown)))
    if not names:
        return ""
    rarest = min(
        names, key=lambda name: (min((spread.get(term, 0) for term in terms(name)), default=10**9), name)
    )
    return rarest if any(map(str.isalpha, rarest)) else f"{page.title} {rarest}"


def is_paraphrase(question: str, page: OwnPage, spread: Mapping[str, int], pages: int) -> bool:
    """Whether a question avoids the title's distinctive words and uses at most two others of the page."""
    asked = set(terms(question))
    title = {term for term in asked & set(terms(page.title)) if _distinctive(term, spread, pages)}
    shared = {term for term in asked & set(terms(plain(page.markdown))) if _distinctive(term, spread, pages)}
    return not title and len(shared) <= MOST_SHARED and bool(asked)


def _distinctive(term: str, spread: Mapping[str, int], pages: int) -> bool:
    """Rarity in this wiki decides, not a list of stop words: in a small wiki one page is always rare enough."""
    return 0 < spread.get(term, 0) <= max(1.0, COMMON_SHARE * pages)
