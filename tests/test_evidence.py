"""Readable copies: stable numbers, and text that stays text."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.markdown import blocks, links, properties
from tasks.reading.evidence import anchor, decode_document, encode_document, render
from tasks.records import BlockKind, Document, Part

WORDS = [
    "zuse",
    "relay",
    "film",
    "drum",
    "museum",
    "berlin",
    "clock",
    "paper",
    "tape",
    "valve",
    "memory",
    "core",
    "logic",
    "stack",
    "queue",
    "punch",
    "card",
    "printer",
]


def paragraph(dice: random.Random) -> str:
    return " ".join(dice.choice(WORDS) for _ in range(dice.randint(6, 14))).capitalize() + "."


def document(*texts: str) -> Document:
    return Document("s" * 12, "Title", tuple(Part(BlockKind.PARAGRAPH, text) for text in texts), "html")


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_numbers_follow_the_text_through_edits(dice: random.Random) -> None:
    """Through any edits a surviving paragraph keeps its number, numbers are unique, and none is used twice."""
    texts = [paragraph(dice) for _ in range(dice.randint(0, 12))]
    current = anchor(document(*texts))
    given_out = {part.anchor: part.text for part in current.parts}
    for _ in range(6):
        before = {part.text: part.anchor for part in current.parts}
        kept = [text for text in texts if dice.random() > 0.2]
        for _ in range(dice.randint(0, 3)):
            kept.insert(dice.randint(0, len(kept)), paragraph(dice))
        if dice.random() < 0.3:
            dice.shuffle(kept)
        texts = kept
        current = anchor(document(*texts), current)
        anchors = [part.anchor for part in current.parts]
        assert len(set(anchors)) == len(anchors)
        for part in current.parts:
            if texts.count(part.text) == 1 and part.text in before:
                assert part.anchor == before[part.text]
            elif part.anchor in given_out:
                assert part.anchor in before.values()
        given_out |= {part.anchor: part.text for part in current.parts}


def test_a_small_edit_keeps_the_number_and_a_new_text_gets_a_fresh_one() -> None:
    """A corrected word does not move a citation; a number whose paragraph has gone stays unused."""
    first = anchor(
        document("The Z3 was finished in 1941 in Berlin.", "It used relays for its logic.", "Last words here.")
    )
    second = anchor(document("The Z3 was finished in May 1941 in Berlin.", "It used relays for its logic."), first)
    assert [part.anchor for part in second.parts] == ["^p1", "^p2"]
    third = anchor(
        document("Something wholly different stands now.", "It used relays for its logic.", "New end."), second
    )
    assert [part.anchor for part in third.parts] == ["^p4", "^p2", "^p5"]


def test_headings_take_the_number_of_what_follows() -> None:
    """Headings have no number of their own."""
    found = anchor(
        Document(
            "s",
            "T",
            (Part(BlockKind.HEADING, "A", 2), Part(BlockKind.PARAGRAPH, "x"), Part(BlockKind.HEADING, "B", 2)),
            "html",
        )
    )
    assert [part.anchor for part in found.parts] == ["^p1", "^p1", "^p1"]


def test_the_copy_reads_well() -> None:
    """Properties first, then each block with its number, on a line of its own for lists, tables, quotes and code."""
    parts = (
        Part(BlockKind.HEADING, "Parts", 2),
        Part(BlockKind.PARAGRAPH, "Plain words, 5 * 3 = 15.", time="1:02"),
        Part(BlockKind.LIST, "- one\n    - two"),
        Part(BlockKind.TABLE, "| a\\|b | c |\n| --- | --- |\n| 1 | #2 |"),
        Part(BlockKind.QUOTE, "said\nso"),
        Part(BlockKind.CODE, "x = `1`\n```"),
    )
    text = render(
        anchor(
            Document(
                "s",
                'Z3: the "first"',
                parts,
                "html",
                url="https://example.org/a",
                author="A: B",
                published="2020-01-02",
            )
        ),
        "2026-11-30T02:00:00Z",
    )
    assert text == (
        '---\ntitle: "Z3: the \\"first\\""\nsource: "https://example.org/a"\n'
        'author: "A: B"\npublished: 2020-01-02\nfetched: 2026-11-30T02:00:00Z\n---\n\n'
        '# Z3: the "first"\n\n## Parts\n\n(1:02) Plain words, 5 \\* 3 = 15. ^p1\n\n- one\n    - two\n\n^p2\n\n'
        "| a\\|b | c |\n| --- | --- |\n| 1 | \\#2 |\n\n^p3\n\n> said\n> so\n\n^p4\n\n````\nx = "
        "`1`\n```\n````\n\n^p5\n"
    )


HOSTILE = [
    "[[Ghost]] and ![[embed]] and [x](y)",
    "#tag and more #tags/nested",
    "# no heading",
    "- no list",
    "1. no list",
    "> no quote",
    "---",
    "===",
    "```",
    "~~~",
    "| a | b |\n|---|---|",
    "<script>alert(1)</script>",
    "<!-- c -->",
    "%%hidden%%",
    "$x$ and $$y$$",
    "==mark== ~~gone~~ *a* _b_ **c**",
    "`code`",
    "[^1]: note",
    "ends with ^id",
    "^p7",
    "&lt;b&gt; &amp; &copy;",
    "\\[[x]]",
    "    indented",
    "title: x\n---",
    "+ plus",
    "* star",
    "2) paren",
    "[ref]: http://x",
    "---\ntitle: evil\n---",
    ": definition",
    "a\n# b\n- c\n1. d",
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize(
    "kind", [BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.QUOTE, BlockKind.TABLE, BlockKind.HEADING]
)
def test_text_stays_text(text: str, kind: BlockKind) -> None:
    """Nothing in a text becomes a link, embed, tag, heading, property block or foreign block in the copy."""
    from markdown_it import MarkdownIt

    shown = {
        "list": "- " + " ".join(text.split()),
        "table": "| a |\n| --- |\n| " + " ".join(text.split()).replace("|", "\\|") + " |",
    }.get(kind.value, text)
    copy = render(
        anchor(Document("s", "T", (Part(kind, shown, 2), Part(BlockKind.PARAGRAPH, "End.")), "html")), "2026-01-01"
    )
    assert not links.parse(copy)
    found = properties.read(copy)
    assert set(found.values) == {"title", "fetched"} and found.problem == ""
    tokens = MarkdownIt("commonmark").enable("table").parse(found.body)
    inline = [child.type for token in tokens for child in token.children or []]
    assert not {"link_open", "image", "em_open", "strong_open", "code_inline", "html_inline"} & set(inline)
    opened = [
        token.type
        for token in tokens
        if token.level == 0 and token.type.endswith(("_open", "fence", "hr", "html_block", "code_block"))
    ]
    assert len([token for token in opened if token == "heading_open"]) == 1 + (kind is BlockKind.HEADING)
    assert not {"fence", "hr", "html_block", "code_block"} & set(opened)
    assert [block.kind for block in blocks.split(found.body)][-1] is BlockKind.PARAGRAPH


@settings(max_examples=100)
@given(st.text(max_size=80), st.lists(st.text(max_size=60), max_size=5))
def test_documents_round_trip(title: str, texts: list[str]) -> None:
    """A document read back equals the one written."""
    texts = [text for text in texts if text.isprintable()]
    title = title if title.isprintable() else "t"
    whole = anchor(document(*texts))
    assert decode_document(encode_document(whole)) == whole


@settings(max_examples=100)
@given(st.text(max_size=80))
def test_any_title_is_sound_in_the_properties(title: str) -> None:
    """Whatever a title holds, the properties can be read."""
    copy = render(
        Document("s", title, (Part(BlockKind.PARAGRAPH, "x", anchor="^p1"),), "html", author=title), "2026-01-01"
    )
    assert properties.read(copy).problem == ""
