"""Links by an alias that several pages claim."""

from __future__ import annotations

from collections.abc import Iterator

from tasks.lint.desk import Desk
from tasks.lint.model import ERROR, Check, Issue
from tasks.markdown import links
from tasks.pages.pages import stem_of


def _find(desk: Desk) -> Iterator[Issue]:
    for path, seen in desk.trouble("ambiguous"):
        label = seen.link.label or seen.link.target
        choices = " or ".join(links.wikilink(stem_of(one), label) for one in sorted(seen.to.candidates))
        message = f"[[{seen.link.target}]] is ambiguous: {len(seen.to.candidates)} pages have this alias"
        yield CHECK.issue(path, seen.link.line, message, f"Write {choices}")


CHECK = Check("ambiguous-link", ERROR, "A link means one page.", _find)
