"""Pages whose sources moved: footnotes and `sources` lead to the new place at once, whatever waits for review.

What a page says stays as it is, and so does every block and property that a person claimed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tasks.compiling.proposed import definition
from tasks.markdown import links, properties
from tasks.markdown.blocks import Resolve, definition_label, normal_hash, split
from tasks.pages.pages import CLAIMED, DEFINITION, digest, value_hash
from tasks.records import BlockRecord, Citation, Owner, PageRecord, PropertyRecord

_KEY = "sources"


def led_along(page: PageRecord, targets: Mapping[str, str], resolve: Resolve) -> PageRecord:
    """The page citing each source in its `targets` path, by source id; itself when all its sources are where they were.

    `page` must be fresh: its blocks are those of its text.
    """
    moved = {one.target: targets[one.source_id] for one in page.citations if targets.get(one.source_id, one.target)}
    moved = {old: new for old, new in moved.items() if old != new}
    if page.adopted or not moved:
        return page
    citations = tuple(replace(one, target=moved.get(one.target, one.target)) for one in page.citations)
    text, known = _with_sources(page, moved, resolve)
    start = properties.read(text).start
    body, blocks = _with_definitions(text[start:], page.blocks, citations, resolve)
    text = text[:start] + body
    if text == page.markdown:
        return page
    return replace(
        page, markdown=text, file_hash=digest(text), citations=citations, blocks=blocks, properties=known
    )


def _with_sources(
    page: PageRecord, moved: Mapping[str, str], resolve: Resolve
) -> tuple[str, tuple[PropertyRecord, ...]]:
    known = next((one for one in page.properties if one.key == _KEY), None)
    listed = properties.read(page.markdown).values.get(_KEY)
    if known is None or known.written.startswith(CLAIMED) or not isinstance(listed, list | tuple):
        return page.markdown, page.properties
    changed = {links.anchor_link(old, ""): links.anchor_link(new, "") for old, new in moved.items()}
    value = tuple(dict.fromkeys(changed.get(str(one), str(one)) for one in listed))
    text = properties.edit(page.markdown, {_KEY: value})
    written = PropertyRecord(_KEY, value_hash(_KEY, value, resolve))
    return text, tuple(written if one is known else one for one in page.properties)


def _with_definitions(
    body: str, records: tuple[BlockRecord, ...], citations: tuple[Citation, ...], resolve: Resolve
) -> tuple[str, tuple[BlockRecord, ...]]:
    blocks = split(body)
    if len(blocks) != len(records):
        return body, records
    meant = {one.label: one for one in citations}
    pieces: list[str] = []
    kept = list(records)
    at = 0
    for number, (block, record) in enumerate(zip(blocks, records, strict=True)):
        label = definition_label(block.text) if record.id.startswith(DEFINITION) else ""
        if record.owner is not Owner.PIPELINE or label not in meant:
            continue
        text = definition(meant[label], label)
        if text != block.text:
            pieces += [body[at : block.start], text]
            at = block.end
            kept[number] = replace(record, hash=normal_hash(block.kind, text, resolve), written=digest(text))
    return "".join(pieces) + body[at:], tuple(kept)
