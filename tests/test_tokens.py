"""One tokenizer for pages and questions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.search.tokens import cjk_share, fold, has_cjk, name_words, terms

PAGE = "IT-644 raises the cacheability of user_id in v0.13.0b2; it can't be done in C++ or C# in real-time."


@pytest.mark.parametrize(
    "question",
    [
        "IT-644 cacheability",
        "cacheability IT-644",
        "real-time",
        "user_id",
        "0.13.0b2",
        "v0.13.0b2",
        "C++",
        "C#",
        "can't",
    ],
)
def test_punctuated_names_are_found(question: str) -> None:
    """Every term of a name as people write it is a term of the page that holds it."""
    assert set(terms(question)) <= set(terms(PAGE)) and terms(question)


def test_an_exact_name_tells_pages_apart() -> None:
    """C++ is not C, and IT-644 is not IT-645."""
    assert "c++" not in terms("C is a language") and "it-644" not in terms("IT-645")


def test_words_meet_in_their_stem() -> None:
    """Inflected forms, capitals, accents and full-width letters make no difference."""
    assert terms("Relations, naïve ＣＡＦÉ") == terms("relation naive cafe")


def test_stop_words_leave() -> None:
    """Words that say nothing are not looked up."""
    assert terms("what is the of and") == []


def test_numbers_with_separators() -> None:
    """1,786 and 1786 are one number; a decimal keeps its point."""
    assert terms("1786")[0] in terms("1,786") and "3.5" in terms("version 3.5")


def test_chinese_japanese_korean() -> None:
    """Text without spaces becomes characters and overlapping pairs."""
    assert terms("東京都") == ["東", "京", "都", "東京", "京都"]


def test_mixed_scripts_are_cut_apart() -> None:
    """A Latin name inside Chinese text is found by itself."""
    assert "python" in terms("使用Python編程")


@pytest.mark.parametrize("word", ["Гильдии", "हिन्दी", "Ελληνικά", "العربية", "עברית", "ภาษาไทย"])
def test_every_script_has_terms(word: str) -> None:
    """No alphabet is left out."""
    assert terms(word)


@pytest.mark.parametrize("text", ["", "😀🎉", "\0\0", "…—", "[]{}"])
def test_nothing_to_look_up(text: str) -> None:
    """Signs, emoji and NUL are no terms."""
    assert terms(text) == []


@given(st.text(max_size=60))
def test_any_text_is_taken(text: str) -> None:
    """No text breaks the tokenizer, and folding twice changes nothing that matters to it."""
    assert all(terms(text)) and terms(text) == terms(text)
    assert name_words(fold(text)) == name_words(text)


def test_cjk_share_counts_letters_only() -> None:
    """Digits and signs are not letters."""
    assert cjk_share("漢字 ab 123 !!") == 0.5
    assert has_cjk("abc 한") and not has_cjk("abc é я")
