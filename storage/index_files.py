"""The files of a search index: plain arrays that open by being mapped, under a manifest that is written last.

    page-*      postings of the pages (title and aliases count several times), by page id
    alias-hashes  which names are aliases
    facet-*     postings of what pages are filtered by and called: 'status:active', 'tag:...', 'alias:...'
    hit-*       what a hit shows of a page, as JSON; cite-*: its citations; text-*: its text
    block-*     the passages of a page; word-*: their words
    chunk-*     postings of the evidence, by source id and position; piece-*: the chunks, as JSON
    vector-N-*  float32 matrix of one embedding model, and the page of each row

`manifest.json` names every file with its size, so a torn folder is recognised when it is opened.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from config.errors import StateError
from tasks import tokens
from tasks.passages import BLOCK, WORD, PageBlocks
from tasks.postings import Postings, Terms
from tasks.ragged import Ragged

FORMAT = 3
TITLE_TIMES = 3
"""A title's terms count as if they were said this often; chosen on the development corpora."""
ALIAS_TIMES = 1
TAG_TIMES = 1


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
    cjk: NDArray[np.bool_]  # pages that an English model would not understand
    facets: Postings
    alias_hashes: NDArray[np.uint32]  # of every alias, ascending: most words of a question are none
    hits: Ragged
    citations: Ragged
    texts: Ragged
    blocks: Ragged
    words: Ragged
    chunks: Postings
    chunk_sources: Terms  # ids of sources with chunks
    chunk_bounds: NDArray[
        np.int64
    ]  # chunks of source s are those from chunk_bounds[s] to chunk_bounds[s + 1]
    pieces: Ragged
    vectors: tuple[VectorSet, ...]

    @classmethod
    def empty(cls) -> SearchIndex:
        """The index of no pages."""
        bounds = np.zeros(1, np.int64)
        rows = Ragged(np.zeros(0, np.uint8), bounds)
        blocks, words = Ragged(np.zeros(0, BLOCK), bounds), Ragged(np.zeros(0, WORD), bounds)
        postings, ids = Postings.of(()), Terms.of(())
        return cls(
            postings,
            ids,
            np.zeros(0, np.bool_),
            postings,
            np.zeros(0, np.uint32),
            rows,
            rows,
            rows,
            blocks,
            words,
            postings,
            ids,
            bounds,
            rows,
            (),
        )

    def page_blocks(self, number: int) -> PageBlocks:
        """The passages of a page."""
        return PageBlocks(self.blocks.row(number), self.words.row(number))


def _arrays(index: SearchIndex) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {
        "page-cjk": index.cjk,
        "alias-hashes": index.alias_hashes,
        "chunk-source-bounds": index.chunk_bounds,
    }

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
    for name, rows in (
        ("hit", index.hits),
        ("cite", index.citations),
        ("text", index.texts),
        ("block", index.blocks),
        ("word", index.words),
        ("piece", index.pieces),
    ):
        found[f"{name}-values"], found[f"{name}-at"] = rows.values, rows.bounds
    for number, vectors in enumerate(index.vectors):
        found[f"vector-{number}-matrix"], found[f"vector-{number}-docs"] = vectors.matrix, vectors.docs
    return found


def save_index(index: SearchIndex, out: Path) -> None:
    """Writes an index into a folder, the manifest last."""
    out.mkdir(parents=True, exist_ok=True)
    files = {}
    for name, array in _arrays(index).items():
        path = out / f"{name}.npy"
        with path.open("wb") as file:
            np.lib.format.write_array(file, np.ascontiguousarray(array), allow_pickle=False)
        files[path.name] = path.stat().st_size
    told = {
        "format": FORMAT,
        "tokens": tokens.VERSION,
        "weights": [TITLE_TIMES, ALIAS_TIMES, TAG_TIMES],
        "models": [vectors.model for vectors in index.vectors],
        "files": files,
    }
    (out / "manifest.json").write_text(json.dumps(told, indent=1, sort_keys=True), encoding="utf-8")


def open_index(folder: Path) -> SearchIndex:
    """Maps an index. StateError, with the file's name, when one is missing or torn, or of another version."""
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
        return Postings(
            terms(f"{name}-terms"),
            *(array(f"{name}-{part}") for part in ("bounds", "docs", "counts", "lengths")),
        )

    def ragged(name: str) -> Ragged:
        return Ragged(array(f"{name}-values"), array(f"{name}-at"))

    return SearchIndex(
        postings("page"),
        terms("page-ids"),
        array("page-cjk"),
        postings("facet"),
        array("alias-hashes"),
        ragged("hit"),
        ragged("cite"),
        ragged("text"),
        ragged("block"),
        ragged("word"),
        postings("chunk"),
        terms("chunk-sources"),
        array("chunk-source-bounds"),
        ragged("piece"),
        tuple(
            VectorSet(model, array(f"vector-{number}-matrix"), array(f"vector-{number}-docs"))
            for number, model in enumerate(models)
        ),
    )


_REPAIR = "Run `nightwiki check --repair`; search answers from the snapshot before it meanwhile."


def _map(path: Path, files: Mapping[str, int]) -> NDArray[Any]:
    try:
        if path.stat().st_size != files[path.name]:
            raise StateError(
                str(path), "the search index is torn: this file has another size than when written", _REPAIR
            )
        with path.open("rb") as file:
            version = np.lib.format.read_magic(file)
            read = (
                np.lib.format.read_array_header_1_0
                if version == (1, 0)
                else np.lib.format.read_array_header_2_0
            )
            shape, _, dtype = read(file)
            if 0 in shape:
                return np.zeros(shape, dtype)
            return np.asarray(np.memmap(file, dtype, "r", file.tell(), shape))
    except (FileNotFoundError, KeyError):
        raise StateError(str(path), "a file of the search index is missing", _REPAIR) from None
    except ValueError:
        raise StateError(str(path), "a file of the search index is damaged", _REPAIR) from None
