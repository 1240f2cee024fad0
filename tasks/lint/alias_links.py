"""Links that name a page by an alias alone: Obsidian would open a new, empty note."""

from __future__ import annotations

from collections.abc import Iterator

from tasks.lint.desk import Desk
from tasks.lint.model import ERROR, Check, Issue
from tasks.lint.repair import retargeted
from tasks.markdown import links
from tasks.pages.pages import stem_of


def _find(desk: Desk) -> Iterator[Issue]:
    for path, seen in desk.trouble("alias-only"):
        target = seen.link.target
        wanted = links.wikilink(stem_of(seen.to.candidates[0]), seen.link.label or target)
        message = f"[[{target}]] is alias-only, and would open an empty note in Obsidian"
        yield CHECK.issue(path, seen.link.line, message, f"Write {wanted}", retargeted(desk, path, seen))


CHECK = Check("alias-only-link", ERROR, "A link names a page's file, with an alias as its label.", _find)
