"""Pages that stand in no category yet, in bundles that belong together, and who says where each bundle goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tasks.navigation.index_page import REST, Entry
from tasks.pages.slugs import fold

MOST_BUNDLES = 100
"""Bundles that are put to a grouper at once; what is beyond waits for another time, or goes by its words."""

SMALLEST = 2
"""Pages that make a new category."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """Pages that share a tag or mean alike, or one page alone."""

    pages: tuple[Entry, ...]
    hint: str = ""  # the name that their words give them


class Grouper(Protocol):
    """Knows where bundles of pages belong."""

    def group(self, bundles: Sequence[Bundle], standing: Mapping[str, Sequence[str]]) -> Sequence[str]:
        """The category of each bundle in their order: one that stands, or a new one; '' where none fits.

        `standing` holds the titles of the pages in each category that stands. Raises ModelError.
        """
        ...


def place(
    grouper: Grouper, bundles: Sequence[Bundle], groups: Mapping[str, Sequence[Entry]]
) -> tuple[Mapping[str, tuple[Entry, ...]], tuple[Entry, ...]]:
    """What each category gains, by name, and the pages that found none.

    A bundle without an answer goes by its hint. A new category of a single page is none.
    """
    known = {fold(name): name for name in groups}
    named = grouper.group(bundles, {name: [entry.title for entry in members] for name, members in groups.items()})
    gained: dict[str, tuple[Entry, ...]] = {}
    left: list[Entry] = []
    for bundle, answer in zip(bundles, named, strict=True):
        name = answer or (bundle.hint if len(bundle.pages) >= SMALLEST else "")
        if not name or fold(name) == fold(REST):
            left += bundle.pages
            continue
        name = known.setdefault(fold(name), name)
        gained[name] = (*gained.get(name, ()), *bundle.pages)
    small = [name for name, pages in gained.items() if name not in groups and len(pages) < SMALLEST]
    left += [entry for name in small for entry in gained.pop(name)]
    return gained, tuple(left)
