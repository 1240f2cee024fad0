"""Tags from the text."""

from __future__ import annotations

import pytest

from tasks.compiling import tagging


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("#machine learning", "machine-learning"),
        ("C++", "c"),
        ("2024", "y2024"),
        ("12/13", ""),
        ("a/b", "a/b"),
        ("Straße", "straße"),
        ("  ", ""),
    ],
)
def test_normal(given: str, expected: str) -> None:
    """A tag has no '#' and no blanks, and is never only digits."""
    assert tagging.normal(given) == expected


def test_what_comes_back_is_a_tag() -> None:
    """Phrases that several sentences share become tags, at most five and no two alike."""
    texts = [
        "Vacuum tubes failed often.",
        "The vacuum tubes were hot.",
        "Relays were slower than vacuum tubes.",
        "A relay clicks.",
    ]
    found = tagging.tags_of(texts)
    assert found[0] == "vacuum-tubes"
    assert "relay" in found
    assert not any(word in found for word in ("vacuum", "tubes", "often"))


def test_tags_are_stable_and_know_other_scripts() -> None:
    """The same text gives the same tags, in Chinese and Russian too."""
    chinese = ["继电器计算机很慢。", "继电器计算机需要电。", "他制造继电器计算机。"]
    assert tagging.tags_of(chinese) == tagging.tags_of(list(chinese)) != ()
    assert tagging.tags_of(["Релейная машина считала.", "Машина была большой.", "Машина сгорела."])[0] == "машина"
