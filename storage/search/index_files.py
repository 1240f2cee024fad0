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
from collections.abc import Mapping, Sequence
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


@dataclass(frozen=True)  # without slots, for an index is both sides at once
class PageSide:
    """What an index knows of pages. Page numbers run by page id."""

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
    vectors: tuple[VectorSet, ...]


@dataclass(frozen=True)
class EvidenceSide:
    """What an index knows of the evidence. Chunk numbers run by source id and position."""

    chunks: Postings
    chunk_sources: Terms  # ids of sources with chunks
    chunk_bounds: NDArray[np.int64]  # chunks of source s are those from chunk_bounds[s] to chunk_bounds[s + 1]
    pieces: Ragged


@dataclass(frozen=True)
class SearchIndex(PageSide, EvidenceSide):
    """A whole index. Its two sides have nothing in common, and are made apart."""

    @classmethod
    def of(cls, pages: PageSide, evidence: EvidenceSide) -> SearchIndex:
        """From its sides."""
        return cls(**vars(evidence), **vars(pages))

    def page_blocks(self, number: int) -> PageBlocks:
        """The passages of a page."""
        return PageBlocks(self.blocks.row(number), self.words.row(number))


def no_pages() -> PageSide:
    """The side of no pages."""
    bounds = np.zeros(1, np.int64)
    rows, postings = Ragged(np.zeros(0, np.uint8), bounds), Postings.of(())
    return PageSide(
        pages=postings,
        page_ids=Terms.of(()),
        cjk=np.zeros(0, np.bool_),
        facets=postings,
        alias_hashes=np.zeros(0, np.uint32),
        hits=rows,
        citations=rows,
        texts=rows,
        blocks=Ragged(np.zeros(0, BLOCK), bounds),
        words=Ragged(np.zeros(0, WORD), bounds),
        vectors=(),
    )


def no_evidence() -> EvidenceSide:
    """The side of no chunks."""
    bounds = np.zeros(1, np.int64)
    return EvidenceSide(Postings.of(()), Terms.of(()), bounds, Ragged(np.zeros(0, np.uint8), bounds))


@dataclass(frozen=True, slots=True)
class SavedSide:
    """Files that were written, by name: size and checksum; and the models of the embeddings in them."""

    files: Mapping[str, tuple[int, int]]
    models: tuple[str, ...] = ()


def save_pages(side: PageSide, out: Path) -> SavedSide:
    """Writes the files of pages into a folder."""
    found = {
        "page-cjk": side.cjk,
        "alias-hashes": side.alias_hashes,
        **_of_postings("page", side.pages),
        **_of_postings("facet", side.facets),
        **_of_terms("page-ids", side.page_ids),
        **_of_rows("hit", side.hits),
        **_of_rows("cite", side.citations),
        **_of_rows("text", side.texts),
        **_of_rows("block", side.blocks),
        **_of_rows("word", side.words),
    }
    for number, vectors in enumerate(side.vectors):
        found[f"vector-{number}-matrix"], found[f"vector-{number}-docs"] = vectors.matrix, vectors.docs
    return SavedSide(_save(found, out), tuple(vectors.model for vectors in side.vectors))


def save_evidence(side: EvidenceSide, out: Path) -> SavedSide:
    """Writes the files of the evidence into a folder."""
    found = {
        "chunk-source-bounds": side.chunk_bounds,
        **_of_postings("chunk", side.chunks),
        **_of_terms("chunk-sources", side.chunk_sources),
        **_of_rows("piece", side.pieces),
    }
    return SavedSide(_save(found, out))


_Arrays = dict[str, NDArray[Any]]


def _of_terms(name: str, value: Terms) -> _Arrays:
    return {f"{name}-text": value.text, f"{name}-at": value.bounds}


def _of_postings(name: str, value: Postings) -> _Arrays:
    parts = {f"{name}-{part}": getattr(value, part) for part in _POSTINGS}
    return _of_terms(f"{name}-terms", value.terms) | parts


