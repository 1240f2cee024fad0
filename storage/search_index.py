"""The search index of a snapshot: a folder of plain arrays that opens by mapping files, and is made from the one before.

Everything in it follows from the snapshot's tables; a missing or old folder is built anew. `manifest.json` is written last
and names every file with its size, so a torn folder is recognised when it is opened.

    page-*      postings of the pages (title and aliases count several times), by page id
    facet-*     postings of what pages are filtered by and called: 'status:active', 'tag:...', 'name:...'
    hit-*       what a hit shows of a page, as JSON; cite-*: its citations; text-*: its text
    block-*     the passages of a page; word-*: their words
    chunk-*     postings of the evidence, by source id and position; piece-*: the chunks, as JSON
    vector-N-*  float32 matrix of one embedding model, and the page of each row
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from config.errors import StateError
from tasks import tokens
from tasks.embed import cjk_page
from tasks.passages import BLOCK, WORD, PageBlocks, read_blocks
from tasks.plain import body_start, readable
from tasks.postings import Postings, TermCounts, Terms, count
from tasks.ragged import Ragged

FORMAT = 1
TITLE_TIMES = 3
"""A title's terms count as if they were said this often; chosen on the development corpora."""
ALIAS_TIMES = 1
TAG_TIMES = 1

_PAGE_COLUMNS = (
    "id", "path", "slug", "title", "file_hash", "markdown", "aliases", "tags", "type", "status", "confidence", "updated",
    "branch", "sources", "citations", "deleted",
)


class Tables(Protocol):
    """Arrow tables of a snapshot, whole or for a few ids."""

    def table(self, name: str, columns: Sequence[str] | None = None) -> Any: ...

    def some(self, name: str, ids: frozenset[str], columns: Sequence[str]) -> Any: ...


@dataclass(frozen=True, slots=True)
class VectorSet:
    """The embeddings that one model made: row i belongs to page number `docs[i]`, ascending."""

    model: str
    matrix: NDArray[np.float32]
    docs: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class SearchIndex:
    """An opened index. Page numbers run by page id, chunk numbers by source id and position."""

    pages: Postings
    page_ids: Terms
    cjk: NDArray[np.bool_]      # pages that an English model would not understand
    facets: Postings
    hits: Ragged
    citations: Ragged
    texts: Ragged
    blocks: Ragged
    words: Ragged
    chunks: Postings
    chunk_sources: Terms        # ids of sources with chunks
    chunk_bounds: NDArray[np.int64]  # chunks of source s are those from chunk_bounds[s] to chunk_bounds[s + 1]
    pieces: Ragged
    vectors: tuple[VectorSet, ...]

    def page_blocks(self, number: int) -> PageBlocks:
        """The passages of a page."""
        return PageBlocks(self.blocks.row(number), self.words.row(number))


# --- building --------------------------------------------------------------------------------------------------------


def build_index(tables: Tables, changed: Mapping[str, frozenset[str]], previous: Path | None, out: Path) -> None:
    """Fills the folder `out` for the snapshot's tables; with `previous`, reads only the `changed` ids of each table."""
    former = _reusable(previous)
    if former is None:
        ids: dict[str, frozenset[str] | None] = {"pages": None, "chunks": None, "embeddings": None}
        former = _empty()
    else:
        ids = {name: changed.get(name, frozenset()) for name in ("pages", "chunks", "embeddings")}
    _save(_next(former, tables, ids), out)


def _reusable(folder: Path | None) -> SearchIndex | None:
    if folder is None:
        return None
    try:
        return open_index(folder)
    except StateError:  # derived data: build it anew
        return None


def _empty() -> SearchIndex:
    bounds = np.zeros(1, np.int64)
    nothing = Ragged(np.zeros(0, np.uint8), bounds)
    postings = Postings.of(())
    return SearchIndex(
        postings, Terms.of(()), np.zeros(0, np.bool_), postings, nothing, nothing, nothing,
        Ragged(np.zeros(0, BLOCK), bounds), Ragged(np.zeros(0, WORD), bounds), postings, Terms.of(()), bounds, nothing, (),
    )


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


