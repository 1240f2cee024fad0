"""What a proposal says, as blocks that keep to themselves."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tasks.compiling import proposed
from tasks.compiling.proposed import pieces
from tasks.markdown.blocks import split
from tasks.records import BlockKind, PageProposal, ProposedBlock

_STARTS = {
    BlockKind.PARAGRAPH: ("a", '"a', "“‘b", "(c", "„\\[d", "12 ", "3d"),
    BlockKind.HEADING: ("# a", "###### b"),
    BlockKind.LIST: ("- a", "- “b", "- 12 c"),
    BlockKind.QUOTE: ("> a", "> - b", "> [!warning] c", "> ```", "> <!--", "> | d |"),
}
_REST = st.lists(
    st.sampled_from(
        [
            *("a", "12", ".", ")", " ", "\t", "`", "```", "<!--", "-->", "<div>", "|", "---", "[^x]:", "[[b]]"),
            *("#", "$", "%", "\\", "&", ":", "    ", "\n> ", "\n> - ", "\n> <b>", "\n- c", "\u2028", "\x0b"),
        ]
    ),
    max_size=8,
).map("".join)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([(kind, start) for kind, starts in _STARTS.items() for start in starts]), _REST)
def test_a_usual_shape_is_one_block_wherever_it_stands(opening: tuple[BlockKind, str], rest: str) -> None:
    """What is taken for a block without being parsed is that block to the parser too."""
    kind, text = opening[0], opening[1] + rest
    assume(proposed._SIMPLE[kind].fullmatch(text) and "%%" not in text and "$$" not in text)
    assert [(block.kind, block.text) for block in split(f"b\n\n{text}\n\nc")[1:-1]] == [(kind, text)]
    assert proposed._alone(text, kind)


@pytest.mark.parametrize("text", ["“Yes,” she said.", "1945 saw ten.", "(The Box has ten.)", '"\\[We\\] have ten."'])
def test_a_sentence_may_begin_with_a_mark_or_a_number(text: str) -> None:
    """It stands on the page as it is."""
    proposal = PageProposal("box", "", "Box", (ProposedBlock("a", BlockKind.PARAGRAPH, text),), ())
    assert [piece.text for piece in pieces(proposal)] == ["# Box", text]
