"""Names that a sentence gives and a text does not."""

from __future__ import annotations

import re

from tasks.coverage.words import GLUE_TERMS, has_form
from tasks.markdown import sentences
from tasks.search import tokens

_NAME = re.compile(r"(?<![.!?…。]\s)(?<!^)(?<=[\s(\[\"'“‘„«])[^\W\d_][\w'’-]*")


def missing_names(sentence: str, ground: str, alike: bool) -> tuple[str, ...]:
    """Capitalised words inside the sentence that stand nowhere at the place; German nouns are words like others.

    With `alike` a name of the same beginning counts as another form of it.
    """
    if sentences.CJK.search(sentence):
        return ()
    found = [match.group() for match in _NAME.finditer(sentence) if match.group()[0].isupper()]
    if len(found) > 0.3 * len(sentence.split()) and len(found) > 3:  # a title, or a language that capitalises nouns
        found = [name for name in found if not name[1:].islower()]
    have = set(tokens.terms(ground))
    words = frozenset(word.rstrip("+#") for word in tokens.name_words(ground))
    return tuple(
        dict.fromkeys(
            name
            for name in found
            if not _stands_as_name(name, words)
            and not ((alike or not name.isascii()) and any(has_form(term, have) for term in tokens.terms(name)))
            and not set(tokens.terms(name)) <= GLUE_TERMS
        )
    )


def _stands_as_name(name: str, words: frozenset[str]) -> bool:
    """Whether all parts of a name are words of the text, an ending of possession or plural apart."""
    parts = [part.rstrip("+#") for part in tokens.name_words(name) if part != "s"]
    return all(
        any(form in words for form in (part, part + "s", part + "es", part.removesuffix("s"), part.removesuffix("es")))
        for part in parts
    )
