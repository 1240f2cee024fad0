"""What a night will write: proposals become pages, updates and candidates, with links between them.

Nothing is written here. The plan names every file with the hash it must still have, the rows that are true once it has
landed, and the candidate that takes its place when a person saved the file in the meantime.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from config.settings import Settings
from tasks.commits import NO_CHANGES, Changes, FileWrite
from tasks.compiling.proposed import proposal_hash
from tasks.contradictions.claims import ContradictionRecord, Decision
from tasks.contradictions.page import Settled, settle
from tasks.many import Many, here
from tasks.pages import linking, merge, slugs
from tasks.pages.first_page import Common, FirstPage, NewPage, first_page_and_candidate
from tasks.pages.moved import led_along
from tasks.pages.persons import is_unmerged, wrote_on
from tasks.pages.relink import relink
from tasks.records import CandidateRecord, PageProposal, PageRecord
from tasks.review import review, staging
from tasks.text_bytes import encode

_UNMERGED = ("both versions of a passage stand on the page, from a merge that waits for you",)
_NAME_TAKEN = ("its name was taken while the night was at work",)


@dataclass(frozen=True, slots=True)
class Desk:
    """What there is before the plan: the vault as read in, and the files whose names are taken."""

    pages: Mapping[str, PageRecord]  # deleted ones included
    candidates: Mapping[str, CandidateRecord]  # decided ones included
    on_disk: Mapping[str, str]  # hash of candidate files by path
    basenames: Collection[str]  # of all Markdown files in the vault, without suffix
    live_sources: Collection[str]
    told: frozenset[str]  # sources of which all that they say now is proposed
    source_links: Mapping[str, str]  # by source id, as they stand in `sources`
    targets: Mapping[str, str]  # by source id: the vault path that citations point into
    resolve: Callable[[str], str]
    pages_dir: str
    candidates_dir: str
    contradictions: Mapping[str, ContradictionRecord] = field(default_factory=dict)  # decided ones included
    first_seen: Mapping[str, str] = field(default_factory=dict)  # of sources, by id


@dataclass(frozen=True, slots=True)
class Plan:
    """The writes of a night over pages and candidates. Page ids, in the order of the writes."""

    writes: tuple[FileWrite, ...] = ()
    changes: Changes = NO_CHANGES
    created: tuple[PageRecord, ...] = ()
    updated: tuple[PageRecord, ...] = ()
    removed: tuple[PageRecord, ...] = ()
    staged: tuple[CandidateRecord, ...] = ()
    relinked: tuple[PageRecord, ...] = ()
    declined: Mapping[str, str] = field(default_factory=dict)  # subject: why nothing came of its proposal


@dataclass(frozen=True, slots=True)
class _Target:
    """Where a proposal goes."""

    proposal: PageProposal
    page_id: str
    slug: str
    path: str
    current: PageRecord | None
    candidate: CandidateRecord | None
    hold: tuple[str, ...]
    settled: Settled


def plan(
    proposals: Sequence[PageProposal],
    retired: Sequence[str],
    desk: Desk,
    settings: Settings,
    run: str,
    now: str,
    many: Many = here,
) -> Plan:
    """Return what to write for proposals and for pages whose last source left; the same input, the same plan.

    `many` carries out what is done for each new page.
    """
    declined: dict[str, str] = {}
    targets = _targets(sorted(proposals, key=lambda p: p.subject), desk, settings, run, now, declined)
    published = {t.page_id: t for t in targets if t.current is None and not t.hold}
    names = _names(desk.pages, retired, published.values())
    draft = _Draft(desk, names, settings, now)
    draft.retire(retired)
    new = [target for target in targets if target.current is None]
    common = Common(now, names, draft.gone, desk.resolve, desk.source_links)
    made = many(first_page_and_candidate, common, [_new_page(target, desk) for target in new])
    pages = {one.page.id: one for one in made}
    for target in targets:
        if target.current is None:
            draft.put_new(target, pages[target.page_id])
        else:
            draft.put_update(target, target.current)
    proposed = {target.page_id for target in targets}
    draft.withdraw_candidates(proposed)
    draft.relink(published.values(), proposed)
    drawn = draft.plan(declined)
    vanished = set(retired)
    gone = (row.id for row in desk.contradictions.values() if row.page_id in vanished and row.state is Decision.OPEN)
    changes = replace(
        drawn.changes,
        contradictions=tuple(row for target in targets for row in target.settled.rows),
        drop_contradictions=(*(name for target in targets for name in target.settled.dropped), *gone),
    )
    return replace(drawn, changes=changes)


def _new_page(target: _Target, desk: Desk) -> NewPage:
    """What is needed to make a page; one that nobody has had to judge so far gets its candidate at once."""
    reasons = () if target.candidate is not None else target.hold or _NAME_TAKEN
    return NewPage(target.proposal, target.page_id, target.path, reasons, desk.candidates_dir, bool(target.hold))


def page_id(run: str, subject: str) -> str:
    """Return the id of the page that a run makes for a subject."""
    return hashlib.sha256(f"{run}\x1f{subject}".encode()).hexdigest()[:12]


def _targets(
    proposals: Iterable[PageProposal], desk: Desk, settings: Settings, run: str, now: str, declined: dict[str, str]
) -> list[_Target]:
    by_subject = {c.subject: c for c in desk.candidates.values() if c.kind == "new"}
    taken = {slugs.fold(name) for name in desk.basenames}
    targets = []
    for proposal in proposals:
        current = desk.pages.get(proposal.page_id) if proposal.page_id else None
        if current is not None and (current.deleted or current.adopted):
            declined[proposal.subject] = (
                "its page was deleted by a person" if current.deleted else "it is a person's own note"
            )
            continue
        waiting = desk.candidates.get(proposal.page_id) if proposal.page_id else by_subject.get(proposal.subject)
        if current is None and waiting is not None and waiting.state == "promoted":
            waiting = None
        identity = current or waiting
        page = identity.id if identity is not None else page_id(run, proposal.subject)
        settled = settle(proposal, desk.contradictions, desk.first_seen, now, page)
        proposal = settled.proposal
        hold = staging.hold_back(proposal, settings.staging)
        if current is not None:
            targets.append(_Target(proposal, page, current.slug, current.path, current, waiting, hold, settled))
            continue
        if waiting is not None and waiting.state == "open":
            slug = waiting.slug
        else:
            slug = slugs.file_stem(proposal.title, proposal.subject, taken, settings.pages.file_name)
        taken.add(slugs.fold(slug))
        folder = "" if desk.pages_dir == "." else desk.pages_dir + "/"
        targets.append(_Target(proposal, page, slug, f"{folder}{slug}.md", None, waiting, hold, settled))
    return targets


def _names(pages: Mapping[str, PageRecord], retired: Collection[str], published: Iterable[_Target]) -> linking.Names:
    known = [
        (page.slug, page.title, page.aliases)
        for page in pages.values()
        if not page.deleted and page.status != "archived" and page.id not in retired
    ]
    new = [(t.slug, t.proposal.title, t.proposal.aliases) for t in published]
    return linking.Names.of(sorted([*known, *new]))


class _Draft:
    """Collects the writes of one plan."""

    def __init__(self, desk: Desk, names: linking.Names, settings: Settings, now: str) -> None:
        self._desk, self._names, self._settings, self._now = desk, names, settings, now
        self._writes: list[FileWrite] = []
        self._records: list[PageRecord] = []
        self.gone: tuple[str, ...] = ()  # stems of pages that are taken out
        self._created: list[PageRecord] = []
        self._updated: list[PageRecord] = []
        self._removed: list[PageRecord] = []
        self._relinked: list[PageRecord] = []
        self._staged: list[CandidateRecord] = []

    def put_new(self, target: _Target, made: FirstPage) -> None:
        """Plan a page that is made for the first time, or a candidate for it."""
        page, waiting = made.page, target.candidate
        if waiting is None and target.hold:
            self._wait(made.candidate)
            return
        on_disk = self._desk.on_disk.get(waiting.path) if waiting is not None and waiting.state == "open" else None
        reasons = target.hold or _kept_waiting(waiting, on_disk, target.proposal)
        if reasons:
            self._stage(target, page, "new", None, reasons)
            return
        content = encode(page.markdown)
        self._writes.append(FileWrite(target.path, None, content, Changes(pages=(page,)), otherwise=made.otherwise))
        self._created.append(page)
        if waiting is not None and on_disk is not None:
            done = replace(waiting, state="promoted", note="more sources raised its confidence", page="")
            self._writes.append(FileWrite(waiting.path, on_disk, None, Changes(candidates=(done,)), after=target.path))

    def put_update(self, target: _Target, current: PageRecord) -> None:
        """Plan a new state of a page, or a candidate for it."""
        desk = self._desk
        waiting = target.candidate
        waits = waiting is not None and waiting.state == "open" and not waiting.absorbs
        led = led_along(current, desk.targets, desk.resolve)
        made = merge.merge_page(led, target.proposal, self._now, desk.source_links, desk.resolve, reopen=waits)
        page = self._linked(made.record)
        full = self._linked(made.staged_record) if made.staged_record is not None else None
        hold = (*target.hold, *_UNMERGED) if is_unmerged(current.markdown) else target.hold
        if hold:
            if (full or page).markdown != led.markdown:
                self._stage(target, full or page, "update", led, hold)
            if led is not current:
                self._update(current, led, None)
            return
        if page.markdown != current.markdown:
            saved = ("it could not be written: somebody saved it while the night was at work, or it is read-only",)
            fallback = self._candidate(target, full or page, "update", current, saved)
            self._update(current, page, fallback)
        elif page != current:
            self._records.append(page)
        if full is not None:
            self._stage(target, full, "update", page, made.conflicts)
        elif waits and waiting is not None and waiting.kind == "update":
            self._drop_candidate(waiting, "the page has what it proposed")

    def _update(self, current: PageRecord, page: PageRecord, otherwise: FileWrite | None) -> None:
        content = encode(page.markdown)
        write = FileWrite(current.path, current.file_hash, content, Changes(pages=(page,)), otherwise=otherwise)
        self._writes.append(write)
        self._updated.append(page)

    def _linked(self, page: PageRecord) -> PageRecord:
        return relink(page, self._names, self.gone, self._desk.resolve)

    def _candidate(
        self, target: _Target, page: PageRecord, kind: str, base: PageRecord | None, reasons: tuple[str, ...]
    ) -> FileWrite | None:
        draft = review.Draft(
            page=page,
            kind=kind,
            target=target.path,
            base_hash=base.file_hash if base is not None else "",
            before=base.markdown if base is not None else "",
            reasons=reasons,
            proposal_hash=proposal_hash(target.proposal),
            subject=target.proposal.subject,
        )
        on_disk = self._desk.on_disk.get(target.candidate.path) if target.candidate is not None else None
        return review.write_candidate(draft, self._desk.candidates_dir, target.candidate, on_disk, self._now)

    def _stage(
        self, target: _Target, page: PageRecord, kind: str, base: PageRecord | None, reasons: tuple[str, ...]
    ) -> None:
        self._wait(self._candidate(target, page, kind, base, reasons))

    def _wait(self, write: FileWrite | None) -> None:
        if write is not None:
            self._writes.append(write)
            self._staged.extend(write.changes.candidates)

    def _drop_candidate(self, candidate: CandidateRecord, note: str) -> None:
        on_disk = self._desk.on_disk.get(candidate.path)
        if on_disk == candidate.file_hash:
            done = replace(candidate, state="discarded", note=note, page="")
            self._writes.append(FileWrite(candidate.path, on_disk, None, Changes(candidates=(done,))))

    def retire(self, page_ids: Sequence[str]) -> None:
        """Take out what stood on sources that left: the whole page when nothing of a person's is on it."""
        for page_id in sorted(page_ids):
            page = self._desk.pages.get(page_id)
            if page is None or page.deleted or page.adopted:
                continue
            empty = PageProposal(
                subject=page.subjects[0] if page.subjects else "",
                page_id=page.id,
                title=page.title,
                blocks=(),
                sources=(),
                aliases=page.aliases,
                tags=page.tags,
                type=page.type,
                status="stale",
                confidence="low",
                reasons=("its last source left",),
            )
            kept = merge.merge_page(page, empty, self._now, self._desk.source_links, self._desk.resolve).record
            if wrote_on(kept):
                if kept.markdown != page.markdown:
                    self._update(page, kept, None)
                continue
            gone = Changes(drop_pages=(page.id,), drop_embeddings=(page.id,))
            self._writes.append(FileWrite(page.path, page.file_hash, None, gone))
            self._removed.append(page)
        self.gone = tuple(page.slug for page in self._removed)

    def withdraw_candidates(self, proposed: Collection[str]) -> None:
        """Take back unedited candidates none of whose sources is left, or says any longer what makes such a page."""
        live = set(self._desk.live_sources)
        silent = live - self._desk.told
        for candidate in sorted(self._desk.candidates.values(), key=lambda c: c.id):
            nightly = candidate.kind == "new" and not candidate.subject.startswith(review.ANSWER)
            if candidate.state != "open" or candidate.id in proposed:
                continue
            if not (silent if nightly else live).isdisjoint(candidate.sources):
                continue
            if self._desk.on_disk.get(candidate.path) == candidate.file_hash:
                gone = Changes(drop_candidates=(candidate.id,))
                self._writes.append(FileWrite(candidate.path, candidate.file_hash, None, gone))

    def relink(self, new: Iterable[_Target], planned: Collection[str]) -> None:
        """Link older pages to the new ones they mention, and take out links to pages that were retired."""
        spoken = [name.casefold() for t in new for name in (t.proposal.title, *t.proposal.aliases)]
        sought = [*spoken, *(stem.casefold() for stem in self.gone)]
        if not sought:
            return
        passed = {*planned, *(page.id for page in self._removed), *(page.id for page in self._updated)}
        for page in sorted(self._desk.pages.values(), key=lambda p: p.id):
            if page.deleted or page.adopted or page.id in passed:
                continue
            text = page.markdown.casefold()
            if any(name in text for name in sought):
                linked = self._linked(page)
                if linked is not page:
                    content = encode(linked.markdown)
                    self._writes.append(FileWrite(page.path, page.file_hash, content, Changes(pages=(linked,))))
                    self._relinked.append(linked)

    def plan(self, declined: Mapping[str, str]) -> Plan:
        """What was collected."""
        return Plan(
            writes=tuple(self._writes),
            changes=Changes(pages=tuple(self._records)),
            created=tuple(self._created),
            updated=tuple(self._updated),
            removed=tuple(self._removed),
            staged=tuple(self._staged),
            relinked=tuple(self._relinked),
            declined=declined,
        )


def _kept_waiting(candidate: CandidateRecord | None, on_disk: str | None, proposal: PageProposal) -> tuple[str, ...]:
    """Why a page that could be published stays a candidate."""
    if candidate is None:
        return ()
    if candidate.state == "open" and on_disk not in (None, candidate.file_hash):
        return ("you are editing the candidate",)
    if candidate.state == "discarded" and candidate.proposal_hash == proposal_hash(proposal):
        return ("you discarded the same page",)
    return ()
