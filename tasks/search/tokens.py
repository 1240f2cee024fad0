"""The one tokenizer of search: pages, questions, chunks and blocks all go through `terms`, so that both sides
agree.

A plain word becomes one term (lower case, accents folded, English stem; stop words leave). A word that
carries digits or inner punctuation (`IT-644`, `user_id`, `v0.13.0b2`, `C++`, `can't`) keeps its exact form
as a term of its own beside its parts, because people search names the way they are written. Chinese,
Japanese and Korean text becomes single characters and overlapping pairs, since it has no spaces to cut at.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import chain
from threading import Lock

import snowballstemmer

VERSION = 2
"""Part of every index: another version of the tokenizer means that the index is built anew."""

CJK = (
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff\U0001b000-\U0001b16f\U00020000-\U000323af"
)
"""Characters of Chinese, Japanese and Korean, as the inside of a character class."""

_UNSPACED = CJK + "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u109f\u1780-\u17d3"  # and South East Asia
_INDIC = "\u0900-\u0963\u0966-\u096f\u0971-\u0df3"  # letters with their vowel signs, which \\w leaves out

_STOP_WORDS = """
    a about above after again against all also am an and any are as at be because been before being
    below between both but by can could did do does doing don down during each few for from further had
    has have having he her here hers him his how i if in into is it its itself just ll me more most my
    no nor not now of off on once only or other our ours out over own re s same she should so some such
    t than that the their theirs them then there these they this those through to too under until up
    upon us ve very was we were what when where which while who whom whose why will with would you your
    yours
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""English words that say nothing about a page's subject."""

_JOINT = r"[-_.,:/@&'·+]"
_LETTERS = rf"(?:[^\W_{_UNSPACED}]|[{_INDIC}])+"
_WORD = re.compile(
    rf"[{_UNSPACED}]+|(?<![^\W_])[a-z](?:\+\+|#)(?![^\W_])|{_LETTERS}(?:{_JOINT}{_LETTERS})*"
)
_ASCII_WORD = re.compile(r"[a-z](?:\+\+|#)(?![a-z0-9])|[a-z0-9]++(?:[-_.,:/@&'+][a-z0-9]++)*+")
"""The same for a text that is plain ASCII, which most are: a quarter of the time."""

_TYPOGRAPHY = (("’", "'"), ("‑", "-"), *((sign, " ") for sign in "‘“”–—•…"))
"""Signs that make an English text more than ASCII without adding a letter."""

_UNSPACED_START = re.compile(f"[{_UNSPACED}]")
_SHARP = re.compile(r"[a-z](?:\+\+|#)")
_PART = re.compile(_LETTERS)
_NAME_WORD = re.compile(rf"(?:[^\W_]|[{_INDIC}{_UNSPACED}])+[+#]*")
_DIGIT = re.compile(r"\d")
_CJK_LETTER = re.compile(f"[{CJK}]")
_FOLDED_MARK = re.compile(  # accents; points of Hebrew; vowel signs and stretching of Arabic
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u06d6-\u06ed]+"
)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_FOLDS = str.maketrans(
    {"ı": "i", "ł": "l", "đ": "d", "ø": "o", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "’": "'", "‑": "-"}
)
_MOST_KNOWN = 400_000  # words
_stemmer = snowballstemmer.stemmer("english")
_stemmer_lock = Lock()  # the stemmer keeps its word in itself


@lru_cache(maxsize=200_000)
def _stem(word: str) -> str:
    with _stemmer_lock:
        return str(_stemmer.stemWord(word))


def fold(text: str) -> str:
    """The text in compatibility form, in lower case and without accents; each alphabet keeps its letters."""
    if not text.isascii():
        for sign, plain in _TYPOGRAPHY:
            text = text.replace(sign, plain)
    if text.isascii():
        return text.lower()
    spread = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", _FOLDED_MARK.sub("", spread)).translate(_FOLDS)


def terms(text: str) -> list[str]:
    """The terms of a text in reading order, repeats kept; empty if it has only stop words, signs or emoji."""
    folded = fold(text)
    words = (_ASCII_WORD if folded.isascii() else _WORD).findall(folded)
    return list(chain.from_iterable(map(_known.__getitem__, words)))


class _Known(dict[str, tuple[str, ...]]):
    """What words come to. Few make up most of a text, so it is kept; a dictionary is asked without a call of Python."""

    def __missing__(self, word: str) -> tuple[str, ...]:
        if word.isdecimal():
            return (word,)  # there is no end to numbers, so none is kept
        if len(self) >= _MOST_KNOWN:
            self.clear()
        self[word] = found = _terms_of(word)
        return found


_known = _Known()


def _terms_of(word: str) -> tuple[str, ...]:
    """The terms of what `_WORD` found: a run without blanks, a name such as C++, or a word with inner signs."""
    if word.isascii() and word.isalpha():
        return () if word in STOP_WORDS else (_stem(word),)
    if _UNSPACED_START.match(word):
        return (*word, *(word[i : i + 2] for i in range(len(word) - 1)))
    if _SHARP.fullmatch(word):
        return (word, word[0])
    found: list[str] = []
    _add_word(word, found)
    return tuple(found)


def _add_word(word: str, found: list[str]) -> None:
    """Adds a word's terms: its stem, or its exact form and the terms of its parts."""
    parts = _PART.findall(word)
    if len(parts) == 2 and word.endswith("'s"):
        parts = [word := parts[0]]  # Turing's is about Turing
    if len(parts) > 1:
        exact = word.replace(",", "") if _THOUSANDS.fullmatch(word) else word
        found.append(exact)
        if exact[0] == "v" and exact[1].isdigit():
            found += (exact[1:], parts[0][1:])  # v0.13 is also asked for as 0.13
    for part in parts:
        if _DIGIT.search(part):
            found.append(part)
        elif part not in STOP_WORDS:
            found.append(_stem(part))


def name_words(text: str) -> list[str]:
    """The folded words of a text, signs left out, nothing stemmed: the form in which names are compared."""
    return _NAME_WORD.findall(fold(text))


def has_cjk(text: str) -> bool:
    """Whether a Chinese, Japanese or Korean character is in the text."""
    return _CJK_LETTER.search(text) is not None


def cjk_share(text: str) -> float:
    """Share of Chinese, Japanese and Korean characters among the letters, 0 to 1; 0 without letters."""
    found = 0 if text.isascii() else len(_CJK_LETTER.findall(text))
    return found / sum(map(str.isalpha, text)) if found else 0.0