def _of_rows(name: str, value: Ragged) -> _Arrays:
    return {f"{name}-values": value.values, f"{name}-at": value.bounds}


_POSTINGS = ("bounds", "docs", "counts", "lengths")


def _save(arrays: _Arrays, out: Path) -> dict[str, tuple[int, int]]:
    files: dict[str, tuple[int, int]] = {}
    for name, array in arrays.items():
        path = out / f"{name}.npy"
        with path.open("wb") as file:
            np.lib.format.write_array(file, np.ascontiguousarray(array), allow_pickle=False)
        files[path.name] = (path.stat().st_size, _checksum(path))
    return files


def save_manifest(sides: Sequence[SavedSide], out: Path) -> None:
    """Writes the manifest, when the files of both sides are there."""
    told = {
        "format": FORMAT,
        "tokens": tokens.VERSION,
        "weights": [TITLE_TIMES, ALIAS_TIMES, TAG_TIMES],
        "models": [model for side in sides for model in side.models],
        "files": {name: where for side in sides for name, where in side.files.items()},
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
    opened = _Opened.at(folder)
    return SearchIndex.of(opened.pages(), opened.evidence())


def open_pages(folder: Path) -> PageSide:
    """As `open_index`, for pages alone."""
    return _Opened.at(folder).pages()


def open_evidence(folder: Path) -> EvidenceSide:
    """As `open_index`, for the evidence alone."""
    return _Opened.at(folder).evidence()


@dataclass(frozen=True, slots=True)
class _Opened:
    """An index whose manifest is sound."""

    folder: Path
    files: Mapping[str, tuple[int, int]]
    models: Sequence[str]

    @classmethod
    def at(cls, folder: Path) -> _Opened:
        path = folder / "manifest.json"
        try:
            told = json.loads(path.read_bytes())
            current = (told["format"], told["tokens"], told["weights"])
            if current != (FORMAT, tokens.VERSION, [TITLE_TIMES, ALIAS_TIMES, TAG_TIMES]):
                raise StateError(str(path), "the search index was made by another version", _REPAIR)
            if told.pop("checksum") != _of_manifest(told):
                raise StateError(str(path), "the search index is damaged", _REPAIR)
            return cls(folder, told["files"], told["models"])
        except FileNotFoundError:
            raise StateError(str(path), "the search index is missing", _REPAIR) from None
        except OSError as error:
            raise StateError(str(path), f"the search index cannot be read ({error.strerror})", _REPAIR) from None
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise StateError(str(path), "the search index is damaged", _REPAIR) from None

    def pages(self) -> PageSide:
        return PageSide(
            pages=self._postings("page"),
            page_ids=self._terms("page-ids"),
            cjk=self._array("page-cjk"),
            facets=self._postings("facet"),
            alias_hashes=self._array("alias-hashes"),
            hits=self._rows("hit"),
            citations=self._rows("cite"),
            texts=self._rows("text"),
            blocks=self._rows("block"),
            words=self._rows("word"),
            vectors=tuple(
                VectorSet(model, self._array(f"vector-{number}-matrix"), self._array(f"vector-{number}-docs"))
                for number, model in enumerate(self.models)
            ),
        )

    def evidence(self) -> EvidenceSide:
        return EvidenceSide(
            chunks=self._postings("chunk"),
            chunk_sources=self._terms("chunk-sources"),
            chunk_bounds=self._array("chunk-source-bounds"),
            pieces=self._rows("piece"),
        )

    def _array(self, name: str) -> NDArray[Any]:
        return _map(self.folder / f"{name}.npy", self.files)

    def _terms(self, name: str) -> Terms:
        return Terms(self._array(f"{name}-text"), self._array(f"{name}-at"))

    def _postings(self, name: str) -> Postings:
        return Postings(self._terms(f"{name}-terms"), *(self._array(f"{name}-{part}") for part in _POSTINGS))

    def _rows(self, name: str) -> Ragged:
        return Ragged(self._array(f"{name}-values"), self._array(f"{name}-at"))


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
