"""Taking a question apart where that helps, without a model: only what the question itself separates.

A search finds pages about one thing best. A question about two ('Who built the Z3 and when was ENIAC finished?') is
looked up part by part, too; a short plain one never is. The rules cut only where both sides are questions or names
of their own; where they are unsure, the question stays whole.
"""

from __future__ import annotations

import re

from tasks.search import tokens

MOST = 4
"""Parts of a question that are looked up, at most."""

_LONGEST = 2_000  # characters of a question that is looked at; a pasted text is no question
_AND = r"(?:and|und|et|y)"
_ASKING = (
    r"(?:who|what|when|where|why|how|which|wer|was|wann|wo|warum|wie|welche\w*|qui|quand|quel\w*|où|pourquoi|comment"
    r"|quién|qué|cuándo|dónde|cómo|por qué)\b"
)
_QUESTION_END = re.compile(rf"(?<=[?？])\s*(?=[^?？]*[?？]|(?:{_AND}\s+)?{_ASKING})", re.IGNORECASE)
_AND_ASKS = re.compile(rf"[,;]?\s+{_AND}\s+(?={_ASKING})", re.IGNORECASE)
_COMPARED = re.compile(
    r"^(?:(?:please\s+)?(?:compare|contrast)|(?:what(?:\s+is|['’]s|\s+are)\s+)?(?:the\s+)?differences?\s+between)"
    r"\s+(?P<one>.+?)\s+(?:and|with|to|vs\.?|versus)\s+(?P<other>.+?)\s*[?.!]*$",
    re.IGNORECASE,
)
_VERSUS = re.compile(r"^(?P<one>.+?)\s+(?:vs\.?|versus)\s+(?P<other>.+?)\s*[?.!]*$", re.IGNORECASE)
_DIFFERS = re.compile(r"^how\s+do(?:es)?\s+(?P<one>.+?)\s+differ\s+from\s+(?P<other>.+?)\s*[?.!]*$", re.IGNORECASE)
_LONGEST_NAME = 8  # words


def parts(question: str) -> tuple[str, ...]:
    """The parts of a question that are worth a look of their own, at most `MOST`; empty when it is one question."""
    text = " ".join(question[:_LONGEST].split())
    asked = [one.strip() for one in _QUESTION_END.split(text) if tokens.terms(one)]
    found = [part.strip(" ,;") for one in asked for part in _AND_ASKS.split(one)]
    if len(found) == 1:
        compared = _COMPARED.match(text) or _VERSUS.match(text) or _DIFFERS.match(text)
        if not compared:
            return ()
        found = [compared["one"], compared["other"]]
        if any(len(name.split()) > _LONGEST_NAME for name in found):
            return ()
    found = [part for part in dict.fromkeys(found) if tokens.terms(part)]
    return tuple(found[:MOST]) if len(found) > 1 else ()
