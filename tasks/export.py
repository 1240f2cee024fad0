"""A wiki as text for other programs: llms.txt, llms-full.txt and JSON lines. The same pages give the same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from tasks.markdown import properties
from tasks.navigation import index_page
from tasks.records import PageRecord, SourceRecord

HIDDEN = "archived"


@dataclass(frozen=True, slots=True)
class Edition:
    """What is exported: the wiki's name, and the snapshot its pages are of."""

    name: str
    snapshot: str
    created: str
    pages: Sequence[PageRecord]
    sources: Mapping[str, SourceRecord]


def llms(edition: Edition) -> Iterator[str]:
    """An index of the pages by category, each with a link and its first sentence, in the form of llmstxt.org."""
    pages = {page.path: page for page in shown(edition)}
    yield _head(edition, len(pages))
    entries = [
        index_page.Entry(page.path, page.title, index_page.summary(page.markdown), page.tags)
        for page in sorted(pages.values(), key=lambda page: page.path)
    ]
    for name, members in index_page.categories(entries).items():
        yield f"\n## {name}\n\n"
        for entry in members:
            said = " ".join(entry.summary.split())
            title = " ".join(entry.title.split()).replace("[", "\\[").replace("]", "\\]")
            yield f"- [{title}]({quote(entry.stem)})" + (f": {said}\n" if said else "\n")


def llms_full(edition: Edition) -> Iterator[str]:
    """All pages in full, each below a line that names its file, without its properties."""
    pages = shown(edition)
    yield _head(edition, len(pages))
    for page in pages:
        body = page.markdown[properties.read(page.markdown).start :].strip()
        yield f"\n---\n\nFile: {page.path}\n\n{body}\n"


def jsonl(edition: Edition) -> Iterator[str]:
    """One JSON object a page, archived ones included, with sources and citations."""
    for page in sorted((page for page in edition.pages if not page.deleted), key=lambda page: page.path):
        told = {
            "snapshot": edition.snapshot,
            "id": page.id,
            "slug": page.slug,
            "title": page.title,
            "path": page.path,
            "adopted": page.adopted,
            "aliases": page.aliases,
            "tags": page.tags,
            "type": page.type,
            "status": page.status,
            "confidence": page.confidence,
            "created": page.created,
            "updated": page.updated,
            "branch": page.branch,
            "sources": [{"id": one, "location": _location(edition, one)} for one in page.sources],
            "citations": [
                {
                    "label": one.label,
                    "source": one.source_id,
                    "location": _location(edition, one.source_id),
                    "place": one.anchor,
                    "quote": one.quote,
                }
                for one in page.citations
            ],
            "page_hash": page.file_hash,
            "markdown": page.markdown,
        }
        yield json.dumps(told, ensure_ascii=False) + "\n"


def shown(edition: Edition) -> list[PageRecord]:
    """The pages that a reader is meant to see, by path."""
    live = (page for page in edition.pages if not page.deleted and page.status != HIDDEN)
    return sorted(live, key=lambda page: page.path)


def _head(edition: Edition, pages: int) -> str:
    return f"# {edition.name}\n\n> {pages} pages of a wiki, as of {edition.created} (snapshot {edition.snapshot}).\n"


def _location(edition: Edition, source: str) -> str:
    return edition.sources[source].location if source in edition.sources else ""
