"""index.md and ROUTING.md after an undo: the former text, with the pages that stay listed and those that go struck."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from flows.made_rows import entry_of
from tasks.navigation import index_page, route
from tasks.pages.pages import stem_of
from tasks.records import PageRecord


def index(now: str, former: str | None, standing: Mapping[str, PageRecord], gone: Collection[str],
          back: Sequence[PageRecord], ours: index_page.Ours) -> str:
    """The index to write. `former` is its text before the runs that are taken back, None when that cannot be had.

    `standing` are live pages by slug, `gone` slugs of pages that go, `back` pages that come back. `ours` tells rows
    that no person wrote into.
    """
    wanted = set(_indexed(now)) & standing.keys()
    if former is None:
        wanted |= {page.slug for page in back}
    text = index_page.drop(now if former is None else former, sorted(set(gone) - standing.keys()), ours)
    missing = sorted(wanted - set(_indexed(text)))
    return index_page.add(text, [entry_of(standing[slug]) for slug in missing]) if missing else text


def routing(now: str, former: str | None, standing: Mapping[str, PageRecord], gone: Collection[str]) -> str:
    """As `index`, for the user's table of branches: a page that stays keeps its line in its branch."""
    text = route.remove(now if former is None else former, set(gone) - standing.keys())
    lines = now.splitlines()
    for branch in route.parse(now):
        for entry in branch.entries:
            stem = stem_of(entry.target)
            if stem in standing and stem not in _routed(text):
                text = route.place(text, branch.name, lines[entry.line - 1])
    return text


def _indexed(text: str) -> list[str]:
    rows = (row for row in index_page.parted(text).tail.splitlines() if row.startswith("- ["))
    return [name for row in rows if (name := index_page.target(row))]


def _routed(text: str) -> set[str]:
    return {stem_of(entry.target) for branch in route.parse(text) for entry in branch.entries}
