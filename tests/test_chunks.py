"""Cutting documents into chunks."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.reading.chunks import chunk, windows
from tasks.records import BlockKind, Document, Part

TEXTS = st.text(alphabet=st.sampled_from("ab é中. \n\u0301🙂"), max_size=400)


@settings(max_examples=150)
@given(TEXTS, st.integers(20, 120), st.integers(0, 60))
def test_windows_cover_the_text_within_bounds(text: str, size: int, overlap: int) -> None:
    """Every character is in a window, no window is too long, and neighbours overlap by no more than asked for."""
    found = windows(text, size, overlap)
    covered = {index for window in found for index in range(window.start, window.end)}
    assert covered == set(range(len(text)))
    assert all(0 < window.end - window.start <= size for window in found)
    for before, after in pairwise(found):
        assert before.start < after.start <= before.end
        assert before.end - after.start <= overlap


def test_fixed_rule_without_edges() -> None:
    """Where there is no word or sentence edge, windows are exactly size long and start size minus overlap apart."""
    found = windows("字" * 1000, 500, 80)
    assert [(window.start, window.end) for window in found] == [(0, 500), (420, 920), (840, 1000)]


def test_windows_end_at_sentences() -> None:
    """A sentence end near the limit ends the window, and the next begins at a word."""
    text = "This is one sentence of words. " * 40
    for window in windows(text, 500, 80)[:-1]:
        assert text[window.start : window.end].rstrip().endswith(".")
        assert window.start == 0 or text[window.start - 1] == " "


def document(media: str, *parts: Part) -> Document:
    return Document("s", "Computers", parts, media)


def head(level: int, text: str) -> Part:
    return Part(BlockKind.HEADING, text, level, f"^h{text}")


def para(text: str, anchor: str) -> Part:
    return Part(BlockKind.PARAGRAPH, text, anchor=anchor)


def test_headings_give_paths() -> None:
    """Structured documents are cut at headings to level 3, each chunk under its path of titles."""
    found = chunk(
        document(
            "markdown",
            para("intro", "^p1"),
            head(2, "Zuse"),
            para("a", "^p2"),
            head(3, "Z3"),
            para("b", "^p3"),
            head(4, "Detail"),
            para("c", "^p4"),
            head(2, "Aiken"),
            head(3, "Mark I"),
            para("d", "^p5"),
            head(2, "End"),
        )
    )
    assert [(piece.title_path, piece.text, piece.anchor) for piece in found] == [
        (("Computers",), "intro", "^p1"),
        (("Computers", "Zuse"), "a", "^p2"),
        (("Computers", "Zuse", "Z3"), "b\n\nDetail\n\nc", "^p3"),
        (("Computers", "Aiken", "Mark I"), "d", "^p5"),
        (("Computers", "End"), "End", "^hEnd"),
    ]
    assert [piece.position for piece in found] == [0, 1, 2, 3, 4]


def test_unstructured_text_has_windows_with_the_anchor_of_their_first_part() -> None:
    """A PDF is cut by the window alone; a chunk's anchor is the page it begins on."""
    found = chunk(
        document("pdf", para("one two. " * 50, "page=1"), para("three four. " * 50, "page=2")), size=300, overlap=40
    )
    assert found[0].anchor == "page=1" and found[-1].anchor == "page=2"
    assert all(len(piece.text) <= 300 and piece.title_path == ("Computers",) for piece in found)


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.sampled_from(["p", 1, 2, 3, 5]), st.text(alphabet="abc .", min_size=1, max_size=300)), max_size=12
    )
)
def test_no_word_is_lost(rows: list[tuple[str | int, str]]) -> None:
    """Every part's words are in some chunk's text or path."""
    parts = [
        para(text, "") if kind == "p" else head(int(kind), " ".join(text.split()))
        for kind, text in rows
        if text.strip()
    ]
    found = chunk(document("html", *parts), size=60, overlap=10)
    seen = "".join(
        "".join(piece.text.split()) + "".join("".join(title.split()) for title in piece.title_path) for piece in found
    )
    for part in parts:
        for word in part.text.split():
            assert word[:20] in seen
