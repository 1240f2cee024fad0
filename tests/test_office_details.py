"""What people put into office files beside plain text: comments, fields left empty, signs, units, charts."""

from __future__ import annotations

import datetime
import io
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import parse_xml
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.opc.package import Part as Piece
from pptx.opc.packuri import PackURI

from config.errors import SourceError
from tasks.extraction.extracted import Extracted
from tasks.extraction.office import extract
from tasks.records import BlockKind, Outcome

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def read(kind: str, document: Any) -> Extracted:
    buffer = io.BytesIO()
    document.save(buffer)
    return extract(kind, buffer.getvalue())


def sheet(**cells: Any) -> Any:
    """A workbook of one sheet; a cell is a value, or a value and its format."""
    book = openpyxl.Workbook()
    for place, value in cells.items():
        cell = book.worksheets[0][place]
        cell.value, cell.number_format = value if isinstance(value, tuple) else (value, "General")
    return book


def test_comments_in_the_margin_are_quotations() -> None:
    """What a reader wrote beside the text is read, and is not the text."""
    document = docx.Document()
    document.add_comment(document.add_paragraph("It burns oil.").runs, text="Since when?", author="Ida")
    assert [(part.kind, part.text) for part in read("docx", document).parts] == [
        (BlockKind.PARAGRAPH, "It burns oil."),
        (BlockKind.QUOTE, "Since when?"),
    ]


def test_fields_left_empty_say_nothing() -> None:
    """Word's invitation to write is no text; what was written is."""
    document = docx.Document()
    for shows, words in (("<w:showingPlcHdr/>", "Click or tap here to enter text."), ("", "Karl Stein")):
        field = (
            f"<w:sdt {W}><w:sdtPr>{shows}</w:sdtPr><w:sdtContent><w:r><w:t>{words}</w:t></w:r></w:sdtContent></w:sdt>"
        )
        document.add_paragraph("Keeper: ")._p.append(parse_xml(field))
    assert [part.text for part in read("docx", document).parts] == ["Keeper:", "Keeper: Karl Stein"]


@pytest.mark.parametrize(
    "signs",
    [
        '<w:sym w:font="Symbol" w:char="F06D"/><w:t>m at 20 </w:t><w:sym w:font="Symbol" w:char="F0B0"/>',
        "<w:t>\uf06dm at 20 \uf0b0</w:t>",
    ],
    ids=["inserted", "typed"],
)
def test_signs_of_the_font_symbol(signs: str) -> None:
    """A micrometre is no metre."""
    document = docx.Document()
    document.add_paragraph("It is 5 ")._p.append(
        parse_xml(f'<w:r {W}>{signs}<w:sym w:font="Wingdings" w:char="F0FC"/></w:r>')
    )
    assert read("docx", document).parts[0].text == "It is 5 μm at 20 °"


def test_a_cell_over_several_rows_is_said_in_each() -> None:
    """A row can be quoted without the one above it."""
    document = docx.Document()
    grid = document.add_table(3, 2)
    for row, (name, height) in enumerate((("Lamp", "Height"), ("Fanal", "49"), ("", "50"))):
        grid.cell(row, 0).text, grid.cell(row, 1).text = name, height
    grid.cell(1, 0).merge(grid.cell(2, 0))
    assert read("docx", document).parts[0].text.split("\n")[2:] == ["| Fanal | 49 |", "| Fanal | 50 |"]


@pytest.mark.parametrize(
    ("value", "form", "shown"),
    [
        (0.125, "0.0%", "12.5%"),
        (1234.5, '#,##0.00 "€"', "1234.5 €"),
        (1234.5, "_-* #,##0.00\\ [$€-407]_-;-* x", "1234.5 €"),
        (-20, '"$"#,##0', "$-20"),
        (7, '0" km"', "7 km"),
        (12345, '0.0,"k"', "12345"),
        (5, "[Red]0;[Blue]-0", "5"),
        (datetime.timedelta(hours=30), "[h]:mm:ss", "30:00:00"),
        (datetime.date(1951, 3, 4), "yyyy-mm-dd", "1951-03-04"),
    ],
)
def test_numbers_keep_their_units(value: object, form: str, shown: str) -> None:
    """A share reads as per cent and a price in its currency, to the last digit."""
    assert read("xlsx", sheet(A1="Cost", B1=(value, form))).parts[1].text.split("\n")[0] == f"| Cost | {shown} |"


def test_formulas_that_nobody_counted_are_told() -> None:
    """A file by a program that does not count says so; one of nothing else is no empty file."""
    assert read("xlsx", sheet(A1="Sum", B1="=1+1")).notes[0].startswith("1 formula has no stored result")
    with pytest.raises(SourceError) as caught:
        read("xlsx", sheet(A1="=1+1", A2="=2+2"))
    assert caught.value.outcome == Outcome.NO_TEXT and "2 formulas have no stored result" in caught.value.cause


def test_a_sheet_with_nothing_but_a_chart() -> None:
    """It costs the other sheets nothing."""
    book = sheet(A1="Lamp", B1="Fanal")
    book.create_chartsheet("Chart")
    assert read("xlsx", book).parts[1].text.startswith("| Lamp | Fanal |")


def test_charts_are_tables_of_their_numbers() -> None:
    """A slide that shows numbers as columns says them."""
    deck = pptx.Presentation()
    data = CategoryChartData()
    data.categories = ["1851", "1852"]
    data.add_series("Litres", (40, 42.5))
    frame = deck.slides.add_slide(deck.slide_layouts[6]).shapes.add_chart(XL_CHART_TYPE.PIE, 0, 0, 900, 900, data)
    frame.chart.has_title = True
    frame.chart.chart_title.text_frame.text = "Oil"
    found = read("pptx", deck)
    assert [part.text for part in found.parts[1:]] == [
        "Oil",
        "|  | Litres |\n| --- | --- |\n| 1851 | 40 |\n| 1852 | 42.5 |",
    ]
    assert found.published == ""  # the day of the template is nobody's


@pytest.mark.parametrize("whole", [True, False])
def test_diagrams_are_lists_of_their_words(whole: bool) -> None:
    """The words of SmartArt are read; a broken drawing costs only itself."""
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Work"
    a, diagram = (f"http://schemas.openxmlformats.org/drawingml/2006/{name}" for name in ("main", "diagram"))
    points = "".join(f"<d:pt><d:t><a:p><a:r><a:t>{word}</a:t></a:r></a:p></d:t></d:pt>" for word in ("Trim", "Light"))
    xml = f'<d:dataModel xmlns:d="{diagram}" xmlns:a="{a}"><d:ptLst>{points}</d:ptLst></d:dataModel>'.encode()
    piece = Piece(PackURI("/ppt/diagrams/data1.xml"), "application/xml", deck.part.package, xml if whole else b"<")
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    link = slide.part.relate_to(piece, f"{office}/diagramData")
    frame = slide.shapes.add_table(1, 1, 0, 0, 9, 9)._element
    held = frame.graphic.graphicData
    held.remove(held[0])
    held.set("uri", diagram)
    held.append(parse_xml(f'<d:relIds xmlns:d="{diagram}" xmlns:r="{office}" r:dm="{link}"/>'))
    assert [part.text for part in read("pptx", deck).parts] == ["Work", "- Trim\n- Light"][: 1 + whole]
