"""Office files in the forms that their programs offer beside the usual one, and what a person took back in them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import parse_xml

from tasks.reading.read_source import ReadJob, document_of

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
SAID = "The lamp of Fanal was lit in 1851."
OFFICE = "application/vnd.openxmlformats-officedocument"


def saved(document: Any) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def word() -> bytes:
    document = docx.Document()
    document.add_paragraph(SAID)
    return saved(document)


def excel() -> bytes:
    book = openpyxl.Workbook()
    book.worksheets[0].append(["Said", SAID])
    return saved(book)


def slides() -> bytes:
    deck = pptx.Presentation()
    deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text = SAID
    return saved(deck)


def rewritten(data: bytes, change: Callable[[str, bytes], tuple[str, bytes]]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(out, "w") as target:
        for name in archive.namelist():
            target.writestr(*change(name, archive.read(name)))
    return out.getvalue()


def said(data: bytes, name: str) -> bool:
    document = document_of(data, ReadJob("a" * 12, "", f"raw_sources/{name}"))
    return any(SAID in part.text for part in document.parts)


@pytest.mark.parametrize(
    ("name", "make", "usual", "kind"),
    [
        ("a.docm", word, f"{OFFICE}.wordprocessingml.document.", "application/vnd.ms-word.document.macroEnabled."),
        ("a.dotx", word, f"{OFFICE}.wordprocessingml.document.", f"{OFFICE}.wordprocessingml.template."),
        (
            "a.dotm",
            word,
            f"{OFFICE}.wordprocessingml.document.",
            "application/vnd.ms-word.template.macroEnabledTemplate.",
        ),
        ("a.xlsm", excel, f"{OFFICE}.spreadsheetml.sheet.", "application/vnd.ms-excel.sheet.macroEnabled."),
        ("a.ppsx", slides, f"{OFFICE}.presentationml.presentation.", f"{OFFICE}.presentationml.slideshow."),
        ("a.potx", slides, f"{OFFICE}.presentationml.presentation.", f"{OFFICE}.presentationml.template."),
    ],
)
def test_templates_shows_and_files_with_macros(name: str, make: Callable[[], bytes], usual: str, kind: str) -> None:
    """They hold the same text as the usual form."""
    data = rewritten(make(), lambda part, body: (part, body.replace(f"{usual}main".encode(), f"{kind}main".encode())))
    assert kind.encode() in zipfile.ZipFile(io.BytesIO(data)).read("[Content_Types].xml") and said(data, name)


@pytest.mark.parametrize(("name", "make"), [("a.docx", word), ("a.xlsx", excel), ("a.pptx", slides)])
def test_the_strict_form_and_other_names_of_parts(name: str, make: Callable[[], bytes]) -> None:
    """A file saved as Strict Open XML, with backslashes, or with a numbered main part, is read like any other."""

    def strict(part: str, body: bytes) -> tuple[str, bytes]:
        for room in (b"officeDocument", b"wordprocessingml", b"spreadsheetml", b"presentationml", b"drawingml"):
            body = body.replace(
                b"http://schemas.openxmlformats.org/%s/2006/" % room, b"http://purl.oclc.org/ooxml/%s/" % room
            )
        return part, body

    def numbered(part: str, body: bytes) -> tuple[str, bytes]:
        for main in ("document", "workbook", "presentation"):
            part, body = (
                part.replace(f"{main}.xml", f"{main}2.xml"),
                body.replace(f"{main}.xml".encode(), f"{main}2.xml".encode()),
            )
        return part, body

    assert said(rewritten(make(), strict), name)
    assert said(rewritten(make(), lambda part, body: (part.replace("/", "\\"), body)), name)
    assert said(rewritten(make(), numbered), name)


def test_what_was_struck_or_deleted_is_not_said() -> None:
    """Struck words, and rows that a tracked change deleted, are no text."""
    document = docx.Document()
    paragraph = document.add_paragraph("It costs ")
    paragraph.add_run("forty ").font.strike = True
    paragraph.add_run("fifty ").font.double_strike = True
    paragraph.add_run("sixty coins.")
    grid = document.add_table(3, 2)
    for row in range(3):
        grid.cell(row, 0).text, grid.cell(row, 1).text = f"a{row}", f"b{row}"
    grid.rows[1]._tr.get_or_add_trPr().append(parse_xml(f'<w:del {W} w:id="9"/>'))
    found = document_of(saved(document), ReadJob("a" * 12, "", "raw_sources/a.docx")).parts
    assert [part.text for part in found] == ["It costs sixty coins.", "| a0 | b0 |\n| --- | --- |\n| a2 | b2 |"]