def _next(former: SearchIndex, tables: Tables, ids: Mapping[str, frozenset[str] | None]) -> SearchIndex:
    entries = {row["id"].encode(): _page_entry(row) for row in _rows(tables, "pages", ids["pages"], _PAGE_COLUMNS)
               if not row["deleted"]}
    touched = None if ids["pages"] is None else {key.encode() for key in ids["pages"]}
    page_ids, moves, places = _renumber(former.page_ids.all(), touched, entries)
    size = len(page_ids)
    new = {places[key]: entry for key, entry in entries.items()}
    cjk = np.zeros(size, np.bool_)
    cjk[moves[moves >= 0]] = former.cjk[moves >= 0]
    for number, entry in new.items():
        cjk[number] = entry.cjk

    def ragged(rows: Ragged, value: Callable[[_PageEntry], NDArray[Any]]) -> Ragged:
        return rows.updated(moves, {number: value(entry) for number, entry in new.items()}, size)

    chunks, chunk_sources, chunk_bounds, pieces = _next_chunks(former, tables, ids["chunks"])
    return SearchIndex(
        pages=former.pages.updated(moves, {number: entry.counts for number, entry in new.items()}, size),
        page_ids=Terms.of(page_ids),
        cjk=cjk,
        facets=former.facets.updated(moves, {number: entry.facets for number, entry in new.items()}, size),
        hits=ragged(former.hits, lambda entry: np.frombuffer(entry.hit, np.uint8)),
        citations=ragged(former.citations, lambda entry: np.frombuffer(entry.citations, np.uint8)),
        texts=ragged(former.texts, lambda entry: np.frombuffer(entry.text, np.uint8)),
        blocks=ragged(former.blocks, lambda entry: entry.passages.blocks),
        words=ragged(former.words, lambda entry: entry.passages.words),
        chunks=chunks,
        chunk_sources=chunk_sources,
        chunk_bounds=chunk_bounds,
        pieces=pieces,
        vectors=_next_vectors(former, tables, ids["embeddings"], moves, page_ids),
    )


