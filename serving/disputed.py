"""Contradictions as the terminal and servers tell them, read from the published snapshot."""

from __future__ import annotations

from collections.abc import Mapping

from config.wiki import Wiki
from serving import look
from serving.schemas.review import ClaimItem, ContradictionItem, ContradictionsAnswer
from storage.reader import Reader
from tasks.contradictions.claims import Claim, ContradictionRecord, Decision
from tasks.contradictions.page import open_shown
from tasks.records import PageRecord


def contradictions(wiki: Wiki, everything: bool = False) -> ContradictionsAnswer:
    """The open contradictions by page; with `everything` those that were decided, too."""
    snapshot = Reader(wiki.state_dir).current()
    if snapshot is None:
        return ContradictionsAnswer(contradictions=[])
    records = [row for row in snapshot.rows("contradictions") if isinstance(row, ContradictionRecord)]
    concerned = {row.page_id for row in records}
    pages = {page.id: page for page in snapshot.rows("pages", concerned) if isinstance(page, PageRecord)}
    found = list(open_shown(pages, records))
    if everything:
        decided = [row for row in records if row.state is not Decision.OPEN and row.page_id in pages]
        found += sorted(((pages[row.page_id], row) for row in decided), key=lambda one: (one[0].path, one[1].id))
    places = look.locations(wiki)
    return ContradictionsAnswer(contradictions=[item(row, page.slug, page.path, places) for page, row in found])


def item(row: ContradictionRecord, slug: str, path: str, places: Mapping[str, str]) -> ContradictionItem:
    """One contradiction as the list shows it; locations of sources by id."""
    return ContradictionItem(
        id=row.id,
        state=row.state.value,
        kind=row.kind.value,
        page=slug,
        path=path,
        reason=row.reason,
        old=_claim(row.old, row.old_when, places),
        new=_claim(row.new, row.new_when, places),
        opened=row.opened,
        decided=row.decided,
        note=row.note,
    )


def _claim(claim: Claim, when: str, places: Mapping[str, str]) -> ClaimItem:
    source = places.get(claim.source_id, claim.source_id)
    return ClaimItem(source=source, place=claim.anchor, quote=claim.quote, published=claim.published, when=when)
