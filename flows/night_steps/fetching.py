"""Addresses, from lists and feeds to bytes that can be read: fetched politely, and only when they are due."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from config.errors import SourceError
from flows.night_steps.gathering import FILES, KEPT_BACK, SETTLED, Gathering, new_record, read_job
from flows.session import Session
from flows.steps import StepRunner
from tasks.fetching import youtube
from tasks.fetching.fetch import Fetched, Fetcher, FetchRequest
from tasks.records import Found, Outcome, SourceKind, SourceRecord
from tasks.sources import feeds
from tasks.sources.addresses import identify, video_address, video_id


class Addresses:
    """Fetches web pages, videos and feeds."""

    def __init__(self, session: Session, gathering: Gathering, fetcher: Fetcher, folder: Path, force: bool) -> None:
        self._session, self._g, self._fetcher, self._folder, self._force = session, gathering, fetcher, folder, force
        self._entries: list[Found] = []
        self._records = {r.location: r for r in gathering.records.values() if r.kind not in FILES}

    def sort(self, found: Sequence[Found], runner: StepRunner) -> None:
        """Fetch what is due. Feeds go first, for their entries are addresses of their own."""
        if not found:
            return
        listed = [one for one in found if self._known(one).kind is SourceKind.FEED]
        if listed:
            runner.run("fetch feeds", self._fetch, listed, runner)
        pages = [one for one in found if self._known(one).kind is SourceKind.WEB]
        if pages:
            runner.run("fetch pages", self._fetch, pages, runner)
        entries = [one for one in self._entries if one.kind is SourceKind.WEB]
        if entries:
            runner.run("fetch entries of feeds", self._fetch, entries, runner)
        videos = [one for one in [*found, *self._entries] if one.kind is SourceKind.VIDEO]
        if videos:
            runner.run("fetch transcripts", self._fetch_videos, videos, runner)

    def _known(self, one: Found) -> SourceRecord:
        record = self._records.get(one.location)
        return record if record is not None else new_record(one, self._session.now)

    def _wants(self, record: SourceRecord) -> bool:
        if record.ignored or (record.outcome in KEPT_BACK and not self._force):
            return False
        return self._force or not record.retry_at or record.retry_at <= self._session.now

    def _fetch(self, found: Sequence[Found], runner: StepRunner) -> None:
        wanted = {one.location: record for one in found if self._wants(record := self._known(one))}
        requests = [
            FetchRequest(
                r.location,
                *(("", "") if self._force or r.outcome is Outcome.DUPLICATE else (r.etag, r.last_modified)),
                r.final_url,
                r.kind is not SourceKind.FEED,
            )
            for r in wanted.values()
        ]
        limit = self._session.limit
        ahead = dict(wanted)
        for done, result in enumerate(self._fetcher.fetch_many(() if limit.is_over() else requests), start=1):
            record = ahead.pop(result.request.url)
            if result.error is not None:
                self._failed(record, result.error)
            elif result.fetched is not None:
                self._arrived(record, result.fetched)
            runner.progress("fetch", done, len(requests))
            if limit.is_over():
                break
        for record in ahead.values():
            self._g.put_off(record)

    def _arrived(self, record: SourceRecord, answer: Fetched) -> None:
        content = hashlib.sha256(answer.body).hexdigest() if answer.status == "fetched" else record.content_hash
        same = answer.status == "unchanged" or (content == record.content_hash and record.outcome in SETTLED)
        fresh = replace(
            record,
            content_hash=content,
            etag=answer.etag or record.etag,
            final_url=answer.final_url,
            last_modified=answer.last_modified or record.last_modified,
            retry_at="",
        )
        if video := video_id(answer.final_url):  # as short links do
            address = video_address(video)
            self._entries.append(Found(SourceKind.VIDEO, address, listed_in=record.listed_in, title=record.title))
            self._g.settle(record, Outcome.DUPLICATE, f"it leads to the video {address}")
        elif record.kind is SourceKind.FEED or feeds.looks_like_feed(answer.body):
            self._feed(replace(fresh, kind=SourceKind.FEED), answer)
        elif same and not self._force:
            # New validators for old bytes are not worth a snapshot.
            self._g.records[record.id] = record
        else:
            path = self._folder / record.id
            path.write_bytes(answer.body)
            self._g.records[record.id] = fresh
            told = (answer.content_type, answer.final_url, answer.file_name)
            self._g.jobs.append(read_job(self._session, fresh, str(path), *told))

    def _feed(self, record: SourceRecord, answer: Fetched) -> None:
        if answer.status == "unchanged":
            return
        try:
            found = feeds.entries(answer.body, answer.final_url, answer.content_type)
            entries = found[: self._session.wiki.settings.fetch.feed_items]
        except SourceError as error:
            self._failed(record, error)
            return
        self._entries += [one for one in _addresses(entries, record.location) if one.location not in self._records]
        if record.outcome is not Outcome.OK or not record.read_at:
            self._g.settle(replace(record, read_at=self._session.now), Outcome.OK, f"{len(entries)} entries")
        else:
            self._g.records[record.id] = record

    def _fetch_videos(self, found: Sequence[Found], runner: StepRunner) -> None:
        wanted = [
            r for one in found if self._wants(r := self._known(one)) and (self._force or r.outcome not in SETTLED)
        ]
        languages = self._session.wiki.settings.extract.languages
        for done, record in enumerate(wanted, start=1):
            if self._session.limit.is_over():
                self._g.put_off(record)
                continue
            try:
                body = youtube.transcript(video_id(record.location), languages, self._fetcher)
            except SourceError as error:
                self._failed(record, error)
            else:
                path = self._folder / record.id
                path.write_bytes(body)
                fresh = replace(record, content_hash=hashlib.sha256(body).hexdigest(), retry_at="")
                self._g.records[record.id] = fresh
                self._g.jobs.append(read_job(self._session, fresh, str(path), "application/json", record.location))
            runner.progress("fetch transcripts", done, len(wanted))

    def _failed(self, record: SourceRecord, error: SourceError) -> None:
        if record.outcome is Outcome.UNDONE:
            return  # it stays so until its bytes are known to have changed
        self._g.settle(record, Outcome(error.outcome), error.cause, error.next_step)


def _addresses(entries: Sequence[feeds.FeedEntry], feed: str) -> Iterator[Found]:
    """The pages and videos that a feed's entries lead to."""
    for entry in entries:
        try:
            address = identify(entry.url)
        except SourceError:
            continue  # an entry without an address that can be fetched
        if address.kind is not SourceKind.FEED:
            yield Found(address.kind, address.location, listed_in=feed, title=entry.title)
