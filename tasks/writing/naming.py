"""Whether a name that a model gives is the source's: titles, aliases and headings are no place to invent either."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tasks.coverage_check import GLUE
from tasks.search import tokens

_QUALIFIER = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")
_NAMES = re.compile(r"(?<=\s)[^\W\d_][\w'’-]*|\d[\d.,]*")


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """The words of texts in the form in which names are compared with them."""
    return frozenset(term for text in texts for term in tokens.terms(text))


def is_given(name: str, words: frozenset[str]) -> bool:
    """Whether all words of a name, a qualifier in brackets aside, are among the source's."""
    terms = tokens.terms(_QUALIFIER.sub("", name) or name)
    return words.issuperset(terms)


def plain_heading(heading: str, words: frozenset[str]) -> bool:
    """Whether the numbers and names in a heading are the source's; other words of a heading are free."""
    told = [word for word in _NAMES.findall(heading) if word[0].isupper() or word[0].isdigit()]
    return all(word.lower() in GLUE or words.issuperset(tokens.terms(word)) for word in told)
