"""Rows of unequal length, end to end in one array: texts, blocks and words of each page without an object per
row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Ragged:
    """Row i is `values[bounds[i]:bounds[i + 1]]`."""

    values: NDArray[Any]
    bounds: NDArray[np.int64]

    @classmethod
    def of(cls, rows: Sequence[NDArray[Any]], dtype: Any) -> Ragged:
        """From rows of one type."""
        bounds = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(row) for row in rows], out=bounds[1:])
        return cls(np.concatenate(rows) if rows else np.zeros(0, dtype), bounds)

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def row(self, number: int) -> NDArray[Any]:
        """One row, as a view."""
        return self.values[self.bounds[number] : self.bounds[number + 1]]

    def text(self, number: int) -> str:
        """One row of bytes, read as UTF-8."""
        return self.row(number).tobytes().decode("utf-8", "surrogatepass")

    def updated(self, moves: NDArray[np.int64], new: Mapping[int, NDArray[Any]], size: int) -> Ragged:
        """The next rows: old row d becomes `moves[d]` (-1: gone; order is kept), `new` fills up to `size`."""
        origin = np.full(size, -1, np.int64)
        stay = np.flatnonzero(moves >= 0)
        origin[moves[stay]] = stay
        pieces: list[NDArray[Any]] = []
        lengths = np.zeros(size, np.int64)
        lengths[moves[stay]] = np.diff(self.bounds)[stay]
        # Where a run of old rows that stay together ends; a new row is a run of its own, also right before old row 0.
        apart = (np.diff(origin) != 1) | (origin[1:] < 0) | (origin[:-1] < 0)
        edges = [0, *(np.flatnonzero(apart) + 1).tolist(), size] if size else []
        for start, end in pairwise(edges):
            if origin[start] < 0:
                lengths[start] = len(new[start])
                pieces.append(new[start])
            else:
                first = int(origin[start])
                pieces.append(self.values[self.bounds[first] : self.bounds[first + end - start]])
        bounds = np.zeros(size + 1, np.int64)
        np.cumsum(lengths, out=bounds[1:])
        return Ragged(np.concatenate(pieces) if pieces else self.values[:0], bounds)
