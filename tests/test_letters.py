"""Counting letters, and picking what is not ASCII."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tasks.markdown.letters import beyond_ascii, letters

ANY = st.text(st.characters())  # half surrogates too


@given(ANY)
def test_letters_are_those_of_any_alphabet(text: str) -> None:
    """As many as a look at every single character finds."""
    assert letters(text) == sum(map(str.isalpha, text))


@given(ANY)
def test_what_is_beyond_ascii_keeps_its_order(text: str) -> None:
    """Every other character goes, whatever stands beside it."""
    assert beyond_ascii(text) == "".join(character for character in text if not character.isascii())
