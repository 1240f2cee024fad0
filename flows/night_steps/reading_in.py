"""What a person did since the last run, taken in as a commit of its own: edits, renames, deletions, ticked reviews."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from config.errors import NightwikiError, NotFoundError, StateError
from flows.made_rows import MadeRows
from flows.night_steps.following import follow, moves_of, stands, swaps_of
from flows.night_steps.listing import index_path, list_pages
from flows.night_steps.merging import Gone, carry_out
from flows.session import Session
from storage.commit import commit
from storage.readin import ReadIn, read_in, resolver
from storage.waiting import Tick
from tasks.commits import Changes, FileWrite
from tasks.digest import Problem
from tasks.pages.slugs import fold
from tasks.records import CandidateRecord, PageRecord
from tasks.review import review
from tasks.review.review import Decision

VAULT = "sync"
"""The kind of the commit that takes in a person's part; a run's own work is a commit of the run's kind."""


@dataclass(frozen=True, slots=True)
class Review:
    """A candidate that a person decided on."""

    slug: str
    promote: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Taken:
    """The vault after the person's part was taken in."""

    vault: ReadIn
    promoted: tuple[PageRecord, ...] = ()
    discarded: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    snapshot: str = ""


def take_in(session: Session, reviews: Sequence[Review] = (), ticks: bool = True) -> Taken:
    """Read the vault in, carry out reviews and (with `ticks`) ticked boxes, and commit.

    NotFoundError for an unknown slug.
    """
    state = session.state
    if session.dry:
        vault, taken, writes = _considered(session, reviews, ticks)
        return _after(vault, taken, writes, {write.path for write in writes})
    with state.write_lock():
        vault, taken, writes = _considered(session, reviews, ticks)
        changes = Changes(
            pages=vault.changed,
            candidates=vault.changed_candidates,
            drop_pages=vault.dropped,
            drop_embeddings=vault.dropped,
        )
        done = commit(state, session.run, VAULT, writes, changes, session.now)
        _strike(session, vault, [page for page in taken.promoted if page.path not in done.landed])
    after = _after(vault, taken, writes, set(done.landed))
    refused = tuple(Problem(refusal.path, refusal.reason) for refusal in done.refused)
    return replace(after, problems=(*after.problems, *refused), snapshot=done.snapshot)


def _strike(session: Session, vault: ReadIn, refused: Sequence[PageRecord]) -> None:
    """Take pages that were promoted, and whose file could not be made, out of the lists again."""
    never = [page for page in refused if page.id not in vault.pages]
    if never:
        writes = list_pages(session.wiki, session.state.vault, (), (), never)
        commit(session.state, session.run, VAULT, writes, Changes(), session.now)


def _considered(
    session: Session, reviews: Sequence[Review], ticks: bool
) -> tuple[ReadIn, _Reviewed, Sequence[FileWrite]]:
    """The vault, what was decided on candidates, and all that is to be written for it."""
    wiki, state = session.wiki, session.state
    vault = read_in(wiki, state.vault, session.hashes, session.rows.known, session.run, session.now)
    taken = _Reviewed(session, vault)
    named = _named(vault, reviews)
    for candidate, wanted in named.values():
        taken.carry_out(candidate, wanted)
    for tick in vault.ticks if ticks else ():
        if tick.id not in named:
            taken.carry_out_tick(vault.candidates[tick.id], tick)
    taken.withdraw()
    known = session.rows.pages
    moves, swaps = moves_of(vault, known), swaps_of(vault, known)
    back = [page for page in vault.changed if not page.deleted and page.id in known and known[page.id].deleted]
    listed = list_pages(
        wiki,
        state.vault,
        [*vault.pages.values()],
        [*taken.promoted, *(page for page in back if not page.adopted)],
        taken.merged,
        struck=[page.slug for page in vault.changed if page.deleted and not stands(vault, page.slug)],
        renamed={**moves, **swaps} if swaps and _untouched(session, index_path(wiki)) else moves,
        ours=MadeRows(state.reader, [*known.values(), *taken.merged]),
    )
    return vault, taken, [*taken.writes, *follow(vault, moves, swaps, known), *listed]


def _untouched(session: Session, path: str) -> bool:
    """Whether a file is as a run has left it."""
    rows = session.state.runs.audit(path=path)
    return bool(rows) and rows[-1].after == session.state.vault.hash(path)


def _after(vault: ReadIn, taken: _Reviewed, writes: Sequence[FileWrite], landed: Collection[str]) -> Taken:
    """The vault as it is once those writes have landed."""
    promoted = tuple(page for page in taken.promoted if page.path in landed)
    pages, rows = dict(vault.pages), dict(vault.candidates)
    fresh = list(vault.changed)
    for write in writes:
        if write.path not in landed:
            continue
        pages.update({page.id: page for page in write.changes.pages})
        fresh += write.changes.pages
        rows.update({row.id: row for row in write.changes.candidates})
        for row_id in write.changes.drop_candidates:
            rows.pop(row_id, None)
    changed = {page.id: page for page in fresh}
    after = replace(vault, pages=pages, candidates=rows, changed=tuple(changed.values()))
    return Taken(after, promoted, tuple(taken.discarded), tuple(sorted(landed)), tuple(taken.problems))


