"""Sources, from what lies in the vault and its lists to what has to be read: collect, fetch, and sort out.

A source whose bytes did not change is not read again. A file that moved keeps its id; a second file with the same bytes
is a duplicate; a file that a person removed takes its claims with it; an address that is listed no longer is only no
longer fetched.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from flows.night_steps.fetching import Addresses
from flows.night_steps.gathering import FILES, Gathering, new_record, read_job
from flows.session import Session
from flows.steps import StepRunner
from tasks.digest import Problem
from tasks.fetching.fetch import Fetcher
from tasks.records import TRANSIENT, Found, Outcome, SourceKind, SourceRecord
from tasks.sources import collect as collecting
from tasks.sources.addresses import source_id
from tasks.sources.collect import Collected

log = logging.getLogger(__name__)


def gather(
    session: Session, runner: StepRunner, notes: Sequence[str], folder: Path, only: Sequence[str], force: bool
) -> Gathering:
    """Return what is to be read. Fetched bytes lie in `folder` until the run ends."""
    gathering = Gathering(session.now, dict(session.rows.sources), session.rows.sources, limited=bool(only))
    wiki = session.wiki
    known = tuple(session.rows.sources.values())
    collected = runner.run("collect", collecting.collect, wiki.root, wiki.settings, known, notes)
    gathering.problems += [
        Problem(f"{one.path}:{one.line}" if one.line else one.path, one.cause, one.next_step)
        for one in collected.problems
    ]
    found = [one for one in collected.found if _wanted(one, only)]
    whole = collected if not only else replace(collected, moved={}, vanished=())
    _Files(session, gathering, force).sort([one for one in found if one.kind in FILES], whole)
    _note_clipped(session, gathering, collected.duplicates)
    addresses = [one for one in found if one.kind not in FILES]
    if addresses:
        with Fetcher(wiki.settings.fetch) as fetcher:
            Addresses(session, gathering, fetcher, folder, force).sort(addresses, runner)
    return gathering


def _wanted(found: Found, only: Sequence[str]) -> bool:
    if not only or found.location in only or source_id(found.location) in only:
        return True
    return found.kind in FILES and any(found.location.startswith(place.rstrip("/") + "/") for place in only)


def _note_clipped(session: Session, gathering: Gathering, duplicates: Mapping[str, str]) -> None:
    """An address whose page was clipped is not fetched besides."""
    for address, note in duplicates.items():
        if source_id(address) not in gathering.records:
            one = Found(SourceKind.WEB, address)
            gathering.settle(new_record(one, session.now), Outcome.DUPLICATE, f"clipped as {note}")


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class _Files:
    """Sorts out files and clips."""

    def __init__(self, session: Session, gathering: Gathering, force: bool) -> None:
        self._session, self._g, self._force = session, gathering, force
        self._root = session.wiki.root
        self._largest = session.wiki.settings.sources.max_megabytes * 1_000_000

    def sort(self, found: Sequence[Found], collected: Collected) -> None:
        """Turn found files into jobs or outcomes; moved ones keep their id, vanished ones leave."""
        by_location = {r.location: r for r in self._g.records.values() if r.kind in FILES}
        arrived = {new: old for old, new in collected.moved.items()}
        hashes: dict[str, str] = {}
        for one in found:
            record = by_location.get(arrived.get(one.location, one.location))
            if one.location in arrived and record is not None and record.outcome is not Outcome.GONE:
                self._move(record, one)
            elif one.location in arrived and record is not None:
                self._file(one, replace(record, location=one.location), hashes)
            else:
                self._file(one, record, hashes)
        for source in () if self._emptied(found, collected.vanished) else collected.vanished:
            record = self._g.records[source]
            if record.kind in FILES and record.outcome is not Outcome.GONE and not _left_before(record):
                self._leave(record)
        self._duplicates(hashes)

    def _emptied(self, found: Sequence[Found], vanished: Sequence[str]) -> bool:
        """Whether every file is gone at once: rather a disk that is not there than a person who took out all."""
        held = [self._g.records[source] for source in vanished]
        count = sum(record.kind in FILES and record.outcome is not Outcome.GONE for record in held)
        emptied = count > 2 and not found and not self._force
        if emptied:
            cause = f"is empty, although {count} sources lay there"
            step = "Is its disk mounted? If you meant it: nightwiki ingest --force"
            self._g.problems.append(Problem(self._session.wiki.sources_dir, cause, step))
        return emptied

    def _move(self, record: SourceRecord, one: Found) -> None:
        self._g.records[record.id] = replace(record, location=one.location, size=one.size, mtime_ns=one.mtime_ns)
        self._g.moved.add(record.id)

    def _leave(self, record: SourceRecord) -> None:
        left = replace(record, topics=(), pages=())
        self._g.settle(left, Outcome.GONE, "the file was removed", "Put it back to have its pages again")
        self._g.left.add(record.id)

    def _file(self, one: Found, record: SourceRecord | None, hashes: dict[str, str]) -> None:
        base = record or new_record(one, self._session.now)
        same_stat = record is not None and (one.size, one.mtime_ns) == (record.size, record.mtime_ns)
        too_large = one.size > self._largest
        unread = base.outcome is Outcome.REFUSED and not base.content_hash  # it was too large
        again = self._force or _due(base, self._session.now) or (unread and not too_large)
        if base.ignored or (same_stat and not again):
            return
        if too_large:
            cause = f"the file is larger than {self._largest / 1e6:g} MB"
            large = replace(base, size=one.size, mtime_ns=one.mtime_ns, content_hash="", url=one.url or base.url)
            self._g.settle(large, Outcome.REFUSED, cause, "Split it, or raise sources.max_megabytes.")
            return
        try:
            content = _hash(self._root / one.location)
        except OSError as error:
            cause = f"the file cannot be opened ({error.strerror})"
            self._g.settle(base, Outcome.UNREADABLE, cause, "Check its permissions")
            return
        seen = replace(base, size=one.size, mtime_ns=one.mtime_ns, content_hash=content, url=one.url or base.url)
        self._g.records[base.id] = seen
        if content != base.content_hash or again:
            hashes[base.id] = content

    def _duplicates(self, hashes: Mapping[str, str]) -> None:
        """Of several files with the same bytes the oldest known is read, the others are named after it."""
        holders: dict[str, str] = {}
        for record in sorted(self._g.records.values(), key=lambda r: (r.first_seen, r.location)):
            alive = record.outcome not in (Outcome.DUPLICATE, Outcome.GONE) or record.id in hashes
            if record.kind in FILES and record.content_hash and alive and not record.ignored:
                holders.setdefault(record.content_hash, record.id)
        freed = {
            r.id: r.content_hash
            for r in self._g.records.values()
            if r.outcome is Outcome.DUPLICATE
            and r.kind in FILES
            and r.id not in hashes
            and r.content_hash not in holders
        }
        for record_id, content in {**hashes, **freed}.items():
            record = self._g.records[record_id]
            first = holders.setdefault(content, record_id)
            if first != record_id:
                self._g.settle(record, Outcome.DUPLICATE, f"the same bytes as {self._g.records[first].location}")
            else:
                self._g.jobs.append(read_job(self._session, record, str(self._root / record.location)))


def _left_before(record: SourceRecord) -> bool:
    """Whether a file was gone already when the night that noted it was taken back, so that its pages stay."""
    return record.outcome is Outcome.UNDONE and not record.content_hash


def _due(record: SourceRecord, now: str) -> bool:
    """Whether a source is to be read although its bytes are the same: new, back again, or failed in passing."""
    if record.outcome in TRANSIENT:
        return record.retry_at <= now
    return record.outcome is Outcome.GONE or (record.outcome is Outcome.UNCHANGED and not record.read_at)
