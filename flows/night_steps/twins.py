"""Addresses that lead to the same page: by a redirect, or because a server gives it under several.

Read once, it is one source. Read twice, its every sentence would seem to be said by two, and be believed more. Only
what could be read is compared: sites that are built by scripts give one and the same empty page for every address.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from tasks.records import Outcome, SourceKind, SourceRecord


def twins(
    records: Iterable[SourceRecord], before: Mapping[str, SourceRecord], read: Collection[str]
) -> dict[str, SourceRecord]:
    """Of the pages `read` in this run those that another source says already, each with that source.

    One that was a source of its own before stays one.
    """
    pages = [one for one in records if one.kind is SourceKind.WEB and one.outcome is Outcome.OK and not one.ignored]

    def known(one: SourceRecord) -> bool:
        return one.id not in read or (one.id in before and before[one.id].outcome is Outcome.OK)

    found: dict[str, SourceRecord] = {}
    holders: dict[str, SourceRecord] = {}
    for one in sorted(
        pages, key=lambda one: (not known(one), one.location != one.final_url, one.first_seen, one.location)
    ):
        marks = [mark for mark in (one.content_hash, one.final_url, one.location) if mark]
        holder = next((holders[mark] for mark in marks if mark in holders), None)
        if holder is not None and not known(one):
            found[one.id] = holder
        else:
            for mark in marks:
                holders.setdefault(mark, one)
    return found
