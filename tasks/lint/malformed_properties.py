"""Property blocks that are not sound YAML."""

from __future__ import annotations

from collections.abc import Iterator

from tasks.lint.desk import Desk
from tasks.lint.model import ERROR, Check, Issue


def _find(desk: Desk) -> Iterator[Issue]:
    for page in desk.pages:
        if page.markdown.lstrip("\ufeff")[:3] != "---":
            continue
        found = desk.properties(page)
        if found.problem:
            yield CHECK.issue(page.path, found.line, found.problem, "Correct this line in source mode")


CHECK = Check("malformed-properties", ERROR, "A page's properties are sound YAML, each key once.", _find)
