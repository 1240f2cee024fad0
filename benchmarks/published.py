"""A corpus as a published wiki: pages, embeddings and index made by the production code, embeddings kept
between runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchmarks.corpora import Corpus
from storage.search.engine import Engine, SearchedWiki
from storage.search.search_index import build_index
from storage.tables import to_table
from tasks.embedding import embed
from tasks.embedding.embed import Embedder
from tasks.embedding.model import Model
from tasks.records import ChunksRecord, EmbeddingRecord, PageRecord


class KeptVectors:
    """An embedder that remembers on disk what it has embedded."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self._embedder = embedder
        self._folder = folder / hashlib.sha256(embedder.model.encode()).hexdigest()[:12]
        self._known: dict[str, NDArray[np.float32]] = {}
        for part in sorted(self._folder.glob("*.npz")):
            with np.load(part) as stored:
                self._known.update(zip(stored["hashes"].tolist(), stored["rows"], strict=True))

    @property
    def model(self) -> str:
        return self._embedder.model

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As the embedder, new texts embedded once."""
        return self._rows([("page", text) for text in texts])

    def embed_query(self, question: str) -> NDArray[np.float32]:
        """As the embedder, each question embedded once."""
        return np.asarray(self._rows([("question", question)])[0])

    def embed_queries(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """As the embedder, each question embedded once."""
        return self._rows([("question", question) for question in questions])

    def learn_questions(self, questions: Sequence[str]) -> None:
        """Embed many questions ahead of the run."""
        self._rows([("question", question) for question in questions])

    def _rows(self, asked: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        hashes = [embed.text_hash(text, f"{kind} {self.model}") for kind, text in asked]
        missing = {key: one for key, one in zip(hashes, asked, strict=True) if key not in self._known}
        if missing:
            kinds = {kind for kind, _ in missing.values()}
            if kinds == {"page"}:
                rows = self._embedder.embed([text for _, text in missing.values()])
            else:
                rows = np.array(
                    [self._embedder.embed_query(text) for _, text in missing.values()], np.float32
                )
            self._known.update(zip(missing, rows, strict=True))
            self._folder.mkdir(parents=True, exist_ok=True)
            name = hashlib.sha256("".join(missing).encode()).hexdigest()[:16]
            np.savez(self._folder / f"{name}.npz", hashes=np.array(list(missing)), rows=rows)
        return np.array([self._known[key] for key in hashes], np.float32)


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of a benchmark wiki, in memory."""

    pages: pa.Table
    embeddings: pa.Table
    chunks: pa.Table

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        whole: pa.Table = getattr(self, name)
        return whole if columns is None else whole.select(list(columns))

    def some(self, name: str, ids: frozenset[str], columns: Sequence[str]) -> pa.Table:
        whole = self.table(name)
        return whole.filter(pc.is_in(whole["id"], value_set=pa.array(sorted(ids), pa.string()))).select(
            list(columns)
        )


@dataclass(frozen=True, slots=True)
class Published:
    """A snapshot, and its own reader."""

    id: str
    index_dir: Path

    def current(self) -> Published:
        return self

    def at(self, ref: str) -> Published:
        return self


def pages_of(corpus: Corpus) -> list[PageRecord]:
    """Each document as an adopted page, in an order of ids that tells nothing of relevance."""
    return [
        PageRecord(
            id=hashlib.sha256(one.id.encode()).hexdigest()[:16],
            path=f"wiki/{number}.md",
            slug=one.id,
            title=one.title,
            adopted=True,
            file_hash="",
            markdown=one.text,
        )
        for number, one in enumerate(corpus.documents)
    ]


def tables_of(pages: Sequence[PageRecord], embedder: Embedder | None) -> Tables:
    """The tables of these pages; those that the model would not understand are not embedded."""
    rows: list[EmbeddingRecord] = []
    if embedder is not None:
        due = [page for page in pages if embed.should_embed(page.markdown, embedder.model)]
        texts = [embed.page_text(page.title, page.tags, page.markdown) for page in due]
        vectors = embedder.embed(texts)
        rows = [
            EmbeddingRecord(page.id, embed.text_hash(text, embedder.model), embedder.model, vector.tobytes())
            for page, text, vector in zip(due, texts, vectors, strict=True)
        ]
    return Tables(
        to_table(sorted(pages, key=lambda page: page.id), PageRecord),
        to_table(sorted(rows, key=lambda row: row.id), EmbeddingRecord),
        to_table([], ChunksRecord),
    )


def publish(corpus: Corpus, embedder: Embedder | None, folder: Path) -> Published:
    """The corpus as a snapshot whose index is built in `folder`."""
    build_index(tables_of(pages_of(corpus), embedder), {}, None, folder)
    return Published("benchmark", folder)


def engine_over(published: Published, embedder: Embedder | None) -> Engine:
    """A search engine over one benchmark wiki."""
    model = Model(lambda: embedder) if embedder is not None else None
    return Engine([SearchedWiki("benchmark", published, model)])
