"""Links inside the pipeline's own blocks brought up to date: to pages that are new, and away from pages that are gone.

Blocks that a person owns are theirs, links included. What a block says does not change, so neither does its owner.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from tasks import linking, links, properties
from tasks.blocks import Resolve, normal_hash, split
from tasks.pages import digest, stem_of
from tasks.records import BlockKind, Owner, PageRecord

_LINKED = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.TABLE, BlockKind.QUOTE})


def relink(page: PageRecord, names: linking.Names, gone: Collection[str], resolve: Resolve) -> PageRecord:
    """The page with first mentions of `names` linked and links to the stems in `gone` reduced to their words.

    `page` must be fresh: its blocks are those of its text. It is returned as it is when nothing changes.
    """
    start = properties.read(page.markdown).start
    body = page.markdown[start:]
    found = split(body)
    if len(found) != len(page.blocks):
        return page
    already = {page.slug} | {stem_of(link.target) for link in links.parse(body) if link.target and not link.external}
    already -= set(gone)
    pieces: list[str] = []
    records = list(page.blocks)
    at = 0
    for number, (block, record) in enumerate(zip(found, page.blocks, strict=True)):
        if record.owner is not Owner.PIPELINE or block.kind not in _LINKED:
            continue
        text = linking.unlink(block.text, gone) if gone else block.text
        text = linking.link_block(text, names, already)
        if text != block.text:
            pieces += [body[at : block.start], text]
            at = block.end
            records[number] = replace(record, hash=normal_hash(block.kind, text, resolve))
    if not pieces:
        return page
    markdown = page.markdown[:start] + "".join(pieces) + body[at:]
    return replace(page, markdown=markdown, file_hash=digest(markdown), blocks=tuple(records))
