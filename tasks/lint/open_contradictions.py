"""Contradictions that nobody has decided on yet."""

from __future__ import annotations

from collections.abc import Iterator

from tasks.contradictions.page import BLOCK, open_shown
from tasks.lint.desk import Desk
from tasks.lint.model import WARNING, Check, Issue
from tasks.markdown.blocks import split
from tasks.markdown.properties import body_start


def _find(desk: Desk) -> Iterator[Issue]:
    for page, row in open_shown(desk.by_id, desk.material.contradictions):
        message = f"two of its sources contradict each other: {_short(row.old.quote)} and {_short(row.new.quote)}"
        fix = f"nightwiki contradictions resolve {row.id} keep-old, take-new or both; or dismiss {row.id}"
        yield CHECK.issue(page.path, _line(desk, page.id, row.id), message, fix)


def _line(desk: Desk, page_id: str, contradiction: str) -> int:
    """The line of the callout; 0 when a person took it out."""
    page = desk.by_id[page_id]
    start = body_start(page.markdown)
    for record, block in zip(page.blocks, split(page.markdown[start:]), strict=True):
        if record.id.startswith(BLOCK + contradiction):
            return page.markdown.count("\n", 0, start + block.start) + 1
    return 0


def _short(quote: str) -> str:
    words = " ".join(quote.split())
    return f'"{words if len(words) <= 90 else words[:89] + "…"}"'


CHECK = Check("open-contradiction", WARNING, "What two sources say of one thing agrees, or was decided.", _find)
