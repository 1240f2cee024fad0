"""The search index's share of a commit, begun while the commit writes its files.

What the index keeps of a page or of a source's chunks follows from that row alone. So the rows that a commit is about
to publish are counted in other processes while this one waits for the disk; a row that turns out otherwise (its file
was refused) is counted as always.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

from storage.search_index import PAGE_COLUMNS, SnapshotTables, build_index, chunk_entries, page_entry
from tasks.many import Common, Item, Many, Result
from tasks.records import Chunk, ChunksRecord, Citation, PageRecord

FEW = 200  # rows that are counted sooner than a thread has helped
_SLICE = 512  # rows between two looks at whether the results are still wanted
_CITATION = tuple(Citation.__dataclass_fields__)
_CHUNK = tuple(Chunk.__dataclass_fields__)

Row = Mapping[str, Any]
_NOTHING: tuple[Row, Any] = ({}, None)


class IndexAhead:
    """Builds the search index, in part ahead. Use as a context manager: when it is left, nothing is under way."""

    def __init__(self, many: Many, few: int = FEW) -> None:
        self._many, self._few = many, few
        self._known: dict[Any, dict[str, tuple[Row, Any]]] = {}
        self._thread: Thread | None = None
        self._stop = Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._wait()
        self._known = {}

    def begin(self, pages: Sequence[PageRecord], chunks: Sequence[ChunksRecord]) -> None:
        """Count what these rows will add to the index, in the background; for few rows nothing is begun."""
        self._wait()
        self._known = {}
        if len(pages) + len(chunks) < self._few or self._stop.is_set():
            return
        work: list[tuple[Callable[[None, Row], Any], Callable[[Any], Row], Sequence[Any]]] = [
            (page_entry, _page_row, [page for page in pages if not page.deleted]),
            (chunk_entries, _chunks_row, [record for record in chunks if record.chunks]),
        ]
        self._thread = Thread(target=self._carry_out, args=(work,), name="index-ahead", daemon=True)
        self._thread.start()

    def build(
        self, tables: SnapshotTables, changed: Mapping[str, frozenset[str]], previous: Path | None, out: Path
    ) -> None:
        """As `build_index`, with what was begun."""
        try:
            build_index(tables, changed, previous, out, self._counted)
        finally:
            self._known = {}

    def _carry_out(
        self, work: Sequence[tuple[Callable[[None, Row], Any], Callable[[Any], Row], Sequence[Any]]]
    ) -> None:
        for function, row_of, records in work:
            known = self._known.setdefault(function, {})
            for start in range(0, len(records), _SLICE):
                if self._stop.is_set():
                    return
                some = [row_of(record) for record in records[start : start + _SLICE]]
                try:
                    made = self._many(function, None, some)
                except Exception:  # counted again where the error can be told
                    return
                known.update((row["id"], (row, entry)) for row, entry in zip(some, made, strict=True))

    def _counted(
        self, function: Callable[[Common, Item], Result], common: Common, items: Sequence[Item]
    ) -> list[Result]:
        """What was begun for items that are as they were foreseen, and the others' results."""
        self._wait()
        known = self._known.get(function, {})
        results: dict[int, Result] = {}
        for place, item in enumerate(items):
            row, entry = known.get(item["id"], _NOTHING)  # type: ignore[index]  # every item here is a row
            if row == item:
                results[place] = entry
        left = [place for place in range(len(items)) if place not in results]
        results.update(zip(left, self._many(function, common, [items[place] for place in left]), strict=True))
        return [results[place] for place in range(len(items))]

    def _wait(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()


def _page_row(page: PageRecord) -> Row:
    """A page as the snapshot's table gives it back."""
    row = {name: _plain(getattr(page, name)) for name in PAGE_COLUMNS}
    row["citations"] = [{name: getattr(one, name) for name in _CITATION} for one in page.citations]
    return row


def _chunks_row(record: ChunksRecord) -> Row:
    chunks = [{name: _plain(getattr(chunk, name)) for name in _CHUNK} for chunk in record.chunks]
    return {"id": record.id, "chunks": chunks}


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
