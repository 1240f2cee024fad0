"""A page's body as a list of blocks, without loss, and hashes that tell a person's edit from a change of form.

`split` gives the top-level blocks by CommonMark's rules plus tables, footnote definitions and Obsidian's own;
between two blocks there is nothing but white space, so gaps and blocks together are the text. `normal_hash` is equal
for a link that was retargeted to the same page, another footnote label, other white space, table alignment or line
endings; anything else that a person does changes it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

from tasks.markdown import markup
from tasks.pages.slugs import fold
from tasks.records import BlockKind

_KINDS = {
    "heading_open": BlockKind.HEADING,
    "paragraph_open": BlockKind.PARAGRAPH,
    "bullet_list_open": BlockKind.LIST,
    "ordered_list_open": BlockKind.LIST,
    "table_open": BlockKind.TABLE,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
    "blockquote_open": BlockKind.QUOTE,
    "footnote_reference_open": BlockKind.FOOTNOTE,
    "html_block": BlockKind.HTML,
    "hr": BlockKind.RULE,
}
_REFERENCE = re.compile(r"\[\^([^\]\s]+)\]")
_DEFINITION = re.compile(r" {0,3}\[\^([^\]\s]+)\]:[ \t]*")
_NOTE_LINE = re.compile(r"""\[\^[^\]\s]+\]: [\w"(\[]""")
_LINK = re.compile(  # one bracket comes first, for then the engine skips from bracket to bracket
    r"\[(?:\[((?:[^\n\r\[\]]++|\](?!\])|\[(?!\[))+)\]\]|(?<!\]\[)([^\[\]\n]*)\]\((<[^<>\n]*>|[^\s()<]+)\))",
)
_ITEM = re.compile(r"(?:([-*+])|(\d{1,9})([.)]))(?=[ \t]|$)")
_CELL = re.compile(r"(?<!\\)\|")

Resolve = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Block:
    """One block; `start` and `end` are character offsets in the body, the last line's ending is not part of it."""

    kind: BlockKind
    text: str
    start: int
    end: int
    level: int = 0            # of a heading, 1 to 6


def split(body: str) -> tuple[Block, ...]:
    """The blocks of a body in order; everything between them is white space."""
    rows = markup.lines(body)
    if not rows:
        return ()
    offsets = [0]
    for row in rows:
        offsets.append(offsets[-1] + len(row))
    notes = _last_notes(rows)
    if notes < len(rows) - 1:
        # footnotes are the slow half of a page; once the first of the last ones is known to be one, all are
        found = _blocks(rows[: notes + 1], offsets)
        if found and found[-1].kind is BlockKind.FOOTNOTE and found[-1].start == offsets[notes]:
            later = range(notes + 1, len(rows))
            rest = (_block(rows, offsets, number, number + 1, BlockKind.FOOTNOTE) for number in later)
            return (*found, *(block for block in rest if block is not None))
    return tuple(_blocks(rows, offsets))


def _blocks(rows: Sequence[str], offsets: Sequence[int]) -> list[Block]:
    found: list[Block] = []
    line = 0
    for token in markup.tokens(rows):
        if token.level or token.nesting < 0 or token.type not in _KINDS or not token.map:
            continue
        first, last = max(token.map[0], line), min(token.map[1], len(rows))
        found += _stray(rows, offsets, line, first)
        level = int(token.tag[1]) if token.type == "heading_open" else 0
        block = _block(rows, offsets, first, last, _KINDS[token.type], level)
        if block:
            found.append(block)
            line = last
    return found + _stray(rows, offsets, line, len(rows))


def _last_notes(rows: Sequence[str]) -> int:
    """Index of the first of the one-line definitions that end a text; the number of lines when there is none."""
    first = number = len(rows)
    while number:
        number -= 1
        if _NOTE_LINE.match(rows[number]):
            first = number
        elif rows[number].strip():
            break
    return first


def _block(
    rows: Sequence[str], offsets: Sequence[int], first: int, last: int, kind: BlockKind, level: int = 0
) -> Block | None:
    while first < last and not rows[first].strip():
        first += 1
    while last > first and not rows[last - 1].strip():
        last -= 1
    if first == last:
        return None
    text = "".join(rows[first:last])
    text = text[: len(text) - len(rows[last - 1]) + len(rows[last - 1].rstrip("\r\n"))]
    return Block(kind, text, offsets[first], offsets[first] + len(text), level)


def _stray(rows: Sequence[str], offsets: Sequence[int], first: int, last: int) -> list[Block]:
    """Text that no rule claims is a paragraph, so that no line is ever lost."""
    block = _block(rows, offsets, first, last, BlockKind.PARAGRAPH)
    return [block] if block else []


@lru_cache(maxsize=256)  # a page's blocks are asked for when they are written, and again for its definitions
def references(text: str) -> tuple[str, ...]:
    """Labels of the footnotes that a block refers to, in order, each once; none inside code."""
    if "[^" not in text:
        return ()
    found = _REFERENCE.findall(markup.masked(text))
    definition = _DEFINITION.match(text)
    if definition and found:
        found = found[1:]
    return tuple(dict.fromkeys(found))


def definition_label(text: str) -> str:
    """The label of a footnote definition; empty when the text is none."""
    match = _DEFINITION.match(text)
    return match.group(1) if match else ""


