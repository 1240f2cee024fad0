"""A small searchable wiki for tests: pages as written, a toy embedder whose vectors one can foresee."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from storage.search.engine import Engine, SearchedWiki
from storage.search.search_index import build_index
from storage.tables import to_table
from tasks.embedding.model import Model
from tasks.records import ChunksRecord, EmbeddingRecord, PageRecord, SourceRecord
from tasks.search.fusion import Configuration


@dataclass(frozen=True)
class Concepts:
    """An embedder for tests: each concept is a direction, and a text points where its words belong."""

    words: Mapping[str, str]  # word -> concept
    model: str = "concepts@00000000/256"
    dimensions: int = 64

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([self.embed_query(text) for text in texts], np.float32).reshape(-1, self.dimensions)

    def embed_query(self, question: str) -> NDArray[np.float32]:
        vector = np.full(self.dimensions, 0.01)
        for word in question.lower().split():
            concept = self.words.get(word.strip(".,?!"), word)
            place = int.from_bytes(hashlib.sha256(concept.encode()).digest()[:4], "big") % self.dimensions
            vector[place] += 1.0
        return np.asarray(vector / np.linalg.norm(vector), np.float32)


def page(number: int, title: str, text: str, **others: object) -> PageRecord:
    """A page of the pipeline."""
    record = PageRecord(
        id=f"p{number:04d}",
        path=f"wiki/p{number}.md",
        slug=f"p{number}",
        title=title,
        adopted=False,
        file_hash="0" * 64,
        markdown=f"---\ntitle: {title}\n---\n# {title}\n\n{text}\n",
        updated="2026-11-30T00:00:00Z",
    )
    return replace(record, **others)  # type: ignore[arg-type]


@dataclass
class Tables:
    """Tables in memory, as a snapshot gives them."""

    pages: Sequence[PageRecord] = ()
    embeddings: Sequence[EmbeddingRecord] = ()
    chunks: Sequence[ChunksRecord] = ()
    sources: Sequence[SourceRecord] = ()
    kinds: Mapping[str, type] = field(
        default_factory=lambda: {
            "pages": PageRecord,
            "embeddings": EmbeddingRecord,
            "chunks": ChunksRecord,
            "sources": SourceRecord,
        }
    )

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        whole = to_table(sorted(getattr(self, name), key=lambda row: str(row.id)), self.kinds[name])
        return whole.select(list(columns)) if columns is not None else whole

    def some(self, name: str, ids: frozenset[str], columns: Sequence[str]) -> pa.Table:
        whole = self.table(name)
        return whole.filter(pc.is_in(whole["id"], value_set=pa.array(sorted(ids), pa.string()))).select(
            list(columns)
        )


def embedded(pages: Sequence[PageRecord], embedder: Concepts) -> tuple[EmbeddingRecord, ...]:
    """The embeddings of pages."""
    return tuple(
        EmbeddingRecord(
            one.id, "hash", embedder.model, embedder.embed_query(f"{one.title} {one.markdown}").tobytes()
        )
        for one in pages
    )


@dataclass
class Published(Tables):
    """A snapshot whose index lies in `index_dir`."""

    id: str = "s1"
    index_dir: Path = Path()


@dataclass
class Snapshots:
    """A reader whose snapshots a test sets."""

    shown: Published | None
    kept: dict[str, Published] = field(default_factory=dict)

    def current(self) -> Published | None:
        return self.shown

    def at(self, ref: str) -> Published:
        return self.kept[ref]


def publish(folder: Path, tables: Tables, name: str = "s1") -> Published:
    """A snapshot of the tables with its index built."""
    build_index(tables, {}, None, folder / name)
    return Published(
        tables.pages, tables.embeddings, tables.chunks, tables.sources, id=name, index_dir=folder / name
    )


def engine(
    folder: Path,
    pages: Sequence[PageRecord],
    embedder: Concepts | None = None,
    configuration: Configuration = "fused",
    chunks: Sequence[ChunksRecord] = (),
    sources: Sequence[SourceRecord] = (),
) -> Engine:
    """An engine over one wiki of these pages."""
    vectors = embedded(pages, embedder) if embedder is not None else ()
    snapshot = publish(folder, Tables(pages, vectors, chunks, sources))
    model = Model(lambda: embedder) if embedder is not None else None
    return Engine([SearchedWiki("test", Snapshots(snapshot), model, configuration)])
