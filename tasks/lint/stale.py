"""Pages whose source has changed or gone since they were written."""

from __future__ import annotations

from collections.abc import Iterator

from tasks.lint.desk import Desk
from tasks.lint.model import WARNING, Check, Issue
from tasks.records import Outcome


def _find(desk: Desk) -> Iterator[Issue]:
    for page in desk.pages:
        for source_id in page.sources:
            source = desk.material.sources.get(source_id)
            if source is None:
                continue
            file = "" if "://" in source.location else source.location
            away = bool(file) and file not in desk.material.files
            if source.outcome is Outcome.GONE or away:
                yield CHECK.issue(page.path, 0, f"its source {source.location} is gone",
                                  "The next night takes what it said off the page, or bring the source back")
            elif source_id in desk.material.changed_sources:
                yield CHECK.issue(page.path, 0, f"its source {source.location} has changed since it was read",
                                  "nightwiki ingest")
        if page.status == "stale":
            yield CHECK.issue(page.path, 0, "it is marked as stale", "Bring it up to date, or set status: archived")


CHECK = Check("stale", WARNING, "What a page says is what its sources say now.", _find)
