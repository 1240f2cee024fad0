"""Office files as other programs write them: parts missing, boxes, moved text, formulas, cells far out."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import parse_xml

from config.errors import SourceError
from tasks.extraction.office import extract
from tasks.extraction.sniff import sniff
from tasks.records import BlockKind, Outcome

_NAMES = " ".join(
    f'xmlns:{short}="http://schemas.{rest}"'
    for short, rest in (
        ("w", "openxmlformats.org/wordprocessingml/2006/main"),
        ("m", "openxmlformats.org/officeDocument/2006/math"),
        ("mc", "openxmlformats.org/markup-compatibility/2006"),
        ("wps", "microsoft.com/office/word/2010/wordprocessingShape"),
    )
)
_DANGLING = b'<Relationship Id="rId99" Type="http://x/image" Target="%s"/></Relationships>'


def saved(document: Any) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def word(*paragraphs: str) -> bytes:
    """A Word file of paragraphs given as what stands inside `w:p`."""
    document = docx.Document()
    for inner in paragraphs:
        document.element.body.insert(-1, parse_xml(f"<w:p {_NAMES}>{inner}</w:p>"))
    return saved(document)


def run(text: str) -> str:
    return f"<w:r><w:t xml:space='preserve'>{text}</w:t></w:r>"


def rewritten(data: bytes, without: str = "", change: Callable[[str, bytes], bytes] = lambda name, part: part) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(out, "w") as target:
        for name in archive.namelist():
            if name != without:
                target.writestr(name, change(name, archive.read(name)))
    return out.getvalue()


def texts(data: bytes, kind: str = "docx") -> list[str]:
    return [part.text for part in extract(kind, data).parts]


@pytest.mark.parametrize("part", ["docProps/core.xml", "word/styles.xml", "word/theme/theme1.xml"])
def test_a_missing_part_costs_only_itself(part: str) -> None:
    """Word opens such files, and their words are read."""
    found = extract("docx", rewritten(word(run("The lamp burned oil.")), without=part))
    assert [part.text for part in found.parts] == ["The lamp burned oil."] and found.title == ""


@pytest.mark.parametrize("target", [b"media/none.png", b"../NULL", b"/word/none.xml"])
def test_a_reference_to_nothing_is_passed_over(target: bytes) -> None:
    """Programs leave references to pictures that they did not write."""

    def change(name: str, part: bytes) -> bytes:
        at = name == "word/_rels/document.xml.rels"
        return part.replace(b"</Relationships>", _DANGLING % target) if at else part

    assert texts(rewritten(word(run("The lamp burned oil.")), change=change)) == ["The lamp burned oil."]


@pytest.mark.parametrize("part", ["word/document.xml", "docProps/core.xml"])
def test_entities_declared_far_into_a_part_are_refused(part: str) -> None:
    """A long comment does not hide them from the check."""
    late = b"<!--" + b"x" * 9000 + b'--><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hosts">]>'

    def change(name: str, data: bytes) -> bytes:
        return data.replace(b"?>", b"?>" + late, 1) if name == part else data

    with pytest.raises(SourceError) as caught:
        extract("docx", rewritten(word(run("x")), change=change))
    assert caught.value.outcome == Outcome.REFUSED


def test_words_in_boxes_stand_apart_and_once() -> None:
    """Word keeps a text box twice, for old versions; its words are no part of the sentence it hangs on."""
    box = f"<w:txbxContent><w:p>{run('In the box.')}</w:p></w:txbxContent>"
    drawn = f"<mc:Choice Requires='wps'><wps:txbx>{box}</wps:txbx></mc:Choice><mc:Fallback>{box}</mc:Fallback>"
    data = word(run("Beside the box.") + f"<w:r><mc:AlternateContent>{drawn}</mc:AlternateContent></w:r>")
    assert texts(data) == ["Beside the box.", "In the box."]


def test_moved_text_stands_where_it_was_moved_to() -> None:
    """A tracked move shows the words once."""
    moved = f"<w:moveFrom w:id='1'>{run('Old place. ')}</w:moveFrom><w:moveTo w:id='2'>{run('New place.')}</w:moveTo>"
    assert texts(word(moved)) == ["New place."]


def test_formulas_and_raised_digits_keep_their_sense() -> None:
    """`10⁵` is not 105, and a sentence keeps its formula."""
    raised = "<w:r><w:rPr><w:vertAlign w:val='superscript'/></w:rPr><w:t>{}</w:t></w:r>"
    half = "<m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f>"
    assert texts(
        word(
            run("About 10") + raised.format("5") + run(" on the 4") + raised.format("th") + run(" day."),
            run("The mean is ") + f"<m:oMath>{half}</m:oMath>" + run(" of both."),
        )
    ) == ["About 10⁵ on the 4th day.", "The mean is (a+b)/2 of both."]


def test_columns_stay_under_merged_cells_and_tables_in_tables() -> None:
    """A cell over two columns takes two; a table inside a cell is that cell's words, once."""
    document = docx.Document()
    grid = document.add_table(2, 3)
    for number in range(6):
        grid.cell(number // 3, number % 3).text = f"c{number}"
    grid.cell(0, 0).merge(grid.cell(0, 1))
    grid.cell(1, 2).add_table(1, 2).cell(0, 1).text = "inner"
    assert texts(saved(document)) == ["| c0 c1 |  | c2 |\n| --- | --- | --- |\n| c3 | c4 | c5 inner |"]


def test_hidden_slides_are_left_out_and_named() -> None:
    """As with hidden sheets, what the audience does not see is no source."""
    deck = pptx.Presentation()
    for title in ("Shown", "Not shown"):
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        slide.shapes.title.text = title
    slide._element.set("show", "0")
    found = extract("pptx", saved(deck))
    assert [part.text for part in found.parts] == ["Shown"]
    assert found.notes == ("slide 2 is hidden and was not read",)


def test_a_cell_far_out_costs_nothing() -> None:
    """A stray cell in Excel's last row and column does not make a sheet of 17 thousand million cells."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for row in (("Lamp", "Built"), ("Gannet", 123456789012345.0)):
        sheet.append(row)
    sheet["XFD1048576"] = "stray"
    found = extract("xlsx", saved(book))
    assert found.parts[1].kind is BlockKind.TABLE and "| Gannet | 123456789012345 |" in found.parts[1].text
    assert found.notes == ("sheet 'Sheet' was read to its row 200000",)


def test_gzip_of_several_pieces_is_read_whole() -> None:
    """Log writers add pieces to one file; and of one that is cut off nothing is taken for the whole."""
    whole = gzip.compress(b"One. ") + gzip.compress(b"Two.")
    assert sniff(whole, "a.txt.gz").text == "One. Two."
    with pytest.raises(SourceError) as caught:
        sniff(whole[:-12], "a.txt.gz")
    assert caught.value.outcome == Outcome.UNREADABLE and "cut off" in caught.value.cause
