"""Pairs of pages that mean nearly the same: new embeddings against all, old pairs kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tasks.records import EmbeddingRecord

_ROWS = 1024  # embeddings compared with all others at once


@dataclass(frozen=True, slots=True)
class Compared:
    """What has been compared: the text hash of each page, and the pairs that are alike, smaller id first."""

    pages: Mapping[str, str]
    pairs: tuple[tuple[str, str, float], ...] = ()


def compare(rows: Sequence[EmbeddingRecord], before: Compared, least: float) -> Compared:
    """Compare pages whose embedding is new with all others; pairs have a cosine of `least` or more.

    Only embeddings of one model are compared: of several, those of the one that most pages have.
    """
    models = sorted({row.model for row in rows}, key=lambda model: (-sum(row.model == model for row in rows), model))
    kept = sorted((row for row in rows if row.model == models[0]), key=lambda row: row.id) if models else []
    now = {row.id: f"{row.model} {row.text_hash}" for row in kept}
    same = {page for page, text in now.items() if before.pages.get(page) == text}
    pairs = {(one, other): score for one, other, score in before.pairs if one in same and other in same}
    fresh = [number for number, row in enumerate(kept) if row.id not in same]
    if fresh:
        matrix = np.frombuffer(b"".join(row.vector for row in kept), dtype="<f4").reshape(len(kept), -1)
        for start in range(0, len(fresh), _ROWS):
            part = fresh[start : start + _ROWS]
            scores = matrix[part] @ matrix.T
            for row, column in zip(*np.nonzero(scores >= least), strict=True):
                one, other = sorted((kept[part[row]].id, kept[column].id))
                if one != other:
                    pairs[one, other] = round(float(scores[row, column]), 4)
    return Compared(now, tuple((one, other, score) for (one, other), score in sorted(pairs.items())))
