"""The branches of an opened index: which pages each holds, and their embeddings in one piece.

A question that is put to two branches reads only their embeddings. These lie scattered over the matrix of all pages,
so each branch's are brought together when it is first asked, and kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from storage.search.index_files import SearchIndex, VectorSet
from tasks.search.fusion import Ranking
from tasks.search.scope import LOOKED_AT, BranchEvidence

NO_BRANCH = -1
SAMPLE = 2_000
"""Pages, spread over the wiki, whose likeness stands for all: the mean and deviation of a narrowed search."""


class Narrowing:
    """The branches of one index. Safe for threads: what two of them make at once is the same."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index
        self._names: tuple[str, ...] = ()
        self._of_page: NDArray[np.int32] | None = None
        self._parts: dict[tuple[str, int], VectorSet] = {}
        self._samples: dict[str, NDArray[np.float32]] = {}

    @property
    def of_page(self) -> NDArray[np.int32]:
        """The number of each page's branch; NO_BRANCH for one that is in none, and so always in scope."""
        if self._of_page is None:
            facets = self._index.facets
            start, end = facets.terms.between(b"branch:", b"branch;")
            numbers = np.full(len(self._index.page_ids), NO_BRANCH, np.int32)
            names: list[str] = []
            for term in range(start, end):
                name = facets.terms[term].decode("utf-8", "surrogatepass")[len("branch:") :]
                if name:
                    numbers[facets.docs[facets.bounds[term] : facets.bounds[term + 1]]] = len(names)
                    names.append(name)
            self._names = tuple(names)
            self._of_page = numbers
        return self._of_page

    @property
    def names(self) -> tuple[str, ...]:
        """The branches that hold pages, by name."""
        _ = self.of_page
        return self._names

    def evidence(self, keyword: Ranking, coverage: NDArray[np.float64]) -> list[BranchEvidence]:
        """What the best keyword pages say for each branch."""
        of_page, sizes = self.of_page, np.bincount(self.of_page + 1, minlength=len(self.names) + 1)
        mass = [0.0] * len(self.names)
        for doc, score in zip(keyword.docs[:LOOKED_AT], keyword.scores[:LOOKED_AT], strict=True):
            if of_page[doc] != NO_BRANCH:
                mass[of_page[doc]] += score * float(coverage[doc])
        return [
            BranchEvidence(name, int(sizes[number + 1]), mass[number]) for number, name in enumerate(self.names)
        ]

    def mask(self, chosen: Sequence[str]) -> NDArray[np.bool_]:
        """Pages of these branches and those of none; every page when no branch is chosen."""
        if not chosen:
            return np.ones(len(self.of_page), np.bool_)
        inside = np.zeros(len(self.names) + 1, np.bool_)
        inside[[NO_BRANCH, *(self.names.index(name) for name in chosen)]] = True
        return inside[self.of_page]

    def vectors(self, whole: VectorSet, chosen: Sequence[str]) -> list[VectorSet]:
        """The embeddings of these branches and of the pages in none, each in one piece."""
        numbers = [*sorted(self.names.index(name) for name in chosen), NO_BRANCH]
        return [part for number in numbers if len((part := self._part(whole, number)).docs)]

    def sample(self, whole: VectorSet) -> NDArray[np.float32]:
        """Embeddings of pages spread evenly over the wiki."""
        if whole.model not in self._samples:
            step = max(1, len(whole.docs) // SAMPLE)
            self._samples[whole.model] = np.ascontiguousarray(whole.matrix[::step])
        return self._samples[whole.model]

    def _part(self, whole: VectorSet, number: int) -> VectorSet:
        key = (whole.model, number)
        if key not in self._parts:
            rows = np.flatnonzero(self.of_page[whole.docs] == number)
            self._parts[key] = VectorSet(whole.model, whole.matrix[rows], whole.docs[rows])
        return self._parts[key]
