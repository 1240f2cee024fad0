"""What a person did since the last run, taken in as a commit of its own: edits, renames, deletions, ticked reviews."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from config.errors import NightwikiError
from flows.listing import list_pages
from flows.session import Session
from storage.commit import commit
from storage.readin import ReadIn, Tick, read_in, resolver
from tasks import review
from tasks.digest import Problem
from tasks.records import CandidateRecord, Changes, FileWrite, PageRecord
from tasks.review import Decision
from tasks.slugs import fold

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

    NightwikiError for an unknown slug.
    """
    wiki, state = session.wiki, session.state
    if session.dry:
        vault = read_in(wiki, state.vault, session.hashes, session.rows.known, session.run, session.now)
        return Taken(vault)
    with state.write_lock():
        vault = read_in(wiki, state.vault, session.hashes, session.rows.known, session.run, session.now)
        decided = [*_named(vault, reviews), *(_ticked(vault, tick) for tick in vault.ticks if ticks)]
        taken = _Reviewed(session, vault)
        for candidate, wanted in decided:
            taken.carry_out(candidate, wanted)
        changes = Changes(
            pages=vault.changed,
            candidates=vault.changed_candidates,
            drop_pages=vault.dropped,
            drop_embeddings=vault.dropped,
        )
        writes = [*taken.writes, *list_pages(wiki, state.vault, [*vault.pages.values()], taken.promoted, ())]
        done = commit(state, session.run, VAULT, writes, changes, session.now)
    if not done.published:
        return Taken(vault, problems=tuple(taken.problems), snapshot=done.snapshot)
    refused = tuple(Problem(refusal.path, refusal.reason) for refusal in done.refused)
    landed = set(done.landed)
    promoted = tuple(page for page in taken.promoted if page.path in landed)
    pages = {**vault.pages, **{page.id: page for page in promoted}}
    rows = {row.id: row for row in state.ledger.candidates().values()}
    after = replace(vault, pages=pages, candidates=rows, changed=(*vault.changed, *promoted))
    return Taken(
        after, promoted, tuple(taken.discarded), tuple(sorted(landed)), (*taken.problems, *refused), done.snapshot
    )


def _named(vault: ReadIn, reviews: Sequence[Review]) -> list[tuple[CandidateRecord, Review]]:
    found = []
    for wanted in reviews:
        candidate = review.by_slug(tuple(vault.candidates.values()), wanted.slug)
        if candidate is None:
            raise NightwikiError(
                wanted.slug, "no open candidate goes by this name", "`nightwiki candidates list` shows those that wait"
            )
        found.append((candidate, wanted))
    return found


def _ticked(vault: ReadIn, tick: Tick) -> tuple[CandidateRecord, Review | None]:
    candidate = vault.candidates[tick.id]
    if tick.promote == tick.discard:
        return candidate, None
    return candidate, Review(candidate.slug, tick.promote, "ticked in the note")


class _Reviewed:
    """Collects what the decisions write."""

    def __init__(self, session: Session, vault: ReadIn) -> None:
        self._session, self._vault = session, vault
        self._taken = {fold(name) for name in vault.basenames}
        self.writes: list[FileWrite] = []
        self.promoted: list[PageRecord] = []
        self.discarded: list[str] = []
        self.problems: list[Problem] = []

    def carry_out(self, candidate: CandidateRecord, wanted: Review | None) -> None:
        """Plan one decision; what cannot be done becomes a problem."""
        if wanted is None:
            self.problems.append(
                Problem(
                    candidate.path,
                    "both boxes are ticked, so neither was carried out",
                    "Leave one of promote and discard ticked",
                )
            )
            return
        decision = self._promote(candidate) if wanted.promote else self._discard(candidate, wanted.reason)
        if decision.problem:
            self.problems.append(Problem(candidate.path, decision.problem, decision.next_step))
            return
        self.writes.extend(decision.writes)
        if decision.page is not None:
            self.promoted.append(decision.page)
        else:
            self.discarded.append(candidate.slug)

    def _promote(self, candidate: CandidateRecord) -> Decision:
        vault = self._session.state.vault
        content = _bytes(self._session, candidate.path)
        if content is None:
            return Decision(problem="the candidate's file is gone")
        live = _bytes(self._session, candidate.target)
        paths = {page.path: page.id for page in self._vault.pages.values() if not page.deleted}
        resolve = resolver({**paths, candidate.target: candidate.id})
        taken = candidate.kind == "new" and vault.hash(candidate.target) is not None
        return review.promote(candidate, content, live, taken, resolve, self._session.now)

    def _discard(self, candidate: CandidateRecord, reason: str) -> Decision:
        return review.discard(candidate, _bytes(self._session, candidate.path), reason)


def _bytes(session: Session, path: str) -> bytes | None:
    try:
        return session.state.vault.read(path)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return None
