"""How far a page can be trusted."""

from __future__ import annotations

import pytest

from tasks.compiling.confidence import Evidence, judge, stands, supported_share

GOOD = {"sentences": 12, "words": 260, "sources": 2, "defines": True}


def test_two_good_sources_are_high() -> None:
    """Nothing to doubt, nothing to say."""
    assert (judge(Evidence(**GOOD)).level, judge(Evidence(**GOOD)).reasons) == ("high", ())


@pytest.mark.parametrize(
    ("doubt", "level", "word"),
    [
        ({"sources": 1}, "medium", "single source"),
        ({"words": 20, "sentences": 1}, "low", "thin: 20 words in 1 sentence"),
        ({"words": 90}, "medium", "short"),
        ({"quality": 0.4, "quality_reasons": ("broken words",)}, "low", "broken words"),
        ({"quality": 0.7}, "medium", "not clean"),
        ({"supported": 0.5}, "low", "50% of the sentences"),
        ({"ambiguous": ("z3-prover",)}, "low", "could also be z3-prover"),
        ({"injection": True}, "low", "instructions to a machine"),
        ({"defines": False}, "medium", "no source defines"),
    ],
)
def test_each_doubt_caps_the_level_and_is_said(doubt: dict[str, object], level: str, word: str) -> None:
    """A doubt lowers the level and comes with its reason in words."""
    verdict = judge(Evidence(**{**GOOD, **doubt}))  # type: ignore[arg-type]
    assert verdict.level == level
    assert word in verdict.reasons[0]


def test_content_words_are_looked_for_at_the_place() -> None:
    """Words that the place does not hold are missed; function words and plural endings do not count."""
    assert stands("The relays were slow.", "A slow relay is cheap.") == 1.0
    assert stands("He lives in Kent and is married.", "He lives in Kent.") == pytest.approx(2 / 3)
    assert supported_share([("Relays click.", "Relays click."), ("Tubes glow blue.", "Nothing of it.")]) == 0.5