def _rows(tables: Tables, name: str, ids: frozenset[str] | None, columns: Sequence[str]) -> Iterable[dict[str, Any]]:
    if ids is not None and not ids:
        return
    table = tables.table(name, columns) if ids is None else tables.some(name, ids, columns)
    for batch in table.to_batches(max_chunksize=512):  # few rows at a time, so that texts do not stand twice in memory
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
    text: str = row["markdown"]
    start = body_start(text)
    title, aliases, tags = row["title"], row["aliases"] or [], row["tags"] or []
    body = tokens.terms(readable(text))
    said = [*tokens.terms(title) * TITLE_TIMES, *tokens.terms(" \n ".join(aliases)) * ALIAS_TIMES,
            *tokens.terms(" \n ".join(tags)) * TAG_TIMES, *body]
    hit = {key: row[key] for key in ("id", "slug", "title", "path", "status", "confidence", "type", "tags", "branch",
                                     "updated", "file_hash")}
    return _PageEntry(
        count(said),
        count(_facets(row)),
        _json(hit),
        _json(row["citations"] or []),
        text.encode("utf-8", "surrogatepass"),
        read_blocks(text, start),
        cjk_page(f"{title}\n{text[start:]}"),
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
    for name in {called(name) for name in (row["title"], *(row["aliases"] or ()))} - {""}:
        yield f"name:{name}"


def called(name: str) -> str:
    """A title or alias in the form in which questions are looked through for it: folded words, one space between."""
    return " ".join(tokens.name_words(name))


def _next_chunks(
    former: SearchIndex, tables: Tables, ids: frozenset[str] | None
) -> tuple[Postings, Terms, NDArray[np.int64], Ragged]:
    fresh = {row["id"].encode(): row["chunks"] for row in _rows(tables, "chunks", ids, ("id", "chunks")) if row["chunks"]}
    touched = None if ids is None else {key.encode() for key in ids}
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
        for place, chunk in enumerate(sorted(fresh[key], key=lambda one: int(one["position"]))):
            at = int(bounds[number]) + place
            counts[at] = count(tokens.terms(" \n ".join((*(chunk["title_path"] or ()), chunk["text"]))))
            rows[at] = np.frombuffer(_json({"source": key.decode(), **chunk}), np.uint8)
    total = int(bounds[-1])
    return (former.chunks.updated(chunk_moves, counts, total), Terms.of(sources), bounds,
            former.pieces.updated(chunk_moves, rows, total))


def _next_vectors(
    former: SearchIndex, tables: Tables, ids: frozenset[str] | None, moves: NDArray[np.int64], page_ids: Sequence[bytes]
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


# --- on disk ---------------------------------------------------------------------------------------------------------


def _arrays(index: SearchIndex) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {"page-cjk": index.cjk, "chunk-source-bounds": index.chunk_bounds}

    def terms(name: str, value: Terms) -> None:
        found[f"{name}-text"], found[f"{name}-at"] = value.text, value.bounds

    def postings(name: str, value: Postings) -> None:
        terms(f"{name}-terms", value.terms)
        found[f"{name}-bounds"], found[f"{name}-docs"] = value.bounds, value.docs
        found[f"{name}-counts"], found[f"{name}-lengths"] = value.counts, value.lengths

    postings("page", index.pages)
    postings("facet", index.facets)
    postings("chunk", index.chunks)
    terms("page-ids", index.page_ids)
    terms("chunk-sources", index.chunk_sources)
    for name, rows in (("hit", index.hits), ("cite", index.citations), ("text", index.texts), ("block", index.blocks), ("word", index.words),
                       ("piece", index.pieces)):
        found[f"{name}-values"], found[f"{name}-at"] = rows.values, rows.bounds
    for number, vectors in enumerate(index.vectors):
        found[f"vector-{number}-matrix"], found[f"vector-{number}-docs"] = vectors.matrix, vectors.docs
    return found


def _save(index: SearchIndex, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    files = {}
    for name, array in _arrays(index).items():
        path = out / f"{name}.npy"
        with path.open("wb") as file:
            np.lib.format.write_array(file, np.ascontiguousarray(array), allow_pickle=False)
        files[path.name] = path.stat().st_size
    told = {"format": FORMAT, "tokens": tokens.VERSION, "weights": [TITLE_TIMES, ALIAS_TIMES, TAG_TIMES],
            "models": [vectors.model for vectors in index.vectors], "files": files}
    (out / "manifest.json").write_text(json.dumps(told, indent=1, sort_keys=True), encoding="utf-8")


def open_index(folder: Path) -> SearchIndex:
    """Maps an index. StateError, with the file's name, when one is missing or torn or the index is of another version."""
    path = folder / "manifest.json"
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        files: Mapping[str, int] = told["files"]
        current = (told["format"], told["tokens"], told["weights"])
        models: list[str] = told["models"]
    except FileNotFoundError:
        raise StateError(str(path), "the search index is missing", _REPAIR) from None
    except (ValueError, KeyError, TypeError):
        raise StateError(str(path), "the search index is damaged", _REPAIR) from None
    if current != (FORMAT, tokens.VERSION, [TITLE_TIMES, ALIAS_TIMES, TAG_TIMES]):
        raise StateError(str(path), "the search index was made by another version", _REPAIR)

    def array(name: str) -> NDArray[Any]:
        return _map(folder / f"{name}.npy", files)

    def terms(name: str) -> Terms:
        return Terms(array(f"{name}-text"), array(f"{name}-at"))

    def postings(name: str) -> Postings:
        return Postings(terms(f"{name}-terms"), *(array(f"{name}-{part}") for part in ("bounds", "docs", "counts", "lengths")))

    def ragged(name: str) -> Ragged:
        return Ragged(array(f"{name}-values"), array(f"{name}-at"))

    return SearchIndex(
        postings("page"), terms("page-ids"), array("page-cjk"), postings("facet"), ragged("hit"), ragged("cite"), ragged("text"),
        ragged("block"), ragged("word"), postings("chunk"), terms("chunk-sources"), array("chunk-source-bounds"),
        ragged("piece"),
        tuple(VectorSet(model, array(f"vector-{number}-matrix"), array(f"vector-{number}-docs"))
              for number, model in enumerate(models)),
    )


_REPAIR = "Run `nightwiki check --repair`; search answers from the snapshot before it meanwhile."


def _map(path: Path, files: Mapping[str, int]) -> NDArray[Any]:
    try:
        if path.stat().st_size != files[path.name]:
            raise StateError(str(path), "the search index is torn: this file has another size than when written", _REPAIR)
        with path.open("rb") as file:
            version = np.lib.format.read_magic(file)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = read(file)
            if 0 in shape:
                return np.zeros(shape, dtype)
            return np.asarray(np.memmap(file, dtype, "r", file.tell(), shape))
    except (FileNotFoundError, KeyError):
        raise StateError(str(path), "a file of the search index is missing", _REPAIR) from None
    except ValueError:
        raise StateError(str(path), "a file of the search index is damaged", _REPAIR) from None
