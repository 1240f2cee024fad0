"""Takes a run back: files get their former bytes, rows their former values, and sources are not compiled again.

An undo is itself a run, so it can be undone. What a later run or a person changed stays and is named; links and lists
elsewhere that led to a page which goes are brought up to date.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from config.errors import NightwikiError, NotFoundError
from config.wiki import Wiki
from flows.night_steps.embedding import embed_pages
from flows.night_steps.reading_in import take_in
from flows.session import Session, end_undo, looking, open_state, recover, writing
from flows.steps import DirectRunner, utc_now
from flows.undoing.files import Returned, take_back
from storage.commit import commit
from storage.history import Kept, in_order, run_named
from storage.journal import Closed
from storage.state import WikiState
from tasks.records import PageRecord

KIND = "undo"


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo did, or would do."""

    run: str                   # of the undo; empty for a dry run
    undone: tuple[str, ...]    # runs taken back, newest first
    changed: tuple[str, ...]   # vault paths written
    left: tuple[Kept, ...]     # files that stay as they are
    sources: tuple[str, ...]   # locations of sources that are not compiled again

    @property
    def state(self) -> str:
        """'ok', or 'partial' when files were left."""
        return "partial" if self.left else "ok"


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The commits to take back, and those after them that stay; oldest first."""

    commits: tuple[Closed, ...]
    later: tuple[Closed, ...]
    again: bool = False  # an undo that left files was tried before

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs whose commits changed a file, newest first."""
        return tuple(dict.fromkeys(one.run for one in reversed(self.commits) if one.landed))


def undo(wiki: Wiki, run: str, now: str, since: bool = False, dry_run: bool = False) -> Undone:
    """Take a run back, with `since` all later ones too.

    Raises NightwikiError when there is nothing to take back or the past is no longer kept, BusyError when another run
    is under way.
    """
    wanted = _choose(wiki, open_state(wiki), run, since)  # what cannot be done leaves no failed run in the diary
    if dry_run:
        with looking(wiki, KIND, now) as session:
            chosen = _choose(wiki, session.state, run, since)
            found = take_back(session, take_in(session, ticks=False).vault, chosen.commits, chosen.later)
            return _told(found, chosen, "", [write.path for write in found.writes], found.left)
    if cut_off := _finished(wiki, wanted):
        return Undone(cut_off, wanted.runs, (), (), ())
    with writing(wiki, KIND, now) as session:
        chosen = _choose(wiki, session.state, run, since)
        with session.state.write_lock():
            vault = take_in(session, ticks=False).vault  # a tick would set in stone what is to be taken back
            found = take_back(session, vault, chosen.commits, chosen.later)
            planned = _told(found, chosen, session.run, [write.path for write in found.writes], found.left)
            session.state.runs.undoing(session.run, planned.undone, bool(found.left), utc_now())
            done = commit(session.state, session.run, KIND, found.writes, found.changes, session.now)
            _embed(session, found, vault.changed)
        refused = tuple(Kept(one.path, one.reason) for one in done.refused)
        told = _told(found, chosen, session.run, done.landed, (*found.left, *refused))
        end_undo(session.state, session.run, told.undone, told.state, len(told.changed))
        session.state.close()
        return told


def _finished(wiki: Wiki, wanted: _Chosen) -> str:
    """The undo of just these runs that was cut off behind its commit, once the diary tells of it; '' when none was."""
    state = open_state(wiki)
    last = state.runs.all()[-1]
    if last.state != "crashed" or not last.undoing or last.undoing != wanted.runs:
        return ""
    with state.run_lock(kind=KIND):
        recover(state)
    told = {one.run: one for one in state.runs.all()}
    return last.run if told[last.run].state != "crashed" else ""


def _choose(wiki: Wiki, state: WikiState, name: str, since: bool) -> _Chosen:
    runs = state.runs.all()
    run = run_named(runs, name)
    if run is None:
        raise NotFoundError(name, "there is no such run", "See: nightwiki runs")
    states = {one.run: one.state for one in runs}
    if run.undone_by and not since and states.get(run.undone_by) != "partial":
        step = f"To have it again: nightwiki undo {run.undone_by}"
        raise NightwikiError(run.run, f"was taken back by {run.undone_by}", step)
    commits = in_order(state.journal.closed())
    places = [place for place, one in enumerate(commits) if one.run == run.run]
    days = wiki.settings.snapshots.keep_days
    if not places and state.runs.audit(run.run):
        raise NightwikiError(run.run, f"is longer ago than the past is kept (snapshots.keep_days: {days})")
    wanted = commits[places[0]:] if since and places else [commits[place] for place in places]
    if not any(one.landed for one in wanted):
        raise NightwikiError(run.run, "changed no file, so there is nothing to take back", "See: nightwiki audit")
    last = places[-1] + 1
    later = () if since else tuple(one for one in commits[last:] if one.run != run.run)
    return _Chosen(tuple(wanted), later, bool(run.undone_by))


def _told(found: Returned, chosen: _Chosen, run: str, changed: Sequence[str], left: Sequence[Kept]) -> Undone:
    """What was done; runs of which all is left still stand, and can be taken back later."""
    stand = bool(left) and not changed and (chosen.again or not found.sources)
    return Undone(run, () if stand else chosen.runs, tuple(sorted(set(changed))), tuple(left), found.sources)


def _embed(session: Session, found: Returned, taken: Sequence[PageRecord]) -> None:
    """New embeddings of pages whose text is neither as before nor as after the run."""
    embedded = embed_pages(session, found.pages, [*found.fresh, *taken], DirectRunner())
    commit(session.state, session.run, KIND, (), embedded.changes, session.now)

