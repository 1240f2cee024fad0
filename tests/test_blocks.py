"""Splitting a body into blocks without loss, and hashes that know an edit from a change of form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.markdown import blocks
from tasks.markdown.blocks import normal_hash, plain_hash, split
from tasks.records import BlockKind

K = BlockKind
BODY = """# Title
Setext
======

A paragraph
of two lines.

- a
- b

  c
1. one

| a | b |
|---|---|
| 1 | 2 |

> [!note]- Callout
> text

```py
x

y
```

    indented

%%
hidden

text
%%

$$
a

b
$$

<div>
html
</div>

***
[ref]: http://example.org

[^a]: first
[^b]: second
"""


def resolve(target: str) -> str:
    """Two names of one page, and another page."""
    return {"zuse": "pg-1", "people/zuse": "pg-1", "konrad": "pg-1", "z4": "pg-2"}.get(
        target.lower().removesuffix(".md"), ""
    )


def test_every_kind_of_block_is_found() -> None:
    """Headings of both forms, lists, tables, callouts, code, comments, math, HTML, rules and footnotes are blocks."""
    assert [block.kind for block in split(BODY)] == [
        K.HEADING,
        K.HEADING,
        K.PARAGRAPH,
        K.LIST,
        K.LIST,
        K.TABLE,
        K.QUOTE,
        K.CODE,
        K.CODE,
        K.HTML,
        K.HTML,
        K.HTML,
        K.RULE,
        K.PARAGRAPH,
        K.FOOTNOTE,
        K.FOOTNOTE,
    ]
    assert [block.level for block in split(BODY)][:3] == [1, 1, 0]


PIECES = [
    "# h\n",
    "para\n",
    "- a\n",
    "  - b\n",
    "\n",
    "\n\n",
    "```\n",
    "~~~\n",
    "> q\n",
    "| a |\n",
    "|---|\n",
    "    code\n",
    "\t",
    "%%\n",
    "$$\n",
    "<!-- \n",
    "-->\n",
    "[^a]: x\n",
    "---\n",
    "===\n",
    " \n",
    "\r\n",
    "\r",
    "\x0b",
    "\x0c",
    "\u2028",
    "\0",
    "[r]: u\n",
    "1. x\n",
    "x",
    "\\",
    "<div>\n",
    "\ufeff",
]


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_splitting_loses_nothing(body: str) -> None:
    """Gaps and blocks together are the text, and gaps are white space, whatever the text."""
    position = 0
    for block in split(body):
        assert body[position : block.start].strip() == "" and body[block.start : block.end] == block.text and block.text
        position = block.end
    assert body[position:].strip() == ""


@given(st.lists(st.sampled_from([*PIECES, "[^b]: y\n", '[^c]: [[z]] "q"\n']), max_size=12), st.integers(1, 4))
def test_last_footnotes_are_split_as_the_rules_say(pieces: list[str], notes: int) -> None:
    """The short way through the definitions that end a page gives what the long way gives."""
    body = "".join([*pieces, *('[^n]: [[a]] "x"\n' for _ in range(notes))])
    long_way = (block.text.removesuffix("the end").rstrip() for block in split(f"{body}\nthe end"))
    assert [block.text.rstrip() for block in split(body)] == [text for text in long_way if text]


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_line_endings_change_no_block(body: str) -> None:
    """A text with CRLF has the same blocks with the same hashes."""
    body = body.replace("\r\n", "\n").replace("\r", "\n")
    plain, windows = split(body), split(body.replace("\n", "\r\n"))
    assert [(b.kind, normal_hash(b.kind, b.text, resolve)) for b in plain] == [
        (b.kind, normal_hash(b.kind, b.text, resolve)) for b in windows
    ]


@pytest.mark.parametrize(
    ("kind", "one", "two"),
    [
        (K.PARAGRAPH, "see [[zuse|him]] now", "see [[people/zuse|him]] now"),
        (K.PARAGRAPH, "see [[zuse#Life|him]]", "see [him](people/zuse.md#Life)"),
        (K.PARAGRAPH, "said.[^nw-1234abcd]", "said.[^1]"),
        (K.PARAGRAPH, "two\nlines  here", "two lines\nhere"),
        (K.FOOTNOTE, '[^nw-1]: [[zuse]] "x"', '[^2]:   [[konrad]] "x"'),
        (K.TABLE, "| a | b |\n|---|---|\n| 1 | [[zuse\\|z]] |", "|a|b|\n|:-:|--:|\n|1|[[konrad\\|z]]|"),
        (K.TABLE, "| a | b |\n| - | - |", "a|b\n-|-"),
        (K.LIST, "- a\n- b\n  - c", "* a\n* b\n    - c"),
        (K.LIST, "1. a\n2. b", "1. a\n1. b"),
        (K.HEADING, "## Title", "##  Title ##"),
        (K.HEADING, "# Title", "Title\n====="),
        (K.QUOTE, "> a\n> b", ">a\n>  b"),
        (K.RULE, "---", "***"),
        (K.CODE, "```\na\n```", "```\na  \n```"),
    ],
)
def test_a_change_of_form_claims_nothing(kind: BlockKind, one: str, two: str) -> None:
    """A link to the same page, labels, white space, alignment and equal spellings leave the hash alone."""
    assert normal_hash(kind, one, resolve) == normal_hash(kind, two, resolve)


@pytest.mark.parametrize(
    ("kind", "one", "two"),
    [
        (K.PARAGRAPH, "a b", "a c"),
        (K.PARAGRAPH, "a b", "A b"),
        (K.PARAGRAPH, "see [[zuse|him]]", "see [[z4|him]]"),
        (K.PARAGRAPH, "see [[zuse|him]]", "see [[zuse|her]]"),
        (K.PARAGRAPH, "see [[zuse]]", "see [[zuse#Life]]"),
        (K.PARAGRAPH, "see [[zuse|him]]", "see him"),
        (K.PARAGRAPH, "see [[zuse]]", "see ![[zuse]]"),
        (K.PARAGRAPH, "a.", "a.[^1]"),
        (K.PARAGRAPH, "a", "a\\\nb"),
        (K.PARAGRAPH, "*a*", "**a**"),
        (K.PARAGRAPH, "`[^a]`", "`[^b]`"),
        (K.PARAGRAPH, "`[[zuse]]`", "`[[konrad]]`"),
        (K.PARAGRAPH, "[x](https://a.org)", "[x](https://b.org)"),
        (K.PARAGRAPH, "ab", "a b"),
        (K.PARAGRAPH, "$x[^2]$", "$x[^3]$"),
        (K.LIST, "- [ ] a", "- [x] a"),
        (K.LIST, "- a\n- b", "- b\n- a"),
        (K.LIST, "- a\n  - b", "- a\n- b"),
        (K.LIST, "1. a", "- a"),
        (K.LIST, "3. a", "1. a"),
        (K.LIST, "- ```\n  a\n  ```", "- ```\n    a\n  ```"),
        (K.CODE, "```\n a\n```", "```\na\n```"),
        (K.CODE, "```py\na\n```", "```js\na\n```"),
        (K.TABLE, "|a|b|\n|-|-|", "|a|b|c|\n|-|-|-|"),
        (K.HEADING, "# A", "## A"),
        (K.QUOTE, "> [!note] x", "> [!tip] x"),
        (K.QUOTE, "> a", "> > a"),
        (K.QUOTE, "> a\n> b", "> a\n>\n> b"),
        (K.HTML, "<b>a</b>", "<b>c</b>"),
        (K.FOOTNOTE, "[^a]: x", "[^a]: y"),
        (K.PARAGRAPH, "a", "a%%b%%"),
        (K.PARAGRAPH, "a <!-- x -->", "a <!-- y -->"),
        (K.TABLE, "|a|b|\n|-|-|\n|x||", "|a|b|\n|-|-|\n||x|"),
        (K.TABLE, "|a|\n|-|\n|`b\\|c`|", "|a|\n|-|\n|b c|"),
    ],
)
def test_anything_else_claims_the_block(kind: BlockKind, one: str, two: str) -> None:
    """Words, marks, order, nesting, ticks, targets and code are a person's to change, and count."""
    assert normal_hash(kind, one, resolve) != normal_hash(kind, two, resolve)


def test_proposals_are_compared_by_their_words() -> None:
    """A link that is new on the same words is no new text."""
    assert plain_hash("Konrad [[zuse|Zuse]] built it.[^a]") == plain_hash("Konrad Zuse built it.[^b]")
    assert plain_hash("Konrad Zuse built it.") != plain_hash("Konrad Zuse planned it.")


def test_references_are_not_found_in_code() -> None:
    """Labels that a block refers to, definitions aside, once each and in order."""
    assert blocks.references("a[^2] b[^1] `[^3]` c[^2]") == ("2", "1")
    assert blocks.references("[^1]: as in [^2]") == ("2",) and blocks.definition_label("[^1]: x") == "1"
