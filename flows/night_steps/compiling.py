"""Documents to planned pages: what the changed sources concern is compiled, and the plan is drawn."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from flows.night_steps.gathering import Gathering
from flows.night_steps.model_compiling import (
    Connect,
    compile_with_model,
    to_ask,
    unwritten,
    with_model,
    without_written,
)
from flows.night_steps.reading import Reading
from flows.night_steps.reading_in import Taken
from flows.session import Session
from tasks.compiling.compile import Compilation, Compiler, CompileRequest, KnownPage, SourceNotes
from tasks.compiling.extractive import ExtractiveCompiler
from tasks.crew import Crew
from tasks.markdown import links
from tasks.markdown.resolver import resolver
from tasks.plan import Desk, Plan, plan
from tasks.records import Outcome, SourceRecord

_SILENT = frozenset({Outcome.WITHDRAWN, Outcome.DUPLICATE})
"""Outcomes of sources that say nothing on any page. One that only failed of late keeps what it said before, and so
does one whose last reading was taken back; the first reading taken back leaves no topics."""


def compile_changed(
    session: Session, taken: Taken, gathering: Gathering, reading: Reading, crew: Crew, connect: Connect
) -> Compilation:
    """The pages that the sources of this run concern, each from all its live sources."""
    live = {
        r.id: r
        for r in gathering.records.values()
        if r.topics and r.id not in gathering.left and r.outcome not in _SILENT
    }
    changed = set(reading.documents) | gathering.left | gathering.moved
    changed |= _stale_updates(taken, live) | _beside_changed(taken, live, changed)
    asked = to_ask(session, gathering, reading, live) if with_model(session.wiki.settings) else None
    if not changed and not (asked and asked.ids):
        return Compilation()

    def notes(source_id: str) -> SourceNotes:
        record = live[source_id]
        row = reading.documents.get(source_id)
        if row is None:
            row = reading.documents_of([source_id])[source_id]
        return SourceNotes(source_id, record.location, _target(record), row.analysis)

    known = [
        KnownPage(p.id, p.slug, p.title, p.aliases, p.subjects, p.sources, bool(p.deleted), p.adopted)
        for p in taken.vault.pages.values()
    ]
    request = CompileRequest(frozenset(changed), {r.id: r.topics for r in live.values()}, notes, known)
    if asked is not None:
        return compile_with_model(session, taken, gathering, reading, live, request, asked, connect)
    if session.wiki.settings.compile.compiler == "auto":
        request = without_written(request, live, gathering)
    compiler: Compiler = ExtractiveCompiler(session.wiki.settings.compile.sentences, crew.many)
    made = compiler.compile(request)
    unwritten(gathering, made)
    return made


def draw_plan(session: Session, taken: Taken, gathering: Gathering, made: Compilation, crew: Crew) -> Plan:
    """What to write for the compiled pages; says of a source that became no page why."""
    wiki, vault = session.wiki, taken.vault
    if not made.proposals and not made.retired and not gathering.left and not made.told:
        _explain(gathering, made, Plan())
        return Plan()
    paths = {page.path: page.id for page in vault.pages.values() if not page.deleted}
    targets = {r.id: target for r in gathering.records.values() if (target := _target(r))}
    desk = Desk(
        pages=vault.pages,
        candidates=vault.candidates,
        on_disk=vault.files,
        basenames=vault.basenames,
        live_sources=frozenset(r.id for r in gathering.records.values() if r.id not in gathering.left),
        told=made.told,
        source_links={name: links.anchor_link(target, "") for name, target in targets.items()},
        targets=targets,
        resolve=resolver(paths),
        pages_dir=wiki.pages_dir,
        candidates_dir=wiki.candidates_dir,
        contradictions=session.rows.contradictions,
        first_seen={r.id: r.first_seen for r in gathering.records.values()},
    )
    drawn = plan(made.proposals, made.retired, desk, wiki.settings, session.run, session.now, crew.many)
    _explain(gathering, made, drawn)
    return drawn


def cited_by(records: Mapping[str, SourceRecord], drawn: Plan) -> dict[str, SourceRecord]:
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


def _stale_updates(taken: Taken, live: Mapping[str, SourceRecord]) -> set[str]:
    """Sources of updates that wait for a page which has changed since: they are compared again."""
    found: set[str] = set()
    for candidate in taken.vault.candidates.values():
        page = taken.vault.pages.get(candidate.id)
        if candidate.state != "open" or candidate.kind != "update" or candidate.absorbs or page is None:
            continue
        if page.file_hash != candidate.base_hash:
            found.update(source for source in candidate.sources if source in live)
    return found


def _beside_changed(taken: Taken, live: Mapping[str, SourceRecord], changed: Collection[str]) -> set[str]:
    """Sources that share a candidate with a changed one: it is made anew from what all of them say now."""
    waiting = [set(one.sources) for one in taken.vault.candidates.values() if one.state == "open"]
    return {other for sources in waiting if not sources.isdisjoint(changed) for other in sources if other in live}
