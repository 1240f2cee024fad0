"""What a night will write: proposals become pages, updates and candidates, with links between them.

Nothing is written here. The plan names every file with the hash it must still have, the rows that are true once it has
landed, and the candidate that takes its place when a person saved the file in the meantime.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from config.settings import Settings
from tasks import blocks, candidates, linking, merge, slugs, staging
from tasks.records import (
    NO_CHANGES,
    BlockKind,
    CandidateRecord,
    Changes,
    FileWrite,
    Owner,
    PageProposal,
    PageRecord,
    ProposedBlock,
)
from tasks.text_bytes import digest, encode

_LINKED = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.TABLE, BlockKind.QUOTE})


@dataclass(frozen=True, slots=True)
class Desk:
    """What there is before the plan: the vault as read in, and the files whose names are taken."""

    pages: Mapping[str, PageRecord]  # deleted ones included
    candidates: Mapping[str, CandidateRecord]  # decided ones included
    on_disk: Mapping[str, str]  # hash of candidate files by path
    basenames: Collection[str]  # of all Markdown files in the vault, without suffix
    live_sources: Collection[str]
    resolve: Callable[[str], str]
    pages_dir: str
    candidates_dir: str


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


def plan(
    proposals: Sequence[PageProposal], retired: Sequence[str], desk: Desk, settings: Settings, run: str, now: str
) -> Plan:
    """Return what to write for proposals and for pages whose last source left; the same input, the same plan."""
    declined: dict[str, str] = {}
    targets = _targets(sorted(proposals, key=lambda p: p.subject), desk, settings, run, declined)
    published = {t.page_id: t for t in targets if t.current is None and not t.hold}
    names = _names(desk.pages, retired, published.values())
    draft = _Draft(desk, names, settings, now)
    for target in targets:
        draft.put(target)
    draft.retire(retired)
    draft.orphaned_candidates({t.page_id for t in targets})
    draft.relink([published[i] for i in published], retired, {t.page_id for t in targets})
    return draft.plan(declined)


def page_id(run: str, subject: str) -> str:
    """Return the id of the page that a run makes for a subject."""
    return hashlib.sha256(f"{run}\x1f{subject}".encode()).hexdigest()[:12]


def _targets(
    proposals: Iterable[PageProposal], desk: Desk, settings: Settings, run: str, declined: dict[str, str]
) -> list[_Target]:
    by_subject = {c.subject: c for c in desk.candidates.values() if c.kind == "new"}
    taken = set(desk.basenames)
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
        hold = staging.hold_back(proposal, settings.staging)
        if current is not None:
            targets.append(_Target(proposal, current.id, current.slug, current.path, current, waiting, hold))
            continue
        if waiting is not None:
            identity, slug = waiting.id, waiting.slug
        else:
            identity = page_id(run, proposal.subject)
            slug = slugs.file_stem(proposal.title, proposal.subject, taken, settings.pages.file_name)
        taken.add(slug)
        folder = "" if desk.pages_dir == "." else desk.pages_dir + "/"
        targets.append(_Target(proposal, identity, slug, f"{folder}{slug}.md", None, waiting, hold))
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
        self._dropped_candidates: list[str] = []
        self._created: list[PageRecord] = []
        self._updated: list[PageRecord] = []
        self._removed: list[PageRecord] = []
        self._relinked: list[PageRecord] = []
        self._staged: list[CandidateRecord] = []

    def put(self, target: _Target) -> None:
        """Plan one proposal."""
        proposal = self._link(target)
        if target.current is None:
            self._put_new(target, proposal)
        else:
            self._put_update(target, target.current, proposal)

    def _link(self, target: _Target) -> PageProposal:
        already = {target.slug}
        linked = tuple(
            replace(block, text=linking.link_block(block.text, self._names, already))
            if block.kind in _LINKED
            else block
            for block in target.proposal.blocks
        )
        return replace(target.proposal, blocks=linked)

    def _put_new(self, target: _Target, proposal: PageProposal) -> None:
        made = merge.new_page(proposal, target.page_id, target.path, self._now, self._desk.resolve)
        page = _with_file(made.record, made.text)
        waiting = target.candidate
        on_disk = self._desk.on_disk.get(waiting.path) if waiting is not None and waiting.state == "open" else None
        edited = waiting is not None and waiting.state == "open" and on_disk not in (None, waiting.file_hash)
        discarded = (
            waiting is not None
            and waiting.state == "discarded"
            and (waiting.proposal_hash == candidates.proposal_hash(target.proposal))
        )
        if target.hold or edited or discarded:
            reasons = target.hold or ("you are editing the candidate",)
            self._stage(target, page, "new", "", "", reasons)
            return
        self._writes.append(FileWrite(target.path, None, encode(made.text), Changes(pages=(page,))))
        self._created.append(page)
        if waiting is not None and waiting.state == "open" and on_disk is not None:
            done = replace(waiting, state="promoted", note="more sources raised its confidence", page="")
            self._writes.append(FileWrite(waiting.path, on_disk, None, Changes(candidates=(done,)), after=target.path))

    def _put_update(self, target: _Target, current: PageRecord, proposal: PageProposal) -> None:
        made = merge.merge_page(current, proposal, self._now, self._desk.resolve)
        full = made.staged_text or made.text
        if target.hold and full != current.markdown:
            page = _with_file(made.staged_record if made.staged_text and made.staged_record else made.record, full)
            self._stage(target, page, "update", current.file_hash, current.markdown, target.hold)
            return
        page = _with_file(made.record, made.text)
        staged_page = (
            _with_file(made.staged_record, made.staged_text) if made.staged_text and made.staged_record else None
        )
        if made.text != current.markdown:
            fallback = self._candidate(
                target,
                staged_page or page,
                "update",
                current.file_hash,
                current.markdown,
                ("the page was saved by somebody while the night was at work",),
            )
            self._writes.append(
                FileWrite(
                    current.path, current.file_hash, encode(made.text), Changes(pages=(page,)), otherwise=fallback
                )
            )
            self._updated.append(page)
        elif page != current:
            self._records.append(page)
        if staged_page is not None:
            self._stage(target, staged_page, "update", page.file_hash, made.text, made.conflicts)
        elif target.candidate is not None and target.candidate.state == "open" and target.candidate.kind == "update":
            self._drop_candidate(target.candidate, "the page has what it proposed")

    def _candidate(
        self, target: _Target, page: PageRecord, kind: str, base_hash: str, before: str, reasons: tuple[str, ...]
    ) -> FileWrite | None:
        draft = candidates.Draft(
            page,
            kind,
            target.path,
            base_hash,
            before,
            reasons,
            candidates.proposal_hash(target.proposal),
            target.proposal.subject,
        )
        on_disk = self._desk.on_disk.get(target.candidate.path) if target.candidate is not None else None
        return candidates.write_candidate(draft, self._desk.candidates_dir, target.candidate, on_disk, self._now)

    def _stage(
        self, target: _Target, page: PageRecord, kind: str, base_hash: str, before: str, reasons: tuple[str, ...]
    ) -> None:
        write = self._candidate(target, page, kind, base_hash, before, reasons)
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
                page.subjects[0] if page.subjects else "",
                page.id,
                page.title,
                (),
                (),
                page.aliases,
                page.tags,
                page.type,
                "stale",
                "low",
                ("its last source left",),
            )
            made = merge.merge_page(page, empty, self._now, self._desk.resolve)
            theirs = [b for b in made.record.blocks if b.owner is Owner.PERSON]
            if theirs:
                kept = _with_file(made.record, made.text)
                if made.text != page.markdown:
                    self._writes.append(FileWrite(page.path, page.file_hash, encode(made.text), Changes(pages=(kept,))))
                    self._updated.append(kept)
            else:
                self._writes.append(
                    FileWrite(
                        page.path, page.file_hash, None, Changes(drop_pages=(page.id,), drop_embeddings=(page.id,))
                    )
                )
                self._removed.append(page)

    def orphaned_candidates(self, proposed: Collection[str]) -> None:
        """Take back unedited candidates none of whose sources is left."""
        for candidate in sorted(self._desk.candidates.values(), key=lambda c: c.id):
            orphan = candidate.state == "open" and not set(candidate.sources) & set(self._desk.live_sources)
            if (
                orphan
                and candidate.id not in proposed
                and self._desk.on_disk.get(candidate.path) == candidate.file_hash
            ):
                self._writes.append(
                    FileWrite(candidate.path, candidate.file_hash, None, Changes(drop_candidates=(candidate.id,)))
                )

    def relink(self, new: Sequence[_Target], retired: Collection[str], planned: Collection[str]) -> None:
        """Link older pages to the new ones they mention, and take out links to pages that were retired."""
        gone = tuple(page.slug for page in self._removed)
        spoken = [name.casefold() for t in new for name in (t.proposal.title, *t.proposal.aliases)]
        if not spoken and not gone:
            return
        for page in sorted(self._desk.pages.values(), key=lambda p: p.id):
            if page.deleted or page.adopted or page.id in planned or page.id in retired:
                continue
            text = page.markdown.casefold()
            if any(name in text for name in spoken) or any(stem.casefold() in text for stem in gone):
                self._relink_page(page, gone)

    def _relink_page(self, page: PageRecord, gone: tuple[str, ...]) -> None:
        already = {page.slug, *linking.linked(page.markdown)}

        def change(block: ProposedBlock) -> str:
            return linking.link_block(linking.unlink(block.text, gone) if gone else block.text, self._names, already)

        made = merge.rewrite_own_blocks(page, _LINKED, change, self._desk.resolve)
        if made.text != page.markdown:
            record = _with_file(made.record, made.text)
            self._writes.append(FileWrite(page.path, page.file_hash, encode(made.text), Changes(pages=(record,))))
            self._relinked.append(record)

    def plan(self, declined: Mapping[str, str]) -> Plan:
        return Plan(
            writes=tuple(self._writes),
            changes=Changes(pages=tuple(self._records), drop_candidates=tuple(self._dropped_candidates)),
            created=tuple(self._created),
            updated=tuple(self._updated),
            removed=tuple(self._removed),
            staged=tuple(self._staged),
            relinked=tuple(self._relinked),
            declined=declined,
        )


def _with_file(record: PageRecord, text: str) -> PageRecord:
    return replace(record, markdown=text, file_hash=digest(encode(text)))


def text_of(block: blocks.Block) -> str:
    """Return a block's text as it stands on the page."""
    return block.text
