"""A page that is made for the first time, with its links, and as a candidate: what a night over new sources does most.

The same as merging the proposal and then linking the page, without reading back what was just written. A function of
its arguments alone, so that worker processes can carry it out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tasks.commits import FileWrite, NewCandidate
from tasks.compiling.proposed import proposal_hash
from tasks.markdown import links
from tasks.markdown.blocks import Resolve, normal_hash
from tasks.pages import linking, merge
from tasks.pages.pages import digest, stem_of
from tasks.records import BlockKind, PageProposal, PageRecord


@dataclass(frozen=True, slots=True)
class Common:
    """What all new pages of a night have in common. `source_links` are by source id."""

    now: str
    names: linking.Names
    gone: tuple[str, ...]  # stems of pages that leave
    resolve: Resolve
    source_links: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class NewPage:
    """A proposal for a page that is not there yet, and where it will stand."""

    proposal: PageProposal
    page_id: str
    path: str
    reasons: tuple[str, ...] = ()  # of the candidate that waits in its place, or may have to; none: no candidate
    candidates_dir: str = ""
    held: bool = False  # the candidate is what will be written


@dataclass(frozen=True, slots=True)
class FirstPage:
    """The new page, and itself as a candidate if one was asked for: made when it is held, else only described."""

    page: PageRecord
    candidate: FileWrite | None = None
    otherwise: NewCandidate | None = None


def first_page_and_candidate(common: Common, new: NewPage) -> FirstPage:
    """The new page with first mentions of other pages linked, and the same as a candidate."""
    page = first_page(common, new)
    if not new.reasons:
        return FirstPage(page)
    path = f"{new.candidates_dir}/{page.slug}.md"
    said = proposal_hash(new.proposal)
    waiting = NewCandidate(path, page, new.reasons, said, new.proposal.subject, common.now)
    if not new.held:
        return FirstPage(page, otherwise=waiting)
    from tasks.review.review import candidate_of  # it loads more than all the rest, and few nights need it

    return FirstPage(page, candidate_of(waiting))


def first_page(common: Common, new: NewPage) -> PageRecord:
    """The record of the new page, its text with first mentions of other pages linked."""
    made = merge.new_page(new.proposal, new.page_id, new.path, common.now, common.source_links, common.resolve)
    page = made.record
    already = {page.slug} | {stem_of(citation.target) for citation in page.citations}
    for block in made.blocks:
        if block.kind is not BlockKind.FOOTNOTE:  # those are the citations
            already |= {stem_of(link.target) for link in links.parse(block.text) if link.target and not link.external}
    already -= set(common.gone)
    body = page.markdown[made.start :]
    pieces: list[str] = []
    records = list(page.blocks)
    at = 0
    for number, block in enumerate(made.blocks):
        if block.kind not in linking.LINKED:
            continue
        text = linking.link_block(linking.unlink(block.text, common.gone), common.names, already)
        if text != block.text:
            pieces += [body[at : block.start], text]
            at = block.end
            records[number] = replace(records[number], hash=normal_hash(block.kind, text, common.resolve))
    if not pieces:
        return page
    markdown = page.markdown[: made.start] + "".join(pieces) + body[at:]
    return replace(page, markdown=markdown, file_hash=digest(markdown), blocks=tuple(records))
