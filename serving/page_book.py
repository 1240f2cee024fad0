"""The pages of one snapshot, to be listed in order and found by slug, former slug, id or path."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from config.errors import GoneError, NotFoundError
from config.load import nearest
from serving.schemas.base import Cited
from serving.schemas.served import HeadingItem, PageAnswer, PageItem
from storage.search.hits import citations_in
from storage.search.opened import Opened
from tasks.pages.slugs import fold
from tasks.search.filters import Filters
from tasks.text_bytes import shown

_MOST_COMPARED = 500
"""Names that an unknown one is held against, for a hint."""
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$", re.MULTILINE)


@runtime_checkable
class _Tables(Protocol):
    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table: ...


@dataclass(frozen=True, slots=True)
class Found:
    """A page by its number in the index; `moved_from` is the former slug that led to it."""

    doc: int
    moved_from: str = ""


class PageBook:
    """One opened snapshot's pages. Made once a snapshot; safe for threads."""

    def __init__(self, wiki: str, opened: Opened) -> None:
        self.wiki = wiki
        self.opened = opened
        self._names: dict[str, Found] = {}
        self._deleted: dict[str, str] = {}
        docs = {entry.decode("utf-8", "replace"): doc for doc, entry in enumerate(opened.index.page_ids.all())}
        rows = self._rows()
        order = sorted((row["path"], docs[row["id"]]) for row in rows if row["id"] in docs)
        self._order = np.array([doc for _, doc in order], np.int64)
        for former in (False, True):  # a present name before a former one
            for row in rows:
                doc = docs.get(row["id"])
                names = row["former_slugs"] or () if former else (row["slug"], row["id"], row["path"])
                for name in map(_key, names):
                    if doc is not None:
                        self._names.setdefault(name, Found(doc, name if former else ""))
                    elif row["deleted"]:
                        self._deleted.setdefault(name, row["deleted"])

    def _rows(self) -> list[dict[str, Any]]:
        if not isinstance(self.opened.snapshot, _Tables):
            return []
        table = self.opened.snapshot.table("pages", ["id", "slug", "path", "former_slugs", "deleted"])
        rows: list[dict[str, Any]] = table.to_pylist()
        return sorted(rows, key=lambda row: str(row["path"]))

    def passing(self, filters: Filters) -> NDArray[np.int64]:
        """Numbers of the pages that the filters let through, by path."""
        mask = self.opened.mask(filters)
        return self._order if mask is None else self._order[mask[self._order]]

    def item(self, doc: int) -> PageItem:
        """One page as lists show it."""
        row = self._row(doc)
        return PageItem(
            wiki=self.wiki,
            tags=[shown(tag) for tag in row["tags"] or ()],
            **{name: shown(row[name] or "") for name in _TEXTS},
        )

    def find(self, name: str) -> Found:
        """The page of a slug, former slug, id or path. Raises NotFoundError, or GoneError for a deleted one."""
        found = self._names.get(_key(name))
        if found is not None:
            return found
        if when := self._deleted.get(_key(name)):
            raise GoneError(name, f"the page was deleted on {when[:10]}", "`nightwiki page history` shows its versions")
        near = [known for known in self._names if known[:2] == _key(name)[:2]][:_MOST_COMPARED]
        hint = nearest(name[:100], near)
        raise NotFoundError(name, "there is no such page", f"Did you mean '{hint}'?" if hint else "List or search them")

    def read(self, found: Found, section: str, offset: int, limit: int) -> PageAnswer:
        """A page's text, or one section of it, from `offset` on. Raises NotFoundError for an unknown section."""
        index, doc = self.opened.index, found.doc
        text = index.texts.text(doc)
        headings = self._headings(doc, text)
        start, stop, title = _section(text, headings, section)
        start = max(start, min(offset, stop)) if offset else start
        end = min(stop, start + limit)
        piece = text[start:end]
        return PageAnswer(
            snapshot=self.opened.snapshot.id,
            page=self.item(doc),
            moved_from=found.moved_from,
            page_hash=self._row(doc)["file_hash"],
            headings=headings,
            section=title,
            start=start,
            end=end,
            next_offset=end if end < stop else None,
            text=shown(piece),
            citations=[
                Cited(source=one.source, location=shown(one.location), place=shown(one.place), quote=shown(one.quote))
                for one in citations_in(index, doc, piece)
            ],
        )

    def _headings(self, doc: int, text: str) -> list[HeadingItem]:
        found = []
        for block in self.opened.index.page_blocks(doc).blocks:
            level, start = int(block["level"]), int(block["start"])
            match = _HEADING.match(text, start) if level else None
            if match:
                found.append(HeadingItem(level=level, title=shown(match[2]), start=start))
        return found

    def _row(self, doc: int) -> dict[str, Any]:
        row: dict[str, Any] = json.loads(self.opened.index.hits.text(doc))
        return row


_TEXTS: Collection[str] = ("id", "slug", "title", "path", "status", "confidence", "type", "branch", "updated")


def _section(text: str, headings: Sequence[HeadingItem], wanted: str) -> tuple[int, int, str]:
    """Start, end and title of the section below a heading; the whole page for none."""
    if not wanted:
        return 0, len(text), ""
    for number, heading in enumerate(headings):
        if fold(heading.title.strip()) == fold(wanted.lstrip("#").strip()):
            after = (one.start for one in headings[number + 1 :] if one.level <= heading.level)
            return heading.start, next(after, len(text)), heading.title
    hint = nearest(wanted, [one.title for one in headings])
    step = f"Did you mean '{hint}'?" if hint else "The answer without a section lists the headings"
    raise NotFoundError(wanted, "the page has no such heading", step)


def _key(name: str) -> str:
    """A name as it is compared: also one written as a link, as packs write it."""
    return fold(name.strip().removeprefix("[[").removesuffix("]]").strip().strip("/").removesuffix(".md"))
