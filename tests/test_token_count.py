"""Counts of tokens: those of the tokenizer, however a text is cut for counting."""

from __future__ import annotations

import json
import warnings
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.packs import token_count
from tasks.packs.token_count import TOKENIZER, count_tokens, pieces

_SIGNS = ("\n", "\n\n", "\r\n", "\\n", "\\n\\n", '":"', '"', "'", "'s", " ", "  ", "/", "\t", "\x0b", "\x1c", "\x85")
_LETTERS = ("a", "n", "Z", "é", "e\u0301", "\u0301", "ſ", "漢", "。", "😀", "\u2028", "\u00a0", "\u3000", "1", "12")
_MARKS = ("> ", "- ", "# ", "|", ":", "excerpt")
_TEXTS = st.lists(st.sampled_from((*_SIGNS, *_LETTERS, *_MARKS)), max_size=60).map("".join)


@cache
def library() -> Any:
    """The tokenizer itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # about how it reads its own data
        import bpe_openai

        return bpe_openai.get_encoding(TOKENIZER)


def real(text: str) -> int:
    """Its own count."""
    return len(library().encode_ordinary(text))


def test_the_librarys_python_face_counts_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release without the compiled counter is asked for the tokens."""
    text = "Zuse's Z3 of 1941, 漢字 and é\n" * 3
    before = count_tokens(text)
    monkeypatch.setattr(token_count, "_kept", token_count._Kept())
    monkeypatch.setattr(token_count, "_counter", token_count._face)
    assert count_tokens(text) == before == real(text)


@settings(deadline=None)  # the first count reads the tokenizer in
@given(_TEXTS)
def test_a_cut_text_has_as_many_tokens_as_the_whole(text: str) -> None:
    """Lines of Markdown and parts of JSON add up exactly, whatever stands beside the cut."""
    for whole in (text, json.dumps({"excerpt": text, "source": text}, ensure_ascii=False, separators=(",", ":"))):
        cut = pieces(whole)
        assert "".join(cut) == whole
        assert sum(map(real, cut)) == real(whole) == count_tokens(whole)


@settings(deadline=None)
@given(st.text(st.characters(), max_size=80))
def test_any_text_is_counted_as_the_library_does(text: str) -> None:
    """Half characters, too, and a second time as the first."""
    assert count_tokens(text) == count_tokens(text) == real(text)


@pytest.mark.parametrize("word", ["relay ", "漢字", "x = {'a': 1}\n"])
def test_long_texts_are_counted(word: str) -> None:
    """A text of more tokens than the library takes at once is counted in parts."""
    assert count_tokens(word * 100_000) == pytest.approx(100_000 * real(word), rel=0.51)
