"""The files of a search index: plain arrays that open by being mapped, under a manifest that is written last.

    page-*      postings of the pages (title and aliases count several times), by page id
    alias-hashes  which names are aliases
    facet-*     postings of what pages are filtered by and called: 'status:active', 'tag:...', 'alias:...'
    hit-*       what a hit shows of a page, as JSON; cite-*: its citations; text-*: its text
    block-*     the passages of a page; word-*: their words
    chunk-*     postings of the evidence, by source id and position; piece-*: the chunks, as JSON
    vector-N-*  float32 matrix of one embedding model, and the page of each row

`manifest.json` names every file with its size and CRC-32, and holds its own. All are verified when the folder is
opened, at some gigabytes a second: a torn or altered file is never answered from, nor taken over into the next index.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from config.errors import StateError
from tasks.search import tokens
from tasks.search.passages import BLOCK, WORD, PageBlocks
from tasks.search.postings import Postings, Terms
from tasks.search.ragged import Ragged

FORMAT = 4
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
    files: dict[str, tuple[int, int]] = {}
    for name, array in _arrays(index).items():
        path = out / f"{name}.npy"
        with path.open("wb") as file:
            np.lib.format.write_array(file, np.ascontiguousarray(array), allow_pickle=False)
        files[path.name] = (path.stat().st_size, _checksum(path))
    told = {
        "format": FORMAT,
        "tokens": tokens.VERSION,
        "weights": [TITLE_TIMES, ALIAS_TIMES, TAG_TIMES],
        "models": [vectors.model for vectors in index.vectors],
        "files": files,
    }
    content = json.dumps({**told, "checksum": _of_manifest(told)}, indent=1, sort_keys=True)
    (out / "manifest.json").write_text(content, encoding="utf-8")


def _of_manifest(told: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(told, sort_keys=True).encode())


def _checksum(path: Path) -> int:
    """CRC-32 of a file; read, not mapped, so that what no question needs stays out of this process's memory."""
    found = 0
    buffer = memoryview(bytearray(1 << 20))
    with path.open("rb", buffering=0) as file:
        while length := file.readinto(buffer):
            found = zlib.crc32(buffer[:length], found)
    return found


def damage(folder: Path) -> str:
    """What is wrong with an index, in a few words; empty when every byte is as it was written."""
    try:
        open_index(folder)
    except StateError as error:
        return f"{error.subject}: {error.cause}"
    return ""


def open_index(folder: Path) -> SearchIndex:
    """Verifies and maps an index. StateError, with the file's name, when one is missing, torn, altered or of another
    version."""
    path = folder / "manifest.json"
    try:
        told = json.loads(path.read_bytes())
        current = (told["format"], told["tokens"], told["weights"])
        if current != (FORMAT, tokens.VERSION, [TITLE_TIMES, ALIAS_TIMES, TAG_TIMES]):
            raise StateError(str(path), "the search index was made by another version", _REPAIR)
        if told.pop("checksum") != _of_manifest(told):
            raise StateError(str(path), "the search index is damaged", _REPAIR)
        files: Mapping[str, tuple[int, int]] = told["files"]
        models: list[str] = told["models"]
    except FileNotFoundError:
        raise StateError(str(path), "the search index is missing", _REPAIR) from None
    except OSError as error:
        raise StateError(str(path), f"the search index cannot be read ({error.strerror})", _REPAIR) from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise StateError(str(path), "the search index is damaged", _REPAIR) from None

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


_REPAIR = "Run `nightwiki check --repair`"


def _map(path: Path, files: Mapping[str, tuple[int, int]]) -> NDArray[Any]:
    try:
        size, checksum = files[path.name]
        if path.stat().st_size != size:
            raise StateError(
                str(path), "the search index is torn: this file has another size than when written", _REPAIR
            )
        if _checksum(path) != checksum:
            raise StateError(
                str(path), "the search index is damaged: this file has other bytes than when written", _REPAIR
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
    except OSError as error:
        cause = f"a file of the search index cannot be read ({error.strerror})"
        raise StateError(str(path), cause, _REPAIR) from None
    except ValueError:
        raise StateError(str(path), "a file of the search index is damaged", _REPAIR) from None
