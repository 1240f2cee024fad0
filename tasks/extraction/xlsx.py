"""Excel files: each visible sheet as a heading and a table of the values that Excel last computed."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import timedelta
from functools import cache
from typing import Any

from tasks.extraction.extracted import Extracted, table
from tasks.extraction.office_facts import facts, words
from tasks.records import BlockKind, Part

MAX_ROWS = 500
MAX_COLUMNS = 60
MAX_SCANNED = 200_000
MAX_LOOKED_AT = 200  # columns
_UNCOUNTED = re.compile(rb"<f\b[^>]*(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v></v>)?\s*</c>")
_ASIDE = re.compile(r"\[(?:\$([^\]]*)|[^\]]*)\]")


def extract_xlsx(data: bytes) -> Extracted:
    """The tables of an Excel file; long or wide sheets are cut, and a note says so."""
    book = _book(data)
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
    if uncounted := _uncounted(data):
        cells = "1 formula has" if uncounted == 1 else f"{uncounted} formulas have"
        notes.append(f"{cells} no stored result: open the file in its program and save it")
    return Extracted("xlsx", tuple(parts), title=title, author=author, published=published, notes=tuple(notes))


def _rows(sheet: Any) -> tuple[list[list[str]], int, bool]:
    """The first rows that hold something, how many there are, and whether columns were left out."""
    rows: list[list[str]] = []
    total, wide = 0, False
    # A single cell far out, often only a formatted one, would have every row filled up with thousands of empty ones.
    for cells in sheet.iter_rows(max_row=MAX_SCANNED, max_col=MAX_LOOKED_AT):
        if not any(cell.value is not None and cell.value != "" for cell in cells):
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


def _book(data: bytes) -> Any:
    """The workbook, its sheets of charts left out: they hold no cells, and openpyxl trips over empty ones."""
    from openpyxl.reader.excel import ExcelReader

    class Reader(ExcelReader):
        def read_chartsheet(self, sheet: Any, rel: Any) -> None:
            """Nothing."""

    reader = Reader(io.BytesIO(data), read_only=True, data_only=True)
    reader.read()
    return reader.wb


def _uncounted(data: bytes) -> int:
    """How many formulas were written by a program that does not count, and never opened in one that does."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        sheets = [name for name in archive.namelist() if name.startswith("xl/worksheets/") and name.endswith(".xml")]
        return sum(len(_UNCOUNTED.findall(archive.read(name))) for name in sheets)


def _cell(cell: Any) -> str:
    """A cell's value as a person reads it, with its unit where the format of the cell adds one."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return _number(value, cell.number_format or "")
    if isinstance(value, timedelta):
        minutes, seconds = divmod(round(value.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    text = str(value)
    return text.removesuffix(" 00:00:00") if re.fullmatch(r"\d{4}-\d\d-\d\d 00:00:00", text) else words(text)


def _number(value: float, form: str) -> str:
    before, after, percent = _units(form)
    if percent:
        return f"{value * 100:.12g}{after}"
    number = f"{value:.15g}" if isinstance(value, float) else str(value)  # as many digits as Excel itself keeps
    return f"{before}{number}{after}"


@cache
def _units(form: str) -> tuple[str, str, bool]:
    """What a number's format writes before and behind it, such as a currency, and whether it shows hundredths."""
    positive = re.sub(r"[_*]\\?.", "", _ASIDE.sub(_literal, form.partition(";")[0]))
    digits = re.search(r"[#0?][#0?,. /]*", positive)
    if digits is None or "E+" in positive or digits[0].rstrip().endswith(","):  # the last shows thousands as one
        return "", "", False
    before, behind = (re.sub(r'["\\]', "", text) for text in (positive[: digits.start()], positive[digits.end() :]))
    unit = words(behind)
    parted = unit and (unit[0].isalpha() or f"{digits[0]}{behind}"[len(digits[0].rstrip()) :][:1].isspace())
    return words(before) + " " * before.rstrip()[-1:].isalpha(), " " * bool(parted) + unit, "%" in unit


def _literal(found: re.Match[str]) -> str:
    """A currency without its country; a colour or a condition is nothing that is written."""
    return found[1].split("-")[0] if found[1] else ""
