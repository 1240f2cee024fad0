"""Sources of a run that is taken back: they say what they said before, and wait until their bytes change."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from flows.night_steps.reading_in import VAULT
from storage.history import Past
from storage.journal import Closed
from storage.reader import Snapshot
from tasks.commits import NO_CHANGES, Changes
from tasks.records import ChunksRecord, DocumentRecord, Outcome, PageRecord, SourceRecord

_SETTLED = frozenset({Outcome.OK, Outcome.UNDONE})


@dataclass(frozen=True, slots=True)
class Silenced:
    """Rows of sources after an undo, and the locations of those that are not compiled again."""

    changes: Changes = NO_CHANGES
    locations: tuple[str, ...] = ()


@dataclass(slots=True)
class _Traced:
    """How far back each source goes: the commit before which it was as it will be, and what was read from it then."""

    origin: dict[str, Closed] = field(default_factory=dict)
    documents: dict[str, DocumentRecord | None] = field(default_factory=dict)
    moved: dict[str, SourceRecord] = field(default_factory=dict)  # back where they lay


def silence(
    current: Snapshot | None,
    past: Past,
    commits: Sequence[Closed],
    pages: Mapping[str, PageRecord],
    touched: Collection[str],
    cited: Collection[str],
) -> Silenced:
    """Rows of the sources that `commits` read, and of those whose pages changed.

    `pages` are the live ones afterwards, `touched` ids of pages that the undo changes, `cited` the vault paths of
    evidence that stays because a page leans on it.
    """
    if current is None:
        return Silenced()
    known = {row.id: row for row in cast("tuple[SourceRecord, ...]", current.rows("sources"))}
    traced = _trace(current, past, commits, known)
    records = dict(known) | traced.moved
    chunks: dict[str, ChunksRecord | None] = {}
    for snapshot in sorted({commit.parent for commit in traced.origin.values()}):
        back = [source for source, commit in traced.origin.items() if commit.parent == snapshot]
        rows, pieces = (past.rows(snapshot, table, back) for table in ("sources", "chunks"))
        for source in back:
            before = cast("SourceRecord | None", rows.get(source))
            records[source] = _as_before(known[source], before, traced.origin[source].run, cited)
            chunks[source] = cast("ChunksRecord | None", pieces.get(source))
    records = _citing(records, pages, touched)
    changes = Changes(
        sources=tuple(record for record in records.values() if record != known[record.id]),
        documents=tuple(row for row in traced.documents.values() if row is not None),
        drop_documents=tuple(source for source, row in traced.documents.items() if row is None),
        chunks=tuple(row for row in chunks.values() if row is not None),
        drop_chunks=tuple(source for source, row in chunks.items() if row is None),
    )
    silent = (records[source] for source in traced.origin)
    return Silenced(changes, tuple(sorted(one.location for one in silent if one.outcome is Outcome.UNDONE)))


def _trace(
    current: Snapshot, past: Past, commits: Sequence[Closed], known: Mapping[str, SourceRecord]
) -> _Traced:
    """Follow each source back, newest commit first, until a run that stays has read it in between."""
    found = _Traced()
    stopped: set[str] = set()
    for commit in reversed(commits):
        if commit.kind == VAULT or commit.snapshot == commit.parent:
            continue  # it read no source
        touched = sorted(_touched(past, commit) & known.keys() - stopped)
        after, before = (past.rows(snapshot, "documents", touched) for snapshot in (commit.snapshot, commit.parent))
        now = {row.id: row for row in current.rows("documents", touched)} if touched else {}
        rows, former = (past.rows(snapshot, "sources", touched) for snapshot in (commit.snapshot, commit.parent))
        for source in touched:
            if after.get(source) != before.get(source):
                if (found.documents[source] if source in found.documents else now.get(source)) != after.get(source):
                    stopped.add(source)
                    continue
                found.documents[source] = cast("DocumentRecord | None", before.get(source))
                found.origin[source] = commit
                continue
            left, came = cast("SourceRecord | None", former.get(source)), cast("SourceRecord | None", rows.get(source))
            here = found.moved.get(source, known[source])
            if left is not None and came is not None and left.location != came.location == here.location:
                # It is seen to have moved once more, which brings its citations to the new place again.
                found.moved[source] = replace(here, location=left.location, size=left.size, mtime_ns=left.mtime_ns)
    return found


def _touched(past: Past, commit: Closed) -> set[str]:
    """Ids of sources that were read, left or moved in a commit."""
    columns = ["id", "read_at", "outcome", "location"]
    seen: list[set[tuple[str, ...]]] = []
    for snapshot in (commit.snapshot, commit.parent):
        found = past.at(snapshot)
        rows = found.table("sources", columns).to_pylist() if found is not None else []
        seen.append({tuple(row[column] for column in columns) for row in rows})
    return {row[0] for row in seen[0] ^ seen[1]}


def _as_before(now: SourceRecord, before: SourceRecord | None, run: str, cited: Collection[str]) -> SourceRecord:
    """The record with what was read of the source before; what is known of its present bytes stays."""
    kept = now.evidence in cited
    record = replace(
        now,
        topics=before.topics if before else (),
        title=before.title if before else now.title,
        read_at=before.read_at if before else now.read_at,
        evidence=now.evidence if kept else before.evidence if before else "",
        evidence_hash=now.evidence_hash if kept else before.evidence_hash if before else "",
        failures=0,
        retry_at="",
    )
    if before is not None and _is_known_again(now, before):
        return replace(record, outcome=before.outcome, reason=before.reason, next_step=before.next_step)
    step = f"It is read again when its bytes change, or by: nightwiki ingest --force {now.location}"
    record = replace(record, outcome=Outcome.UNDONE, reason=f"taken back with run {run}", next_step=step)
    # Without the hash of any bytes: it is not there, so it cannot vanish again, and is new when it comes back.
    return replace(record, content_hash="", size=0, mtime_ns=0) if now.outcome is Outcome.GONE else record


def _is_known_again(now: SourceRecord, before: SourceRecord) -> bool:
    """Whether the source was settled before with the bytes that it has now, as when an undo is undone."""
    if before.outcome is Outcome.GONE:
        return not now.content_hash
    same = before.content_hash == now.content_hash
    return same and before.outcome in _SETTLED and now.outcome is not Outcome.GONE


def _citing(
    records: Mapping[str, SourceRecord], pages: Mapping[str, PageRecord], touched: Collection[str]
) -> dict[str, SourceRecord]:
    """The records with the pages that cite them now."""
    cites: dict[str, set[str]] = {record.id: set(record.pages) - set(touched) for record in records.values()}
    for page_id in touched:
        if page_id in pages:
            for source in pages[page_id].sources:
                cites.setdefault(source, set()).add(page_id)
    return {
        record.id: record
        if set(record.pages) == cites[record.id]
        else replace(record, pages=tuple(sorted(cites[record.id])))
        for record in records.values()
    }
