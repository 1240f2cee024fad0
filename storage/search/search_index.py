"""The search index of a snapshot, made from the one before it and what changed since.

Everything in it follows from the snapshot's tables, so a missing or old index is made anew; the result is
the same, array for array.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from config.errors import StateError
from storage.search.index_files import (
    ALIAS_TIMES,
    TAG_TIMES,
    TITLE_TIMES,
    EvidenceSide,
    PageSide,
    SavedSide,
    SearchIndex,
    VectorSet,
    no_evidence,
    no_pages,
    open_evidence,
    open_pages,
    save_evidence,
    save_manifest,
    save_pages,
)
from tasks.embedding.embed import cjk_page
from tasks.many import Many, here
from tasks.markdown.plain import body_start, readable
from tasks.search import tokens
from tasks.search.passages import PageBlocks, read_blocks, term_hash
from tasks.search.postings import Postings, TermCounts, Terms, count
from tasks.search.ragged import Ragged

Side = TypeVar("Side", PageSide, EvidenceSide)
_Ids = Mapping[str, frozenset[str]] | None
"""Ids of each table's rows that are read anew; None: of all."""

PAGE_COLUMNS = (
    "id",
    "path",
    "slug",
    "title",
    "file_hash",
    "markdown",
    "aliases",
    "tags",
    "type",
    "status",
    "confidence",
    "updated",
    "branch",
    "sources",
    "citations",
    "deleted",
)


@runtime_checkable
class SnapshotTables(Protocol):
    """Arrow tables of a snapshot, whole or for a few ids."""

    def table(self, name: str, columns: Sequence[str] | None = None) -> Any: ...

    def some(self, name: str, ids: frozenset[str], columns: Sequence[str]) -> Any: ...


# --- building --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Work:
    """What is to be built from what, and into which folder."""

    tables: SnapshotTables
    changed: Mapping[str, frozenset[str]]
    previous: Path | None
    out: Path

    def former(self, opened: Callable[[Path], Side], empty: Side) -> tuple[Side, _Ids]:
        """The side of the index before this one, and which rows of each table are to be read on top."""
        if self.previous is not None:
            with suppress(StateError):  # derived data: build it anew
                return opened(self.previous), self.changed
        return empty, None


def build_index(
    tables: SnapshotTables,
    changed: Mapping[str, frozenset[str]],
    previous: Path | None,
    out: Path,
    each: Many = here,
) -> None:
    """Fills the folder `out` for the snapshot's tables; with `previous`, reads only the `changed` ids of each table.

    `each` has the two sides of the index built: here one after the other, or in processes that end in their own time.
    """
    out.mkdir(parents=True, exist_ok=True)
    save_manifest(each(_build_side, _Work(tables, changed, previous, out), (_PAGES, _EVIDENCE)), out)


_PAGES, _EVIDENCE = "pages", "evidence"


def _build_side(work: _Work, side: str) -> SavedSide:
    if side == _PAGES:
        return save_pages(_next_pages(*work.former(open_pages, no_pages()), work.tables), work.out)
    return save_evidence(_next_evidence(*work.former(open_evidence, no_evidence()), work.tables), work.out)


def index_of(tables: SnapshotTables) -> SearchIndex:
    """The index of a snapshot's tables, in memory."""
    pages = _next_pages(no_pages(), None, tables)
    return SearchIndex.of(pages, _next_evidence(no_evidence(), None, tables))


@dataclass(frozen=True, slots=True)
class _PageEntry:
    """What the index keeps of one page."""

    counts: TermCounts
    facets: TermCounts
    hit: bytes
    citations: bytes
    text: bytes
    passages: PageBlocks
    cjk: bool


