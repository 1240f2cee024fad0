"""Pages that say nearly the same, by embedding and by their words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tasks.lint.desk import Desk
from tasks.lint.model import WARNING, Check, Issue
from tasks.markdown import plain
from tasks.records import PageRecord
from tasks.search.tokens import terms

SIMILAR = 0.92
"""Cosine of two pages' embeddings from which they are compared by their words."""

SHARED = 0.6
"""Share of the shorter page's terms that stand in the other one, too."""


def alike(
    pages: Mapping[str, PageRecord], similar: Sequence[tuple[str, str, float]]
) -> Iterator[tuple[PageRecord, PageRecord, float]]:
    """The pages of similar embeddings that share most of their words, by path, with the share; not those kept apart."""
    words: dict[str, frozenset[str]] = {}
    for one, other, _ in sorted(similar):
        if one not in pages or other not in pages:
            continue
        first, second = sorted((pages[one], pages[other]), key=lambda page: page.path)
        if second.id in first.apart or first.id in second.apart:
            continue
        for page in (first, second):
            if page.id not in words:
                words[page.id] = frozenset(terms(plain.plain(page.markdown)))
        smaller = min(len(words[first.id]), len(words[second.id]))
        share = len(words[first.id] & words[second.id]) / smaller if smaller else 0.0
        if share >= SHARED:
            yield first, second, share


def _find(desk: Desk) -> Iterator[Issue]:
    for first, second, share in alike(desk.by_id, desk.material.similar):
        message = f"it says nearly the same as {first.path} ({share:.0%} of the words are shared)"
        fix = "nightwiki lint --fix proposes one page of the two, where text of yours is not concerned"
        yield CHECK.issue(second.path, 0, message, fix)


CHECK = Check("near-duplicate", WARNING, "No two pages say nearly the same.", _find)
