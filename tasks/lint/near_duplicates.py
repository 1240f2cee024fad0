"""Pages that say nearly the same, by embedding and by their words."""

from __future__ import annotations

from collections.abc import Iterator

from tasks import plain
from tasks.lint.desk import Desk
from tasks.lint.model import WARNING, Check, Issue
from tasks.tokens import terms

SIMILAR = 0.92
"""Cosine of two pages' embeddings from which they are compared by their words."""

SHARED = 0.6
"""Share of the shorter page's terms that stand in the other one, too."""


def _find(desk: Desk) -> Iterator[Issue]:
    words: dict[str, frozenset[str]] = {}
    for one, other, _ in sorted(desk.material.similar):
        if one not in desk.by_id or other not in desk.by_id:
            continue
        first, second = sorted((desk.by_id[one], desk.by_id[other]), key=lambda page: page.path)
        for page in (first, second):
            if page.id not in words:
                words[page.id] = frozenset(terms(plain.plain(page.markdown)))
        smaller = min(len(words[first.id]), len(words[second.id]))
        share = len(words[first.id] & words[second.id]) / smaller if smaller else 0.0
        if share >= SHARED:
            message = f"it says nearly the same as {first.path} ({share:.0%} of the words are shared)"
            yield CHECK.issue(second.path, 0, message, "Make one page of them, and leave its name as an alias")


CHECK = Check("near-duplicate", WARNING, False, "No two pages say nearly the same.", _find)
