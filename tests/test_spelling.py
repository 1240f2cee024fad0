"""A misspelt word of a question finds the word that was meant."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tasks.search.postings import Postings, count
from tasks.search.spelling import corrected

WORDS = ["relay", "relais", "transistor", "transit", "compiler", "compilers", "z3", "user_id", "moth", "straße"]
POSTINGS = Postings.of([count(WORDS), count(["compiler", "relay"])])


def slips(word: str) -> set[str]:
    """Everything one slip behind the first two letters makes of a word."""
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    cuts = [(word[:i], word[i:]) for i in range(2, len(word) + 1)]
    return (
        {a + b[1:] for a, b in cuts if b}
        | {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
        | {a + c + b[1:] for a, b in cuts if b for c in alphabet}
        | {a + c + b for a, b in cuts for c in alphabet}
    ) - {word}


@given(st.sampled_from(sorted(slips("transistor"))))
def test_every_slip_is_mended(word: str) -> None:
    """A letter lost, added, changed, or two swapped."""
    assert corrected([word], POSTINGS) == {word: "transistor"}


@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=9))
def test_nothing_else_is_touched(word: str) -> None:
    """A word further off stays unknown."""
    near = [one for one in WORDS if one.isascii() and one.isalpha() and len(one) >= 5 and word in slips(one)]
    told = corrected([word], POSTINGS)
    assert (word in told) == (bool(near) and len(word) >= 5) and set(told.values()) <= set(near)


def test_the_commoner_word_wins_and_names_are_left_alone() -> None:
    """Short words, numbers and words of other scripts are taken as they are written."""
    assert corrected(["compilerz", "relau"], POSTINGS) == {"compilerz": "compiler", "relau": "relay"}
    assert corrected(["z4", "usr_id", "strasse", "relx", "month"], POSTINGS) == {}
    assert corrected(["relay2", "transist"], Postings.of(())) == {}
