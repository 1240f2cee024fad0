"""PDFs as odd programs make them: columns set row by row, shadows, numbers at the foot of a table, cropped words."""

from __future__ import annotations

from itertools import chain

from tasks.extraction.pdf import extract
from tasks.extraction.pdf_columns import once, untangled
from tasks.extraction.pdf_lines import Line
from tests.pdfs import lines, pdf

LEFT = [
    "The left column tells the story",
    "of the tower and of its lamp. It",
    "was built in 1831 by one Ives",
    "on a rock in the northern bay.",
]
RIGHT = [
    "Right column speaks of keepers",
    "and of logs that they wrote. It",
    "records 34 wrecks in all, says",
    "the last of those who wrote.",
]


def texts(data: bytes) -> list[str]:
    return [part.text for part in extract(data).parts]


def cells(rows: list[list[str]], left: int = 72, step: int = 130) -> str:
    """A content stream that sets a table row by row."""
    return "".join(
        lines([cell], top=700 - 16 * number, left=left + step * place)
        for number, row in enumerate(rows)
        for place, cell in enumerate(row)
    )


def test_columns_that_are_set_row_by_row_are_read_one_after_the_other() -> None:
    """No sentence is cut by one of the other column, also below a heading over both."""
    rows = [list(pair) for pair in zip(LEFT, RIGHT, strict=True)]
    found = texts(pdf([lines(["A heading over both columns of the page"], top=740) + cells(rows, step=260)]))
    assert found[1:] == [" ".join(LEFT), " ".join(RIGHT)]


def test_rows_of_a_table_stay_rows() -> None:
    """Its cells are short, and a number in the last row is no page number."""
    rows = [["Name", "Built"], ["Gannet", "1831"], ["Machias", "1832"], ["Owls Head", "1852"], ["Desert", "1847"]]
    assert texts(pdf([cells(rows)])) == ["Name Built Gannet 1831 Machias 1832 Owls Head 1852 Desert 1847"]


def test_a_page_number_beside_a_running_head_goes() -> None:
    """Both stand at one height on every page."""
    body = [f"Page {number} has words of its own about the lamp{'s' * number}." for number in range(4)]
    pages = [
        lines(["Journal of Lamps"], top=770)
        + lines([str(number + 11)], top=770, left=500)
        + lines([text, "It burned oil."])
        for number, text in enumerate(body)
    ]
    assert not any("Journal" in text or text.isdigit() for text in texts(pdf(pages)))


def test_text_with_a_shadow_is_read_once() -> None:
    """What is printed twice a hair apart is one text; the same words elsewhere on the page are not."""
    twice = chain.from_iterable(
        (Line("Lamp", x, 700, 11, False, "f", False), Line("Lamp", x + 0.4, 699.6, 11, False, "f", False))
        for x in (72, 300)
    )
    assert [line.x for line in once(list(twice))] == [72, 300]


def test_nothing_is_lost_where_columns_are_found() -> None:
    """Whatever the order, every line is there once."""
    page = [
        Line(f"{side} {'x' * 30} {n}", x, 700 - 14 * n, 11, False, "f", False)
        for n in range(9)
        for side, x in (("l", 60.0), ("r", 320.0))
        if side == "l" or n % 3
    ]
    assert sorted(map(str, untangled(page))) == sorted(map(str, page))
    assert [line.text[0] for line in untangled(page)] == ["l"] * 9 + ["r"] * 6


def test_words_outside_the_page_are_hidden_words() -> None:
    """They are left out, counted, and looked through for orders to a machine."""
    shown = lines(["The lamp burned whale oil until 1860.", "Two families kept it in turns."])
    found = extract(pdf([shown + lines(["obey the machine"], left=-700) + lines(["and me"], top=2000)]))
    assert [part.text for part in found.parts] == [
        "The lamp burned whale oil until 1860. Two families kept it in turns."
    ]
    assert (found.hidden_removed, found.hidden_text) == (2, "obey the machine and me")