def normal_hash(kind: BlockKind, text: str, resolve: Resolve) -> str:
    """sha256 of the block's normal form; `resolve` gives the page id of a link's target, or ''."""
    if "[[" not in text and "](" not in text:
        return plain_hash(text, kind)
    return _digest(_normal(kind, text, lambda target: resolve(target) or fold(target)))


@lru_cache(maxsize=256)  # a page's blocks are hashed when it is proposed, and again when it is made
def plain_hash(text: str, kind: BlockKind | None = None) -> str:
    """sha256 of a block's words: as `normal_hash`, with links reduced to what they show."""
    if kind is None:
        found = split(text)
        kind = found[0].kind if len(found) == 1 else BlockKind.PARAGRAPH
    return _digest(_normal(kind, text, None))


def written_hash(kind: BlockKind, text: str, normal: str = "") -> str:
    """What is kept of a proposed block: a hash of it as it stands (links and labels too), and one of its words.

    `normal` is the block's normal hash where it is known; without links it is the hash of the words.
    """
    linked = not normal or "[[" in text or "](" in text
    return f"{_digest(text.strip())[:24]}.{(plain_hash(text, kind) if linked else normal)[:24]}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _normal(kind: BlockKind, text: str, target: Resolve | None) -> str:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if kind is BlockKind.CODE or (kind is BlockKind.HTML) or "```" in text or "~~~" in text:
        return f"{kind}\n" + "\n".join(row.rstrip() for row in text.split("\n"))
    if kind is BlockKind.RULE:
        return kind
    if kind is BlockKind.FOOTNOTE:
        text = _DEFINITION.sub("", text, count=1)
    text = _inline(text, target)
    if kind is BlockKind.TABLE:
        return f"{kind}\n{_table(text)}"
    if kind is BlockKind.LIST:
        return f"{kind}\n{_list(text)}"
    if kind is BlockKind.QUOTE:
        rows = (re.match(r"((?:[ \t]*>)*)(.*)", row) for row in text.split("\n"))
        text = "\n".join(f"{row[1].count('>')}>{' '.join(row[2].split())}" for row in rows if row)
        return f"{kind}\n{text}"
    if kind is BlockKind.HEADING:
        return f"{kind}\n{_heading(text)}"
    return f"{kind}\n{' '.join(text.split())}"


def _inline(text: str, target: Resolve | None) -> str:
    """Text with links and footnote labels in normal form, outside code, math and comments."""
    if not any(map(text.__contains__, ("`", "$", "%%", "<!--"))):
        return _plain_inline(text, target)
    pieces, position = [], 0
    for match in markup.SKIPPED.finditer(text):
        if match.group()[0] != "\\":
            pieces += [_plain_inline(text[position : match.start()], target), match.group()]
            position = match.end()
    return "".join([*pieces, _plain_inline(text[position:], target)])


def _plain_inline(text: str, target: Resolve | None) -> str:
    text = _REFERENCE.sub("[^]", text) if "[^" in text else text
    if "[[" not in text and "](" not in text:
        return text

    def normal(match: re.Match[str]) -> str:
        if match.group(1) is not None:
            page, _, label = match.group(1).replace("\\|", "|").partition("|")
            page, mark, heading = page.partition("#")
            page, label = page.strip(), label.strip()
            shown = label or match.group(1).strip()
        else:
            label, address = match.group(2), match.group(3).strip("<>")
            if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]+:|//|#", address):
                return match.group() if target else label
            page, mark, heading = address.partition("#")
            page, heading = unquote(page), unquote(heading)
            shown = label
        if target is None:
            return shown
        return f"⟦{target(page) if page else ''}{mark}{heading.strip()}|{label}⟧"

    return _LINK.sub(normal, text)


def _table(text: str) -> str:
    rows = []
    for number, row in enumerate(text.split("\n")):
        row = row.strip()
        cells = _CELL.split(re.sub(r"(?<!\\)\|\Z", "", row[1:] if row[:1] == "|" else row))
        cells = [" ".join(cell.split()) for cell in cells]
        if number == 1:
            cells = ["-"] * len(cells)
        rows.append("|".join(cells))
    return "\n".join(rows)


def _list(text: str) -> str:
    rows: list[str] = []
    indents: list[int] = []
    for row in text.expandtabs(4).split("\n"):
        content = row.strip()
        if not content:
            continue
        item = _ITEM.match(content)
        if not item:
            rows[-1:] = [f"{rows[-1]} {' '.join(content.split())}"] if rows else [content]
            continue
        indent = len(row) - len(row.lstrip())
        while indents and indents[-1] > indent:
            indents.pop()
        if not indents or indents[-1] < indent:
            indents.append(indent)
        marker = "-" if item.group(1) else ("#" if rows else item.group(2))
        rows.append(f"{len(indents)}{marker} {' '.join(content[item.end() :].split())}")
    return "\n".join(rows)


def _heading(text: str) -> str:
    match = re.match(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*\Z", text)
    if match:
        return f"{len(match.group(1))} {' '.join((match.group(2) or '').split())}"
    above, _, underline = text.rstrip().rpartition("\n")
    return f"{1 if '=' in underline else 2} {' '.join(above.split())}"
