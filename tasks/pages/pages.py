"""A page's file as a record: attributes from its properties, owners of its blocks, what a person took out.

Reading a file that a person may have edited never interprets more than it must: an unchanged file gives the stored
record back, a changed one is aligned with what was known of it, and a file without history is the person's from end
to end.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePosixPath

from tasks.markdown import properties
from tasks.markdown.blocks import Block, Resolve, definition_label, split
from tasks.markdown.properties import Properties
from tasks.pages.ownership import align
from tasks.pages.slugs import fold
from tasks.records import BlockKind, BlockRecord, Citation, PageRecord, PropertyRecord

CLAIMED = "!"
"""Stands before `PropertyRecord.written` of a property that a person changed: theirs from then on."""

DEFINITION = "fn:"
"""Begins the id of a footnote definition that the pipeline wrote; its first label follows."""

_LINK = re.compile(r"!?\[\[([^\[\]|#]*)([^\[\]|]*)(\|[^\[\]]*)?\]\]")
_ATTRIBUTES = ("aliases", "tags", "sources")


def read_page(path: str, text: str, record: PageRecord | None, resolve: Resolve) -> PageRecord:
    """The record of a file as it is on disk now; `record` is what was known of it, None for a person's own note.

    Without a record the id is the property `nightwiki_id`, or made of the path. Text that is not sound UTF-8 is
    expected with surrogate escapes, so that its hash is the file's.
    """
    stem = stem_of(path)
    if record is not None and record.markdown == text:
        return record if record.path == path else replace(record, path=path, slug=stem)
    found = properties.read(text)
    blocks = split(found.body)
    if record is None:
        page_id = properties.string(found.values, "nightwiki_id") or "note-" + digest(path)[:12]
        page = PageRecord(page_id, path, stem, stem, True, "", "")
        return described(page, path, text, found, blocks, align((), blocks, resolve).blocks)
    before = split(properties.read(record.markdown).body) if record.blocks else ()
    aligned = align(() if record.adopted else record.blocks, blocks, resolve, before, record.lost)
    page = described(record, path, text, found, blocks, aligned.blocks)
    if record.adopted:
        return page
    kept, gone = _properties(record, found, resolve)
    ids = {block.id for block in aligned.blocks}
    return replace(
        page,
        removed=tuple(dict.fromkeys(name for name in (*record.removed, *aligned.removed) if name not in ids)),
        lost=aligned.lost,
        properties=kept,
        removed_properties=gone,
        citations=cited(record.citations, blocks, aligned.blocks),
    )


def described(
    page: PageRecord, path: str, text: str, found: Properties, blocks: Sequence[Block], records: tuple[BlockRecord, ...]
) -> PageRecord:
    """`page` with everything that can be read from its text."""
    values = found.values
    stem = stem_of(path)
    heading = next((block.text for block in blocks if block.level == 1), "")
    title = properties.string(values, "title") or heading.lstrip("# ").split("\n")[0].strip() or stem
    status = properties.string(values, "status").lower()
    return replace(
        page,
        path=path,
        slug=stem,
        title=title,
        file_hash=digest(text),
        markdown=text,
        aliases=properties.aliases(values),
        tags=properties.tags(values),
        type=properties.string(values, "type"),
        status=status or "active",
        confidence=properties.string(values, "confidence").lower(),
        created=_moment(properties.string(values, "created"), page.created),
        updated=_moment(properties.string(values, "updated"), page.updated),
        blocks=records,
    )


def cited(
    citations: Sequence[Citation], blocks: Sequence[Block], records: Sequence[BlockRecord]
) -> tuple[Citation, ...]:
    """Those citations whose definition stands on the page, under its first label or another."""
    names = {record.id for record in records}
    names |= {DEFINITION + definition_label(block.text) for block in blocks if block.kind is BlockKind.FOOTNOTE}
    return tuple(citation for citation in citations if DEFINITION + citation.label in names)


def value_hash(key: str, value: object, resolve: Resolve) -> str:
    """Hash of a property's value: equal for one value in other spelling, and for a link to the same page."""
    if key in _ATTRIBUTES:
        values = {key: list(value) if isinstance(value, tuple) else value}
        value = list(properties.tags(values) if key == "tags" else properties.strings(values, key))
    value = properties.comparable(value)

    def target(match: re.Match[str]) -> str:
        page = match.group(1).strip()
        return f"[[{resolve(page) or fold(page)}{match.group(2)}{match.group(3) or ''}]]"

    written = repr(value)
    return digest(_LINK.sub(target, written) if "[[" in written else written)


@lru_cache(maxsize=1024)  # a page cites the same few files again and again
def stem_of(path: str) -> str:
    """A page's name: its file's without folder and '.md'."""
    name = PurePosixPath(path).name
    return name[:-3] if name.lower().endswith(".md") else name


def digest(text: str) -> str:
    """sha256 of a file's text, in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _properties(
    record: PageRecord, found: Properties, resolve: Resolve
) -> tuple[tuple[PropertyRecord, ...], tuple[str, ...]]:
    if found.problem:
        return record.properties, record.removed_properties
    kept = []
    gone = [key for key in record.removed_properties if key not in found.values]
    for known in record.properties:
        if known.key not in found.values:
            gone.append(known.key)
        elif known.written.startswith(CLAIMED) or _same(known, found.values, record, resolve):
            kept.append(known)
        else:
            kept.append(PropertyRecord(known.key, CLAIMED + known.written))
    return tuple(kept), tuple(dict.fromkeys(gone))


def _same(known: PropertyRecord, values: Mapping[str, object], record: PageRecord, resolve: Resolve) -> bool:
    """Whether a property is as the pipeline wrote it, also when the page that it links to has come or gone since."""
    now = value_hash(known.key, values[known.key], resolve)
    if now == known.written:
        return True
    before = properties.read(record.markdown).values
    return known.key in before and now == value_hash(known.key, before[known.key], resolve)


def _moment(written: str, known: str) -> str:
    """The stored time where the property still shows its day, else what is written."""
    return known if known and known.startswith(written[:10]) and len(written) <= 10 and written else written or known
