"""What a check is, what it finds, and how what it found can be put right."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tasks.lint.desk import Desk
from tasks.records import Finding
from tasks.text_bytes import shown

ERROR, WARNING = "error", "warning"
BY_FIX = "nightwiki lint --fix"


@dataclass(frozen=True, slots=True)
class Repair:
    """A piece of a page's text to be replaced; it lies in a block that the pipeline owns."""

    page_id: str
    start: int  # character offsets in the page's text
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Issue:
    """A finding, with its repair when one is safe."""

    finding: Finding
    repair: Repair | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """A rule: its name, how grave a breach is, and what it asks."""

    name: str
    severity: str  # error | warning
    sentence: str
    find: Callable[[Desk], Iterable[Issue]]

    def issue(self, page: str, line: int, message: str, fix: str, repair: Repair | None = None) -> Issue:
        """An issue of this check; `page` is a vault path, `line` counts from 1, 0 is the whole file."""
        return Issue(Finding(self.name, self.severity, page, line, shown(message), shown(fix)), repair)
