"""Word, PowerPoint and Excel files."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import docx
import openpyxl
import pptx
import pytest

from config.errors import SourceError
from tasks.extraction.office import extract
from tasks.records import BlockKind, Outcome


def saved(document: Any) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def test_word() -> None:
    """Headings, lists with levels and numbers, tables and quotes keep their form; hidden runs go and are counted."""
    document = docx.Document()
    document.add_heading("The Z3", 0)
    document.add_heading("History", 1)
    for text, style in (
        ("one", "List Bullet"),
        ("two", "List Bullet 2"),
        ("first", "List Number"),
        ("second", "List Number"),
    ):
        document.add_paragraph(text, style=style)
    grid = document.add_table(2, 2)
    for number, text in enumerate(("A|x", "B", "1", "2")):
        grid.cell(number // 2, number % 2).text = text
    paragraph = document.add_paragraph("visible")
    paragraph.add_run(" secret order").font.hidden = True
    document.add_paragraph("quoted", style="Quote")
    found = extract("docx", saved(document))
    assert [(part.kind.value, part.text) for part in found.parts] == [
        ("heading", "The Z3"),
        ("heading", "History"),
        ("list", "- one\n    - two"),
        ("list", "1. first\n2. second"),
        ("table", "| A\\|x | B |\n| --- | --- |\n| 1 | 2 |"),
        ("paragraph", "visible"),
        ("quote", "quoted"),
    ]
    assert (found.title, found.hidden_removed, found.hidden_text) == ("The Z3", 1, "secret order")


def test_powerpoint() -> None:
    """Slide titles are headings, bullets lists, and the speaker's notes are kept."""
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Colossus"
    slide.placeholders[1].text = "built 1943\nBletchley"
    slide.notes_slide.notes_text_frame.text = "Say hello"
    found = extract("pptx", saved(deck))
    assert [(part.kind.value, part.text) for part in found.parts] == [
        ("heading", "Colossus"),
        ("list", "- built 1943\n- Bletchley"),
        ("quote", "Say hello"),
    ]
    assert found.title == "Colossus"


def test_excel() -> None:
    """Each visible sheet is a heading and a table; long sheets are cut with a note, hidden ones named."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Machines"
    sheet.append(["Name", "Year"])
    for number in range(700):
        sheet.append([f"m{number}", 1900 + number / 2])
    book.create_sheet("Secret").sheet_state = "hidden"
    found = extract("xlsx", saved(book))
    assert found.parts[0].text == "Machines"
    assert found.parts[1].kind is BlockKind.TABLE and found.parts[1].text.split("\n")[2:4] == [
        "| m0 | 1900 |",
        "| m1 | 1900.5 |",
    ]
    assert found.notes == (
        "sheet 'Machines' has 701 rows; the first 500 were read",
        "sheet 'Secret' is hidden and was not read",
    )


def altered(data: bytes, name: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.namelist():
            new.writestr(entry, content if entry == name else old.read(entry))
    return buffer.getvalue()


BILLION = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><x>&b;</x>'


@pytest.mark.parametrize(
    ("content", "outcome"),
    [
        (BILLION, Outcome.REFUSED),
        (b"<x>" + b" " * 120_000_000 + b"</x>", Outcome.REFUSED),
        (b"<broken", Outcome.UNREADABLE),
        (b"", Outcome.UNREADABLE),
    ],
    ids=["entities", "bomb", "broken", "empty"],
)
def test_bombs_and_damage(content: bytes, outcome: Outcome) -> None:
    """Entities and huge parts are refused before they are unpacked; damage is named."""
    with pytest.raises(SourceError) as caught:
        extract("docx", altered(saved(docx.Document()), "word/document.xml", content))
    assert caught.value.outcome == outcome


@pytest.mark.parametrize("kind", ["docx", "pptx", "xlsx"])
def test_nothing_in_it(kind: str) -> None:
    """A file without words is no text, and no page comes of it."""
    makers = {"docx": docx.Document, "pptx": pptx.Presentation, "xlsx": openpyxl.Workbook}
    with pytest.raises(SourceError) as caught:
        extract(kind, saved(makers[kind]()))
    assert caught.value.outcome == Outcome.NO_TEXT
