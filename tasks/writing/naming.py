"""Whether a name that a model gives is the source's: titles, aliases and headings are no place to invent either."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tasks.compiling import subjects
from tasks.coverage.words import GLUE
from tasks.markdown import sentences
from tasks.search import tokens
from tasks.writing.settle import plain_text

_QUALIFIER = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")
_BRACKETS = re.compile(r"\[\d+\]|[\[\]{}<>|#^\\]+")
_NAMES = re.compile(r"(?<=\s)[^\W\d_][\w'’-]*|\d[\d.,]*")


_ALSO = re.compile(
    r"(?:\b(?:also|called|known|named|alias|aka|formerly|originally|short|abbreviat\w+|nickname\w*|or|i\.e\.|auch|genannt|"
    r"kurz|heißt|bekannt|oder|dit|dite|appelé\w*|aussi|ou|llamad\w+|también|detto|detta|anche|noto|chamad\w+|também|"
    r"genaamd|ook|также|называем\w+|известн\w+|или)\b|[(（“\"'«「『又亦称稱叫簡简略別别])[^.!?。]{0,40}$",
    re.I,
)


def tidy_title(text: str) -> str:
    """A title as a model gives it, without markup and brackets."""
    return subjects.clean_title(_BRACKETS.sub(" ", plain_text(text)[0]).strip(" .,;:"))


def abbreviated(title: str) -> tuple[str, tuple[str, ...]]:
    """A title without an abbreviation in brackets, and that abbreviation as another name; other titles as they are."""
    long, short = subjects.title_aliases(title)
    return (long, short) if long != title else (title, ())


def is_named(alias: str, names: Iterable[str], text: str) -> bool:
    """Whether a source calls something by this name too: it shares a word with another of its names, stands beside one
    in a sentence, or behind words such as 'also called'. A name that the source only mentions is another thing's."""
    own = tuple(names)
    if words_of([alias]) & words_of(own):
        return True
    folded = tuple(tokens.fold(name) for name in own)
    for sentence in sentences.split(text):
        flat, wanted = tokens.fold(sentence), tokens.fold(alias)
        at = flat.find(wanted)
        if at >= 0 and (any(name in flat for name in folded) or _ALSO.search(flat[:at])):
            return True
    return False


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
