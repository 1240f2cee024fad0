"""What every extractor returns, before it is cleaned, judged and anchored.

It stands apart from `records.Document` because an extractor knows neither the source's identity nor where its
readable copy will lie.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tasks.records import BlockKind, Part

_SPACELESS = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")


@dataclass(frozen=True, slots=True)
class Extracted:
    """Text and facts as one extractor found them. Parts carry an anchor only where the file itself gives one."""

    media: str
    parts: tuple[Part, ...]
    title: str = ""
    author: str = ""
    published: str = ""
    language: str = ""
    notes: tuple[str, ...] = ()
    hidden_removed: int = 0
    hidden_text: str = ""  # what was hidden from readers, to look for orders to a machine in it


def one_line(text: str) -> str:
    """The words of a text with single blanks between them."""
    return " ".join(text.split())


def table(rows: list[list[str]]) -> str:
    """A Markdown table of plain cells; the first row is the head. Short rows are filled up."""
    width = max((len(row) for row in rows), default=0)
    if not width:
        return ""
    lines = []
    for number, row in enumerate(rows):
        cells = [one_line(cell).replace("|", "\\|") for cell in row] + [""] * (width - len(row))
        lines.append("| " + " | ".join(cells) + " |")
        if not number:
            lines.append("|" + " --- |" * width)
    return "\n".join(lines)


def unwrapped(lines: Sequence[str]) -> str:
    """Lines of one paragraph as running text; between letters of scripts without blanks there comes none."""
    pieces = list(lines[:1])
    for before, line in pairwise(lines):
        glued = _SPACELESS.match(before[-1:]) and _SPACELESS.match(line)
        pieces.append(line if glued else f" {line}")
    return "".join(pieces)


def first_heading(parts: tuple[Part, ...]) -> str:
    """The text of the first heading, or '' when there is none."""
    return next((part.text for part in parts if part.kind is BlockKind.HEADING), "")
