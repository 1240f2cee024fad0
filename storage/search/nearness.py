"""How near pages are to a question by meaning, and what to say when that cannot be told."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from config.errors import ModelUnavailableError
from storage.search.index_files import SearchIndex, VectorSet
from storage.search.opened import Opened, Question
from tasks.embedding.embed import is_multilingual, should_embed_question
from tasks.embedding.model import Model
from tasks.search.result import Degraded

_NEXT_INGEST = "Run `nightwiki ingest`"


def ask(
    model: Model | None, index: SearchIndex, question: Question, degraded: list[Degraded]
) -> Future[NDArray[np.float32]] | None:
    """Starts embedding the question, unless it is not wanted or no vector could answer it."""
    wanted = question.configuration != "bm25" and question.layer != "chunks" and question.text.strip()
    if model is None or not wanted or not len(index.page_ids):
        return None
    if not index.vectors:
        if not index.cjk.all():
            degraded.append(Degraded("embeddings", "no page is embedded yet", _NEXT_INGEST))
        return None
    if not any(should_embed_question(question.text, one.model) for one in index.vectors):
        return None
    return model.ask(question.text)


@dataclass(frozen=True, slots=True)
class Nearness:
    """Likeness by meaning of the embedded pages `docs`: standard deviations above the mean of the wiki's."""

    docs: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    z: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    pages: int = 0  # of the wiki
    mean: float = 0.0
    deviation: float = 1.0

    def of(self, docs: NDArray[np.int32]) -> NDArray[np.float64]:
        """z of some pages; NaN for one without embedding."""
        if len(self.docs) == self.pages:
            by_page = self.z if len(self.docs) else np.full(int(docs.max(initial=-1)) + 1, np.nan)
        else:
            by_page = np.full(self.pages, np.nan, np.float32)
            by_page[self.docs] = self.z
        return by_page[docs].astype(np.float64)

    def cosine(self, docs: NDArray[np.int32]) -> NDArray[np.float64]:
        """Cosine of some pages and the question; NaN for one without embedding."""
        return self.of(docs) * self.deviation + self.mean


def nearness(
    asked: Future[NDArray[np.float32]] | None,
    model: Model | None,
    opened: Opened,
    branches: Sequence[str],
    degraded: list[Degraded],
) -> Nearness:
    """Likeness of every embedded page in scope; empty when there is no model, or none that made these vectors."""
    if asked is None or model is None:
        return Nearness()
    try:
        question = asked.result()
        vectors = _vectors(opened.index, model.embedder().model, degraded)
    except ModelUnavailableError as error:
        degraded.append(Degraded("embeddings", f"{error.subject}: {error.cause}", error.next_step))
        return Nearness()
    if vectors is None:
        return Nearness()
    if branches:
        parts = opened.narrowing.vectors(vectors, branches)
        docs = np.concatenate([part.docs for part in parts]) if parts else vectors.docs[:0]
        similarity = np.concatenate([_cosines(part.matrix, question) for part in parts] or [np.zeros(0, np.float32)])
        spread = _cosines(opened.narrowing.sample(vectors), question)
    else:
        docs = vectors.docs
        similarity = spread = _cosines(vectors.matrix, question)
    mean, deviation = spread.mean(), spread.std()
    z = (similarity - mean) / deviation if deviation > 0 else np.zeros_like(similarity)
    return Nearness(docs, z, len(opened.index.page_ids), float(mean), float(deviation))


def _cosines(matrix: NDArray[np.float32], question: NDArray[np.float32]) -> NDArray[np.float32]:
    """Row by row, on this thread: a parallel product waits longer for its threads, which the model has just used,
    than it takes; and pages with equal vectors get equal scores wherever they stand."""
    return np.asarray(np.vecdot(matrix, question))


def _vectors(index: SearchIndex, model: str, degraded: list[Degraded]) -> VectorSet | None:
    """The pages' vectors of this very model; any other is not looked at."""
    found = next((one for one in index.vectors if one.model == model), None)
    if found is None:
        others = ", ".join(one.model for one in index.vectors)
        reason = f"the pages were embedded with {others}, the settings now say {model}: rebuild needed"
        degraded.append(Degraded("embeddings", reason, f"{_NEXT_INGEST}: it embeds the pages again"))
        return None
    expected = len(index.page_ids) if is_multilingual(model) else int(np.count_nonzero(~index.cjk))
    if len(found.docs) < expected:
        reason = f"{expected - len(found.docs)} of {expected} pages are not embedded yet"
        degraded.append(Degraded("embeddings", reason, _NEXT_INGEST))
    return found
