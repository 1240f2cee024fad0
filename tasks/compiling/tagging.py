"""Tags from the text: two to five key words or phrases, written as Obsidian accepts them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import chain

from tasks.compiling.vocabulary import DULL, STOP_WORDS
from tasks.markdown import sentences
from tasks.remembered import Remembered

_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*|[.,;:!?()]")
_ASCII_WORD = re.compile(r"[a-z0-9]+(?:[-'][a-z0-9]+)*|[.,;:!?()]")  # the same for plain ASCII, in less time
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]{2,}|[\u30a1-\u30fa\u30fc]{3,}|[\uac00-\ud7af]{2,}")
_HAN_STOP = frozenset(
    "的了在是和与及也都就而但或这那有为被把从到对于以其之中上下个一不他她它们着过等能会可将并更最很年月日时"
)


def normal(tag: str) -> str:
    """A tag as Obsidian accepts it: no '#', no blanks, never only digits; empty when nothing is left."""
    text = unicodedata.normalize("NFC", tag).strip().lower().replace("'", "").replace("’", "")
    text = re.sub(r"[^\w/\-]+", "-", text)
    text = re.sub(r"-{2,}", "-", text).strip("-/_")
    text = re.sub(r"/{2,}", "/", text)
    if text and not re.search(r"[^\d/\-_]", text):
        return f"y{text}" if re.fullmatch(r"\d{4}", text) else ""
    return text


def tags_of(texts: Sequence[str], title: str = "", limit: int = 5, own: bool = False) -> tuple[str, ...]:
    """Up to `limit` tags from sentences, best first: phrases that come back, then words.

    `own`: the title names the subject itself, so its words would be tags of this one page only.
    """
    named, read = _Words(title), [_Words(text) for text in texts]
    head = _terms(named, set(named.bases))
    # Most words stand in one sentence alone, and so does every pair that they are in: none of these is a tag.
    common = Counter(chain.from_iterable([set(words.bases) for words in read]))
    kept = {base for base, count in common.items() if count > 1 or base in head}
    held = [_terms(words, kept) for words in read]
    spread = Counter(chain.from_iterable(held))  # sentences that hold a term
    rare = 3 if len(texts) > 12 else 2
    scored = [
        (count * (1.9 if " " in term else 1.0) * (2.0 if term in head else 1.0), term)
        for term, count in spread.items()
        if term in head or count >= rare or (count == 2 and " " in term)
    ]
    if own and sum(term not in head for _, term in scored) >= 2:
        names = {word for term in head for word in term.split()}
        scored = [(score, term) for score, term in scored if not names.intersection(term.split())]
    scored.sort(key=lambda item: (-item[0], item[1]))
    found: list[str] = []
    for _, term in scored:
        tag = normal(min((terms[term] for terms in held if term in terms), key=len))
        if len(tag) < 2 or any(alike(tag, other) for other in found):
            continue
        found.append(tag)
        if len(found) == limit:
            break
    return tuple(found)


def alike(one: str, other: str) -> bool:
    """Whether two tags share a word or contain each other, so that the second adds little."""
    if one in other or other in one:
        return True
    return bool({sentences.stem(word) for word in one.split("-")} & {sentences.stem(word) for word in other.split("-")})


class _Words:
    """The words and punctuation of a sentence in lower case, and the base of each: '' for what is no tag."""

    __slots__ = ("bases", "text", "written")

    def __init__(self, text: str) -> None:
        self.text = text
        self.written = (_ASCII_WORD if text.isascii() else _WORD).findall(text.lower())
        self.bases = list(map(_BASES.__getitem__, self.written))


def _terms(words: _Words, kept: Collection[str]) -> dict[str, str]:
    """The bases of a sentence that are in `kept` and neighbouring pairs of them, each with its form in the text."""
    found: dict[str, str] = {}
    if not words.text.isascii() and sentences.CJK.search(words.text):
        for run in _HAN.findall(words.text):
            if "\u30a0" < run[0] < "\u3100":
                found[run] = run
                continue
            for size in (4, 3, 2):
                for at in range(len(run) - size + 1):
                    term = run[at : at + size]
                    if not _HAN_STOP & set(term):
                        found[term] = term
    before = written = ""
    for base, word in zip(words.bases, words.written, strict=True):
        if not base or base not in kept:
            before = ""
            continue
        found[base] = word
        if before and before != base:
            found[f"{before} {base}"] = f"{written} {word}"
        before, written = base, word
    return found


def _base(word: str) -> str:
    """The stem of a lower-case word that could be a tag, else ''."""
    if len(word) < 3 or word in DULL or word in STOP_WORDS or not word[0].isalpha() or sentences.CJK.match(word):
        return ""
    base = sentences.stem(word)
    verbal = word.endswith(("ly", "ing", "ed")) and len(word) > 4
    return "" if verbal or base in DULL or base in STOP_WORDS else base


_BASES = Remembered(_base)
