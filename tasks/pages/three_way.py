"""An update that waits and a page that has moved on, brought together block by block: what base, page and update say.

Blocks are told by their ids. What only the update changed is taken from it, what only the page changed stays, and
where both changed something the update proposes its own text again, which is said. Nothing that a person added to the
page since is lost.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tasks.markdown import properties
from tasks.markdown.blocks import Resolve, references, split
from tasks.markdown.properties import Value
from tasks.pages.ownership import is_pipeline_id, new_id
from tasks.pages.pages import DEFINITION, cited, described, digest, read_page
from tasks.records import BlockKind, BlockRecord, Owner, PageRecord, PropertyRecord

_KEPT = frozenset({"updated", "created", "nightwiki_id"})
"""Properties that are no proposal: those of the page stand."""


@dataclass(frozen=True, slots=True)
class ThreeWay:
    """The page as the update would now have it, and what both sides changed, in words."""

    page: PageRecord
    conflicts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Piece:
    record: BlockRecord
    text: str


def three_way(
    base: PageRecord, live: PageRecord, proposed: PageRecord, resolve: Resolve, remarks: Sequence[str] = ()
) -> ThreeWay:
    """Bring `proposed`, which was made of `base`, to the page as it is now; texts are the records' `markdown`.

    `remarks` are comments among the update's properties; those that neither page has are a person's.
    """
    conflicts: list[str] = []
    head, kept = _properties(base, live, proposed, conflicts)
    known = (*properties.comments(base.markdown), *properties.comments(head))
    head = _with_comments(head, [one for one in remarks if one not in known])
    pieces = _blocks(base, live, proposed, conflicts)
    newline = "\r\n" if "\r\n" in live.markdown else "\n"
    body = (newline * 2).join(_joined(pieces, newline)) + newline
    text = head + body
    found = properties.read(text)
    blocks = split(found.body)
    records = tuple(piece.record for piece in pieces)
    if len(records) != len(blocks):  # an open fence of the person's: their text is read anew
        page = read_page(live.path, text, live, resolve)
    else:
        page = described(live, live.path, text, found, blocks, records)
    both = {one.label: one for one in (*live.citations, *proposed.citations)}
    quoted = cited(tuple(both.values()), blocks, page.blocks)
    sources = tuple(dict.fromkeys((*proposed.sources, *(one.source_id for one in quoted))))
    removed = tuple(name for name in live.removed if name not in {record.id for record in page.blocks})
    made = replace(
        page,
        id=live.id,
        properties=kept,
        citations=quoted,
        sources=sources,
        removed=removed,
        subjects=tuple(dict.fromkeys((*live.subjects, *proposed.subjects))),
        former_slugs=tuple(dict.fromkeys((*live.former_slugs, *proposed.former_slugs))),
        reasons=proposed.reasons,
        markdown=text,
        file_hash=digest(text),
    )
    return ThreeWay(made, tuple(dict.fromkeys(conflicts)))


def _pieces(page: PageRecord) -> dict[str, _Piece]:
    body = split(properties.read(page.markdown).body)
    if len(body) != len(page.blocks):
        return {}
    return {record.id: _Piece(record, block.text) for record, block in zip(page.blocks, body, strict=True)}


def _blocks(base: PageRecord, live: PageRecord, proposed: PageRecord, conflicts: list[str]) -> list[_Piece]:
    before = {record.id: record.hash for record in base.blocks}
    now, wanted = _pieces(live), _pieces(proposed)
    found: dict[str, _Piece] = {}
    for name, piece in now.items():
        update = wanted.get(name)
        touched = before.get(name) != piece.record.hash
        if update is None:
            if name not in before or (touched and piece.record.owner is Owner.PERSON):
                found[name] = piece
            continue
        changed = update.record.hash != before.get(name)
        if not changed or update.record.hash == piece.record.hash:
            found[name] = piece
            continue
        if touched:
            conflicts.append(f'you have changed "{_short(piece.text)}" since; this would replace it')
        found[name] = update
    order = [*found]
    last = ""
    for name, piece in wanted.items():
        if name not in found and (name in before or name in live.removed):
            continue  # taken out of the page since
        if name not in found:
            taken = {record.id for record in live.blocks} | found.keys()
            fresh = piece.record if is_pipeline_id(name) else replace(
                piece.record, id=new_id(piece.record.hash, taken)
            )
            name, found[fresh.id] = fresh.id, replace(piece, record=fresh)
            order.insert(order.index(last) + 1 if last else 0, name)
        last = name
    pieces = [found[name] for name in order]
    used = {label for piece in pieces for label in references(piece.text)}
    needed = [piece for piece in pieces if not _ours(piece) or piece.record.id.removeprefix(DEFINITION) in used]
    have = {piece.record.id for piece in needed}
    lost = (piece for piece in now.values() if _ours(piece) and piece.record.id not in have)
    return [*needed, *(piece for piece in lost if piece.record.id.removeprefix(DEFINITION) in used)]


def _ours(piece: _Piece) -> bool:
    return piece.record.id.startswith(DEFINITION) and piece.record.owner is Owner.PIPELINE


def _joined(pieces: list[_Piece], newline: str) -> list[str]:
    """The texts, footnotes on lines that follow each other, in the page's line endings."""
    texts: list[str] = []
    for number, piece in enumerate(pieces):
        text = newline.join(piece.text.replace("\r\n", "\n").split("\n"))
        notes = number > 0 and piece.record.kind is BlockKind.FOOTNOTE is pieces[number - 1].record.kind
        if notes and not re.search(r"[\r\n]", pieces[number - 1].text):
            texts[-1] += newline + text
        else:
            texts.append(text)
    return texts


def _properties(
    base: PageRecord, live: PageRecord, proposed: PageRecord, conflicts: list[str]
) -> tuple[str, tuple[PropertyRecord, ...]]:
    """The page's property block with what the update changes of it, and what is then known of its keys."""
    before, now, wanted = (properties.read(page.markdown).values for page in (base, live, proposed))
    known = {record.key: record for record in live.properties}
    theirs = {record.key: record for record in proposed.properties}
    change: dict[str, Value] = {}
    for key, value in wanted.items():
        same = properties.comparable(value) == properties.comparable(before.get(key))
        if key in _KEPT or same or properties.comparable(value) == properties.comparable(now.get(key)):
            continue
        if key in before and key not in now:
            continue  # taken out of the page since
        if properties.comparable(now.get(key)) != properties.comparable(before.get(key)):
            conflicts.append(f"you have changed the property '{key}' since; this would replace it")
        change[key] = _value(value)
        if key in theirs:
            known[key] = theirs[key]
    text = properties.edit(live.markdown, change) if change else live.markdown
    return text[: properties.body_start(text)] + _gap(text), tuple(known.values())


def _with_comments(head: str, added: Sequence[str]) -> str:
    """The property block with comments at its end."""
    closing = head.rfind("---")
    if closing <= 0 or not added:
        return head
    newline = "\r\n" if "\r\n" in head else "\n"
    return head[:closing] + "".join(f"{one}{newline}" for one in added) + head[closing:]


def _gap(text: str) -> str:
    """The blank lines between a page's properties and its first block."""
    body = text[properties.body_start(text) :]
    return body[: len(body) - len(body.lstrip("\r\n"))]


def _value(value: object) -> Value:
    if isinstance(value, (list, tuple)):
        return tuple(str(one) for one in value)
    return value if isinstance(value, (bool, str)) else str(value)


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 60 else words[:59] + "…"
