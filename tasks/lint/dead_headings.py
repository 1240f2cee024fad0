"""Links to a heading or a block that the page does not have."""

from __future__ import annotations

from collections.abc import Iterator

from tasks.lint.desk import Desk
from tasks.lint.model import ERROR, Check, Issue


def _find(desk: Desk) -> Iterator[Issue]:
    for path, seen in desk.trouble("dead-heading", "dead-block"):
        what = "heading" if seen.to.problem == "dead-heading" else "block"
        message = f"{seen.to.path} has no {what} '{seen.link.heading.lstrip('^')}'"
        yield CHECK.issue(path, seen.link.line, message, f"Name a {what} that is there, or link to the page")


CHECK = Check("dead-heading", ERROR, "A link to a heading or a block finds it.", _find)
