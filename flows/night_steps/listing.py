"""Where pages are listed: index.md below its marker, and ROUTING.md when the user has one."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence

from config.wiki import Wiki
from flows.made_rows import entry_of
from storage.vault import Vault
from tasks.commits import Changes, FileWrite
from tasks.markdown import links
from tasks.navigation import index_page, route
from tasks.navigation.index_page import Ours
from tasks.pages.pages import stem_of
from tasks.records import PageRecord
from tasks.text_bytes import decode, digest, encode

ROUTING = "ROUTING.md"
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def index_path(wiki: Wiki) -> str:
    """Return the vault path of the index."""
    return "index.md" if wiki.pages_dir == "." else f"{wiki.pages_dir}/index.md"


def list_pages(
    wiki: Wiki,
    vault: Vault,
    pages: Sequence[PageRecord],
    new: Sequence[PageRecord],
    gone: Sequence[PageRecord],
    first: bool = False,
    struck: Sequence[str] = (),
    renamed: Mapping[str, str] | None = None,
    ours: Ours = index_page.shaped,
) -> tuple[FileWrite, ...]:
    """Return the writes that list new pages and strike those that the pipeline took away.

    The index also loses the names that are `struck` and leads to the present names of `renamed` pages. One that a
    person deleted stays deleted: it is made only with the wiki's `first` pages. What is no readable file is left alone.
    Where a language model is set, pages of no tag's category wait at the end of the index until `scaffold` asks it.
    """
    if not new and not gone and not struck and not renamed:
        return ()
    writes = []
    path = index_path(wiki)
    by_words = not wiki.settings.model
    text = note_text(vault, path)
    if text is not None:
        listed = index_page.rename(index_page.drop(text, [*(page.slug for page in gone), *struck], ours), renamed or {})
        shown = {stem_of(link.target) for link in links.parse(listed)}
        listed = index_page.add(listed, [entry_of(page) for page in new if page.slug not in shown], by_words)
        if listed != text:
            writes.append(FileWrite(path, digest(encode(text)), encode(listed)))
    elif first and new:
        created = index_page.create(wiki.name, [entry_of(page) for page in new], by_words)
        writes.append(FileWrite(path, None, encode(created)))
    routing = note_text(vault, ROUTING)
    if routing is not None:
        placed = route.remove(routing, {page.slug for page in gone})
        placed = _place(placed, pages, new)
        if placed != routing:
            writes.append(FileWrite(ROUTING, digest(encode(routing)), encode(placed), Changes()))
    return tuple(writes)


def _place(routing: str, pages: Sequence[PageRecord], new: Sequence[PageRecord]) -> str:
    by_slug = {page.slug: page for page in pages if not page.deleted}
    for page in new:
        branches = {
            branch.name: [
                _words(by_slug[stem]) for entry in branch.entries if (stem := stem_of(entry.target)) in by_slug
            ]
            for branch in route.parse(routing)
        }
        listed = {stem_of(entry.target) for branch in route.parse(routing) for entry in branch.entries}
        branch = route.best_branch(_words(page), branches) if page.slug not in listed else ""
        if branch:
            routing = route.place(routing, branch, f"- {links.wikilink(page.slug, page.title)}")
            by_slug[page.slug] = page
    return routing


def _words(page: PageRecord) -> str:
    return " ".join((page.title, *page.aliases, *page.tags, page.markdown[:4000]))


def note_text(vault: Vault, path: str) -> str | None:
    """Return the text of a vault file, or None when there is none that can be read and written as UTF-8."""
    try:
        content = vault.read(path)
    except OSError:
        return None
    return None if content.startswith(UTF_16) else decode(content)
