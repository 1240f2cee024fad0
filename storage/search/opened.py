"""A snapshot opened for search, and one question put to it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from storage.search.index_files import SearchIndex
from storage.search.narrowing import Narrowing
from tasks.search.bm25 import Scorer
from tasks.search.filters import Filters, allowed
from tasks.search.fusion import Configuration
from tasks.search.result import Degraded
from tasks.search.scope import BranchChooser

Layer = Literal["pages", "chunks", "both"]


class Snapshot(Protocol):
    """What search needs of a snapshot."""

    @property
    def id(self) -> str: ...

    @property
    def index_dir(self) -> Path: ...


@dataclass(frozen=True, slots=True)
class Opened:
    """A snapshot's index, with what is derived from it once."""

    snapshot: Snapshot
    index: SearchIndex
    pages: Scorer
    chunks: Scorer
    default_mask: NDArray[np.bool_] | None
    narrowing: Narrowing
    degraded: tuple[Degraded, ...] = ()

    @classmethod
    def of(cls, snapshot: Snapshot, index: SearchIndex) -> Opened:
        """An index made ready for questions."""
        default = allowed(Filters(), index.facets)
        return cls(
            snapshot,
            index,
            Scorer(index.pages),
            Scorer(index.chunks),
            None if default.all() else default,
            Narrowing(index),
        )

    def mask(self, filters: Filters) -> NDArray[np.bool_] | None:
        """Which pages the filters let through; None for all."""
        return self.default_mask if filters == Filters() else allowed(filters, self.index.facets)

    def cited(self, filters: Filters) -> frozenset[str] | None:
        """Ids of the sources that the pages cite which the filters let through; None when nothing is filtered.

        Where sources alone are asked for, these too, whether a page cites them or not.
        """
        if filters == Filters():
            return None
        mask, facets = allowed(filters, self.index.facets), self.index.facets
        start, stop = facets.terms.between(b"source:", b"source;")
        named = filters.source if filters == Filters(source=filters.source) else ()
        return frozenset(named).union(
            facets.terms[term].decode("utf-8", "surrogatepass").removeprefix("source:")
            for term in range(start, stop)
            if mask[facets.docs[facets.bounds[term] : facets.bounds[term + 1]]].any()
        )


@dataclass(frozen=True, slots=True)
class Question:
    """One question as one wiki is asked it."""

    text: str
    k: int
    filters: Filters
    explain: bool
    layer: Layer
    configuration: Configuration
    passages_by_meaning: bool
    chooser: BranchChooser | None = None  # of the branches to put it to; None: the whole wiki
