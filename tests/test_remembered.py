"""What is remembered of words."""

from __future__ import annotations

import pytest

from tasks import remembered
from tasks.remembered import Remembered


def test_a_function_is_asked_once_for_each_word() -> None:
    """The second time a word comes up its result is looked up."""
    asked: list[str] = []

    def upper(word: str) -> str:
        asked.append(word)
        return word.upper()

    table = Remembered(upper)
    assert list(map(table.__getitem__, ("relay", "drum", "relay"))) == ["RELAY", "DRUM", "RELAY"]
    assert asked == ["relay", "drum"]


def test_a_full_table_starts_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many words there are, it stays small, and right."""
    monkeypatch.setattr(remembered, "MOST", 3)
    table = Remembered(str.upper)
    assert [table[word] for word in "abcdefgab"] == list("ABCDEFGAB")
    assert len(table) <= 3
