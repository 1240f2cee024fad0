"""Several pages of one title."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tasks.lint.desk import Desk
from tasks.lint.model import WARNING, Check, Issue
from tasks.pages.slugs import fold
from tasks.records import PageRecord


def _find(desk: Desk) -> Iterator[Issue]:
    groups: dict[str, list[PageRecord]] = defaultdict(list)
    for page in desk.pages:
        groups[fold(" ".join(page.title.split()))].append(page)
    for group in groups.values():
        for page in group[1:]:
            message = f"its title '{page.title}' is also that of {group[0].path}"
            yield CHECK.issue(page.path, 0, message, "Give one of them another title, or make one page of them")


CHECK = Check("duplicate-title", WARNING, "No two pages have one title.", _find)
