"""The embeddings of pages that changed, or that have none of the present model yet."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from config.errors import ModelUnavailableError
from config.settings import Embedding
from config.wiki import model_cache
from flows.session import Session
from flows.steps import StepRunner
from tasks.commits import NO_CHANGES, Changes
from tasks.digest import Problem
from tasks.embedding import embed
from tasks.records import EmbeddingRecord, PageRecord

log = logging.getLogger(__name__)

_STEP = 64  # pages between two reports of progress


@dataclass(frozen=True, slots=True)
class Embedded:
    """Rows to set and drop, and why meaning search is off or incomplete."""

    changes: Changes = NO_CHANGES
    degraded: tuple[Problem, ...] = ()


def _is_current(model: str, settings: Embedding) -> bool:
    """Whether an embedding's model goes by the name and length that the settings ask for."""
    return model.startswith(f"{settings.model}@") and model.endswith(f"/{settings.max_tokens}")


def embed_pages(
    session: Session, pages: Sequence[PageRecord], fresh: Sequence[PageRecord], runner: StepRunner
) -> Embedded:
    """Embed what is new. A model that cannot be had is said, and costs nothing but meaning search."""
    settings = session.wiki.settings
    if settings.search.vector == "off":
        return Embedded()
    meta = session.state.ledger.embeddings_meta()
    live = {page.id: page for page in pages if not page.deleted}
    gone = tuple(sorted(set(meta) - set(live)))
    changed = {page.id for page in fresh}
    name = settings.embedding.model
    due = [
        page
        for page in live.values()
        if page.id in changed or page.id not in meta or not _is_current(meta[page.id].model, settings.embedding)
    ]
    due = [page for page in due if embed.should_embed(page.markdown, name)]
    if not due:
        return Embedded(Changes(drop_embeddings=gone))
    try:
        embedder = embed.load(settings.embedding, model_cache(), download=True)
    except ModelUnavailableError as error:
        problem = Problem(error.subject, f"{error.cause}; search goes by keywords alone", error.next_step)
        return Embedded(Changes(drop_embeddings=gone), (problem,))
    texts = {
        page.id: embed.page_text(page.title, page.tags, page.markdown, settings.embedding.max_tokens) for page in due
    }
    hashes = {page_id: embed.text_hash(text, embedder.model) for page_id, text in texts.items()}
    wanted = [page_id for page_id in sorted(texts) if page_id not in meta or meta[page_id].text_hash != hashes[page_id]]
    rows = []
    for start in range(0, len(wanted), _STEP):
        part = wanted[start : start + _STEP]
        vectors = embedder.embed([texts[page_id] for page_id in part])
        rows += [
            EmbeddingRecord(page_id, hashes[page_id], embedder.model, vector.astype("<f4").tobytes())
            for page_id, vector in zip(part, vectors, strict=True)
        ]
        runner.progress("embed", min(start + _STEP, len(wanted)), len(wanted))
    return Embedded(Changes(embeddings=tuple(rows), drop_embeddings=gone))
