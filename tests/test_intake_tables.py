"""Separated tables and shortcuts as office programs and desktops write them."""

from __future__ import annotations

import pytest

from config.errors import SourceError
from tasks.extraction.sniff import sniff
from tasks.extraction.text import extract_csv
from tasks.records import Outcome


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ('name;built\n"a;b";"two\nlines"\n', "| name | built |\n| --- | --- |\n| a;b | two lines |"),
        ("a,b,c\n1\n1,2,3,4\n", "| a | b | c |  |\n| --- | --- | --- | --- |\n| 1 |  |  |  |\n| 1 | 2 | 3 | 4 |"),
        ("sep=;\nname;tall\nGannet;28,5\n", "| name | tall |\n| --- | --- |\n| Gannet | 28,5 |"),
        ('"Last, first";year\n"Ives, A.";1831\n', "| Last, first | year |\n| --- | --- |\n| Ives, A. | 1831 |"),
    ],
    ids=["lines in cells", "short and long rows", "Excel's hint", "commas in quotes"],
)
def test_the_first_row_tells_what_parts_cells(text: str, table: str) -> None:
    """Marks inside quotes count for nothing, and a short row does not make a text of the table."""
    assert [part.text for part in extract_csv(text).parts] == [table]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[InternetShortcut]\r\nIconIndex=0\r\nURL=https://example.org/a\r\n", "lamp.url"),
        (
            '<?xml version="1.0"?>\n<plist version="1.0"><dict><key>URL</key><string>https://example.org/a</string>',
            "lamp.webloc",
        ),
    ],
)
def test_a_shortcut_says_where_its_address_belongs(text: str, name: str) -> None:
    """A link that was dragged into the folder is no text to read."""
    with pytest.raises(SourceError) as caught:
        sniff(text.encode(), name)
    assert caught.value.outcome == Outcome.UNSUPPORTED
    assert caught.value.next_step == "List https://example.org/a in sources.yaml."
