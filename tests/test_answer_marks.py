"""Answers of models that do not keep to the form they were asked for."""

from __future__ import annotations

import pytest

from tasks.answers import marks
from tasks.answers.by_model import LONGEST_SENTENCE, written


@pytest.mark.parametrize(
    ("said", "usual"),
    [
        ("It was built in 1941【1】.", "It was built in 1941[1]."),
        ("It was built in 1941 【12†source】.", "It was built in 1941 [12]."),
        ("It was. [passage 1] So. (passages 2-4)", "It was. [1] So. [2][3][4]"),
        ("It was ［１］。", "It was [1]。"),
        ("It was. [1, 2; 3] So. [Passage 1, passage 4] And. [1 and 2]", "It was. [1][2][3] So. [1][4] And. [1][2]"),
        ("It was [^2].", "It was [2]."),
        ("In 1941.[1]It was.", "In 1941.[1] It was."),
        ("Of f(1), [1941], (see 2), list[0x], [a] and (1)", "Of f(1), [1941], (see 2), list[0x], [a] and (1)"),
    ],
)
def test_citations_in_other_notations_are_read(said: str, usual: str) -> None:
    """And what only looks like one stays."""
    assert marks.usual(said) == usual


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_a_reply_reads_the_same_in_pieces_of_any_size(size: int) -> None:
    """Thoughts are left out, and a citation is never torn from its sentence."""
    reply = "<think>In 1955? No.\n</think>\n# Answer\nIt was built in 1941【1】. It was (passages 1-2).\n- It ran. [3]"
    pieces = [reply[at : at + size] for at in range(0, len(reply), size)]
    assert list(written(pieces)) == ["# Answer", "It was built in 1941[1].", "It was [1][2].", "- It ran. [3]"]


@pytest.mark.parametrize(
    ("pieces", "left"),
    [
        (["<think>without an end"], ""),
        ([" <", "b>bold"], " <b>bold"),
        (["<"], "<"),
        (["plain ", "<think>late</think>"], "plain <think>late</think>"),
        ([], ""),
    ],
)
def test_only_thoughts_at_the_beginning_are_left_out(pieces: list[str], left: str) -> None:
    """What is no thought is not held back for ever."""
    assert "".join(marks.without_thoughts(pieces)) == left


def test_text_without_an_end_is_let_go() -> None:
    """Nothing is collected beyond the longest sentence."""
    found = list(written("a" * 100 for _ in range(1000)))
    assert "".join(found) == "a" * 100_000 and max(map(len, found)) <= LONGEST_SENTENCE + 100
