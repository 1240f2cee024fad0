"""A proposal and the page on disk, brought together without touching what is the person's.

The page is a sequence of blocks. Pipeline blocks are replaced, dropped and inserted where the proposal says; a
person's block stays as it is, and what the proposal would change of it is a conflict: then there is a second text,
with the proposal in place, for the person to judge. Every result is read back; a change after which the page would
not read as intended (a fence of the person's that never closes, say) is put somewhere else or left undone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tasks.compiling.proposed import Piece, cited_labels, pieces
from tasks.markdown import properties
from tasks.markdown.blocks import Block, Resolve, normal_hash, plain_hash, split, written_hash
from tasks.markdown.footnotes import relabelled_pieces, with_definitions
from tasks.markdown.properties import Plain, Value
from tasks.pages.ownership import align, is_pipeline_id
from tasks.pages.pages import CLAIMED, DEFINITION, cited, described, digest, stem_of, value_hash
from tasks.pages.placing import Item, compose, placed_items
from tasks.records import BlockKind, BlockRecord, Owner, PageProposal, PageRecord, PropertyRecord
from tasks.review.candidate import candidate_text, strip_candidate

__all__ = ["Merge", "candidate_text", "merge_page", "new_page", "strip_candidate"]

_ROUNDS = 4
"""Most times that a merge is looked over again; one is the rule."""

_SILENT = frozenset({"updated", "created", "nightwiki_id"})


@dataclass(frozen=True, slots=True)
class Merge:
    """What to write for a page; `staged_text` is filled when a proposal concerns what a person owns."""

    text: str
    record: PageRecord
    conflicts: tuple[str, ...] = ()
    staged_text: str = ""
    staged_record: PageRecord | None = None
    start: int = 0                     # of the body, and its blocks: of a new page, whose text nobody need read again
    blocks: tuple[Block, ...] = ()


@dataclass(slots=True)
class _Sheet:
    """How a merge is meant, and where it collects what it finds; lives within one call."""

    overrule: bool = False                         # put the proposal in place of what the person owns
    reopen: bool = False                           # also what was proposed before
    conflicts: list[str] = field(default_factory=list)
    fresh: set[str] = field(default_factory=set)   # labels of footnotes in blocks that are written now


def new_page(
    proposal: PageProposal, page_id: str, path: str, now: str, source_links: Mapping[str, str], resolve: Resolve
) -> Merge:
    """The file of a new page: properties, title, blocks, definitions. `source_links` gives each source's link."""
    empty = PageRecord(page_id, path, stem_of(path), proposal.title, False, "", "", created=now, updated=now)
    text, records = _with_properties("", empty, proposal, now, source_links, resolve, _Sheet())
    return _finished(empty, proposal, text, (), records, resolve, _Sheet())


def merge_page(
    current: PageRecord,
    proposal: PageProposal,
    now: str,
    source_links: Mapping[str, str],
    resolve: Resolve,
    reopen: bool = False,
) -> Merge:
    """The page with the proposal merged in, as it is when nothing is to do; `current` is fresh from `read_page`.

    A proposal about what a person owns is a conflict once. `reopen` makes those of earlier nights conflicts again: for
    a page whose candidate still waits, so that the next candidate holds them all.
    """
    if current.adopted:
        return Merge(current.markdown, current)
    quiet = _settled(current, proposal, now, source_links, resolve, _Sheet(reopen=reopen))
    if not quiet.conflicts:
        return quiet
    staged = _settled(current, proposal, now, source_links, resolve, _Sheet(overrule=True, reopen=reopen))
    if staged.text == quiet.text:
        return quiet
    return replace(quiet, staged_text=staged.text, staged_record=staged.record)


def _settled(
    current: PageRecord,
    proposal: PageProposal,
    now: str,
    source_links: Mapping[str, str],
    resolve: Resolve,
    sheet: _Sheet,
) -> Merge:
    """The merge after which the same proposal has nothing left to do.

    Where a person has rearranged a page, placing new blocks can make room for a better place of an old one.
    """
    merge = _merged(current, proposal, now, source_links, resolve, sheet)
    rearranged = any(block.placed or block.owner is Owner.PERSON for block in current.blocks)
    for _ in range(_ROUNDS if rearranged and merge.text != current.markdown else 0):
        again = _merged(merge.record, proposal, now, source_links, resolve, _Sheet())
        if again.text == merge.text and again.record == merge.record:
            break
        merge = replace(again, conflicts=merge.conflicts)
    return merge


