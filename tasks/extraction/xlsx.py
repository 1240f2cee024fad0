"""Excel files: each visible sheet as a heading and a table of the values that Excel last computed."""

from __future__ import annotations

import io
import re
from typing import Any

from tasks.extraction.extracted import Extracted, table
from tasks.extraction.office_facts import facts, words
from tasks.records import BlockKind, Part

MAX_ROWS = 500
MAX_COLUMNS = 60
MAX_SCANNED = 200_000
MAX_LOOKED_AT = 200  # columns


def extract_xlsx(data: bytes) -> Extracted:
    """The tables of an Excel file; long or wide sheets are cut, and a note says so."""
    import openpyxl

    book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    parts: list[Part] = []
    notes: list[str] = []
    try:
        for sheet in book.worksheets:
            if sheet.sheet_state != "visible":
                notes.append(f"sheet '{sheet.title}' is hidden and was not read")
                continue
            rows, total, wide = _rows(sheet)
            if not rows:
                continue
            parts.append(Part(BlockKind.HEADING, words(sheet.title), level=2))
            parts.append(
                Part(BlockKind.TABLE, table(rows))
                if max(len(row) for row in rows) > 1
                else Part(BlockKind.PARAGRAPH, "\n".join(row[0] for row in rows))
            )
            beyond = (sheet.max_row or 0) > MAX_SCANNED
            if total > len(rows):
                more = "more than " if beyond else ""
                notes.append(f"sheet '{sheet.title}' has {more}{total} rows; the first {len(rows)} were read")
            elif beyond:
                notes.append(f"sheet '{sheet.title}' was read to its row {MAX_SCANNED}")
            if wide:
                notes.append(
                    f"sheet '{sheet.title}' has more than {MAX_COLUMNS} columns; the first {MAX_COLUMNS} were read"
                )
        title, author, published = facts(book.properties)
    finally:
        book.close()
    return Extracted("xlsx", tuple(parts), title=title, author=author, published=published, notes=tuple(notes))


def _rows(sheet: Any) -> tuple[list[list[str]], int, bool]:
    """The first rows that hold something, how many there are, and whether columns were left out."""
    rows: list[list[str]] = []
    total, wide = 0, False
    # A single cell far out, often only a formatted one, would have every row filled up with thousands of empty ones.
    for cells in sheet.iter_rows(values_only=True, max_row=MAX_SCANNED, max_col=MAX_LOOKED_AT):
        if not any(cell is not None and cell != "" for cell in cells):
            continue
        total += 1
        if len(rows) < MAX_ROWS:
            row = [_cell(cell) for cell in cells]
            while row and not row[-1]:
                row.pop()
            wide = wide or len(row) > MAX_COLUMNS
            rows.append(row[:MAX_COLUMNS] or [""])
    blank = min((next((i for i, cell in enumerate(row) if cell), MAX_COLUMNS) for row in rows), default=0)
    return [row[blank:] or [""] for row in rows], total, wide


def _cell(value: object) -> str:
    """A cell's value as a person reads it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return f"{value:.15g}"  # as many digits as Excel itself keeps
    text = str(value)
    return text.removesuffix(" 00:00:00") if re.fullmatch(r"\d{4}-\d\d-\d\d 00:00:00", text) else words(text)