def _named(vault: ReadIn, reviews: Sequence[Review]) -> dict[str, tuple[CandidateRecord, Review]]:
    """The candidates that are decided on by name, by id; what is said so goes before a ticked box."""
    found: dict[str, tuple[CandidateRecord, Review]] = {}
    for wanted in reviews:
        known = tuple(vault.candidates.values())
        candidate = review.by_slug(known, wanted.slug)
        if candidate is None:
            done = (state for state in ("promoted", "discarded") if review.by_slug(known, wanted.slug, state))
            cause = next((f"was {state} already" for state in done), "no open candidate goes by this name")
            raise NotFoundError(wanted.slug, cause, "`nightwiki candidates list` shows those that wait")
        if candidate.id in found and found[candidate.id][1].promote != wanted.promote:
            raise NightwikiError(wanted.slug, "is to be promoted and discarded at once", "Choose one of the two.")
        found[candidate.id] = (candidate, wanted)
    return found


class _Reviewed:
    """Collects what the decisions write."""

    def __init__(self, session: Session, vault: ReadIn) -> None:
        self._session, self._vault = session, vault
        self.writes: list[FileWrite] = []
        self.promoted: list[PageRecord] = []
        self.discarded: list[str] = []
        self.merged: list[PageRecord] = []  # pages that become part of others
        self.problems: list[Problem] = []

    def carry_out_tick(self, candidate: CandidateRecord, tick: Tick) -> None:
        """Plan what a person ticked in the candidate's file."""
        if tick.problem:
            step = "Mend that line; until then no box in it counts"
            self.problems.append(Problem(candidate.path, tick.problem, step))
        elif tick.promote and tick.discard:
            cause = "both boxes are ticked, so neither was carried out"
            self.problems.append(Problem(candidate.path, cause, "Leave one of promote and discard ticked"))
        else:
            self.carry_out(candidate, Review(candidate.slug, tick.promote, "ticked in the note"))

    def carry_out(self, candidate: CandidateRecord, wanted: Review) -> None:
        """Plan one decision; what cannot be done becomes a problem."""
        if candidate.kind == "update" and candidate.id in self._vault.pages:
            candidate = replace(candidate, target=self._vault.pages[candidate.id].path)  # where it is now
        decision = self._promote(candidate) if wanted.promote else self._discard(candidate, wanted.reason)
        self.writes.extend(decision.writes)
        if decision.problem:
            self.problems.append(Problem(candidate.path, decision.problem, decision.next_step))
            return
        if decision.page is not None:
            self.promoted.append(decision.page)
        else:
            self.discarded.append(candidate.slug)

    def withdraw(self) -> None:
        """Take back updates of pages that are gone, unless a person wrote into them."""
        decided = {write.path for write in self.writes}
        for row in sorted(self._vault.candidates.values(), key=lambda one: one.id):
            page = self._vault.pages.get(row.id)
            gone = row.state == "open" and row.kind == "update" and (page is None or bool(page.deleted))
            if gone and row.path not in decided and self._vault.files.get(row.path) == row.file_hash:
                self.writes.append(FileWrite(row.path, row.file_hash, None, Changes(drop_candidates=(row.id,))))

    def _promote(self, candidate: CandidateRecord) -> Decision:
        content = _bytes(self._session, candidate.path)
        if content is None:
            return Decision(problem="the candidate's file is gone")
        live = _bytes(self._session, candidate.target)
        paths = {page.path: page.id for page in self._vault.pages.values() if not page.deleted}
        resolve = resolver({**paths, candidate.target: candidate.id})
        page = self._vault.pages.get(candidate.id)
        base = self._base(candidate) if page is not None and review.moved_on(candidate, live) else None
        if page is not None and base is not None:
            return review.renew(candidate, content, base, page, resolve)
        merge = carry_out(self._session, self._vault, candidate) if candidate.absorbs else Gone()
        if merge.problem:
            return Decision(problem=merge.problem, next_step="The next lint --fix compares again, or tick discard")
        namesake = self._namesake(candidate) if candidate.kind == "new" and live is None else ""
        decision = review.promote(candidate, content, live, namesake, resolve)
        if merge.page is not None and not decision.problem:
            self.merged.append(merge.page)
            decision = replace(decision, writes=(*decision.writes, *merge.writes))
        return decision

    def _namesake(self, candidate: CandidateRecord) -> str:
        """Another note in the vault with the name that the page is to get, which links would not tell from it."""
        name = fold(PurePosixPath(candidate.target).name)
        waiting = {row.path for row in self._vault.candidates.values() if row.state == "open"}
        paths = self._session.state.vault.stat()
        return next((path for path in paths if path not in waiting and fold(PurePosixPath(path).name) == name), "")

    def _base(self, candidate: CandidateRecord) -> PageRecord | None:
        """The page that an update was made of, from the newest kept snapshot that holds it; None when none does."""
        reader = self._session.state.reader
        for manifest in reversed(reader.history()):
            try:
                rows = reader.at(manifest.id).rows("pages", [candidate.id])
            except StateError:
                continue
            for row in rows:
                if isinstance(row, PageRecord) and row.file_hash == candidate.base_hash:
                    return row
        return None

    def _discard(self, candidate: CandidateRecord, reason: str) -> Decision:
        decision = review.discard(candidate, _bytes(self._session, candidate.path), reason)
        page = self._vault.pages.get(candidate.id)
        if not candidate.absorbs or page is None:
            return decision
        kept = replace(page, apart=tuple(dict.fromkeys((*page.apart, candidate.absorbs))))
        writes = (replace(write, changes=replace(write.changes, pages=(kept,))) for write in decision.writes)
        return replace(decision, writes=tuple(writes))


def _bytes(session: Session, path: str) -> bytes | None:
    try:
        return session.state.vault.read(path)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return None