def _next_pages(former: PageSide, ids: _Ids, tables: SnapshotTables) -> PageSide:
    read = None if ids is None else ids.get("pages", frozenset())
    entries: dict[bytes, _PageEntry] = {}
    for row in _rows(tables, "pages", read, PAGE_COLUMNS):
        if not row["deleted"]:
            entries[row["id"].encode()] = _page_entry(row)
    touched = None if read is None else {key.encode() for key in read}
    page_ids, moves, places = _renumber(former.page_ids.all(), touched, entries)
    size = len(page_ids)
    new = {places[key]: entry for key, entry in entries.items()}
    cjk = np.zeros(size, np.bool_)
    cjk[moves[moves >= 0]] = former.cjk[moves >= 0]
    for number, entry in new.items():
        cjk[number] = entry.cjk

    def ragged(rows: Ragged, value: Callable[[_PageEntry], NDArray[Any]]) -> Ragged:
        return rows.updated(moves, {number: value(entry) for number, entry in new.items()}, size)

    facets = former.facets.updated(moves, {number: entry.facets for number, entry in new.items()}, size)
    # a page may come back to an embedding that was there all the time
    embedded = None if read is None or ids is None else ids.get("embeddings", frozenset()) | read
    return PageSide(
        pages=former.pages.updated(moves, {number: entry.counts for number, entry in new.items()}, size),
        page_ids=Terms.of(page_ids),
        cjk=cjk,
        facets=facets,
        alias_hashes=_alias_hashes(facets),
        hits=ragged(former.hits, lambda entry: np.frombuffer(entry.hit, np.uint8)),
        citations=ragged(former.citations, lambda entry: np.frombuffer(entry.citations, np.uint8)),
        texts=ragged(former.texts, lambda entry: np.frombuffer(entry.text, np.uint8)),
        blocks=ragged(former.blocks, lambda entry: entry.passages.blocks),
        words=ragged(former.words, lambda entry: entry.passages.words),
        vectors=_next_vectors(former, tables, embedded, moves, page_ids),
    )


def _rows(
    tables: SnapshotTables, name: str, ids: frozenset[str] | None, columns: Sequence[str]
) -> Iterator[dict[str, Any]]:
    if ids is not None and not ids:
        return
    table = tables.table(name, columns) if ids is None else tables.some(name, ids, columns)
    for batch in table.to_batches(max_chunksize=512):  # few at a time, so that texts do not stand twice in memory
        yield from batch.to_pylist()


def _renumber(
    old: Sequence[bytes], touched: set[bytes] | None, entries: Iterable[bytes]
) -> tuple[list[bytes], NDArray[np.int64], dict[bytes, int]]:
    """The ids after the change, where each old number goes (-1: gone or read anew), and the numbers of what is new."""
    stay = [key for key in old if touched is not None and key not in touched]
    new = sorted(entries)
    ids = sorted([*stay, *new])
    numbers = {key: number for number, key in enumerate(ids)}
    fresh = set(new)
    moves = np.array([-1 if key in fresh else numbers.get(key, -1) for key in old], np.int64)
    return ids, moves, {key: numbers[key] for key in new}


def _page_entry(row: Mapping[str, Any]) -> _PageEntry:
    """What the index keeps of a page, given as a row of `PAGE_COLUMNS`."""
    text: str = row["markdown"]
    start = body_start(text)
    title, aliases, tags = row["title"], row["aliases"] or [], row["tags"] or []
    body = tokens.terms(readable(text))
    said = [
        *tokens.terms(title) * TITLE_TIMES,
        *tokens.terms(" \n ".join(aliases)) * ALIAS_TIMES,
        *tokens.terms(" \n ".join(tags)) * TAG_TIMES,
        *body,
    ]
    hit = {
        key: row[key]
        for key in (
            "id",
            "slug",
            "title",
            "path",
            "status",
            "confidence",
            "type",
            "tags",
            "branch",
            "updated",
            "file_hash",
        )
    }
    return _PageEntry(
        count(said),
        count(_facets(row)),
        _json(hit),
        _json(row["citations"] or []),
        text.encode("utf-8", "surrogatepass"),
        read_blocks(text, start),
        cjk_page(text),
    )


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _facets(row: Mapping[str, Any]) -> Iterable[str]:
    for key in ("status", "type", "branch", "confidence", "updated", "path"):
        yield f"{key}:{row[key]}"
    for tag in row["tags"] or ():
        yield f"tag:{tokens.fold(tag)}"
    for source in {*(row["sources"] or ()), *(citation["target"] for citation in row["citations"] or ())}:
        yield f"source:{source}"
    for name in {called(alias) for alias in row["aliases"] or ()} - {"", called(row["title"])}:
        yield f"alias:{name}"


def _alias_hashes(facets: Postings) -> NDArray[np.uint32]:
    start, end = facets.terms.between(b"alias:", b"alias;")
    names = (facets.terms[number].decode("utf-8", "surrogatepass")[6:] for number in range(start, end))
    return np.array(sorted({term_hash(name) for name in names}), np.uint32)


def called(name: str) -> str:
    """A title or alias in the form in which questions are looked through for it: folded words, one space between."""
    return " ".join(tokens.name_words(name))


