"""What a contradiction does to a page: open ones are shown with both sentences, a decided one keeps to the decision.

The same for every compiler: what it proposes is amended before it is merged, so a sentence that lost does not come
back, and when one of the two sentences changes the decision no longer concerns the page.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from tasks.compiling.confidence import LEVELS
from tasks.compiling.page_words import page_words
from tasks.compiling.proposed import label_of
from tasks.contradictions.claims import Claim, Clash, ContradictionRecord, Decision, known_as
from tasks.markdown.escape import escape_paragraph
from tasks.records import BlockKind, Citation, PageProposal, PageRecord, ProposedBlock

BLOCK = "clash:"
"""Begins the id of the block that shows a contradiction; the contradiction's id follows."""

STATUS = "contradicted"

SAID = "its sources contradict each other"
"""Begins the reason for a page's confidence that tells how many contradictions are open."""

_REFERENCES = re.compile(r"((?:\[\^[^\]\s]+\])+)")
_LABEL = re.compile(r"\[\^([^\]\s]+)\]")
_ITEM = re.compile(r"^(?=[ \t]*(?:[-*+]|\d+[.)])[ \t])", re.M)


@dataclass(frozen=True, slots=True)
class Settled:
    """A proposal with its contradictions told, and the rows that are then true."""

    proposal: PageProposal
    rows: tuple[ContradictionRecord, ...]
    dropped: tuple[str, ...] = ()  # open ones of the page that no longer are


def settle(
    proposal: PageProposal,
    records: Mapping[str, ContradictionRecord],
    first_seen: Mapping[str, str],
    now: str,
    page_id: str = "",
) -> Settled:
    """Amend a proposal by what is known of its contradictions; new ones are open.

    `first_seen` is by source; where the dates of publication do not tell, the source that was known first is the old
    one. `page_id` is that of the page that it is or will be.
    """
    rows = {row.id: row for clash in proposal.clashes for row in (_row(clash, records, first_seen, now, page_id),)}
    blocks = proposal.blocks
    quoted = [citation for block in blocks for citation in block.citations]
    shown: list[ProposedBlock] = []
    for row in rows.values():
        if row.state in (Decision.OPEN, Decision.BOTH):
            shown.append(callout(row, quoted, proposal.language))
        elif row.state in (Decision.KEEP_OLD, Decision.TAKE_NEW):
            blocks = without(blocks, row.new if row.state is Decision.KEEP_OLD else row.old)
    mine = {row.id for row in records.values() if row.page_id == page_id and row.state is Decision.OPEN}
    made = replace(proposal, blocks=_with_shown(blocks, shown))
    number = sum(row.state is Decision.OPEN for row in rows.values())
    if number:
        reason = f"{SAID} in {number} {'place' if number == 1 else 'places'}"
        level = min(LEVELS.index(proposal.confidence), LEVELS.index("medium"))
        made = replace(made, status=STATUS, confidence=LEVELS[level], reasons=(*proposal.reasons, reason))
    fresh = tuple(row for row in rows.values() if records.get(row.id) != row)
    return Settled(made, fresh, tuple(sorted(mine - rows.keys())) if page_id else ())


def callout(row: ContradictionRecord, quoted: Sequence[Citation], language: str) -> ProposedBlock:
    """The block that shows both sentences word for word, with their places as footnotes and their dates.

    `quoted` are the page's citations, whose footnotes are used where they are of the same words; `language` is the
    page's.
    """
    words = page_words(language)
    cited = [_citation(claim, quoted) for claim in (row.old, row.new)]
    if row.state is Decision.BOTH:
        head = f"> [!note] {words.both_hold}"
        times = (row.old_when or row.old.published[:10], row.new_when or row.new.published[:10])
        said = [f"{_flat(when)}: " if when else "" for when in times]
        tail = ["", ""]
    else:
        head = f"> [!warning] {words.contradiction}"
        said = ["", ""]
        dates = (claim.published[:10] for claim in (row.old, row.new))
        tail = [f" — {words.published} {_flat(date)}" if date else "" for date in dates]
    rows = [head]
    for claim, citation, before, after in zip((row.old, row.new), cited, said, tail, strict=True):
        quote = escape_paragraph(" ".join(claim.quote.split()))
        rows.append(f'> - {before}"{quote}"[^{citation.label}]{after}')
    return ProposedBlock(BLOCK + row.id, BlockKind.QUOTE, "\n".join(rows), tuple(cited))


def shown_on(page: PageRecord) -> frozenset[str]:
    """Ids of the contradictions that a page shows, or showed until a person took the block out."""
    names = (*(block.id for block in page.blocks), *page.removed)
    return frozenset(name.removeprefix(BLOCK).rstrip("~") for name in names if name.startswith(BLOCK))


