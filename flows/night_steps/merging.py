"""Near-duplicate pages: a merge is proposed as a candidate, and promoting it makes one page of the two."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from flows.night_steps.following import led_to
from flows.session import Session
from storage.readin import ReadIn, resolver
from tasks.commits import Changes, FileWrite
from tasks.contradictions.claims import Decision
from tasks.markdown import links
from tasks.pages.absorb import Pair, absorbed, linked_by_persons, pair_of
from tasks.records import CandidateRecord, PageRecord
from tasks.review import review
from tasks.text_bytes import digest, encode

MOST = 20
"""Merges that one run proposes."""


@dataclass(frozen=True, slots=True)
class Gone:
    """What promoting a merge writes beside the page that stays, or why it cannot be carried out."""

    writes: tuple[FileWrite, ...] = ()
    page: PageRecord | None = None
    problem: str = ""


def propose(
    session: Session, vault: ReadIn, alike: Sequence[tuple[PageRecord, PageRecord]], busy: Collection[str]
) -> tuple[FileWrite, ...]:
    """Candidates that merge alike pages, each page in one of them at most; pages with ids in `busy` are left alone.

    A merge that a person discarded is not proposed again, nor one where an update of either page waits.
    """
    if not alike:
        return ()
    live = [page for page in vault.pages.values() if not page.deleted]
    wanted = linked_by_persons(live)
    resolve = resolver({page.path: page.id for page in live})
    places = {row.id: row.evidence or ("" if "://" in row.location else row.location)
              for row in session.rows.sources.values()}
    source_links = {name: links.anchor_link(place, "") for name, place in places.items() if place}
    taken = set(busy)
    waits = {row.id: row for row in vault.candidates.values() if row.state == "open"}
    writes: list[FileWrite] = []
    for one, other in alike:
        pair = pair_of(one, other, wanted)
        if pair is None or {one.id, other.id} & taken or len(writes) >= MOST:
            continue
        known = waits.get(pair.stays.id)
        if pair.goes.id in waits or (known is not None and known.absorbs != pair.goes.id):
            continue
        taken |= {one.id, other.id}
        write = _candidate(session, vault, pair, absorbed(pair, source_links, session.now, resolve))
        if write is not None:
            writes.append(write)
    return tuple(writes)


def _candidate(session: Session, vault: ReadIn, pair: Pair, page: PageRecord) -> FileWrite | None:
    draft = review.Draft(
        page=page,
        kind="update",
        target=pair.stays.path,
        base_hash=pair.stays.file_hash,
        before=pair.stays.markdown,
        reasons=(f"it says nearly the same as {pair.goes.path}; promoting makes one page of the two",),
        proposal_hash=digest(encode(f"{pair.goes.id} {pair.goes.file_hash}")),
        subject=next(iter(pair.stays.subjects), ""),
        absorbs=pair.goes.id,
        absorbs_hash=pair.goes.file_hash,
    )
    known = vault.candidates.get(pair.stays.id)
    on_disk = vault.files.get(known.path) if known is not None else None
    return review.write_candidate(draft, session.wiki.candidates_dir, known, on_disk, session.now)


def carry_out(session: Session, vault: ReadIn, candidate: CandidateRecord) -> Gone:
    """What promoting a merge does to the page that goes and to what leads to it."""
    goes, stays = vault.pages.get(candidate.absorbs), vault.pages.get(candidate.id)
    if stays is None or stays.deleted:
        return Gone(problem="its page was deleted")
    if goes is None or goes.deleted:
        return Gone(problem="the page that it would take in is gone")
    if goes.file_hash != candidate.absorbs_hash:
        return Gone(problem=f"{goes.path} has changed since this merge was proposed")
    sources = tuple(
        replace(row, pages=tuple(sorted({*row.pages, stays.id} - {goes.id})))
        for row in session.rows.sources.values()
        if goes.id in row.pages
    )
    disputed = tuple(
        replace(row, page_id=stays.id)
        for row in session.rows.contradictions.values()
        if row.page_id == goes.id and row.state is not Decision.DISMISSED
    )
    changes = Changes(
        drop_pages=(goes.id,), drop_embeddings=(goes.id,), sources=sources, contradictions=disputed
    )
    gone = FileWrite(goes.path, goes.file_hash, None, changes, after=stays.path)
    followed = led_to(vault, {goes.slug: stays.slug}, {goes.id, stays.id})
    return Gone((gone, *(replace(write, after=goes.path) for write in followed)), goes)
