"""What a run reports: the digest's lines from what was gathered, planned and landed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from flows.night_steps.embedding import Embedded
from flows.night_steps.gathering import Gathering
from flows.night_steps.listing import UTF_16
from flows.night_steps.reading_in import Taken
from flows.session import Session
from storage import tally
from tasks import digest as digests
from tasks.commits import CommitResult, FileWrite
from tasks.contradictions.page import open_shown
from tasks.digest import Cost, NightReport, Problem, SourceLine, StagedLine
from tasks.markdown import properties
from tasks.plan import Plan
from tasks.records import GOOD, TRANSIENT, CandidateRecord, Outcome, PageRecord, SourceRecord
from tasks.text_bytes import decode, digest, encode

_MARK = re.compile(r"<!-- nightwiki:digest \w+ -->")


def report_of(
    session: Session,
    gathering: Gathering | None,
    taken: Taken,
    drawn: Plan,
    sources: Mapping[str, SourceRecord],
    embedded: Embedded,
    done: CommitResult | None,
) -> NightReport:
    """The report of a run; `done` is None while nothing has been written yet."""
    records = sources or session.rows.sources
    touched = sorted(gathering.touched) if gathering is not None else []
    landed = set(done.landed) if done is not None else {write.path for write in drawn.writes}
    created = [page for page in drawn.created if page.path in landed]
    updated = [page for page in drawn.updated if page.path in landed]
    instead = _instead(drawn, landed, records)
    pages = {**taken.vault.pages, **{page.id: page for page in (*created, *updated)}}
    held = _waiting_by_source({**taken.vault.candidates, **{one.id: one for one in drawn.staged}}.values())
    lines = tuple(_line(records[source_id], pages, held) for source_id in touched if source_id in records)
    refused = tuple(Problem(one.path, one.reason) for one in done.refused) if done is not None else ()
    problems = (*taken.problems, *(gathering.problems if gathering is not None else ()), *refused)
    return NightReport(
        run=session.run,
        kind=session.kind,
        state="partial" if gathering is not None and _new_failure(gathering, records) else "ok",
        started=session.now,
        finished=session.now,
        sources=digests.count([record.outcome for record in records.values()]),
        created=len(created) + len(taken.promoted),
        updated=len(updated),
        staged=len(drawn.staged) + len(instead),
        removed=len(drawn.removed),
        changed=tuple(sorted({*taken.written, *(done.landed if done is not None else ())})),
        lines=lines,
        known=_known(records, set(touched)),
        waiting=(*instead, *_waiting(taken, drawn, records)),
        problems=problems,
        degraded=embedded.degraded,
        snapshot=done.snapshot if done is not None else taken.snapshot,
        dry_run=session.dry,
        lint=_lint_line(session),
        contradictions=_contradictions(session, drawn, pages),
        cost=gathering.cost if gathering is not None else Cost(),
    )


def _lint_line(session: Session) -> str:
    """What the last lint found; empty when there was none."""
    counted = tally.load(session.wiki.state_dir)
    return f"Lint of {counted.at[:10]}: {counted.line()}." if counted is not None else ""


def _contradictions(session: Session, drawn: Plan, pages: Mapping[str, PageRecord]) -> int:
    """Contradictions that the pages show after this run, and that nobody has decided on."""
    changed = {row.id: row for row in drawn.changes.contradictions}
    rows = {**session.rows.contradictions, **changed}
    return len(open_shown(pages, [row for row in rows.values() if row.id not in drawn.changes.drop_contradictions]))


def _waiting_by_source(candidates: Iterable[CandidateRecord]) -> Mapping[str, Sequence[str]]:
    """The slugs of open candidates by each source that they rest on."""
    found: dict[str, list[str]] = {}
    for one in candidates:
        for source_id in set(one.sources) if one.state == "open" else ():
            found.setdefault(source_id, []).append(one.slug)
    return found


def _line(
    record: SourceRecord, pages: Mapping[str, PageRecord], waiting: Mapping[str, Sequence[str]]
) -> SourceLine:
    return SourceLine(
        id=record.id,
        location=record.location,
        title=record.title,
        outcome=record.outcome,
        reason=record.reason,
        next_step=record.next_step,
        pages=tuple(sorted(pages[page_id].slug for page_id in record.pages if page_id in pages)),
        waiting=tuple(sorted(waiting.get(record.id, ()))),
    )


def _new_failure(gathering: Gathering, records: Mapping[str, SourceRecord]) -> bool:
    """Whether a source failed that did not fail in the same way before, or may do better next time."""
    for source_id in gathering.touched:
        record, before = records[source_id], gathering.before.get(source_id)
        failed = record.outcome not in GOOD and source_id not in gathering.left
        if failed and (record.outcome in TRANSIENT or before is None or before.outcome is not record.outcome):
            return True
    return False


def _known(records: Mapping[str, SourceRecord], touched: set[str]) -> tuple[tuple[str, int], ...]:
    standing = Counter(
        record.outcome.value
        for record in records.values()
        if record.outcome not in GOOD and record.outcome is not Outcome.GONE and record.id not in touched
    )
    return tuple(sorted(standing.items()))


def _waiting(taken: Taken, drawn: Plan, records: Mapping[str, SourceRecord]) -> tuple[StagedLine, ...]:
    decided = {row.id for write in drawn.writes for row in write.changes.candidates if row.state != "open"}
    decided |= {row_id for write in drawn.writes for row_id in write.changes.drop_candidates}
    fresh = {one.id: one for one in drawn.staged}
    older = [
        one
        for one in taken.vault.candidates.values()
        if one.state == "open" and one.id not in fresh and one.id not in decided
    ]
    order = [*sorted(fresh.values(), key=lambda one: one.slug), *sorted(older, key=lambda one: one.slug)]
    return tuple(_staged(one, records) for one in order)


def _instead(drawn: Plan, landed: Collection[str], records: Mapping[str, SourceRecord]) -> tuple[StagedLine, ...]:
    """Candidates that were written because a page could not be."""
    found = []
    for write in drawn.writes:
        other = write.otherwise
        if other is None or write.path in landed or other.path not in landed:
            continue
        if isinstance(other, FileWrite):
            found += [_staged(row, records) for row in other.changes.candidates]
        else:
            page = other.page
            places = _places(page.sources, records)
            found.append(StagedLine(page.slug, page.title, "new", page.confidence, other.reasons, places))
    return tuple(found)


def _staged(one: CandidateRecord, records: Mapping[str, SourceRecord]) -> StagedLine:
    return StagedLine(one.slug, one.title, one.kind, one.confidence, one.reasons, _places(one.sources, records))


def _places(sources: Sequence[str], records: Mapping[str, SourceRecord]) -> tuple[str, ...]:
    return tuple(records[source_id].location for source_id in sources if source_id in records)


def keep_note(session: Session, report: NightReport) -> FileWrite | None:
    """The write that brings the digest's rolling note up to date; None when no note is wanted, or a person edited it.

    What stands above the marker is the user's. Below it stands the digest, whose hash the marker carries: when the two
    do not agree, a person wrote there, and the note is left alone.
    """
    path = session.wiki.settings.digest.note
    if not path:
        return None
    body = "\n" + digests.markdown(report, session.wiki.settings.time_zone)
    ours = _mark(body) + body
    try:
        before = session.state.vault.read(path)
    except FileNotFoundError:
        deleted = session.state.runs.deleted_by_person(path)
        return None if deleted else FileWrite(path, None, encode(ours))
    except OSError:
        return None  # a folder of this name, say: the digest is kept in state all the same
    text = decode(before)
    if before.startswith(UTF_16) or properties.string(properties.read(text).values, "nightwiki_id"):
        return None  # text of another encoding, or a page
    found = _MARK.search(text)
    if found is None:
        return FileWrite(path, digest(before), encode(f"{text.rstrip()}\n\n{ours}".lstrip()))
    if found[0] != _mark(text[found.end() :]):
        return None
    return FileWrite(path, digest(before), encode(text[: found.start()] + ours))


def _mark(body: str) -> str:
    return f"<!-- nightwiki:digest {digest(encode(body))[:12]} -->"
