"""The search index of a commit, begun before its files are written."""

from pathlib import Path
from typing import Any

import pytest

from storage.index_ahead import IndexAhead
from storage.index_files import open_index
from storage.search_index import build_index, page_entry
from storage.tables import TABLES, to_table
from tasks.many import here
from tasks.records import Chunk, ChunksRecord, Citation, PageRecord

PAGES = [
    PageRecord(
        f"id{number}", f"wiki/{number}.md", f"{number}", f"Machine {number}", False, f"hash{number}",
        f"---\ntitle: Machine {number}\n---\n\n# Machine {number}\n\nIt adds {number} relays.[^nw-1]\n",
        aliases=(f"M{number}",), tags=("machine",), sources=("s",),
        citations=(Citation("s", "evidence/s.md", "^p1", "It adds", "nw-1"),),
    )
    for number in range(30)
]  # fmt: skip
CHUNKS = [ChunksRecord(f"s{number}", (Chunk(0, ("Top",), f"Drum {number}", "^p1"),)) for number in range(20)]


class Tables:
    """A snapshot's tables in memory."""

    def __init__(self, pages: list[PageRecord], chunks: list[ChunksRecord]) -> None:
        self.rows = {"pages": pages, "chunks": chunks, "embeddings": []}

    def table(self, name: str, columns: Any = None) -> Any:
        return to_table(self.rows[name], TABLES[name]).select(columns)

    def some(self, name: str, ids: frozenset[str], columns: Any) -> Any:
        return to_table([row for row in self.rows[name] if row.id in ids], TABLES[name]).select(columns)


class Counting:
    """Counts here, and remembers how many rows it was given."""

    def __init__(self) -> None:
        self.rows = 0

    def __call__(self, function: Any, common: Any, items: Any) -> Any:
        self.rows += len(items)
        return here(function, common, items)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture
def plain(tmp_path: Path) -> dict[str, bytes]:
    (tmp_path / "plain").mkdir()
    build_index(Tables(PAGES, CHUNKS), {}, None, tmp_path / "plain")
    return files(tmp_path / "plain")


def test_what_was_begun_is_not_counted_again(tmp_path: Path, plain: dict[str, bytes]) -> None:
    """Rows that are published as foreseen are counted once, and the index is the same byte for byte."""
    counting = Counting()
    out = tmp_path / "ahead"
    out.mkdir()
    with IndexAhead(counting, few=1) as ahead:
        ahead.begin(PAGES, CHUNKS)
        ahead.build(Tables(PAGES, CHUNKS), {}, None, out)
    assert (counting.rows, files(out)) == (len(PAGES) + len(CHUNKS), plain)


def test_rows_that_turn_out_otherwise_are_counted_anew(tmp_path: Path) -> None:
    """A page that was refused, and so kept its former text, is in the index with that text."""
    old = [PageRecord("id0", "wiki/0.md", "0", "Abacus", False, "h", "# Abacus\n\nBeads.\n"), *PAGES[1:]]
    for name in ("ahead", "plain"):
        (tmp_path / name).mkdir()
    with IndexAhead(Counting(), few=1) as ahead:
        ahead.begin(PAGES, CHUNKS)
        ahead.build(Tables(old, CHUNKS), {}, None, tmp_path / "ahead")
    build_index(Tables(old, CHUNKS), {}, None, tmp_path / "plain")
    assert files(tmp_path / "ahead") == files(tmp_path / "plain")
    assert open_index(tmp_path / "ahead").page_ids.all()[0] == b"id0"


def test_an_error_in_the_background_is_met_where_it_can_be_told(tmp_path: Path) -> None:
    """What fails ahead is tried again while the index is built."""

    def failing(function: Any, common: Any, items: Any) -> Any:
        if function is page_entry:
            raise ValueError("no")
        return here(function, common, items)

    with IndexAhead(failing, few=1) as ahead:
        ahead.begin(PAGES, CHUNKS)
        with pytest.raises(ValueError, match="no"):
            ahead.build(Tables(PAGES, CHUNKS), {}, None, tmp_path)


def test_nothing_is_begun_after_the_end() -> None:
    """Left behind, it counts nothing in the background any more."""
    counting = Counting()
    with IndexAhead(counting, few=1) as ahead:
        pass
    ahead.begin(PAGES, CHUNKS)
    assert counting.rows == 0
