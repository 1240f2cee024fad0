"""Two pages that say nearly the same made one: what the other says and this one does not, under this one's headings.

Blocks and citations of the pipeline move; a page that holds anything of a person's is never the one that goes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tasks.compiling.proposed import TITLE
from tasks.contradictions.page import BLOCK, cut
from tasks.markdown import links, properties
from tasks.markdown.blocks import Resolve, plain_hash, split
from tasks.pages.merge import merge_page
from tasks.pages.own_blocks import own_blocks, remembering
from tasks.pages.pages import CLAIMED, digest
from tasks.pages.persons import holds_a_persons_work
from tasks.pages.slugs import fold
from tasks.records import BlockKind, Owner, PageProposal, PageRecord, ProposedBlock

JOINED = "="
"""Stands before a subject key that a page has taken over from a page which became part of it."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two alike pages: the one that stays, and the one that becomes part of it."""

    stays: PageRecord
    goes: PageRecord


def pair_of(one: PageRecord, other: PageRecord, wanted: Collection[str]) -> Pair | None:
    """Which of two alike pages stays: the richer one. None when neither may go, or a person keeps them apart.

    `wanted` are folded names that a person's own text links to; their pages do not go.
    """
    if one.adopted or other.adopted or other.id in one.apart or one.id in other.apart:
        return None
    ranked = sorted((one, other), key=lambda page: (-len(page.citations), page.created, page.id))
    for stays, goes in (ranked, reversed(ranked)):
        if not holds_a_persons_work(goes) and fold(goes.slug) not in wanted:
            return Pair(stays, goes)
    return None


def linked_by_persons(pages: Collection[PageRecord]) -> frozenset[str]:
    """Folded names of the pages that a person's own notes and blocks link to."""
    found: set[str] = set()
    for page in pages:
        for text in _persons_text(page):
            if "[" in text:
                found.update(fold(link.target.rpartition("/")[2].removesuffix(".md")) for link in links.parse(text))
    return frozenset(found)


def absorbed(pair: Pair, source_links: Mapping[str, str], now: str, resolve: Resolve) -> PageRecord:
    """The page that stays, with what the other one says, its names as aliases, its sources and subjects."""
    stays, goes = pair.stays, pair.goes
    gone = (stays.slug, goes.slug)
    mine = own_blocks(stays, (goes.slug,))
    said = {plain_hash(block.text, block.kind) for block in mine}
    quoted = {_words(citation.quote) for citation in stays.citations}
    twice = frozenset(citation.label for citation in goes.citations if _words(citation.quote) in quoted)
    rest = (replace(block, text=cut(block.kind, block.text, twice)) for block in own_blocks(goes, gone))
    theirs = [block for block in rest if block.text and plain_hash(block.text, block.kind) not in said]
    proposal = PageProposal(
        subject=next(iter(stays.subjects), ""),
        page_id=stays.id,
        title=stays.title,
        blocks=tuple(_together(mine, theirs)),
        sources=tuple(dict.fromkeys((*stays.sources, *goes.sources))),
        aliases=tuple(dict.fromkeys((*stays.aliases, goes.title, *goes.aliases))),
        tags=stays.tags,
        type=stays.type,
        status=stays.status,
        confidence=stays.confidence,
        reasons=stays.reasons,
    )
    ours = {record.key for record in stays.properties if not record.written.startswith(CLAIMED)}
    theirs_to_say = tuple(key for key in ("aliases", "sources") if key not in ours)
    kept = ("title", "tags", "type", "status", "confidence", *theirs_to_say)
    current = replace(stays, removed_properties=(*stays.removed_properties, *kept))
    made = merge_page(current, proposal, now, source_links, resolve).record
    subjects = (*stays.subjects, *(JOINED + key.removeprefix(JOINED) for key in goes.subjects))
    return replace(
        remembering(made, stays),
        removed_properties=stays.removed_properties,
        subjects=tuple(dict.fromkeys(subjects)),
        former_slugs=tuple(dict.fromkeys((*stays.former_slugs, goes.slug, *goes.former_slugs))),
        file_hash=digest(made.markdown),
    )


def _words(quote: str) -> str:
    return " ".join(quote.split()).casefold()


def _persons_text(page: PageRecord) -> Iterator[str]:
    if page.adopted:
        yield page.markdown
    elif any(block.owner is Owner.PERSON for block in page.blocks):
        body = split(properties.read(page.markdown).body)
        if len(body) == len(page.blocks):
            yield from (b.text for b, r in zip(body, page.blocks, strict=True) if r.owner is Owner.PERSON)
        else:
            yield page.markdown


def _together(mine: Sequence[ProposedBlock], theirs: Sequence[ProposedBlock]) -> list[ProposedBlock]:
    """Their blocks at the end of the section of the same heading, else with their heading at the end of the page."""
    found = [*mine]
    taken = {block.key for block in mine}
    heading: ProposedBlock | None = None
    for block in theirs:
        if block.key == TITLE or block.level == 1:
            continue
        if block.kind is BlockKind.HEADING:
            heading = block
            continue
        if heading is not None and heading.key not in {one.key for one in found}:
            found.append(heading)
            taken.add(heading.key)
        key = block.key
        while key in taken:
            key += "+"
        taken.add(key)
        found.insert(_end_of(found, heading, block), replace(block, key=key))
    return found


def _end_of(blocks: Sequence[ProposedBlock], heading: ProposedBlock | None, block: ProposedBlock) -> int:
    """Where a section ends; of what stands before the first heading, behind the lead, or first for a callout."""
    at = next((n for n, one in enumerate(blocks) if heading is not None and one.key == heading.key), -1) + 1
    if heading is None and block.key.startswith(BLOCK):
        return min(2, len(blocks))
    while at < len(blocks) and (blocks[at].kind is not BlockKind.HEADING or blocks[at].level == 1):
        at += 1
    return at
