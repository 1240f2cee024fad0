"""Repairs of links in the pipeline's own blocks. What a block says does not change, so neither does its owner."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tasks.lint.desk import Desk, Seen
from tasks.lint.model import Issue, Repair
from tasks.markdown import blocks, links, properties
from tasks.markdown.blocks import Resolve
from tasks.pages.pages import digest, stem_of
from tasks.records import BlockKind, Owner, PageRecord

_TEXT = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.TABLE, BlockKind.QUOTE})


def unlinked(desk: Desk, path: str, link: links.Link) -> Repair | None:
    """The repair that leaves a link's words without the link; None where it is not ours to make."""
    own = desk.own_block_at(path, link)
    if own is None or own.block.kind not in _TEXT or link.kind != "wiki" or link.embed:
        return None
    return Repair(desk.by_path[path].id, link.start, link.end, link.label or link.target)


def retargeted(desk: Desk, path: str, seen: Seen) -> Repair | None:
    """The repair that names the page's file in place of its alias; None where it is not ours to make."""
    link = seen.link
    own = desk.own_block_at(path, link)
    if own is None or own.block.kind not in _TEXT or link.kind != "wiki" or link.embed or link.heading:
        return None
    label = (link.label or link.target).replace("\\|", "|")
    text = links.wikilink(stem_of(seen.to.candidates[0]), label, own.block.kind is BlockKind.TABLE)
    return Repair(desk.by_path[path].id, link.start, link.end, text)


def repaired(pages: Mapping[str, PageRecord], issues: Sequence[Issue], resolve: Resolve) -> tuple[PageRecord, ...]:
    """The pages, by path, as they are once the issues' repairs are made; pages without one are left out."""
    wanted: dict[str, dict[int, Repair]] = defaultdict(dict)
    for issue in issues:
        if issue.repair is not None:
            wanted[issue.repair.page_id].setdefault(issue.repair.start, issue.repair)
    changed = (_repaired(pages[page_id], [*repairs.values()], resolve) for page_id, repairs in wanted.items())
    return tuple(sorted((page for page in changed if page is not None), key=lambda page: page.path))


def _repaired(page: PageRecord, repairs: Sequence[Repair], resolve: Resolve) -> PageRecord | None:
    start = properties.body_start(page.markdown)
    found = blocks.split(page.markdown[start:])
    if page.adopted or len(found) != len(page.blocks):
        return None
    markdown, records = page.markdown, list(page.blocks)
    for number in reversed(range(len(found))):
        block, record = found[number], records[number]
        low, high = start + block.start, start + block.end
        inside = [one for one in repairs if low <= one.start and one.end <= high]
        if record.owner is not Owner.PIPELINE or not inside:
            continue
        text = block.text
        for repair in sorted(inside, key=lambda one: -one.start):
            text = text[: repair.start - low] + repair.text + text[repair.end - low :]
        markdown = markdown[:low] + text + markdown[high:]
        records[number] = replace(record, hash=blocks.normal_hash(block.kind, text, resolve))
    if markdown == page.markdown:
        return None
    return replace(page, markdown=markdown, file_hash=digest(markdown), blocks=tuple(records))
