"""What of a Markdown text is code, comment or math, and therefore never a link.

Block structure comes from markdown-it's block rules alone: inline parsing is the slow half, and nothing here needs
it. Obsidian's own blocks (`%%` comments and `$$` math over several lines) are added as rules. Link reference
definitions are taken for paragraphs, so that every line of a text belongs to a block.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin

LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")

SKIPPED = re.compile(
    r"""\\.                                                                  # an escaped character opens nothing
    |(?P<ticks>`+)(?!`)(?:(?!\n[ \t>]*\n)[\s\S])*?(?<!`)(?P=ticks)(?!`)      # inline code, within its paragraph
    |`+
    |(?P<comment>%%[\s\S]*?%%|<!--[\s\S]*?-->)
    |(?P<math>\$\$[\s\S]*?\$\$|\$(?![\s$])(?:\\.|[^$\\\n])*(?<!\s)\$(?![\d$]))
    """,
    re.X,
)


def _comment_or_math(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    begin = state.bMarks[start] + state.tShift[start]
    mark = state.src[begin : begin + 2]
    if mark not in ("%%", "$$") or state.is_code_block(start):
        return False
    if mark in state.src[begin + 2 : state.eMarks[start]]:
        return False
    line = start + 1
    while line < end and mark not in state.src[state.bMarks[line] : state.eMarks[line]]:
        line += 1
    if line >= end:
        return False
    if not silent:
        state.line = line + 1
        token = state.push("html_block", "", 0)
        token.map = [start, state.line]
    return True


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table").use(footnote_plugin).disable("reference")
    ends: RuleOptionsType = {"alt": ["paragraph", "blockquote", "list"]}
    parser.block.ruler.before("table", "comment_or_math", _comment_or_math, ends)
    return parser


_PARSER = _parser()


def lines(text: str) -> list[str]:
    """The lines of a text with their endings (LF, CRLF or CR)."""
    return LINE.findall(text)


def tokens(rows: Sequence[str]) -> list[Token]:
    """Block tokens of the text whose lines are `rows`; `Token.map` counts lines from 0."""
    source = "\n".join(row.rstrip("\r\n") for row in rows).replace("\0", "�")
    found: list[Token] = []
    environment: dict[str, Any] = {}
    _PARSER.block.parse(source, _PARSER, environment, found)
    return found


def masked(text: str) -> str:
    """The text with code, comments, math and HTML blocks blanked out; same length, same line breaks."""
    text = without_code_blocks(text)
    if any(map(text.__contains__, ("`", "%%", "<!--", "$"))):
        text = SKIPPED.sub(lambda match: match.group() if match.group()[0] == "\\" else _blank(match.group()), text)
    return text


def without_code_blocks(text: str) -> str:
    """The text with whole blocks of code, comments, math and HTML blanked out; same length, same line breaks."""
    if _may_have_blocks(text):
        rows = lines(text)
        for token in tokens(rows):
            if token.type in ("fence", "code_block", "html_block") and token.map:
                for number in range(token.map[0], min(token.map[1], len(rows))):
                    rows[number] = _blank(rows[number])
        text = "".join(rows)
    return text


def _may_have_blocks(text: str) -> bool:
    return any(map(text.__contains__, ("```", "~~~", "    ", "\t", "<", "%%", "$$")))


def _blank(text: str) -> str:
    return re.sub(r"[^\r\n]", " ", text)
