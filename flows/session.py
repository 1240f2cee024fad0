"""One run over one wiki: its lock, its id and clock, what the ledger knows, and how it ends.

A run that was killed is taken up again by the next of its kind under the same id and clock, so that the vault comes
out as if nothing had happened. Ids of pages derive from the run's id; dates in pages from its clock.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter

from config.errors import NotFoundError
from config.wiki import Wiki
from flows.git_commit import commit_run
from flows.steps import utc_now
from flows.time_limit import NO_LIMIT, TimeLimit, begin
from storage.durable import write_file
from storage.readin import Hashes, Known
from storage.search.index_files import damage
from storage.search.search_index import build_index
from storage.state import WikiState
from storage.vault import Stat
from tasks.contradictions.claims import ContradictionRecord
from tasks.digest import NightReport
from tasks.llm.estimate import Approve, agreed
from tasks.records import CandidateRecord, PageRecord, SourceRecord

log = logging.getLogger(__name__)

RESUME_WITHIN = timedelta(hours=24)
"""A run killed longer ago is not taken up again; the next one starts afresh."""

_TABLES = ("pages", "candidates", "sources", "contradictions")
_REPORT = TypeAdapter(NightReport)


@dataclass(frozen=True, slots=True)
class Rows:
    """What the ledger holds at the start of a run, by id."""

    pages: Mapping[str, PageRecord]
    candidates: Mapping[str, CandidateRecord]
    sources: Mapping[str, SourceRecord]
    contradictions: Mapping[str, ContradictionRecord] = field(default_factory=dict)

    @property
    def known(self) -> Known:
        return Known(self.pages, self.candidates)


@dataclass(frozen=True, slots=True)
class Session:
    """A run that is under way. With `dry` nothing may be written."""

    wiki: Wiki
    state: WikiState
    run: str
    kind: str
    now: str
    rows: Rows
    hashes: Hashes
    dry: bool
    resumed: bool
    approve: Approve = agreed  # asked before calls of a model that cost more than the settings let pass unasked
    limit: TimeLimit = NO_LIMIT  # of the whole run; asked between two pieces of work


def parse_moment(text: str) -> datetime:
    """Return the time that a record keeps."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)


def open_state(wiki: Wiki) -> WikiState:
    """Return the state of a wiki; nothing is created until something is written."""
    protected = (wiki.sources_dir, *wiki.settings.sources.clips)
    return WikiState(wiki.root, wiki.state_dir, protected, build_index, damage).open()


@contextlib.contextmanager
def writing(wiki: Wiki, kind: str, now: str, approve: Approve = agreed) -> Iterator[Session]:
    """Hold the run lock, finish what an earlier run left open, and yield a session. Raises BusyError.

    A sync under way is waited for; any other run is not.

    Leaving with an error notes the run as failed, unless what it was to do is not there and it did nothing; leaving
    without one expects that `finish` was called.
    """
    limit = begin(wiki.settings.night.max_minutes)
    state = open_state(wiki)
    with state.run_lock(kind=kind):
        recover(state)
        run, begun, resumed = _begin(state, kind, now)
        try:
            with state.ledger.session():
                ledger = state.ledger
                rows = Rows(ledger.pages(), ledger.candidates(), ledger.sources(), ledger.contradictions())
            yield Session(wiki, state, run, kind, begun, rows, state.file_hashes, False, resumed, approve, limit)
        except NotFoundError as error:
            if state.journal.closed(run):
                _failed(state, run, error)
            else:
                state.runs.refuse(run, utc_now())
            raise
        except Exception as error:
            _failed(state, run, error)
            raise
        if wiki.settings.git.commit:
            commit_run(wiki, state, run)


def _failed(state: WikiState, run: str, error: Exception) -> None:
    state.runs.finish(run, "failed", utc_now(), message=" ".join(str(error).split())[:500])


def recover(state: WikiState) -> None:
    """Finish what an earlier run left open: its commit, and what the diary tells of an undo that was cut off behind it.

    Needs the run lock.
    """
    for message in state.recover().messages:
        log.warning(message)
    runs = state.runs.all()
    last = runs[-1] if runs else None
    if last is None or last.state not in ("running", "crashed") or not last.undoing:
        return
    done = [one for one in state.journal.closed(last.run) if one.kind == last.kind]
    if done:
        how = "partial" if last.leaves or done[0].refused else "ok"
        end_undo(state, last.run, last.undoing, how, len(done[0].landed))


def end_undo(state: WikiState, run: str, undone: Sequence[str], how: str, changed: int) -> None:
    """Close an undo in the diary: the runs it took back, those that stand again since it took back an undo, its end."""
    again = [one.run for one in state.runs.all() if one.undone_by in undone and one.run not in undone]
    for name in undone:
        state.runs.undone(name, run, utc_now())
    for name in again:
        state.runs.undone(name, "", utc_now())
    state.runs.finish(run, how, utc_now(), changed=changed)


@contextlib.contextmanager
def looking(wiki: Wiki, kind: str, now: str) -> Iterator[Session]:
    """Yield a session that only looks: no lock, no ledger, nothing written."""
    state = open_state(wiki)
    snapshot = state.reader.current()
    held = {name: {row.id: row for row in snapshot.rows(name)} if snapshot else {} for name in _TABLES}
    rows = Rows(**cast("dict[str, Any]", held))
    yield Session(wiki, state, _run_id(kind, now, 0), kind, now, rows, _hash_all(state), True, False)


def _hash_all(state: WikiState) -> Hashes:
    """Hashes that are not remembered, for a run that writes nothing."""

    def hashes(stats: Mapping[str, Stat]) -> Mapping[str, str]:
        found = {path: state.vault.hash(path) for path in stats}
        return {path: digest for path, digest in found.items() if digest is not None}

    return hashes


def _begin(state: WikiState, kind: str, now: str) -> tuple[str, str, bool]:
    runs = state.runs.all()
    last = runs[-1] if runs else None
    cut_off = last is not None and last.kind == kind and last.state in ("running", "crashed")
    if last is not None and cut_off and parse_moment(now) - parse_moment(last.started) < RESUME_WITHIN:
        log.info("taking up run %s, which was cut off", last.run)
        state.runs.start(last.run, kind, last.started, os.getpid())
        return last.run, last.started, True
    run = _run_id(kind, now, len(runs))
    state.runs.start(run, kind, now, os.getpid())
    return run, now, False


def _run_id(kind: str, begun: str, before: int) -> str:
    """An id that sorts by time, reads well, and is the same for the same run of the same wiki's life."""
    tail = hashlib.sha256(f"{kind} {begun} {before}".encode()).hexdigest()[:4]
    return f"{begun[:10].replace('-', '')}-{begun[11:19].replace(':', '')}-{tail}"


def _report_path(state_dir: Path, run: str) -> Path:
    return state_dir / "runs" / "reports" / f"{run}.json"


def keep_report(session: Session, report: NightReport) -> None:
    """Keep a run's report in state; written once before the commit and once after it."""
    path = _report_path(session.wiki.state_dir, report.run)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, [_REPORT.dump_json(report, indent=1)])


def load_report(state_dir: Path, run: str) -> NightReport | None:
    """Return the report of a run, or None when it has none."""
    try:
        return _REPORT.validate_json(_report_path(state_dir, run).read_bytes())
    except (FileNotFoundError, ValueError):
        return None