@dataclass(frozen=True, slots=True)
class _ChunkEntry:
    """What the index keeps of one chunk."""

    counts: TermCounts
    piece: bytes


def _chunk_entries(row: Mapping[str, Any]) -> list[_ChunkEntry]:
    """What the index keeps of one source's chunks, in order."""
    return [
        _ChunkEntry(
            count(tokens.terms(" \n ".join((*(chunk["title_path"] or ()), chunk["text"])))),
            _json({"source": row["id"], **chunk}),
        )
        for chunk in sorted(row["chunks"], key=lambda one: int(one["position"]))
    ]


def _next_evidence(former: EvidenceSide, ids: _Ids, tables: SnapshotTables) -> EvidenceSide:
    read = None if ids is None else ids.get("chunks", frozenset())
    fresh: dict[bytes, list[_ChunkEntry]] = {}
    for row in _rows(tables, "chunks", read, ("id", "chunks")):
        if row["chunks"]:
            fresh[row["id"].encode()] = _chunk_entries(row)
    touched = None if read is None else {key.encode() for key in read}
    old_ids = former.chunk_sources.all()
    sources, moves, places = _renumber(old_ids, touched, fresh)
    sizes = np.zeros(len(sources), np.int64)
    old_sizes = np.diff(former.chunk_bounds)
    sizes[moves[moves >= 0]] = old_sizes[moves >= 0]
    for key, number in places.items():
        sizes[number] = len(fresh[key])
    bounds = np.zeros(len(sources) + 1, np.int64)
    np.cumsum(sizes, out=bounds[1:])
    owner = np.repeat(np.arange(len(old_ids)), old_sizes)
    within = np.arange(len(owner)) - former.chunk_bounds[:-1][owner] if len(owner) else owner
    chunk_moves = np.where(moves[owner] >= 0, bounds[moves[owner]] + within, -1) if len(owner) else owner
    counts: dict[int, TermCounts] = {}
    rows: dict[int, NDArray[np.uint8]] = {}
    for key, number in places.items():
        for at, chunk in enumerate(fresh[key], start=int(bounds[number])):
            counts[at] = chunk.counts
            rows[at] = np.frombuffer(chunk.piece, np.uint8)
    total = int(bounds[-1])
    return EvidenceSide(
        chunks=former.chunks.updated(chunk_moves, counts, total),
        chunk_sources=Terms.of(sources),
        chunk_bounds=bounds,
        pieces=former.pieces.updated(chunk_moves, rows, total),
    )


def _next_vectors(
    former: PageSide,
    tables: SnapshotTables,
    ids: frozenset[str] | None,
    moves: NDArray[np.int64],
    page_ids: Sequence[bytes],
) -> tuple[VectorSet, ...]:
    """Matrices by model. A page's row is that of the embeddings table, and leaves with the page."""
    numbers = {key: number for number, key in enumerate(page_ids)}
    fresh: dict[str, list[tuple[int, bytes]]] = {}
    former_ids = former.page_ids.all()
    renamed = {number: numbers.get(key, -1) for number, key in enumerate(former_ids)}
    gone = set() if ids is None else {numbers.get(key.encode(), -1) for key in ids}
    for row in _rows(tables, "embeddings", ids, ("id", "model", "vector")):
        number = numbers.get(row["id"].encode(), -1)
        if number >= 0:
            fresh.setdefault(row["model"], []).append((number, row["vector"]))
    result = []
    for model in sorted({*fresh, *(one.model for one in former.vectors)}):
        old = next((one for one in former.vectors if one.model == model), None)
        docs = [renamed[number] for number in old.docs.tolist()] if old is not None else []
        keep = [place for place, number in enumerate(docs) if number >= 0 and number not in gone]
        added = sorted(fresh.get(model, []))
        if not keep and not added:
            continue
        width = old.matrix.shape[1] if old is not None else len(added[0][1]) // 4
        added = [one for one in added if len(one[1]) == width * 4]
        new = np.frombuffer(b"".join(vector for _, vector in added), "<f4").reshape(-1, width)
        held = old.matrix[keep] if old is not None else np.zeros((0, width), np.float32)
        held_docs = np.array([docs[place] for place in keep], np.int32)
        new_docs = np.array([number for number, _ in added], np.int32)
        places = np.searchsorted(held_docs, new_docs)
        matrix = np.insert(held, places, new, axis=0) if len(new) else held
        result.append(VectorSet(model, matrix, np.insert(held_docs, places, new_docs)))
    return tuple(result)
