"""The night: read the vault in, collect, fetch, read, compile, stage, link, embed, commit, report; and sync and review.

Plain functions over one wiki. The step runner decides how a step is carried out: called here, or as a task of Prefect.
"""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from config.settings import Settings
from config.wiki import Wiki
from flows.asking import asker, decisions_published, pending_decisions
from flows.bases import candidates_base
from flows.made_rows import MadeRows
from flows.night_steps.compiling import cited_by, compile_changed, draw_plan
from flows.night_steps.copies import follow_copies
from flows.night_steps.embedding import Embedded, embed_pages
from flows.night_steps.gather import gather
from flows.night_steps.gathering import Gathering
from flows.night_steps.leaving import leave
from flows.night_steps.listing import index_path, list_pages
from flows.night_steps.model_compiling import Connect, load_meanwhile
from flows.night_steps.reading import Reading
from flows.night_steps.reading_in import Review, Taken, take_in
from flows.night_steps.report import keep_note, report_of
from flows.session import Session, keep_report, load_report, looking, writing
from flows.steps import StepRunner, utc_now
from storage.commit import commit
from storage.search.search_index import build_index
from tasks.commits import Changes, CommitResult, FileWrite
from tasks.crew import Crew
from tasks.digest import NightReport
from tasks.llm.estimate import Approve, agreed
from tasks.plan import Plan
from tasks.reading.reading import Analyse, ReadingPool, SourceReader
from tasks.records import SourceRecord
from tasks.text_bytes import digest


def night(
    wiki: Wiki,
    runner: StepRunner,
    now: str,
    only: Sequence[str] = (),
    force: bool = False,
    dry_run: bool = False,
    kind: str = "ingest",
    reader: Callable[[Settings, Analyse], SourceReader] = ReadingPool,
    approve: Approve = agreed,
    leaving: Sequence[str] = (),
    connect: Connect = asker,
) -> NightReport:
    """Take in everything that is new and return what became of it.

    `only` restricts the night to sources by location or id; `force` compiles unchanged sources too. With `dry_run`
    nothing is locked or written. `approve` is asked before calls of a model that cost much. Raises BusyError when
    another run is under way. With `leaving` nothing is taken in: these sources are withdrawn. `connect`
    reaches the language model.
    """
    if dry_run:
        with looking(wiki, kind, now) as session, tempfile.TemporaryDirectory(prefix="nightwiki-") as folder:
            return _Night(session, runner, reader, Path(folder), only, force, leaving, connect).carry_out()
    with writing(wiki, kind, now, approve) as session:
        landed = _finished_before(session)
        if landed is not None:
            return _end(session, landed)
        passing = wiki.state_dir / "passing"
        passing.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f"{session.run}-", dir=passing) as folder:
            report = _Night(session, runner, reader, Path(folder), only, force, leaving, connect).carry_out()
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
    decisions_published(session)
    session.state.runs.finish(report.run, report.state, report.finished, changed=len(report.changed))
    session.state.retention(session.wiki.settings.snapshots.keep_days, session.now)
    session.state.close()
    return report


@contextmanager
def _seldom_collected() -> Iterator[None]:
    """Look for unreachable cycles seldom: a night makes very many records and hardly a cycle, and to look at all of
    them again and again takes a tenth of this process's time.
    """
    usual = gc.get_threshold()
    gc.set_threshold(200_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


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
        leaving: Sequence[str],
        connect: Connect,
    ) -> None:
        self._session, self._runner, self._leaving, self._connect = session, runner, leaving, connect
        self._folder, self._only, self._force = folder, only, force
        self._crew = Crew(session.wiki.settings.extract.workers)
        self._reading = Reading(session, runner, reader, folder, self._crew)

    def carry_out(self) -> NightReport:
        """Take all steps. What costs time once sources are read is shared out over the cores."""
        self._session.state.snapshots.build_index = partial(build_index, each=self._crew.each)
        with _seldom_collected(), self._crew, self._reading:
            return self._carry_out()

    def _carry_out(self) -> NightReport:
        session, runner = self._session, self._runner
        if not self._only and not self._leaving:
            self._reading.foresee()
        taken = runner.run("read the vault in", take_in, session)
        if self._leaving:
            gathering = leave(session, self._leaving)
        else:
            gathering = gather(session, runner, taken.vault.source_notes, self._folder, self._only, self._force)
        follow_copies(session, gathering)
        load_meanwhile(session, gathering)
        self._reading.read(gathering)
        made = runner.run(
            "compile", compile_changed, session, taken, gathering, self._reading, self._crew, self._connect
        )
        drawn = runner.run("stage and link", draw_plan, session, taken, gathering, made, self._crew)
        pages = {**taken.vault.pages, **{p.id: p for p in (*drawn.created, *drawn.updated, *drawn.relinked)}}
        for page in drawn.removed:
            pages.pop(page.id, None)
        fresh = [*taken.vault.changed, *drawn.created, *drawn.updated, *drawn.relinked]
        embedded = Embedded()
        if not session.dry and session.wiki.settings.search.vector != "off":
            embedded = runner.run("embed", embed_pages, session, [*pages.values()], fresh, runner)
        sources = cited_by(gathering.records, drawn)
        planned = report_of(session, gathering, taken, drawn, sources, embedded, None)
        writes = self._writes(taken, drawn)
        note = keep_note(session, planned)
        if note is not None and writes:
            writes = (*writes, note)
        planned = replace(planned, changed=tuple(sorted({*planned.changed, *(write.path for write in writes)})))
        if session.dry:
            return planned
        keep_report(session, planned)
        done = runner.run("commit", self._commit, writes, self._changes(gathering, sources, drawn, embedded))
        self._strike_refused(drawn, sources, done)
        return report_of(session, gathering, taken, drawn, sources, embedded, done)

    # --- writing

    def _writes(self, taken: Taken, drawn: Plan) -> tuple[FileWrite, ...]:
        wiki, state = self._session.wiki, self._session.state
        copies = [write for _, write in sorted(self._reading.copies.items())]
        evidence = [write for write in copies if write.content is None or write.expected != digest(write.content)]
        first = not any(not page.adopted for page in taken.vault.pages.values())
        listed = list_pages(
            wiki,
            state.vault,
            [*taken.vault.pages.values()],
            drawn.created,
            drawn.removed,
            first and not state.runs.deleted_by_person(index_path(wiki)),
            ours=MadeRows(state.reader, drawn.removed),
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
            documents=tuple(self._reading.documents.values()),
            chunks=tuple(self._reading.chunks.values()),
            embeddings=embedded.changes.embeddings,
            decisions=pending_decisions(self._session),
            drop_embeddings=embedded.changes.drop_embeddings,
            drop_documents=left,
            drop_chunks=left,
            contradictions=drawn.changes.contradictions,
            drop_contradictions=drawn.changes.drop_contradictions,
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