def _merged(
    current: PageRecord,
    proposal: PageProposal,
    now: str,
    source_links: Mapping[str, str],
    resolve: Resolve,
    sheet: _Sheet,
) -> Merge:
    text, records = _with_properties(current.markdown, current, proposal, now, source_links, resolve, sheet)
    merge = _finished(current, proposal, text, current.blocks, records, resolve, sheet)
    if merge.text != current.markdown and _may_write("updated", current):
        dated = properties.edit(merge.text, {"updated": Plain(now[:10])})
        written = PropertyRecord("updated", value_hash("updated", now[:10], resolve))
        kept = tuple(written if known.key == "updated" else known for known in merge.record.properties)
        page = replace(merge.record, properties=kept, updated=now, markdown=dated, file_hash=digest(dated))
        merge = replace(merge, text=dated, record=page)
    return merge


def _may_write(key: str, current: PageRecord) -> bool:
    return any(known.key == key and not known.written.startswith(CLAIMED) for known in current.properties)


# --- properties ------------------------------------------------------------------------------------------------------


def _with_properties(
    text: str,
    current: PageRecord,
    proposal: PageProposal,
    now: str,
    source_links: Mapping[str, str],
    resolve: Resolve,
    sheet: _Sheet,
) -> tuple[str, tuple[PropertyRecord, ...]]:
    found = properties.read(text)
    if found.problem:
        return text, current.properties
    stem = stem_of(current.path)
    wanted: dict[str, Value] = {
        "title": " ".join(proposal.title.split()),
        "aliases": properties.normal_aliases((proposal.title, *proposal.aliases), stem),
        "tags": properties.normal_tags(proposal.tags),
        "type": proposal.type,
        "status": proposal.status,
        "confidence": proposal.confidence,
    }
    if not text:
        wanted["created"] = wanted["updated"] = Plain(now[:10])
    sources = (source_links[source] for source in proposal.sources if source in source_links)
    wanted["sources"] = tuple(dict.fromkeys(sources))
    if not text:
        wanted["nightwiki_id"] = current.id
    known = {record.key: record for record in current.properties}
    change: dict[str, Value] = {}
    for key, value in wanted.items():
        new = value_hash(key, value, resolve)
        record = known.get(key)
        if key in current.removed_properties:
            continue
        if record is None and key not in found.values:
            change[key] = value
            known[key] = PropertyRecord(key, new)
            continue
        on_disk = value_hash(key, found.values.get(key), resolve)
        theirs = record is None or record.written.startswith(CLAIMED)
        seen = record.written.lstrip(CLAIMED) if record else ""
        if not theirs:
            if new != seen:
                change[key] = value
                known[key] = PropertyRecord(key, new)
            continue
        if key == "sources" and new == on_disk:  # a program that moves a file leads the links to it along
            known[key] = PropertyRecord(key, new)
            continue
        known[key] = PropertyRecord(key, CLAIMED + new)
        if new != on_disk and (new != seen or sheet.reopen) and key not in _SILENT:
            shown = value if isinstance(value, str) else ", ".join(value) if not isinstance(value, bool) else str(value)
            sheet.conflicts.append(f"the property '{key}' is yours; proposed: {shown or 'nothing'}")
            if sheet.overrule:
                change[key] = value
                known[key] = PropertyRecord(key, new)
    edited = properties.edit(text, change) if change else text
    if change and edited == text and any(
        properties.comparable(found.values.get(key)) != properties.comparable(value) for key, value in change.items()
    ):
        return text, current.properties
    return edited, tuple(known.values())


# --- blocks ----------------------------------------------------------------------------------------------------------


