"""Which rows of index.md were made: those that say of a page what a version of it says. All others are a person's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from config.errors import StateError
from storage.reader import Reader
from tasks.navigation import index_page
from tasks.navigation.index_page import REST, Entry
from tasks.navigation.scaffold import summary
from tasks.pages.slugs import fold
from tasks.records import PageRecord


def entry_of(page: PageRecord) -> Entry:
    """What the index says of a page."""
    return Entry(page.slug, page.title, summary(page.markdown), page.tags)


class MadeRows:
    """Tells rows of the index that were made. Former versions are looked up in the kept snapshots, when one is needed.

    A row is told by what it says; its link may have been led to a page's present name since.
    """

    def __init__(self, reader: Reader, pages: Iterable[PageRecord]) -> None:
        self._reader = reader
        self._pages = tuple(pages)
        self._ids: dict[str, set[str]] = defaultdict(set)
        self._known: dict[str, list[Entry]] = {}
        for page in self._pages:
            for name in (page.slug, *page.former_slugs):
                self._ids[fold(name)].add(page.id)
        self._by_id = {page.id: page for page in self._pages}
        self._headings: frozenset[str] | None = None
        self._told: dict[str, bool] = {}

    def __call__(self, row: str) -> bool:
        if row not in self._told:
            self._told[row] = self._is_made(row)
        return self._told[row]

    def _is_made(self, row: str) -> bool:
        if heading := index_page.category(row):
            return heading == REST or heading in self._tag_headings()
        if not index_page.shaped(row):
            return False
        stem, said = index_page.target(row), row.rstrip()
        return any(index_page.line(replace(one, stem=stem)) == said for one in self._versions(fold(stem)))

    def _versions(self, stem: str) -> Iterator[Entry]:
        ids = sorted(self._ids.get(stem, ()))
        for name in ids:
            yield entry_of(self._by_id[name])
        if stem not in self._known:
            self._known[stem] = [*self._former(stem, ids)]
        yield from self._known[stem]

    def _former(self, stem: str, ids: Sequence[str]) -> Iterator[Entry]:
        """A page's versions in the kept snapshots, newest first; of a name that no page has now, those that had it."""
        seen: set[str] = set()
        for manifest in reversed(self._reader.history()):
            try:
                snapshot = self._reader.at(manifest.id)
                named = () if ids else snapshot.table("pages", ["id", "slug"]).to_pylist()
                wanted = ids or [row["id"] for row in named if fold(row["slug"]) == stem]
                rows = snapshot.rows("pages", wanted) if wanted else ()
            except StateError:
                continue
            for row in rows:
                if isinstance(row, PageRecord) and row.file_hash not in seen:
                    seen.add(row.file_hash)
                    yield entry_of(row)

    def _tag_headings(self) -> frozenset[str]:
        if self._headings is None:
            self._headings = frozenset(index_page.heading(tag) for page in self._pages for tag in page.tags)
        return self._headings
