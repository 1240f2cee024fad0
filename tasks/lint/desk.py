"""What the checks look at: pages, sources and files as they are now, with links resolved once for all of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from tasks.contradictions.claims import ContradictionRecord
from tasks.markdown import blocks, links, properties
from tasks.markdown.blocks import Block
from tasks.pages.slugs import fold
from tasks.records import BlockRecord, Document, Owner, PageRecord, SourceRecord

_BLOCK_ID = re.compile(r"(?<![\w^\\])\^([A-Za-z0-9-]+)[ \t]*\r?$", re.M)
_KEY = re.compile(r"^([^\s#:\-][^:\n]*):", re.M)


@dataclass(frozen=True, slots=True)
class Material:
    """Everything that lint is given. Paths are vault paths."""

    pages: tuple[PageRecord, ...]  # live ones, as their files are now
    files: frozenset[str]  # all files of the vault
    sources: Mapping[str, SourceRecord] = field(default_factory=dict)
    changed_sources: frozenset[str] = frozenset()  # ids of those whose file is other than when it was read
    notes: Mapping[str, str] = field(default_factory=dict)  # further notes whose links count, such as index.md
    routing: str | None = None  # text of ROUTING.md
    pages_dir: str = "wiki"
    contradictions: tuple[ContradictionRecord, ...] = ()  # decided ones included
    similar: tuple[tuple[str, str, float], ...] = ()  # pairs of page ids with the cosine of their embeddings
    read: Callable[[str], str | None] = lambda path: None  # a file's text
    document: Callable[[str], Document | None] = lambda source_id: None
    deleted: Callable[[str], str] = lambda stem: ""  # the day on which a page of this folded stem was deleted


@dataclass(frozen=True, slots=True)
class Seen:
    """A link and where it leads."""

    link: links.Link
    to: links.Resolution


@dataclass(frozen=True, slots=True)
class OwnBlock:
    """A block of a page that the pipeline owns; `start` is its offset in the page's text."""

    block: Block
    record: BlockRecord
    start: int


class Desk:
    """The material, with what several checks need derived once. Nothing in it changes what it was given."""

    def __init__(self, material: Material) -> None:
        self.material = material
        self.pages = tuple(sorted(material.pages, key=lambda page: page.path))
        self.by_path = {page.path: page for page in self.pages}
        self.by_id = {page.id: page for page in self.pages}
        paths = sorted(material.files | set(self.by_path))
        aliases = {page.path: page.aliases for page in self.pages if page.aliases}
        self._names = links.LinkIndex(paths, aliases)
        self._anchored = links.LinkIndex(paths, aliases, self._anchors)
        self._anchors_of: dict[str, links.Anchors | None] = {}
        self._ids_of: dict[str, frozenset[str]] = {}
        self._properties: dict[str, properties.Properties] = {}
        self._own: dict[str, tuple[OwnBlock, ...]] = {}
        self._days: dict[str, str] = {}

    @cached_property
    def seen(self) -> Mapping[str, tuple[Seen, ...]]:
        """The links of every page and note, by path; those that lead out of the vault are left out."""
        texts = {**self.material.notes, **{page.path: page.markdown for page in self.pages}}
        return {
            path: tuple(Seen(link, self._resolve(link, path)) for link in links.parse(text) if not link.external)
            for path, text in texts.items()
        }

    def trouble(self, *problems: str) -> Iterator[tuple[str, Seen]]:
        """The links with one of these problems, each with the path of its page."""
        for path, seen in self.seen.items():
            for one in seen:
                if one.to.problem in problems:
                    yield path, one

    def properties(self, page: PageRecord) -> properties.Properties:
        """The page's properties as they stand in its text; `body` is left out."""
        if page.id not in self._properties:
            self._properties[page.id] = replace(properties.read(page.markdown), body="")
        return self._properties[page.id]

    def property_of(self, path: str, link: links.Link) -> str:
        """The key of the property that a link stands in."""
        text = self.by_path[path].markdown if path in self.by_path else self.material.notes[path]
        found = _KEY.findall(text, 0, link.start)
        return str(found[-1]).strip() if found else ""

    def own_blocks(self, page: PageRecord) -> tuple[OwnBlock, ...]:
        """The page's blocks that the pipeline owns."""
        if page.id not in self._own:
            self._own[page.id] = _own_blocks(page, self.properties(page).start)
        return self._own[page.id]

    def own_block_at(self, path: str, link: links.Link) -> OwnBlock | None:
        """The pipeline's block that a link stands in; None in a person's block, a property or a note."""
        page = self.by_path.get(path)
        if page is None or link.property:
            return None
        return next(
            (own for own in self.own_blocks(page) if own.start <= link.start < own.start + len(own.block.text)), None
        )

    def deleted_on(self, target: str) -> str:
        """The day on which the page that a link names was deleted; empty when there was none."""
        stem = fold(target.rpartition("/")[2].removesuffix(".md"))
        if stem not in self._days:
            self._days[stem] = self.material.deleted(stem)[:10]
        return self._days[stem]

    def _resolve(self, link: links.Link, source: str) -> links.Resolution:
        found = self._names.resolve(link, source)
        if found.problem or not link.heading or not found.path.lower().endswith(".md"):
            return found
        if link.heading[0] == "^" and link.heading[1:].lower() in self._block_ids(found.path):
            return found
        return self._anchored.resolve(link, source)

    def _text(self, path: str) -> str | None:
        return self.by_path[path].markdown if path in self.by_path else self.material.read(path)

    def _block_ids(self, path: str) -> frozenset[str]:
        """Block ids by their look alone, which is quick; a link to none of them is looked at again with care."""
        if path not in self._ids_of:
            self._ids_of[path] = frozenset(name.lower() for name in _BLOCK_ID.findall(self._text(path) or ""))
        return self._ids_of[path]

    def _anchors(self, path: str) -> links.Anchors | None:
        if path not in self._anchors_of:
            text = self._text(path)
            self._anchors_of[path] = None if text is None else links.anchors(text)
        return self._anchors_of[path]


def _own_blocks(page: PageRecord, start: int) -> tuple[OwnBlock, ...]:
    if page.adopted or not page.blocks:
        return ()
    found = blocks.split(page.markdown[start:])
    if len(found) != len(page.blocks):
        return ()
    return tuple(
        OwnBlock(block, record, start + block.start)
        for block, record in zip(found, page.blocks, strict=True)
        if record.owner is Owner.PIPELINE
    )