def _finished(
    current: PageRecord,
    proposal: PageProposal,
    text: str,
    blocks: tuple[BlockRecord, ...],
    records: tuple[PropertyRecord, ...],
    resolve: Resolve,
    sheet: _Sheet,
) -> Merge:
    found = properties.read(text)
    on_disk = split(found.body)
    if len(on_disk) != len(blocks):
        blocks = align(blocks, on_disk, resolve).blocks
    disk = [
        Item(record, block.text, block.level, number)
        for number, (record, block) in enumerate(zip(blocks, on_disk, strict=True))
    ]
    parts, citations = relabelled_pieces(pieces(proposal), disk, current.citations)
    wanted = {part.id: part for part in parts if part.id not in current.removed}
    disk = _recognised(disk, wanted, resolve)
    judged = [_judged(old, wanted.get(old.record.id), resolve, sheet) for old in disk]
    kept = [item for item in judged if item is not None]
    added = {}
    have = {item.record.id for item in kept}
    for part in wanted.values():
        if part.id not in have:
            added[part.id] = Item(_ours(part.id, part.kind, part.text, resolve), part.text, part.level)
            sheet.fresh.update(cited_labels(part))

    def arranged(inserted: Mapping[str, Item], present: Sequence[Item]) -> list[Item]:
        order = [name for name in wanted if name in inserted or name in have]
        placed = placed_items(present, inserted, order)
        return with_definitions(placed, disk, citations, current.removed, sheet.fresh, resolve)

    items, final, body = compose(found.body, on_disk, disk, kept, added, arranged, text[: found.start])
    text = text[: found.start] + body
    page = replace(
        current,
        removed=current.removed,
        properties=records,
        subjects=tuple(name for name in dict.fromkeys((*current.subjects, proposal.subject)) if name),
        reasons=proposal.reasons,
    )
    page = described(page, current.path, text, found, final, tuple(item.record for item in items))
    quoted = cited(tuple(citations.values()), final, page.blocks)
    sources = tuple(dict.fromkeys((*proposal.sources, *(citation.source_id for citation in quoted))))
    record = replace(page, citations=quoted, sources=sources)
    return Merge(text, record, tuple(sheet.conflicts), start=found.start, blocks=final)


def _recognised(disk: Sequence[Item], wanted: Mapping[str, Piece], resolve: Resolve) -> list[Item]:
    """The blocks on disk; one of a person's that says just what is proposed has that id, and none is added beside it.

    So a page whose history is lost, or a block that was pasted back, does not come to stand there twice.
    """
    found = list(disk)
    have = {item.record.id for item in found}
    missing = [part for part in wanted.values() if part.id not in have]
    own = {item.record.hash: number for number, item in reversed([*enumerate(found)]) if item.foreign}
    for part in missing if own else ():
        ours = _ours(part.id, part.kind, part.text, resolve)
        number = own.pop(ours.hash, -1)
        if number >= 0:
            found[number] = replace(found[number], record=replace(ours, owner=Owner.PERSON))
    return found


def _judged(old: Item, part: Piece | None, resolve: Resolve, sheet: _Sheet) -> Item | None:
    """What becomes of a block on disk: itself, new text under its id, or None when it leaves."""
    record = old.record
    if record.id.startswith(DEFINITION) or (part is None and not is_pipeline_id(record.id)):
        return old
    if part is None:
        if record.owner is Owner.PIPELINE:
            return None
        if record.written or sheet.reopen:
            sheet.conflicts.append(f"{_named(old)} is yours; its source no longer says it, so it would go")
            return None if sheet.overrule else replace(old, record=replace(record, written=""))
        return old
    written = written_hash(part.kind, part.text)
    theirs = record.owner is Owner.PERSON
    if written == record.written and not (theirs and sheet.reopen):
        return old
    new = replace(_ours(record.id, part.kind, part.text, resolve), placed=record.placed)
    if theirs:
        words = written.partition(".")[2]
        seen = words == record.written.partition(".")[2] and not sheet.reopen
        if seen or new.hash == record.hash or words == plain_hash(old.text, record.kind)[: len(words)]:
            return replace(old, record=replace(record, written=written))
        sheet.conflicts.append(f"{_named(old)} is yours; there is a new text for it")
        if not sheet.overrule:
            return replace(old, record=replace(record, written=written))
    sheet.fresh.update(cited_labels(part))
    return Item(new, part.text, part.level, old.origin)


def _ours(name: str, kind: BlockKind, text: str, resolve: Resolve) -> BlockRecord:
    normal = normal_hash(kind, text, resolve)
    return BlockRecord(name, kind, normal, Owner.PIPELINE, written_hash(kind, text, normal))


def _named(item: Item) -> str:
    words = " ".join(re.sub(r"\[\^[^\]]*\]|[#>*`|\[\]]", " ", item.text).split())
    return f'the {item.record.kind} "{words[:60]}{"…" if len(words) > 60 else ""}"'
