"""The state of sources while a run gathers them: records as they stand now, and the jobs of reading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

from flows.session import Session, parse_moment
from flows.time_limit import LATER, SPENT
from tasks.digest import Cost, Problem
from tasks.fetching.fetch import next_try
from tasks.reading.read_source import ReadJob
from tasks.records import GOOD, TRANSIENT, Found, Outcome, SourceKind, SourceRecord
from tasks.sources.addresses import source_id

FILES = frozenset({SourceKind.FILE, SourceKind.CLIP})
KEPT_BACK = frozenset({Outcome.WITHDRAWN})
SETTLED = frozenset({Outcome.OK, Outcome.UNDONE})
"""Outcomes of sources that are read again only when their bytes change."""

RETRY = timedelta(days=7)
"""Until an address that failed for good is asked again; doubled with each failure, up to eight weeks."""


@dataclass(slots=True)
class Gathering:
    """What is known of the sources while they are gathered; lives within one run."""

    now: str
    records: dict[str, SourceRecord]
    before: Mapping[str, SourceRecord]
    jobs: list[ReadJob] = field(default_factory=list)
    touched: set[str] = field(default_factory=set)  # their outcome was decided in this run
    left: set[str] = field(default_factory=set)  # their claims leave the pages
    moved: set[str] = field(default_factory=set)  # they are cited at a new place
    problems: list[Problem] = field(default_factory=list)
    limited: bool = False  # the run is over some sources only
    cost: Cost = field(default_factory=Cost)  # of the language model

    def settle(self, record: SourceRecord, outcome: Outcome, reason: str = "", next_step: str = "") -> None:
        """Note what became of a source in this run, and when it is tried again if it could not be used."""
        failures = 0 if outcome in GOOD else record.failures + 1
        self.records[record.id] = replace(
            record,
            outcome=outcome,
            reason=reason,
            next_step=next_step,
            failures=failures,
            retry_at=self._retry_at(record.kind, outcome, failures),
        )
        self.touched.add(record.id)

    def put_off(self, record: SourceRecord) -> None:
        """Leave a source to the next run, as if it had not been looked at in this one, for the time is used up."""
        was = self.before.get(record.id, replace(record, content_hash="", etag="", last_modified=""))
        self.settle(was, Outcome.DEFERRED_BUDGET, SPENT, LATER)
        self.records[record.id] = replace(self.records[record.id], failures=was.failures, retry_at=self.now)

    def _retry_at(self, kind: SourceKind, outcome: Outcome, failures: int) -> str:
        """Passing failures soon, then later and later; addresses that failed for good after weeks; files on change."""
        if outcome in TRANSIENT:
            due = next_try(parse_moment(self.now), failures)
        elif outcome in GOOD or kind in FILES:
            return ""
        else:
            due = parse_moment(self.now) + RETRY * min(8, 2 ** (failures - 1))
        return due.strftime("%Y-%m-%dT%H:%M:%SZ")


def new_record(one: Found, now: str) -> SourceRecord:
    """The record of a source that is seen for the first time, before it is read."""
    return SourceRecord(
        source_id(one.location),
        one.kind,
        one.location,
        Outcome.UNCHANGED,
        title=one.title,
        first_seen=now,
        listed_in=one.listed_in,
        url=one.url,
    )


def read_job(
    session: Session, record: SourceRecord, path: str, content_type: str = "", url: str = "", file_name: str = ""
) -> ReadJob:
    """What a reading process needs to know of a source; `path` leads to its bytes."""
    in_place = record.kind in FILES
    return ReadJob(
        source_id=record.id,
        path=path,
        name=record.location,
        content_type=content_type,
        url=url or record.url,
        target=record.location if in_place else "",
        evidence_folder=session.wiki.evidence_dir,
        evidence=record.evidence,
        fetched=session.now,
        title=record.title,
        file_name=file_name,
        clip=record.kind is SourceKind.CLIP,
    )
