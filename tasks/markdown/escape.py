"""Words that stay words in Obsidian's Markdown.

The text of a source may hold anything: `#tags`, `[[links]]`, dollar signs, HTML. In a readable copy none of it may
act. Only what would act is escaped, so that the copy stays pleasant to read and its words can be found by searching
for them.
"""

from __future__ import annotations

import re

from tasks.records import BlockKind, Part

_ALWAYS = re.compile(r"[\\`*\[\]$]")
_TAG = re.compile(r"(?<![\w#])#(?=[^\s#])")
_EMPHASIS = re.compile(r"(?<!\w)_|_(?!\w)")
_PAIR = re.compile(r"(~~|==|%%)")
_HTML = re.compile(r"<(?=[A-Za-z/!?])")
_ENTITY = re.compile(r"&(?=#?\w{1,31};)")
_BLOCK_ID = re.compile(r"(?:(?<=\s)|^)\^(?=[\w-]+[ \t]*$)", re.MULTILINE)
_LINE_START = re.compile(
    r"^([ \t]*)(?=(?:#{1,6}(?:[ \t]|$)|>|[-+](?:[ \t]|$)|-{2,}[ \t]*$|=+[ \t]*$|~{3,}|:\s|\|))", re.MULTILINE
)
_NUMBERED = re.compile(r"^([ \t]*\d{1,9})([.)])(?=[ \t]|$)", re.MULTILINE)
_ROW = re.compile(r"(?<!\\)\|")
_ITEM = re.compile(r"^([ \t]*)(-|\d{1,9}\.) ")
_SPECIAL = re.compile(r"[\\`*\[\]$#_~=%<&^]")  # one of these stands wherever the inside of a line needs a change


def escape_inline(text: str) -> str:
    """Text for the inside of a line: no emphasis, code, link, tag, maths, comment, highlight or HTML comes of it."""
    if not _SPECIAL.search(text):
        return text
    text = _ALWAYS.sub(r"\\\g<0>", text)
    if "#" in text:
        text = _TAG.sub(r"\\#", text)
    if "_" in text:
        text = _EMPHASIS.sub(r"\\_", text)
    if "~~" in text or "==" in text or "%%" in text:
        text = _PAIR.sub(lambda match: "".join(f"\\{character}" for character in match.group()), text)
    if "<" in text:
        text = _HTML.sub(r"\\<", text)
    if "&" in text:
        text = _ENTITY.sub("&amp;", text)
    if "^" in text:
        text = _BLOCK_ID.sub(r"\\^", text)
    return text


def escape_paragraph(text: str) -> str:
    """Text as one paragraph: besides the above no line starts a heading, list, quote, table, rule or code."""
    lines = escape_inline("\n".join(filter(None, map(str.strip, text.split("\n")))))
    if lines[:1].isalpha() and "\n" not in lines:  # as nearly all do: no line starts with a mark
        return lines
    lines = _LINE_START.sub(r"\1\\", lines)
    return _NUMBERED.sub(r"\1\\\2", lines)


def escape_block(part: Part) -> str:
    """A part as Markdown that says what the part says, without its number."""
    if part.kind is BlockKind.HEADING:
        text = escape_inline(" ".join(part.text.split()))
        return f"{'#' * min(max(part.level, 1), 6)} {_closing_hashes(text)}"
    if part.kind is BlockKind.LIST:
        return "\n".join(_item(line) for line in part.text.split("\n") if line.strip())
    if part.kind is BlockKind.TABLE:
        return "\n".join(_row(line, number) for number, line in enumerate(part.text.split("\n")))
    if part.kind is BlockKind.CODE:
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", part.text)), default=0))
        return f"{fence}\n{part.text}\n{fence}"
    if part.kind is BlockKind.QUOTE:
        return "\n".join(f"> {line}" for line in escape_paragraph(part.text).split("\n"))
    return escape_paragraph(part.text)


def _closing_hashes(text: str) -> str:
    return re.sub(r"(\s)(#+)$", r"\1\\\2", text)


def _item(line: str) -> str:
    match = _ITEM.match(line)
    if not match:
        return "    " + escape_paragraph(line)
    return match.group() + escape_paragraph(re.sub(r"^\[(.)\] ", r"(\1) ", line[match.end() :]))


def _row(line: str, number: int) -> str:
    if number == 1:
        return line
    cells = _ROW.split(line.strip().removeprefix("|").removesuffix("|"))
    return (
        "| " + " | ".join(escape_inline(cell.strip().replace("\\|", "|")).replace("|", "\\|") for cell in cells) + " |"
    )
