"""Links to pages that do not exist."""

from __future__ import annotations

from collections.abc import Iterator

from tasks.lint.desk import Desk
from tasks.lint.model import BY_FIX, ERROR, Check, Issue
from tasks.lint.repair import unlinked


def _find(desk: Desk) -> Iterator[Issue]:
    for path, seen in desk.trouble("dead-page"):
        day = desk.deleted_on(seen.link.target)
        why = f"that page was deleted on {day}" if day else "there is no such page"
        repair = unlinked(desk, path, seen.link)
        fix = BY_FIX if repair else "Link to another page, write this one, or take the brackets off"
        yield CHECK.issue(path, seen.link.line, f"[[{seen.link.target}]] leads nowhere: {why}", fix, repair)


CHECK = Check("dead-link", ERROR, "Every link to a page leads to one.", _find)
