"""Columns that a file sets line by line across the page, put one after the other; text printed twice, taken once.

Most programs set one column after the other. Some set each height of the page in turn, and read so, every sentence
would be cut by one of the other column. A table's cells are short, and its rows stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from tasks.extraction.pdf_lines import COLUMN, Line

_ROWS = 4  # rows of several pieces that make columns
_INDENT = 2.5  # letter sizes that a line may begin beside its column's edge
_SHADOW = 1.5  # points between a text and its shadow


def untangled(lines: Sequence[Line]) -> list[Line]:
    """The lines of a page in reading order."""
    ordered: list[Line] = []
    region: list[list[Line]] = []
    for row in _rows(lines):
        if region and _fits(row, region[0]):
            region.append(row)
            continue
        ordered += _columns(region)
        region = [row]
    return ordered + _columns(region)


def once(lines: Sequence[Line]) -> list[Line]:
    """The lines without those that are printed once more a hair beside, to look bold or to cast a shadow."""
    seen: dict[str, list[Line]] = {}
    kept = []
    for line in lines:
        same = seen.setdefault(line.text, [])
        if not any(abs(line.x - one.x) < _SHADOW and abs(line.y - one.y) < _SHADOW for one in same):
            same.append(line)
            kept.append(line)
    return kept


def _rows(lines: Sequence[Line]) -> list[list[Line]]:
    """Lines that follow each other at one height from left to right, together."""
    rows: list[list[Line]] = []
    for line in lines:
        before = rows[-1][-1] if rows else None
        if before is not None and abs(before.y - line.y) <= 0.15 * max(before.size, line.size) and line.x > before.x:
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _fits(row: Sequence[Line], first: Sequence[Line]) -> bool:
    """Whether each piece of a row begins at a column of the first row."""
    return len(first) > 1 and all(_column(piece, first) >= 0 for piece in row)


def _column(piece: Line, first: Sequence[Line]) -> int:
    """The number of the column at whose edge a piece begins, or -1."""
    near = (number for number, edge in enumerate(first) if abs(piece.x - edge.x) <= _INDENT * piece.size)
    return next(near, -1)


def _columns(region: Sequence[Sequence[Line]]) -> list[Line]:
    """The lines of a region, column by column if these are prose, else as they came."""
    as_they_came = [line for row in region for line in row]
    whole = [row for row in region if len(row) > 1]
    if len(whole) < max(_ROWS, len(region) / 2):
        return as_they_came
    columns: list[list[Line]] = [[] for _ in region[0]]
    beside: list[list[int]] = [[] for _ in region[0]]  # lengths of what stands beside other pieces
    for row in region:
        for line in row:
            columns[_column(line, region[0])].append(line)
            if len(row) > 1:
                beside[_column(line, region[0])].append(len(line.text))
    if any(not lengths or median(lengths) < COLUMN for lengths in beside):
        return as_they_came
    return [line for column in columns for line in column]
