"""What must hold of a wiki after every night, whatever happened before it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from config.wiki import Wiki
from flows.night_steps.listing import index_path
from flows.session import open_state
from tasks.markdown import links, properties
from tasks.markdown.blocks import split
from tasks.navigation.index_page import MARKER
from tasks.records import GOOD, BlockKind, Outcome, Owner, PageRecord
from tests.wikis import run, vault

_CITED = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.TABLE, BlockKind.QUOTE, BlockKind.CODE})
_TABLES = ("pages", "sources", "documents", "chunks", "candidates", "contradictions")


def broken(wiki: Wiki) -> list[str]:
    """Every rule that the wiki breaks, in words; empty when all is well."""
    return [*_links(wiki), *_citations(wiki), *_sources(wiki), *_rows(wiki)]


def unsettled(wiki: Wiki, day: int) -> list[str]:
    """What a dry run announces and a second night changes although nothing happened."""
    before = vault(wiki.root)
    planned = run(wiki, day, dry_run=True)
    report = run(wiki, day)
    after = vault(wiki.root)
    moved = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    return [*(f"a dry run announces {p}" for p in planned.changed), *(f"again: {p}" for p in (*report.changed, *moved))]


def _owned(page: PageRecord, text: str) -> list[tuple[int, int]]:
    """Spans of a page's text that are the pipeline's; the property block is one.

    A definition that only a person's block refers to is kept for that person, wherever its source went.
    """
    start = properties.read(text).start
    blocks = split(text[start:])
    assert len(blocks) == len(page.blocks), page.path
    spans = [(0, start)]
    ours = [b.text for b, record in zip(blocks, page.blocks, strict=True) if record.owner is Owner.PIPELINE]
    referred = _referred(ours)
    for block, record in zip(blocks, page.blocks, strict=True):
        kept = block.kind is BlockKind.FOOTNOTE and block.text[2:].partition("]")[0] not in referred
        if record.owner is Owner.PIPELINE and not kept:
            spans.append((start + block.start, start + block.end))
    return spans


def _referred(texts: Iterable[str]) -> set[str]:
    """Labels of the footnotes that blocks refer to."""
    return {label for text in texts for label in re.findall(r"\[\^(nw-[0-9a-f]+)\](?!:)", text)}


def _links(wiki: Wiki) -> Iterator[str]:
    root = wiki.root
    files = list(vault(root))
    texts = {path: (root / path).read_bytes().decode("utf-8", "replace") for path in files if path.endswith(".md")}
    index = links.LinkIndex(files, {}, lambda path: links.anchors(texts[path]) if path in texts else None)
    index_file = index_path(wiki)
    shown = {page.path: _owned(page, page.markdown) for page in _pages(wiki)}
    if index_file in texts:
        text = texts[index_file]
        listed = re.finditer(r"(?m)^- \[\[[^\]\n]*\]\](?= — |$)", text)  # lines as they are made
        shown[index_file] = [match.span() for match in listed if match.start() > text.find(MARKER) >= 0]
    claimed = {page.path: {p.key for p in page.properties if not p.written.startswith("!")} for page in _pages(wiki)}
    for path, spans in shown.items():
        for link in links.parse(texts[path]):
            if not any(low <= link.start < high for low, high in spans):
                continue
            if link.property and "sources" not in claimed[path]:
                continue
            found = index.resolve(link, path)
            if found.problem:
                yield f"{path}:{link.line}: {link.target}#{link.heading} is {found.problem}"
            if found.path.startswith(wiki.candidates_dir + "/"):
                yield f"{path}:{link.line}: links to the candidate {found.path}"


def _waiting(wiki: Wiki) -> set[str]:
    """Pages for which an update waits: what their sources no longer say stays until a person decides."""
    return {row.id for row in open_state(wiki).ledger.candidates().values() if row.state == "open"}


def _pages(wiki: Wiki) -> list[PageRecord]:
    pages = open_state(wiki).ledger.pages().values()
    return [page for page in pages if not page.adopted and not page.deleted]


def _citations(wiki: Wiki) -> Iterator[str]:
    for page in _pages(wiki):
        text = (wiki.root / page.path).read_bytes().decode("utf-8", "surrogateescape")
        if text != page.markdown:
            yield f"{page.path}: the ledger holds another text"
        body = text[properties.read(text).start :]
        standing = dict(zip([record.id for record in page.blocks], split(body), strict=True))
        for record in page.blocks:
            block = standing[record.id]
            if record.owner is Owner.PIPELINE and block.kind in _CITED and "[^nw-" not in block.text:
                yield f"{page.path}: without a citation: {block.text[:60]!r}"
            if record.owner is Owner.PIPELINE and block.kind in _CITED:
                for label in re.findall(r"\[\^(nw-[0-9a-f]+)\]", block.text):
                    if f"[^{label}]: " not in body and "fn:" + label not in page.removed:
                        yield f"{page.path}: [^{label}] is not defined"
        referred = _referred(standing[record.id].text for record in page.blocks if record.owner is Owner.PIPELINE)
        for citation in page.citations:
            cited = citation.label in referred and page.id not in _waiting(wiki)
            if cited and not _stands(wiki.root, citation.target, citation.anchor, citation.quote):
                yield f"{page.path}: not in {citation.target}#{citation.anchor}: {citation.quote[:60]!r}"


def _stands(root: Path, target: str, anchor: str, quote: str) -> bool:
    """Whether a quotation's words stand at its place."""
    file = root / target
    if not file.is_file():
        return False
    if not target.endswith((".md", ".txt", ".html")):
        return True
    text = file.read_bytes().decode("utf-8", "replace")
    if anchor.startswith("^"):
        text = anchored(text.replace("\r\n", "\n"), anchor)
    return _words(quote) in _words(text)


def anchored(text: str, anchor: str) -> str:
    """The words that an anchor stands for: of its paragraph, or of all since the anchor before when it has a line."""
    pieces = re.split(r"(?m)(^| )(\^[\w-]+)[ \t]*$", text)
    for before, space, name in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=False):
        if name == anchor:
            return before.rpartition("\n\n")[2] if space else before
    return ""


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.replace("\\", "")))


def _sources(wiki: Wiki) -> Iterator[str]:
    ledger = open_state(wiki).ledger
    for source in ledger.sources().values():
        if source.outcome not in GOOD and not source.reason:
            yield f"{source.location}: {source.outcome} without a reason"
        if source.outcome is Outcome.DUPLICATE and not source.reason:
            yield f"{source.location}: duplicate of what?"
        if set(source.pages) - set(ledger.pages()):
            yield f"{source.location}: names pages that are not there"
        if source.outcome is Outcome.UNCHANGED:
            yield f"{source.location}: without an outcome"


def _rows(wiki: Wiki) -> Iterator[str]:
    state = open_state(wiki)
    snapshot = state.reader.current()
    for name in _TABLES:
        if snapshot is not None and tuple(state.ledger.rows(name)) != tuple(snapshot.rows(name)):
            yield f"the ledger's {name} are not those of the snapshot"
