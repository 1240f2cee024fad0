"""Plain text, separated tables, programs and notebooks: paragraphs and lines as their writer set them."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from itertools import pairwise

from tasks.extraction.extracted import Extracted, table, unwrapped
from tasks.records import BlockKind, Part

MAX_ROWS = 1000
_BREAK = re.compile(r"\n[ \t\f\v]*\n\s*")
_ITEM = re.compile(r"[ \t]*(?:[-*•‣–]|\d{1,3}[.)])[ \t]+\S")
_LINE_ENDS = str.maketrans({"\f": "\n\n", "\u2029": "\n\n", "\x85": "\n", "\u2028": "\n", "\v": "\n"})
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")  # as terminals print them into logs
_CUT = re.compile(r"([^\W\d_]+)(-|\u00ad)$")
_REST = re.compile(r"[^\W\d_]+")
_SUSPENDED = frozenset({"and", "or", "to", "und", "oder", "bis", "et", "ou", "y", "e", "o", "en", "of", "och", "og"})


def extract(text: str) -> Extracted:
    """Paragraphs of a plain text; lists keep their lines, wrapped lines are joined. A lone first line is the title."""
    text = _COLOURS.sub("", text.translate(_LINE_ENDS))
    if text.count("\n\n") * 40 < text.count("\n") and "\n" in text and _long_lines(text):
        blocks = text.split("\n")  # one line is one paragraph
    else:
        blocks = _BREAK.split(text)
    title = _title(text)
    parts: list[Part] = []
    words = frozenset(_REST.findall(text.casefold())) if re.search("[-\u00ad]\n", text) else frozenset()
    for block in blocks:
        lines = [line.strip() for line in block.split("\n") if line.strip()]
        if not lines:
            continue
        if not parts and title and lines[0].strip("#=-*_ ") == title:
            parts.append(Part(BlockKind.HEADING, title, level=1))
        elif (
            len(lines) > 1
            and sum(bool(_ITEM.match(line)) for line in lines) >= len(lines) / 2
            and _ITEM.match(lines[0])
        ):
            parts.append(Part(BlockKind.LIST, _items(lines)))
        else:
            parts.append(Part(BlockKind.PARAGRAPH, _joined(lines, words)))
    return Extracted("text", tuple(parts), title=title)


def _long_lines(text: str) -> bool:
    lines = [line for line in text[:20_000].split("\n") if line.strip()]
    return sum(len(line) for line in lines) > 110 * len(lines)


def _joined(lines: list[str], words: frozenset[str]) -> str:
    """Wrapped prose becomes one line; verse-like short lines stay apart.

    A word cut in two at a line's end becomes one again; its hyphen goes only if the text has the word without it.
    """
    if len(lines) > 2 and max(len(line) for line in lines) < 40:
        return "\n".join(lines)
    pieces = [lines[0]]
    for before, line in pairwise(lines):
        cut, rest = _CUT.search(before), _REST.match(line)
        if cut and rest and rest[0][0].islower() and rest[0] not in _SUSPENDED:
            if cut[2] == "\u00ad" or f"{cut[1]}{rest[0]}".casefold() in words:
                pieces[-1] = pieces[-1][:-1]
            pieces.append(line)
        else:
            pieces.append(unwrapped((before, line))[len(before) :])
    return "".join(pieces)


def _items(lines: list[str]) -> str:
    items: list[str] = []
    for line in lines:
        if _ITEM.match(line):
            marker, _, rest = line.partition(" ")
            items.append(f"{marker.rstrip('.)')}. {rest.strip()}" if marker[:1].isdigit() else f"- {rest.strip()}")
        elif items:
            items[-1] += f" {line}"
    return "\n".join(items)


def _title(text: str) -> str:
    """The first line when it stands alone and reads like a title."""
    first, _, rest = text.strip().partition("\n")
    first = first.strip().strip("#=-*_ ")
    alone = not rest or rest[:1] == "\n" or rest.lstrip()[:3] in ("===", "---", "***")
    return (
        first
        if 3 <= len(first) <= 100
        and alone
        and not first.endswith((".", ",", ";", ":", "，", "、", "；", "："))
        and "。" not in first
        and any(c.isalpha() for c in first)
        else ""
    )


def extract_program(text: str) -> Extracted:
    """A program, or settings, line by line: joined they would be nonsense."""
    return Extracted("text", (Part(BlockKind.CODE, text.strip("\n")),) if text.strip() else ())


def extract_notebook(text: str) -> Extracted:
    """The words and the programs of a notebook (Jupyter), without what the programs wrote."""
    from tasks.extraction import markdown

    parts: list[Part] = []
    for cell in json.loads(text).get("cells", ()):
        source = cell.get("source", "")
        words = "".join(map(str, source)) if isinstance(source, list) else str(source)
        if cell.get("cell_type") == "markdown":
            parts += [replace(part, anchor="") for part in markdown.extract(words).parts]
        elif cell.get("cell_type") == "code" and words.strip():
            parts.append(Part(BlockKind.CODE, words.strip("\n")))
    title = next((part.text for part in parts if part.kind is BlockKind.HEADING and part.level == 1), "")
    return Extracted("text", tuple(parts), title=title)


def extract_csv(text: str) -> Extracted:
    """A separated table as a Markdown table; past 1,000 rows it is cut, and a note says so."""
    named = re.match(r"\ufeff?sep=(.)\n", text)  # Excel's own hint
    text = text[named.end() :] if named else text
    # Cells may hold lines and other marks in quotes, and rows may be short: the first row's own marks tell.
    first = next((line for line in re.sub(r'"(?:[^"]|"")*"', "", text[:20_000]).split("\n") if line.strip()), "")
    delimiter = named[1] if named else max("\t;,|", key=first.count)
    csv.field_size_limit(10_000_000)
    rows: list[list[str]] = []
    total = 0
    try:
        for row in csv.reader(io.StringIO(text), delimiter=delimiter):
            if any(cell.strip() for cell in row):
                total += 1
                if total <= MAX_ROWS + 1:
                    rows.append(row[:200])
    except csv.Error:
        return extract(text)
    if max((len(row) for row in rows), default=0) < 2:
        return extract(text)
    notes = (f"the table has {total - 1} rows; the first {MAX_ROWS} were read",) if total > MAX_ROWS + 1 else ()
    return Extracted("text", (Part(BlockKind.TABLE, table(rows)),), notes=notes)
