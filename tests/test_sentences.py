"""Sentences of running text in any script."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.markdown import sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It ran. It stopped.", ["It ran.", "It stopped."]),
        ("Dr. J. Presper Eckert built it. He was 24.", ["Dr. J. Presper Eckert built it.", "He was 24."]),
        ("It cost 3.5 million, e.g. for tubes. Fine.", ["It cost 3.5 million, e.g. for tubes.", "Fine."]),
        ("It was written in C. The rest followed.", ["It was written in C.", "The rest followed."]),
        ("The U.S. Army paid. No. 5 won.", ["The U.S. Army paid.", "No. 5 won."]),
        ("“Go now!” Smith said. She went.", ["“Go now!” Smith said.", "She went."]),
        ("Was it? Yes! Good…", ["Was it?", "Yes!", "Good…"]),
        ("Z3于1941年完成。它使用继电器！是吗？", ["Z3于1941年完成。", "它使用继电器！", "是吗？"]),
        ("「これはペンです。」と言った。次。", ["「これはペンです。」", "と言った。", "次。"]),
        ("Он родился в 1815 г. в Лондоне. Потом уехал.", ["Он родился в 1815 г. в Лондоне.", "Потом уехал."]),
        ("هل هذا صحيح؟ نعم.", ["هل هذا صحيح؟", "نعم."]),
        ("Es gibt z. B. Relais, d. h. Schalter (vgl. Kap. 2). Gut.",
         ["Es gibt z. B. Relais, d. h. Schalter (vgl. Kap. 2).", "Gut."]),
        ("Let it be x. The rest followed.", ["Let it be x.", "The rest followed."]),
        ("Am 12. Mai 1941 lief sie. Gut.", ["Am 12. Mai 1941 lief sie.", "Gut."]),
        ("", []),
    ],
)
def test_split(text: str, expected: list[str]) -> None:
    """Sentences end at full stops of every script, but not after abbreviations, initials and dates."""
    assert sentences.split(text) == expected


def test_own_abbreviations() -> None:
    """A word that the document itself writes with a full stop inside a sentence does not end one."""
    text = "All ID. models are new. The VW ID. Buzz is one."
    assert sentences.split(text, sentences.abbreviations([text])) == [
        "All ID. models are new.",
        "The VW ID. Buzz is one.",
    ]


def test_text_without_punctuation_is_cut_into_pieces() -> None:
    """Captions without punctuation become pieces of readable length that lose no word."""
    text = "so the next thing we did was to take the machine apart and look inside it " * 40
    pieces = sentences.split(text)
    assert max(map(len, pieces)) < 400
    assert " ".join(pieces).split() == text.split()


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="ab AB.!?。”“\n1", max_size=80))
def test_split_loses_nothing(text: str) -> None:
    """Whatever is split, the sentences together hold every letter in order."""
    assert "".join("".join(sentences.split(text)).split()) == "".join(text.split())


def test_words_are_stems_of_content() -> None:
    """Content words leave out function words and plural endings, and Chinese is read in pairs."""
    assert sentences.words("The relays of a machine's memory, 2,600 in all") == [
        "relay",
        "machine",
        "memory",
        "2",
        "600",
    ]
    assert sentences.words("继电器") == ["继电", "电器"]


@pytest.mark.parametrize(
    "text", ["He left.", "However, it ran.", "它完成了。", "この機械は動いた。", "“They did.”", "Diese lief."]
)
def test_leaning_sentences(text: str) -> None:
    """A sentence that opens with a pronoun or a connective needs the one before."""
    assert sentences.leans_back(text)


def test_sentences_with_a_subject_stand_alone() -> None:
    """Words that merely begin like pronouns do not lean."""
    assert not any(map(sentences.leans_back, ["Heron built it.", "Items arrived.", "The Z3 ran.", "Itanium failed."]))


def test_reference_marks_go_from_the_page() -> None:
    """The bracketed numbers of an encyclopedia are no part of the sentence as shown."""
    assert sentences.unmarked("It ran in 1945.[3][4]") == "It ran in 1945."
