"""Sources from bytes to documents: the steps of a night's reading, and what they gave."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self

from config.settings import Settings
from flows.night_steps.copies import place_for
from flows.night_steps.gathering import Gathering
from flows.night_steps.twins import twins
from flows.session import Session
from flows.steps import StepRunner
from tasks.commits import FileWrite
from tasks.compiling.extractive import analyse_document
from tasks.crew import FEW, Crew
from tasks.reading.evidence import encode_document
from tasks.reading.reading import Analyse, ReadingPool, ReadJob, ReadResult, SourceReader
from tasks.records import TRANSIENT, ChunksRecord, DocumentRecord, Outcome
from tasks.text_bytes import digest, encode

log = logging.getLogger(__name__)

BATCH = 250
"""Sources read in one step; a night over very many uses larger steps, so that it has at most `MOST_BATCHES`."""

MOST_BATCHES = 50

_WEB_PAGES = frozenset({".html", ".htm", ".xhtml"})


class Reading:
    """Reads what was gathered; holds the documents, chunks and readable copies of this run."""

    def __init__(
        self,
        session: Session,
        runner: StepRunner,
        reader: Callable[[Settings, Analyse], SourceReader],
        folder: Path,
        crew: Crew,
    ) -> None:
        self._session, self._runner, self._folder = session, runner, folder
        self._crew = crew
        settings = session.wiki.settings
        self._pool = reader(settings, partial(analyse_document, limit=settings.compile.sentences))
        self.documents: dict[str, DocumentRecord] = {}
        self.chunks: dict[str, ChunksRecord] = {}
        self.copies: dict[str, FileWrite] = {}

    def __enter__(self) -> Self:
        self._pool.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.__exit__(kind, error, trace)

    def foresee(self) -> None:
        """Before a first night over many files, have the processes load what they need while the vault is read in."""
        wiki, pool = self._session.wiki, self._pool
        if not isinstance(pool, ReadingPool) or self._session.state.reader.current() is not None:
            return
        files = [*islice((path for path in wiki.root.joinpath(wiki.sources_dir).rglob("*") if path.suffix), FEW)]
        if len(files) == FEW:
            pool.start(any(path.suffix.lower() in _WEB_PAGES for path in files))

    def read(self, gathering: Gathering) -> None:
        """Read every job, batch by batch, and settle what became of each source."""
        jobs = [self._with_previous(job) for job in gathering.jobs]
        if not jobs:
            return
        size = max(BATCH, -(-len(jobs) // MOST_BATCHES))
        steps = -(-len(jobs) // size)
        pool = self._pool
        results = _Results(jobs, lambda left: pool.read(self._in_time(left, gathering)))
        for number in range(1, steps + 1):
            name = "read" if steps == 1 else f"read {number} of {steps}"
            self._runner.run(name, self._take_some, results, min(number * size, len(jobs)), gathering, len(jobs))
        if isinstance(pool, ReadingPool):
            if len(jobs) >= FEW:
                self._crew.adopt(pool.release())  # they have loaded already what the next steps need
            pool.close()
        self._leave_twins(gathering)

    def _leave_twins(self, gathering: Gathering) -> None:
        """Take back what was read of pages that are sources already, under another address."""
        for source, holder in twins(gathering.records.values(), gathering.before, self.documents).items():
            record = replace(gathering.records[source], topics=(), evidence="", evidence_hash="", read_at="")
            self.documents.pop(source)
            self.copies.pop(source, None)
            self.chunks.pop(source, None)
            gathering.settle(record, Outcome.DUPLICATE, f"the same page as {holder.location}")

    def _with_previous(self, job: ReadJob) -> ReadJob:
        """The job with the former document beside it, so that paragraphs keep their numbers."""
        if not job.evidence:
            return job
        former = self.documents_of([job.source_id]).get(job.source_id)
        if former is None:
            return job
        path = self._folder / f"{job.source_id}.json"
        path.write_bytes(former.document)
        return replace(job, previous=str(path))

    def _take_some(self, results: _Results, until: int, gathering: Gathering, total: int) -> None:
        for result in results.until(until):
            self._take(result, gathering)
            self._runner.progress("read", results.taken + 1, total)

    def _in_time(self, jobs: Sequence[ReadJob], gathering: Gathering) -> Iterator[ReadJob]:
        """The jobs, as they are asked for, until the run's time is used up; the others are put off."""
        for job in jobs:
            if self._session.limit.is_over():
                gathering.put_off(gathering.records[job.source_id])
            else:
                yield job

    def _take(self, result: ReadResult, gathering: Gathering) -> None:
        record, now = gathering.records[result.source_id], self._session.now
        document = result.document
        if document is None:
            gathering.settle(record, result.outcome, result.reason, result.next_step)
            if gathering.before.get(record.id, record).topics and result.outcome not in TRANSIENT:
                log.info("%s: %s; its former text stays", record.location, result.outcome.value)
            return
        self.chunks[record.id] = ChunksRecord(record.id, result.chunks)
        evidence, seal = "", ""
        if result.evidence_text:
            copy = encode(result.evidence_text)
            seal = digest(copy)
            evidence, now_there = place_for(self._session, document.target, record.evidence_hash, seal)
            document = replace(document, target=evidence)
            self.copies[record.id] = FileWrite(evidence, now_there, copy)
        self.documents[record.id] = DocumentRecord(record.id, encode_document(document), result.analysis)
        reason = "; ".join((*document.notes, *_hidden(document.hidden_removed)))
        gathering.settle(
            replace(
                record,
                title=document.title,
                topics=result.topics,
                evidence=evidence,
                read_at=now,
                evidence_hash=seal,
            ),
            Outcome.OK,
            reason,
        )

    def documents_of(self, ids: Sequence[str]) -> Mapping[str, DocumentRecord]:
        """What was read in former runs, by source."""
        if not self._session.dry:
            rows = self._session.state.ledger.rows("documents", ids)
        else:
            snapshot = self._session.state.reader.current()
            rows = snapshot.rows("documents", ids) if snapshot else ()
        return {row.id: row for row in rows if isinstance(row, DocumentRecord)}


class _Results:
    """What reading the jobs gives, in steps: the processes read on while one step ends and the next one begins."""

    def __init__(self, jobs: Sequence[ReadJob], read: Callable[[Sequence[ReadJob]], Iterator[ReadResult]]) -> None:
        self._read = read
        self._left = {job.source_id: job for job in jobs}
        self._stream: Iterator[ReadResult] | None = None
        self.taken = 0

    def until(self, count: int) -> Iterator[ReadResult]:
        """The next results, until so many have been taken in all, or none is left.

        A result is taken once the next one is asked for. After an error, those that are not taken are read again.
        """
        stream = self._stream or self._read([*self._left.values()])
        self._stream = None
        while self.taken < count and (result := next(stream, None)) is not None:
            if result.source_id in self._left:  # else it was on its way when an error came, and was read twice
                yield result
                del self._left[result.source_id]
                self.taken += 1
        self._stream = stream


def _hidden(removed: int) -> tuple[str, ...]:
    pieces = "1 hidden piece of text was" if removed == 1 else f"{removed} hidden pieces of text were"
    return (f"{pieces} taken out",) if removed else ()
