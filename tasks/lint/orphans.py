"""Pages that no other page links to."""

from __future__ import annotations

from collections.abc import Iterator

from tasks.lint.desk import Desk
from tasks.lint.model import WARNING, Check, Issue

_GENERATED = "sources"
"""The property that lists what a page was made of; being named there is no link from a reader's page."""


def _find(desk: Desk) -> Iterator[Issue]:
    linked: set[str] = set()
    for path, seen in desk.seen.items():
        if path not in desk.by_path:
            continue  # the index lists every page, which says nothing
        for one in seen:
            own = one.to.path == path
            if one.to.path and not own and not (
                one.link.property and desk.property_of(path, one.link) == _GENERATED
            ):
                linked.add(one.to.path)
    for page in desk.pages:
        if page.path not in linked and page.status != "archived":
            yield CHECK.issue(page.path, 0, "no other page links to it", "Link to it from a page about its subject")


CHECK = Check("orphan", WARNING, "Another page links to it; the index and `sources` do not count.", _find)