def open_shown(
    pages: Mapping[str, PageRecord], records: Collection[ContradictionRecord]
) -> tuple[tuple[PageRecord, ContradictionRecord], ...]:
    """The open contradictions that live pages show, by page and id."""
    found = [
        (page, row)
        for row in records
        if row.state is Decision.OPEN
        and (page := pages.get(row.page_id)) is not None
        and not page.deleted
        and row.id in shown_on(page)
    ]
    return tuple(sorted(found, key=lambda one: (one[0].path, one[1].id)))


def cut(kind: BlockKind, text: str, labels: Collection[str]) -> str:
    """A block's text without the sentences that rest on these footnotes alone; empty when nothing is left."""
    if kind is BlockKind.LIST:
        items = [item for item in _ITEM.split(text) if item]
        left = [item for item in items if not _rests_on(item, labels)]
        return text if len(left) == len(items) else "".join(left).rstrip("\n")
    if kind is not BlockKind.PARAGRAPH:
        return text
    pieces = _REFERENCES.split(text)
    kept = []
    for at in range(0, len(pieces) - 1, 2):
        said, references = pieces[at], pieces[at + 1]
        if not set(_LABEL.findall(references)) <= set(labels):
            kept.append(said + references)
    if len(kept) == len(pieces) // 2:
        return text
    return "".join([*kept, pieces[-1]]).strip()


def labels_of(claim: Claim, citations: Sequence[Citation]) -> frozenset[str]:
    """The footnotes that quote a claim's sentence, or a part of it."""
    words = " ".join(claim.quote.split())
    found = set()
    for citation in citations:
        quoted = " ".join(citation.quote.split())
        if citation.source_id == claim.source_id and quoted and (quoted in words or words in quoted):
            found.add(label_of(citation))
    return frozenset(found)


def _row(
    clash: Clash,
    records: Mapping[str, ContradictionRecord],
    first_seen: Mapping[str, str],
    now: str,
    page_id: str,
) -> ContradictionRecord:
    known = known_as(clash, records)
    old, new = clash.old, clash.new
    dated = old.published and new.published and old.published[:10] != new.published[:10]
    seen = first_seen.get(old.source_id, ""), first_seen.get(new.source_id, "")
    turned = known is not None and (known.old.source_id, known.new.source_id) == (new.source_id, old.source_id)
    later = known is None and not dated and "" not in seen and seen[1] < seen[0]
    if turned or later:
        old, new = new, old
    page = page_id or clash.page_id
    old, new = replace(old, page_id=page), replace(new, page_id=page)
    if known is None:
        return ContradictionRecord(clash.id, clash.subject, page, clash.kind, old, new, clash.reason, opened=now)
    if known.state is Decision.DISMISSED:
        return known
    return replace(known, subject=clash.subject, page_id=page, old=old, new=new)


def _citation(claim: Claim, known: Sequence[Citation]) -> Citation:
    """The claim's footnote: the one that the page has for the sentence, or one of its own."""
    bare = Citation(claim.source_id, claim.target, claim.anchor, claim.quote)
    place = (claim.source_id, claim.anchor, claim.quote)
    same = (one for one in known if (one.source_id, one.anchor, one.quote) == place)
    return replace(bare, label=label_of(next(same, bare)))


def _with_shown(blocks: Sequence[ProposedBlock], shown: Sequence[ProposedBlock]) -> tuple[ProposedBlock, ...]:
    """The blocks with callouts behind the lead, else behind the title."""
    if not shown:
        return tuple(blocks)
    at = 1 if blocks and blocks[0].level == 1 else 0
    if len(blocks) > at and blocks[at].kind is BlockKind.PARAGRAPH:
        at += 1
    return (*blocks[:at], *shown, *blocks[at:])


def without(blocks: Sequence[ProposedBlock], claim: Claim) -> tuple[ProposedBlock, ...]:
    """The blocks without a claim's sentence; a section that it leaves empty goes as well."""
    found: list[ProposedBlock] = []
    for block in blocks:
        labels = labels_of(claim, block.citations)
        text = cut(block.kind, block.text, labels) if labels else block.text
        if text == block.text:
            found.append(block)
        elif text:
            used = set(_LABEL.findall(text))
            cited = tuple(citation for citation in block.citations if label_of(citation) in used)
            found.append(replace(block, text=text, citations=cited))
        elif found and found[-1].kind is BlockKind.HEADING and found[-1].level > 1 and _ends(blocks, block):
            found.pop()
    return tuple(found)


def _ends(blocks: Sequence[ProposedBlock], block: ProposedBlock) -> bool:
    """Whether a block is the last of its section."""
    at = blocks.index(block) + 1
    return at == len(blocks) or blocks[at].kind is BlockKind.HEADING


def _rests_on(item: str, labels: Collection[str]) -> bool:
    used = set(_LABEL.findall(item))
    return bool(used) and used <= set(labels)


def _flat(text: str) -> str:
    return escape_paragraph(" ".join(text.split()))
