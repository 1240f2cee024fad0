"""Footnote definitions of a page: each label means one thing, and a definition stands while a block refers to it.

They stand at the end of the page, sorted by first use, one a line. What a person wrote or moved among them stays.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from tasks.compiling.proposed import Piece, definition, label_of, relabelled
from tasks.markdown.blocks import Resolve, definition_label, normal_hash, references
from tasks.pages.pages import DEFINITION, digest
from tasks.pages.placing import Item
from tasks.records import BlockKind, BlockRecord, Citation, Owner


def relabelled_pieces(
    parts: Sequence[Piece], disk: Sequence[Item], known: Sequence[Citation]
) -> tuple[list[Piece], dict[str, Citation]]:
    """The pieces with labels that mean one thing each, and what every label means."""
    foreign = {
        definition_label(item.text): item.text
        for item in disk
        if item.record.kind is BlockKind.FOOTNOTE and not item.record.id.startswith(DEFINITION)
    }
    for item in disk:
        if item.record.id == DEFINITION + definition_label(item.text):
            foreign.pop(definition_label(item.text), None)
    meaning: dict[str, Citation] = {}
    found = []
    for part in parts:
        for citation in part.citations:
            first = label_of(citation)
            label = first
            for digits in (8, 16, 32, 64):
                label = first if digits == 8 else label_of(citation, digits)
                theirs = foreign.get(label)
                free = theirs is None or theirs == definition(citation, label)
                if free and _same(meaning.get(label, citation), citation):
                    break
            meaning[label] = citation if citation.label == label else replace(citation, label=label)
            if label != first:
                part = relabelled(part, first, label)
        found.append(part)
    for citation in known:
        meaning.setdefault(citation.label, citation)
    return found, meaning


def _same(one: Citation, other: Citation) -> bool:
    return (one.source_id, one.anchor, one.quote) == (other.source_id, other.anchor, other.quote)


def with_definitions(
    items: Sequence[Item],
    disk: Sequence[Item],
    citations: Mapping[str, Citation],
    removed: Collection[str],
    fresh_labels: Collection[str],
    resolve: Resolve,
) -> list[Item]:
    """The items with the definitions that their references need, and without those that nothing refers to.

    One that a person `removed` is written again only for a block that is written now (`fresh_labels`).
    """
    used: dict[str, None] = {}
    for item in items:
        if item.record.id.startswith(DEFINITION) and item.record.owner is Owner.PIPELINE:
            continue
        for label in references(item.text):
            used.setdefault(label)
    order = {label: number for number, label in enumerate(used)}
    found = []
    for item in items:
        label = definition_label(item.text) if item.record.kind is BlockKind.FOOTNOTE else ""
        ours = item.record.id.startswith(DEFINITION) and item.record.owner is Owner.PIPELINE
        if not ours and item.record.id == DEFINITION + label and label in citations:
            # A program that moves a file leads the links to it along: the words are ours all the same.
            ours = item.text == definition(citations[label], label)
            item = replace(item, record=replace(item.record, owner=Owner.PIPELINE)) if ours else item
        if not ours or label in order:
            found.append(_renewed(item, citations.get(label), resolve) if ours else item)
    defined = {definition_label(item.text) for item in found if item.record.kind is BlockKind.FOOTNOTE}
    names = {item.record.id for item in found}
    fresh = []
    for label in order:
        if label in defined or label not in citations:
            continue
        if DEFINITION + label in removed and label not in fresh_labels:
            continue
        fresh.append(_definition(citations[label], label, names, resolve))
        names.add(fresh[-1].record.id)
    same = [item.origin for item in found] == [item.origin for item in disk] and not fresh
    if same:
        return found
    tail = len(found)
    while tail and found[tail - 1].record.kind is BlockKind.FOOTNOTE:
        tail -= 1
    notes = found[tail:]
    standing = [n for n, item in enumerate(found) if item.record.id.startswith(DEFINITION)]
    ours = all(item.record.id.startswith(DEFINITION) and item.record.owner is Owner.PIPELINE for item in notes)
    if ours and (notes or not standing):
        notes = sorted([*notes, *fresh], key=lambda item: order[definition_label(item.text)])
        return found[:tail] + notes
    last = standing[-1] if standing else len(found) - 1
    return found[: last + 1] + fresh + found[last + 1 :]


def _definition(citation: Citation, label: str, taken: set[str], resolve: Resolve) -> Item:
    text = definition(citation, label)
    name = DEFINITION + label
    while name in taken:
        name += "~"
    normal = normal_hash(BlockKind.FOOTNOTE, text, resolve)
    return Item(BlockRecord(name, BlockKind.FOOTNOTE, normal, Owner.PIPELINE, digest(text)), text)


def _renewed(item: Item, citation: Citation | None, resolve: Resolve) -> Item:
    """A definition of ours, with its link brought up to date when its source has moved."""
    if citation is None:
        return item
    text = definition(citation, definition_label(item.text))
    written = digest(text)
    if written == item.record.written:
        return item
    record = replace(item.record, hash=normal_hash(BlockKind.FOOTNOTE, text, resolve), written=written)
    return Item(record, text, 0, item.origin)
