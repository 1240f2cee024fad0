"""Links inside the pipeline's own blocks brought up to date: to pages that are new, and away from pages that are gone.

Blocks that a person owns are theirs, links included. What a block says does not change, so neither does its owner.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from tasks.markdown import links, properties
from tasks.markdown.blocks import Resolve, normal_hash, split
from tasks.pages import linking
from tasks.pages.pages import digest, stem_of
from tasks.pages.slugs import fold
from tasks.records import Owner, PageRecord


def relink(page: PageRecord, names: linking.Names, gone: Collection[str], resolve: Resolve) -> PageRecord:
    """The page with first mentions of `names` linked and links to the stems in `gone` reduced to their words.

    `page` must be fresh: its blocks are those of its text. It is returned as it is when nothing changes.
    """
    body = page.markdown[properties.read(page.markdown).start :]
    already = {page.slug} | {stem_of(link.target) for link in links.parse(body) if link.target and not link.external}
    already -= set(gone)

    def linked(text: str) -> str:
        return linking.link_block(linking.unlink(text, gone) if gone else text, names, already)

    return _rewritten(page, linked, resolve)


def retarget(page: PageRecord, moves: Mapping[str, str], resolve: Resolve) -> PageRecord:
    """The page with links to former names (keys of `moves`) leading to the present ones; their words stay.

    `page` must be fresh, and is returned as it is when nothing changes.
    """
    new = {fold(old): name for old, name in moves.items()}
    return _rewritten(page, lambda text: led(text, new), resolve)


def led(text: str, moves: Mapping[str, str]) -> str:
    """The text with its links to former names, folded, leading to the present ones; what is shown stays."""
    for link in reversed(links.parse(text)):
        stem = link.target if link.kind == "wiki" else stem_of(link.target) if link.target.endswith(".md") else ""
        name = "" if link.external or not stem else moves.get(fold(stem), "")
        if not name:
            continue
        if link.kind == "wiki" and (link.embed or links.linkable(name)):
            tail = text[link.start : link.end].partition("[[")[2]
            rest = tail[tail.find(link.target) + len(link.target) :]
            label = "" if rest != "]]" else f"|{link.target}]]"
            text = f"{text[: link.start]}{'!' * link.embed}[[{name}{label or rest}{text[link.end :]}"
        elif not link.embed:
            text = text[: link.start] + links.wikilink(name, link.label or stem) + text[link.end :]
    return text


def _rewritten(page: PageRecord, change: Callable[[str], str], resolve: Resolve) -> PageRecord:
    """The page with its own running text changed, block by block."""
    start = properties.read(page.markdown).start
    body = page.markdown[start:]
    found = split(body)
    if len(found) != len(page.blocks):
        return page
    pieces: list[str] = []
    records = list(page.blocks)
    at = 0
    for number, (block, record) in enumerate(zip(found, page.blocks, strict=True)):
        if record.owner is not Owner.PIPELINE or block.kind not in linking.LINKED:
            continue
        text = change(block.text)
        if text != block.text:
            pieces += [body[at : block.start], text]
            at = block.end
            records[number] = replace(record, hash=normal_hash(block.kind, text, resolve))
    if not pieces:
        return page
    markdown = page.markdown[:start] + "".join(pieces) + body[at:]
    return replace(page, markdown=markdown, file_hash=digest(markdown), blocks=tuple(records))
