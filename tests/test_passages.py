"""Blocks of a page and the one that answers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tasks.markdown.plain import body_start, plain, readable
from tasks.search.passages import Passage, Wanted, by_meaning, by_words, read_blocks

PAGE = """---
title: Zuse
---
# Zuse

Konrad Zuse was an engineer.[^nw-1]

## Machines

### Z3

It was built in 1941 in Berlin.

```
# not a heading

code
```

- relays
- no tubes

[^nw-1]: [[evidence/zuse#^p1]] "tubes tubes tubes"
"""


def best(page: str, weights: dict[str, float]) -> Passage:
    return by_words([page], [read_blocks(page, body_start(page))], Wanted.of(weights))[0]


def texts(page: str) -> list[str]:
    return [page[row["start"] : row["end"]] for row in read_blocks(page, body_start(page)).blocks]


def test_blocks_are_cut_at_empty_lines_and_headings() -> None:
    """A fence stays whole, footnote definitions and properties are no passages."""
    assert texts(PAGE) == [
        "# Zuse",
        "Konrad Zuse was an engineer.[^nw-1]",
        "## Machines",
        "### Z3",
        "It was built in 1941 in Berlin.",
        "```\n# not a heading\n\ncode\n```",
        "- relays\n- no tubes",
    ]


def test_the_best_block_and_its_headings() -> None:
    """Offsets give the words back, and the path names every heading above."""
    passage = best(PAGE, {"1941": 2.0, "berlin": 1.0})
    assert PAGE[passage.start : passage.end] == "It was built in 1941 in Berlin."
    assert passage.heading_path == ("Zuse", "Machines", "Z3")


def test_without_a_word_in_common_the_page_begins() -> None:
    """The first block that is not a heading stands for the page."""
    passage = best(PAGE, {"zebra": 3.0})
    assert PAGE[passage.start : passage.end].startswith("Konrad Zuse") and passage.score == 0


def test_a_heading_without_empty_line_is_its_own_block() -> None:
    """People write '# Title' and go on in the next line."""
    assert texts("# A\nlead\n## B\nmore") == ["# A", "lead\n## B\nmore"]


def test_an_unclosed_fence_reaches_to_the_end() -> None:
    """Nothing of the page is lost."""
    assert texts("a\n\n```\nx\n\ny") == ["a", "```\nx\n\ny"]


def test_a_page_without_blocks() -> None:
    """An empty page has an empty passage."""
    empty = best("", {"a": 1.0})
    assert (empty.start, empty.end, empty.heading_path) == (0, 0, ())


def test_meaning_can_choose_the_passage() -> None:
    """The block nearest to the question is taken when no word decides."""
    import numpy as np

    page = "first\n\nsecond\n\nthird"
    similarity = np.array([0.1, 0.2, 0.9], np.float32)
    (passage,) = by_meaning([page], [read_blocks(page)], Wanted.of({}), similarity)
    assert (passage.start, passage.end) == (15, 20)


@given(st.text(alphabet="# \n`~ab[^]:-", max_size=60))
def test_blocks_never_overlap(text: str) -> None:
    """For any text they are in order, inside the text, and not blank."""
    end = 0
    for row in read_blocks(text).blocks:
        assert end <= row["start"] < row["end"] <= len(text) and text[row["start"] : row["end"]].strip()
        end = row["end"]


def test_plain_words_of_a_page() -> None:
    """Marks, link targets, comments and footnotes go; names with signs stay as written."""
    markdown = (
        "# T\n\n**Bold** `user_id` and [[slug|Label]], [text](http://a.b) %%no%% x_y[^1] ^p3\n\n[^1]: q"
    )
    assert plain(markdown) == "T Bold user_id and Label, text x_y"
    assert "q" not in readable(markdown)
