"""A page after a person has decided on a contradiction: its callout gone or turned into a note, what lost taken out.

The page is put together from its own blocks, so nothing is compiled anew, and the next night finds it as it would
have made it. A block that is the person's is left alone; what would change in it is handed back as a second text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tasks.compiling.page_words import language_of
from tasks.contradictions.claims import ContradictionRecord, Decision
from tasks.contradictions.page import BLOCK, SAID, STATUS, callout, cut, labels_of, open_shown, without
from tasks.markdown import properties
from tasks.markdown.blocks import Resolve, references, split
from tasks.pages.merge import merge_page
from tasks.pages.own_blocks import own_blocks, remembering
from tasks.pages.pages import CLAIMED, DEFINITION, digest, read_page
from tasks.records import Owner, PageProposal, PageRecord

_PROPERTIES = ("title", "aliases", "tags", "type", "status", "confidence", "sources")


@dataclass(frozen=True, slots=True)
class DecidedPage:
    """The page as it may be written, and with `staged` what a person has to agree to."""

    page: PageRecord
    staged: PageRecord | None = None


def decided_page(
    page: PageRecord, row: ContradictionRecord, records: Mapping[str, ContradictionRecord], now: str, resolve: Resolve
) -> DecidedPage:
    """The page with `row` as it is decided now; `records` are all contradictions, this one included."""
    left = [one for _, one in open_shown({page.id: page}, records.values()) if one.id != row.id]
    ours = any(known.key == "status" and not known.written.startswith(CLAIMED) for known in page.properties)
    mended = ours and page.status == STATUS and not left
    blocks = [one for one in own_blocks(page) if not one.key.startswith(BLOCK + row.id) or row.state is Decision.BOTH]
    if row.state is Decision.BOTH:
        key = BLOCK + row.id
        blocks = [callout(row, page.citations, language_of(one.text)) if one.key == key else one for one in blocks]
    losing = {Decision.KEEP_OLD: row.new, Decision.TAKE_NEW: row.old}.get(row.state)
    if losing is not None:
        blocks = [*without(blocks, losing)]
    proposal = PageProposal(
        subject=next(iter(page.subjects), ""),
        page_id=page.id,
        title=page.title,
        blocks=tuple(blocks),
        sources=page.sources,
        status="active" if mended else page.status,
        reasons=tuple(reason for reason in page.reasons if left or not reason.startswith(SAID)),
    )
    # Only the status is ours to change here; merging leaves alone what it takes for removed.
    kept = tuple(key for key in _PROPERTIES if key != "status" or not mended)
    current = replace(page, removed_properties=(*page.removed_properties, *kept))
    made = merge_page(current, proposal, now, {}, resolve).record
    made = replace(remembering(made, page), removed_properties=page.removed_properties)
    if losing is None:
        return DecidedPage(made)
    return DecidedPage(made, _staged(made, losing_labels=labels_of(losing, page.citations), resolve=resolve))


def _staged(page: PageRecord, losing_labels: frozenset[str], resolve: Resolve) -> PageRecord | None:
    """The page without the losing sentence in a person's blocks too; None when none of them has it."""
    found = properties.read(page.markdown)
    blocks = split(found.body)
    after = [
        cut(block.kind, block.text, losing_labels) if record.owner is Owner.PERSON else block.text
        for record, block in zip(page.blocks, blocks, strict=True)
    ]
    if after == [block.text for block in blocks]:
        return None
    used = {label for text in after for label in references(text)}
    text = page.markdown
    for record, block, left in reversed([*zip(page.blocks, blocks, after, strict=True)]):
        start, end = found.start + block.start, found.start + block.start + len(block.text)
        label = record.id.removeprefix(DEFINITION)
        if record.id.startswith(DEFINITION) and label in losing_labels and label not in used:
            left, end = "", end + len(re.match(r"(?:\r\n|\n|\r)?", text[end:]).group())  # type: ignore[union-attr]  # matches all
        text = text[:start] + left + text[end:]
    return replace(read_page(page.path, text, page, resolve), id=page.id, markdown=text, file_hash=digest(text))
