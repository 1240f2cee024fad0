"""Links that follow a page which a person renamed outside of Obsidian, in what the pipeline wrote."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from storage.readin import ReadIn, resolver
from tasks.commits import Changes, FileWrite
from tasks.pages.relink import retarget
from tasks.pages.slugs import fold
from tasks.records import PageRecord
from tasks.text_bytes import encode


def stands(vault: ReadIn, stem: str) -> bool:
    """Whether a note of this name lies in the vault."""
    return fold(stem) in {fold(name) for name in vault.basenames}


def moves_of(vault: ReadIn, known: Mapping[str, PageRecord]) -> Mapping[str, str]:
    """Former to present name of pages whose file a person renamed; names that another note has now are left out."""
    moved = {
        known[page.id].slug: page.slug
        for page in vault.changed
        if page.id in known and not page.deleted and not known[page.id].deleted and known[page.id].slug != page.slug
    }
    return {old: new for old, new in moved.items() if not stands(vault, old)}


def follow(vault: ReadIn, moves: Mapping[str, str]) -> tuple[FileWrite, ...]:
    """The writes that lead the pipeline's own links to renamed pages."""
    return led_to(vault, moves, ())


def led_to(vault: ReadIn, moves: Mapping[str, str], without: Collection[str]) -> tuple[FileWrite, ...]:
    """The writes that lead links from former names to present ones, in pages other than those of `without`."""
    if not moves:
        return ()
    resolve = resolver({page.path: page.id for page in vault.pages.values() if not page.deleted})
    sought = [f"[[{old.casefold()}" for old in moves]
    writes = []
    for page in sorted(vault.pages.values(), key=lambda one: one.path):
        if page.deleted or page.adopted or page.id in without:
            continue
        if not any(name in page.markdown.casefold() for name in sought):
            continue
        fresh = retarget(page, moves, resolve)
        if fresh is not page:
            writes.append(FileWrite(page.path, page.file_hash, encode(fresh.markdown), Changes(pages=(fresh,))))
    return tuple(writes)
