"""Wikilinks whose target can be no note: an address, a path out of the vault, a folder."""

from __future__ import annotations

from collections.abc import Iterator

from tasks.lint.desk import Desk
from tasks.lint.model import BY_FIX, ERROR, Check, Issue
from tasks.lint.repair import unlinked


def _find(desk: Desk) -> Iterator[Issue]:
    for path, seen in desk.trouble("not-a-page-name"):
        repair = unlinked(desk, path, seen.link)
        fix = BY_FIX if repair else "An address belongs into a Markdown link: [words](https://…)"
        yield CHECK.issue(path, seen.link.line, f"[[{seen.link.target}]] is not a page name", fix, repair)


CHECK = Check("not-a-page-name", ERROR, "The target of a wikilink could be a note.", _find)
