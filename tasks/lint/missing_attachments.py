"""Links and embeds of files that are not in the vault."""

from __future__ import annotations

from collections.abc import Iterator

from tasks.lint.desk import Desk
from tasks.lint.model import ERROR, Check, Issue


def _find(desk: Desk) -> Iterator[Issue]:
    for path, seen in desk.trouble("missing-attachment"):
        message = f"{seen.link.target} is a missing attachment"
        yield CHECK.issue(path, seen.link.line, message, "Put the file back, or take the link out")


CHECK = Check("missing-attachment", ERROR, "Every file that a page shows or links to is there.", _find)
