"""The night: read the vault in, collect, fetch, read, compile, stage, link, embed, commit, report; and sync and review.

Plain functions over one wiki. The step runner decides how a step is carried out: called here, or as a task of Prefect.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

from config.settings import Settings
from config.wiki import Wiki
from flows.bases import candidates_base
from flows.copies import follow_copies, place_for
from flows.embedding import Embedded, embed_pages
from flows.gather import gather
from flows.gathering import Gathering
from flows.listing import index_path, list_pages
from flows.reading_in import Review, Taken, take_in
from flows.report import keep_note, report_of
from flows.session import Session, keep_report, load_report, looking, writing
from flows.steps import StepRunner, utc_now
from storage.commit import commit
from storage.readin import resolver
from storage.search_index import build_index
from tasks import links
from tasks.compile import Compilation, CompileRequest, KnownPage, SourceNotes
from tasks.crew import Crew
from tasks.digest import NightReport
from tasks.evidence import encode_document
from tasks.extractive import ExtractiveCompiler, analyse_document
from tasks.plan import Desk, Plan, plan
from tasks.reading import Analyse, ReadingPool, ReadJob, ReadResult, SourceReader
from tasks.records import (
    TRANSIENT,
    Changes,
    ChunksRecord,
    CommitResult,
    DocumentRecord,
    FileWrite,
    Outcome,
    SourceRecord,
)
from tasks.text_bytes import digest, encode

log = logging.getLogger(__name__)

T = TypeVar("T")

BATCH = 100
"""Sources read in one step; a night over very many uses larger steps, so that it has at most `MOST_BATCHES`."""

MOST_BATCHES = 50


def night(
    wiki: Wiki,
    runner: StepRunner,
    now: str,
    only: Sequence[str] = (),
    force: bool = False,
    dry_run: bool = False,
    kind: str = "ingest",
    reader: Callable[[Settings, Analyse], SourceReader] = ReadingPool,
) -> NightReport:
    """Take in everything that is new and return what became of it.

    `only` restricts the night to sources by location or id; `force` compiles unchanged sources too. With `dry_run`
    nothing is locked or written. Raises BusyError when another run is under way.
    """
    if dry_run:
        with looking(wiki, kind, now) as session, tempfile.TemporaryDirectory(prefix="nightwiki-") as folder:
            return _Night(session, runner, reader, Path(folder), only, force).carry_out()
    with writing(wiki, kind, now) as session:
        landed = _finished_before(session)
        if landed is not None:
            return _end(session, landed)
        passing = wiki.state_dir / "passing"
        passing.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f"{session.run}-", dir=passing) as folder:
            report = _Night(session, runner, reader, Path(folder), only, force).carry_out()
        return _end(session, report)


def sync(wiki: Wiki, runner: StepRunner, now: str) -> NightReport:
    """Take in what a person did in the vault, so that search knows it; read no source."""
    return _people_only(wiki, runner, now, "sync", ())


def review(wiki: Wiki, runner: StepRunner, now: str, reviews: Sequence[Review]) -> NightReport:
    """Promote and discard candidates. Raises NightwikiError when a name is not that of an open candidate."""
    return _people_only(wiki, runner, now, "review", reviews)


def _people_only(wiki: Wiki, runner: StepRunner, now: str, kind: str, reviews: Sequence[Review]) -> NightReport:
    with writing(wiki, kind, now) as session:
        taken = runner.run("read the vault in", take_in, session, reviews)
        embedded = runner.run("embed", embed_pages, session, [*taken.vault.pages.values()], taken.vault.changed, runner)
        with session.state.write_lock():
            done = commit(session.state, session.run, kind, (), embedded.changes, session.now)
        return _end(session, report_of(session, None, taken, Plan(), {}, embedded, done))


def _finished_before(session: Session) -> NightReport | None:
    """The report of a run that was cut off after its commit had landed: there is nothing left to do."""
    if not session.resumed:
        return None
    kept = load_report(session.wiki.state_dir, session.run)
    commits = [one for one in session.state.journal.closed(session.run) if one.kind == session.kind]
    return kept if kept is not None and commits else None


def _end(session: Session, report: NightReport) -> NightReport:
    """Keep the report, close the run in the diary, and drop what is past its time."""
    report = replace(report, finished=max(utc_now(), report.started))
    keep_report(session, report)
    session.state.runs.finish(report.run, report.state, report.finished, changed=len(report.changed))
    session.state.retention(session.wiki.settings.snapshots.keep_days, session.now)
    session.state.close()
    return report


class _Night:
    """The steps of one night in their order."""

    def __init__(
        self,
        session: Session,
        runner: StepRunner,
        reader: Callable[[Settings, Analyse], SourceReader],
        folder: Path,
        only: Sequence[str],
        force: bool,
    ) -> None:
        self._session, self._runner, self._reader = session, runner, reader
        self._folder, self._only, self._force = folder, only, force
        self._crew = Crew(session.wiki.settings.extract.workers)
        self._documents: dict[str, DocumentRecord] = {}
        self._chunks: dict[str, ChunksRecord] = {}
        self._evidence: dict[str, FileWrite] = {}

    def carry_out(self) -> NightReport:
        """Take all steps. What costs time once sources are read is shared out over the cores."""
        with self._crew:
            self._session.state.snapshots.build_index = partial(build_index, many=self._crew.many)
            return self._carry_out()

    def _carry_out(self) -> NightReport:
        session, runner = self._session, self._runner
        taken = runner.run("read the vault in", take_in, session)
        gathering = gather(session, runner, taken.vault.source_notes, self._folder, self._only, self._force)
        follow_copies(session, gathering)
        self._read(gathering)
        made = runner.run("compile", self._compile, taken, gathering)
        drawn = runner.run("stage and link", self._plan, taken, gathering, made)
        _explain(gathering, made, drawn)
        pages = {**taken.vault.pages, **{p.id: p for p in (*drawn.created, *drawn.updated, *drawn.relinked)}}
        for page in drawn.removed:
            pages.pop(page.id, None)
        fresh = [*taken.vault.changed, *drawn.created, *drawn.updated, *drawn.relinked]
        embedded = Embedded()
        if not session.dry:
            embedded = runner.run("embed", embed_pages, session, [*pages.values()], fresh, runner)
        sources = _cited_by(gathering.records, pages, drawn)
        writes = self._writes(taken, drawn, pages, gathering)
        note = keep_note(session, report_of(session, gathering, taken, drawn, sources, embedded, None))
        if note is not None and writes:
            writes = (*writes, note)
        if session.dry:
            return _as_planned(report_of(session, gathering, taken, drawn, sources, embedded, None), writes)
        changes = self._changes(gathering, sources, drawn, embedded)
        planned = report_of(session, gathering, taken, drawn, sources, embedded, None)
        keep_report(session, _as_planned(planned, writes))
        done = runner.run("commit", self._commit, writes, changes)
        self._strike_refused(drawn, sources, done)
        return report_of(session, gathering, taken, drawn, sources, embedded, done)

    # --- reading

    def _read(self, gathering: Gathering) -> None:
        jobs = [self._with_previous(job) for job in gathering.jobs]
        if not jobs:
            return
        size = max(BATCH, -(-len(jobs) // MOST_BATCHES))
        steps = -(-len(jobs) // size)
        done = 0
        limit = self._session.wiki.settings.compile.sentences
        with self._reader(self._session.wiki.settings, partial(analyse_document, limit=limit)) as pool:
            for number, batch in enumerate(batched(jobs, size), start=1):
                name = "read" if steps == 1 else f"read {number} of {steps}"
                self._runner.run(name, self._read_batch, pool, batch, gathering, done, len(jobs))
                done += len(batch)

    def _with_previous(self, job: ReadJob) -> ReadJob:
        """The job with the former document beside it, so that paragraphs keep their numbers."""
        if not job.evidence:
            return job
        former = self._documents_of([job.source_id]).get(job.source_id)
        if former is None:
            return job
        path = self._folder / f"{job.source_id}.json"
        path.write_bytes(former.document)
        return replace(job, previous=str(path))

    def _read_batch(
        self, pool: SourceReader, jobs: Sequence[ReadJob], gathering: Gathering, before: int, total: int
    ) -> None:
        for done, result in enumerate(pool.read(jobs), start=before + 1):
            self._take(result, gathering)
            self._runner.progress("read", done, total)

    def _take(self, result: ReadResult, gathering: Gathering) -> None:
        record, now = gathering.records[result.source_id], self._session.now
        document = result.document
        if document is None:
            gathering.settle(record, result.outcome, result.reason, result.next_step)
            if gathering.before.get(record.id, record).topics and result.outcome not in TRANSIENT:
                log.info("%s: %s; its former text stays", record.location, result.outcome.value)
            return
        self._documents[record.id] = DocumentRecord(record.id, encode_document(document), result.analysis)
        self._chunks[record.id] = ChunksRecord(record.id, result.chunks)
        evidence, seal = "", ""
        if result.evidence_text:
            seal = digest(encode(result.evidence_text))
            evidence, now_there = place_for(self._session, document.target, record.evidence_hash, seal)
            document = replace(document, target=evidence)
            self._evidence[record.id] = FileWrite(evidence, now_there, encode(result.evidence_text))
            self._documents[record.id] = DocumentRecord(record.id, encode_document(document), result.analysis)
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

    # --- compiling

    def _compile(self, taken: Taken, gathering: Gathering) -> Compilation:
        live = {
            r.id: r
            for r in gathering.records.values()
            if r.topics and r.id not in gathering.left and r.outcome not in _SILENT
        }
        changed = set(self._documents) | gathering.left | gathering.moved | _stale_updates(taken, live)
        if not changed:
            return Compilation()

        def notes(source_id: str) -> SourceNotes:
            record = live[source_id]
            row = self._documents.get(source_id)
            if row is None:
                row = self._documents_of([source_id])[source_id]
            return SourceNotes(source_id, record.location, _target(record), row.analysis)

        known = [
            KnownPage(p.id, p.slug, p.title, p.aliases, p.subjects, p.sources, bool(p.deleted), p.adopted)
            for p in taken.vault.pages.values()
        ]
        request = CompileRequest(frozenset(changed), {r.id: r.topics for r in live.values()}, notes, known)
        return ExtractiveCompiler(self._session.wiki.settings.compile.sentences, self._crew.many).compile(request)

    def _documents_of(self, ids: Sequence[str]) -> Mapping[str, DocumentRecord]:
        """What was read in former runs, by source."""
        if not self._session.dry:
            rows = self._session.state.ledger.rows("documents", ids)
        else:
            snapshot = self._session.state.reader.current()
            rows = snapshot.rows("documents", ids) if snapshot else ()
        return {row.id: row for row in rows if isinstance(row, DocumentRecord)}

    def _plan(self, taken: Taken, gathering: Gathering, made: Compilation) -> Plan:
        wiki, vault = self._session.wiki, taken.vault
        if not made.proposals and not made.retired and not gathering.left:
            return Plan()
        paths = {page.path: page.id for page in vault.pages.values() if not page.deleted}
        desk = Desk(
            pages=vault.pages,
            candidates=vault.candidates,
            on_disk=vault.files,
            basenames=vault.basenames,
            live_sources=frozenset(r.id for r in gathering.records.values() if r.id not in gathering.left),
            source_links={r.id: links.anchor_link(_target(r), "") for r in gathering.records.values() if _target(r)},
            resolve=resolver(paths),
            pages_dir=wiki.pages_dir,
            candidates_dir=wiki.candidates_dir,
        )
        return plan(
            made.proposals, made.retired, desk, wiki.settings, self._session.run, self._session.now, self._crew.many
        )

    # --- writing

    def _writes(
        self, taken: Taken, drawn: Plan, pages: Mapping[str, object], gathering: Gathering
    ) -> tuple[FileWrite, ...]:
        wiki, state = self._session.wiki, self._session.state
        copies = [write for _, write in sorted(self._evidence.items())]
        evidence = [write for write in copies if write.content is None or write.expected != digest(write.content)]
        first = not any(not page.adopted for page in taken.vault.pages.values())
        listed = list_pages(
            wiki,
            state.vault,
            [*taken.vault.pages.values()],
            drawn.created,
            drawn.removed,
            first and not state.runs.deleted_by_person(index_path(wiki)),
        )
        review = candidates_base(wiki, state) if drawn.staged else ()
        return (*evidence, *drawn.writes, *listed, *review)

    def _changes(
        self, gathering: Gathering, sources: Mapping[str, SourceRecord], drawn: Plan, embedded: Embedded
    ) -> Changes:
        fresh = tuple(record for record in sources.values() if gathering.before.get(record.id) != record)
        left = tuple(sorted(gathering.left))
        return Changes(
            pages=drawn.changes.pages,
            sources=fresh,
            documents=tuple(self._documents.values()),
            chunks=tuple(self._chunks.values()),
            embeddings=embedded.changes.embeddings,
            drop_embeddings=embedded.changes.drop_embeddings,
            drop_documents=left,
            drop_chunks=left,
        )

    def _commit(self, writes: Sequence[FileWrite], changes: Changes) -> CommitResult:
        session = self._session
        return commit(session.state, session.run, session.kind, writes, changes, session.now)


    def _strike_refused(self, drawn: Plan, sources: Mapping[str, SourceRecord], done: CommitResult) -> None:
        """Take new pages whose file could not be made out of the lists again; they wait as candidates."""
        landed = set(done.landed)
        refused = [page for page in drawn.created if page.path not in landed]
        if not refused:
            return
        lost = {page.id for page in refused}
        freed = tuple(
            replace(record, pages=tuple(page for page in record.pages if page not in lost))
            for record in sources.values()
            if lost & set(record.pages)
        )
        listed = list_pages(self._session.wiki, self._session.state.vault, (), (), refused)
        self._commit(listed, Changes(sources=freed))


_SILENT = frozenset({Outcome.WITHDRAWN, Outcome.DUPLICATE})
"""Outcomes of sources that say nothing on any page. One that only failed of late keeps what it said before, and so
does one whose last reading was taken back; the first reading taken back leaves no topics."""


def _target(record: SourceRecord) -> str:
    """Where citations of a source point: its readable copy, or itself."""
    return record.evidence or ("" if "://" in record.location else record.location)


def _explain(gathering: Gathering, made: Compilation, drawn: Plan) -> None:
    """Say of a source that became no page why."""
    told = dict(made.skipped)
    for proposal in made.proposals:
        if proposal.subject in drawn.declined:
            told |= dict.fromkeys(proposal.sources, drawn.declined[proposal.subject])
    for source_id, reason in told.items():
        record = gathering.records.get(source_id)
        if record is not None and source_id in gathering.touched and record.outcome is Outcome.OK:
            gathering.records[source_id] = replace(
                record, reason="; ".join(filter(None, (record.reason, f"no page: {reason}")))
            )


def _hidden(removed: int) -> tuple[str, ...]:
    return (f"{removed} hidden pieces of text were taken out",) if removed else ()


def _stale_updates(taken: Taken, live: Mapping[str, SourceRecord]) -> set[str]:
    """Sources of updates that wait for a page which has changed since: they are compared again."""
    found: set[str] = set()
    for candidate in taken.vault.candidates.values():
        page = taken.vault.pages.get(candidate.id)
        if candidate.state != "open" or candidate.kind != "update" or page is None:
            continue
        if page.file_hash != candidate.base_hash:
            found.update(source for source in candidate.sources if source in live)
    return found


def _cited_by(records: Mapping[str, SourceRecord], pages: Mapping[str, object], drawn: Plan) -> dict[str, SourceRecord]:
    """The sources with the pages that cite them now."""
    changed = {page.id for page in (*drawn.created, *drawn.updated, *drawn.removed)}
    if not changed:
        return dict(records)
    cited: dict[str, set[str]] = {record.id: set(record.pages) - changed for record in records.values()}
    for page in (*drawn.created, *drawn.updated):
        for source_id in page.sources:
            cited.setdefault(source_id, set()).add(page.id)
    return {
        record.id: record
        if set(record.pages) == cited[record.id]
        else replace(record, pages=tuple(sorted(cited[record.id])))
        for record in records.values()
    }


def _as_planned(report: NightReport, writes: Sequence[FileWrite]) -> NightReport:
    return replace(report, changed=tuple(sorted({*report.changed, *(write.path for write in writes)})))


def batched(items: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    """The items in tuples of `size`; the last one may be shorter."""
    rest = iter(items)
    while batch := tuple(islice(rest, size)):
        yield batch
