"""Links that follow a page which a person renamed outside of Obsidian, in what the pipeline wrote."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from urllib.parse import quote

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


def swaps_of(vault: ReadIn, known: Mapping[str, PageRecord]) -> Mapping[str, str]:
    """Former to present name of pages that were renamed, where another renamed page has the former name now."""
    moved = {
        known[page.id].slug: page.slug
        for page in vault.changed
        if page.id in known and not page.deleted and not known[page.id].deleted
    }
    taken = {fold(new): fold(old) for old, new in moved.items() if fold(old) != fold(new)}
    return {old: new for old, new in moved.items() if fold(old) in taken and fold(old) != fold(new)}


def follow(
    vault: ReadIn, moves: Mapping[str, str], swaps: Mapping[str, str], known: Mapping[str, PageRecord]
) -> tuple[FileWrite, ...]:
    """The writes that lead the pipeline's own links to renamed pages.

    A name that has come to another page is led only in files without a change: in others it may be led already.
    """
    writes = led_to(vault, moves, ())
    if not swaps:
        return writes
    same = {page.id for page in vault.pages.values() if page.id in known and known[page.id].file_hash == page.file_hash}
    led = led_to(vault, {**moves, **swaps}, vault.pages.keys() - same)
    return tuple({write.path: write for write in (*writes, *led)}.values())


def led_to(vault: ReadIn, moves: Mapping[str, str], without: Collection[str]) -> tuple[FileWrite, ...]:
    """The writes that lead links from former names to present ones, in pages other than those of `without`."""
    if not moves:
        return ()
    resolve = resolver({page.path: page.id for page in vault.pages.values() if not page.deleted})
    sought = [begin for old in moves for begin in (f"[[{old.casefold()}", f"({quote(old, safe='').casefold()}.md")]
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
