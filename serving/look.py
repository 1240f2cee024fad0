"""Answers from the read plane: the published snapshot, the diary of runs, the locks. Takes no lock, opens no ledger."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from config.errors import GoneError, NotFoundError, StateError
from config.load import nearest
from config.wiki import Wiki
from serving.schemas.base import Degraded
from serving.schemas.review import CandidateAnswer, CandidateDiffAnswer, CandidateItem, CandidatesAnswer
from serving.schemas.runs import (
    AuditAnswer,
    AuditItem,
    ChangeItem,
    ChangesAnswer,
    LintCount,
    Lock,
    RunItem,
    RunsAnswer,
    SourceItem,
    SourcesAnswer,
    StatusAnswer,
)
from storage import tally
from storage.locks import holder
from storage.reader import Reader, Snapshot
from storage.runs import Runs
from tasks.records import CandidateRecord
from tasks.search.moments import beginning, end, is_day, is_moment

if TYPE_CHECKING:
    from storage.search.engine import Engine

NIGHTS = ("nightly", "ingest", "night")


def status(wiki: Wiki, engine: Engine | None = None) -> StatusAnswer:
    """How the wiki stands. Asks it a question, too, for only that shows whether search is at its best.

    `engine` is one that is open already, over this wiki alone.
    """
    from serving.disputed import contradictions
    from serving.opening import ready
    from storage.search.engine import Engine

    snapshot = Reader(wiki.state_dir).current()
    engine = engine or Engine([ready(wiki)])
    result = engine.search(wiki.name, 1)
    good = [run for run in Runs(wiki.state_dir).all() if run.kind in NIGHTS and run.state == "ok"]
    return StatusAnswer(
        pages=sum(not row["deleted"] for row in _rows(snapshot, "pages", ("deleted",))),
        candidates=sum(row["state"] == "open" for row in _rows(snapshot, "candidates", ("state",))),
        sources=dict(sorted(Counter(row["outcome"] for row in _rows(snapshot, "sources", ("outcome",))).items())),
        snapshot=snapshot.id if snapshot else "",
        last_good_night=good[-1].finished if good else "",
        lint=_lint_count(wiki),
        contradictions=len(contradictions(wiki).contradictions),
        locks=[
            Lock(name=name, pid=held.pid, since=held.since)
            for name in ("run", "write")
            if (held := holder(wiki.state_dir, name))
        ],
        degraded=[Degraded(what=one.what, reason=one.reason, next_step=one.next_step) for one in result.degraded],
    )


def _lint_count(wiki: Wiki) -> LintCount | None:
    counted = tally.load(wiki.state_dir)
    if counted is None:
        return None
    return LintCount(at=counted.at, errors=counted.errors, warnings=counted.warnings, new=counted.fresh)


def sources(wiki: Wiki, only: Sequence[str] = ()) -> SourcesAnswer:
    """What became of each source; with `only`, of these ids."""
    snapshot = Reader(wiki.state_dir).current()
    slugs = {
        row["id"]: row["slug"] for row in _rows(snapshot, "pages", ("id", "slug", "deleted")) if not row["deleted"]
    }
    columns = ("id", "location", "kind", "outcome", "reason", "next_step", "pages", "ignored")
    rows = [row for row in _rows(snapshot, "sources", columns) if not only or row["id"] in only]
    return SourcesAnswer(
        sources=[
            SourceItem(**{**row, "pages": sorted(slugs[page] for page in row["pages"] or () if page in slugs)})
            for row in sorted(rows, key=lambda row: (str(row["location"]), str(row["id"])))
        ]
    )


def open_candidates(wiki: Wiki) -> tuple[CandidateRecord, ...]:
    """The candidates that wait, by slug."""
    snapshot = Reader(wiki.state_dir).current()
    found = (row for row in snapshot.rows("candidates") if isinstance(row, CandidateRecord)) if snapshot else ()
    return tuple(sorted((row for row in found if row.state == "open"), key=lambda row: (row.slug, row.id)))


def locations(wiki: Wiki) -> Mapping[str, str]:
    """Location of each source by its id."""
    snapshot = Reader(wiki.state_dir).current()
    return {row["id"]: row["location"] for row in _rows(snapshot, "sources", ("id", "location"))}


def candidates(wiki: Wiki, only: Sequence[CandidateRecord] | None = None) -> CandidatesAnswer:
    """The pages that wait for review: all, or those of `only`."""
    snapshot = Reader(wiki.state_dir).current()
    slugs = {row["id"]: row["slug"] for row in _rows(snapshot, "pages", ("id", "slug"))}
    places = locations(wiki)
    records = open_candidates(wiki) if only is None else only
    return CandidatesAnswer(candidates=[candidate_item(row, slugs, places) for row in records])


def candidate(wiki: Wiki, name: str) -> CandidateAnswer:
    """The text of a waiting page, as it lies in the vault. Raises NotFoundError."""
    record = named_candidates(wiki, [name])[0]
    item = next(one for one in candidates(wiki, [record]).candidates)
    text = (wiki.root / record.path).read_bytes().decode("utf-8", "replace")
    return CandidateAnswer(candidate=item, path=record.path, text=text)


def candidate_diff(wiki: Wiki, record: CandidateRecord) -> CandidateDiffAnswer:
    """What promoting a candidate would change, as its file and its page lie on disk now."""
    from difflib import unified_diff

    from tasks.review.candidate import strip_candidate
    from tasks.text_bytes import decode, digest

    live = (wiki.root / record.target).read_bytes() if (wiki.root / record.target).is_file() else b""
    after = strip_candidate(decode((wiki.root / record.path).read_bytes()))
    before = record.target if live else "/dev/null"
    lines = unified_diff(decode(live).splitlines(), after.splitlines(), before, record.target, lineterm="")
    text = "".join(f"{line}\n" for line in lines)
    return CandidateDiffAnswer(
        slug=record.slug,
        path=record.path,
        target=record.target,
        current=record.kind != "update" or digest(live) == record.base_hash,
        diff=text.encode("utf-8", "replace").decode("utf-8"),
    )


def candidate_item(record: CandidateRecord, slugs: Mapping[str, str], locations: Mapping[str, str]) -> CandidateItem:
    """One candidate as the list shows it; slugs of pages and locations of sources by id."""
    return CandidateItem(
        slug=record.slug,
        kind="update" if record.kind == "update" else "new",
        confidence=record.confidence,
        reasons=list(record.reasons),
        source=[locations.get(source, source) for source in record.sources],
        ingested=record.ingested,
        candidate_of=slugs.get(record.id, record.slug) if record.kind == "update" else "",
    )


def named_candidates(wiki: Wiki, names: Sequence[str]) -> tuple[CandidateRecord, ...]:
    """The waiting candidates of these slugs or paths. Raises NotFoundError for an unknown one."""
    waiting = open_candidates(wiki)
    known = {key: row for row in waiting for key in (row.id, row.path, row.slug)}
    for name in names:
        if name not in known:
            hint = nearest(name, [row.slug for row in waiting])
            step = f"Did you mean '{hint}'?" if hint else "See: nightwiki candidates list"
            raise NotFoundError(name, "no such page waits for review", step)
    return tuple({known[name].id: known[name] for name in names}.values())


def runs(wiki: Wiki) -> RunsAnswer:
    """Every run, newest first."""
    return RunsAnswer(
        runs=[
            RunItem(
                run=run.run,
                kind=run.kind,
                state=run.state,
                started=run.started,
                finished=run.finished,
                changed=run.changed,
                undone_by=run.undone_by,
            )
            for run in reversed(Runs(wiki.state_dir).all())
        ]
    )


def audit(wiki: Wiki, run: str = "", path: str = "") -> AuditAnswer:
    """Every file that runs wrote, newest first; of one run or path if given."""
    rows = reversed(Runs(wiki.state_dir).audit(run, path))
    return AuditAnswer(
        writes=[AuditItem(run=row.run, at=row.at, path=row.path, before=row.before, after=row.after) for row in rows]
    )


def changes(wiki: Wiki, since: str) -> ChangesAnswer:
    """Pages that are not as they were in a former snapshot (its id, or its run's), or before a day or since a time.

    Raises StateError when there is no such snapshot, GoneError when it was there and is no longer kept.
    """
    reader = Reader(wiki.state_dir)
    current = reader.current()
    if current is None:
        raise StateError(str(wiki.state_dir), "no snapshot was published yet", "Fill the wiki with: nightwiki ingest")
    former = _before(wiki, reader, since)
    old, new = (_pages(snapshot) for snapshot in (former, current))
    items = []
    for page in sorted(old.keys() | new.keys()):
        if page not in old:
            change: Literal["created", "updated", "deleted"] = "created"
        elif page not in new:
            change = "deleted"
        elif (old[page]["file_hash"], old[page]["path"]) != (new[page]["file_hash"], new[page]["path"]):
            change = "updated"
        else:
            continue
        row = new.get(page) or old[page]
        items.append(ChangeItem(id=page, slug=row["slug"], title=row["title"], path=row["path"], change=change))
    items.sort(key=lambda item: (item.path, item.id))
    return ChangesAnswer(since=former.id if former else "", snapshot=current.id, pages=items)


def _before(wiki: Wiki, reader: Reader, since: str) -> Snapshot | None:
    """The snapshot that later ones are compared with; None for the time before the first, when there was no page.

    What was published at the very second of a time was there then; what was published on a day was not before it.
    """
    kept = reader.history()
    if is_moment(since) and not any(since in (one.id, one.run) for one in kept):
        moment = beginning(since) if is_day(since) else end(since)
        former = [one for one in kept if one.created <= moment]
        if not former and kept and not kept[0].parent:
            return None
        since = former[-1].id if former else since
    check_kept(wiki, since)
    return reader.at(since)


_SNAPSHOT = re.compile(r"s(\d{8})-[0-9a-f]{12}")


def check_kept(wiki: Wiki, ref: str) -> None:
    """Raises GoneError for a snapshot, a run or a time whose snapshot was collected, NotFoundError where none was."""
    reader = Reader(wiki.state_dir)
    try:
        reader.at(ref)
    except StateError as error:
        if _was_there(wiki, reader, ref):
            step = "Ask without it, for the newest"
            raise GoneError(ref, f"this snapshot is no longer kept: {_kept(reader)}", step) from None
        raise NotFoundError(error.subject, error.cause, error.next_step) from None


def _was_there(wiki: Wiki, reader: Reader, ref: str) -> bool:
    current, kept = reader.current(), reader.history()
    if current is None or not kept or not kept[0].parent:
        known = _SNAPSHOT.fullmatch(ref)
        return known is not None and current is not None and int(known[1]) <= current.manifest.sequence
    if known := _SNAPSHOT.fullmatch(ref):
        return int(known[1]) <= current.manifest.sequence
    if is_moment(ref):
        return True
    return any(run.run == ref and run.changed and run.finished <= kept[0].created for run in Runs(wiki.state_dir).all())


def _kept(reader: Reader) -> str:
    kept = reader.history()
    return f"kept are {kept[0].created} to {kept[-1].created}" if kept else "none is kept"


def _pages(snapshot: Snapshot | None) -> dict[str, dict[str, Any]]:
    columns = ("id", "slug", "title", "path", "file_hash", "deleted")
    return {row["id"]: row for row in _rows(snapshot, "pages", columns) if not row["deleted"]}


def _rows(snapshot: Snapshot | None, table: str, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Rows of a table as Arrow gives them; none before the first snapshot."""
    if snapshot is None:
        return []
    rows: list[dict[str, Any]] = snapshot.table(table, columns).to_pylist()
    return rows
