"""An inverted index as plain arrays: which documents hold a term, and how often.

It is made from term counts per document. `updated` makes the next one from the last by taking the postings
of gone documents out and putting those of new ones in, so a night re-reads only what changed; the result is
equal, array for array, to one made from everything.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

_END = "\0"


@dataclass(frozen=True, slots=True)
class TermCounts:
    """How often each term stands in one document, and the number of its terms, repeats counted.

    The distinct terms stand end to end, and so do their counts: before they become postings, those of all documents are
    held beside each other, and mappings would take several times the memory.
    """

    joined: str  # terms, with `_END` between them
    counts: bytes  # 32-bit integers, in the order of the terms
    length: int

    def terms(self) -> list[str]:
        """The distinct terms, in the order of their counts."""
        return self.joined.split(_END) if self.counts else []


def count(terms: Iterable[str]) -> TermCounts:
    """The counts of one document's terms."""
    counts = Counter(terms)
    joined = _END.join(counts)
    if joined.count(_END) > len(counts) - 1 and counts:  # no word has that sign; a tag of a person's may
        return count(term.replace(_END, "") for term in counts.elements())
    return TermCounts(joined, array("i", counts.values()).tobytes(), counts.total())


@dataclass(frozen=True, slots=True)
class Terms(Sequence[bytes]):
    """The sorted terms in UTF-8, end to end in one array, cut at `bounds` (one more than there are terms)."""

    text: NDArray[np.uint8]
    bounds: NDArray[np.int64]
    _text: memoryview = field(init=False, repr=False, compare=False)
    _bounds: memoryview = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # a search meets twenty terms for each one it looks for; plain memory is met faster than an array
        object.__setattr__(self, "_text", self.text.data)
        object.__setattr__(self, "_bounds", self.bounds.data)

    @classmethod
    def of(cls, terms: Sequence[bytes]) -> Terms:
        """From terms that are sorted and distinct."""
        bounds = np.zeros(len(terms) + 1, np.int64)
        np.cumsum([len(term) for term in terms], out=bounds[1:])
        return cls(np.frombuffer(b"".join(terms), np.uint8), bounds)

    def __len__(self) -> int:
        return len(self._bounds) - 1

    def __getitem__(self, position: int) -> bytes:  # type: ignore[override]  # never sliced
        return bytes(self._text[self._bounds[position] : self._bounds[position + 1]])

    def all(self) -> list[bytes]:
        """Every term, quickly."""
        text, bounds = self.text.tobytes(), self.bounds.tolist()
        return [text[start:end] for start, end in pairwise(bounds)]

    def find(self, term: str) -> int:
        """The term's position, or -1."""
        wanted = term.encode("utf-8", "surrogatepass")
        position = bisect_left(self, wanted)
        return position if position < len(self) and self[position] == wanted else -1

    def between(self, first: bytes, end: bytes) -> tuple[int, int]:
        """Positions of the terms in [first, end)."""
        start = bisect_left(self, first)
        return start, max(start, bisect_left(self, end))


class _Numbered(dict[str, int]):
    """The number of each term; one that is asked for the first time gets the next. Encodes each term only once."""

    def __init__(self, numbers: dict[bytes, int]) -> None:
        super().__init__()
        self._numbers = numbers

    def __missing__(self, term: str) -> int:
        self[term] = number = self._numbers.setdefault(term.encode("utf-8", "surrogatepass"), len(self._numbers))
        return number


@dataclass(frozen=True, slots=True)
class Postings:
    """Those of term t are `docs[bounds[t]:bounds[t + 1]]`, ascending, with `counts`; `lengths` is by document."""

    terms: Terms
    bounds: NDArray[np.int64]
    docs: NDArray[np.int32]
    counts: NDArray[np.int32]
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, documents: Sequence[TermCounts]) -> Postings:
        """Of documents in the order of their numbers."""
        empty = np.zeros(0, np.int32)
        nothing = cls(Terms.of(()), np.zeros(1, np.int64), empty, empty, np.zeros(0, np.int64))
        return nothing.updated(np.zeros(0, np.int64), dict(enumerate(documents)), len(documents))

    def updated(self, moves: NDArray[np.int64], new: dict[int, TermCounts], size: int) -> Postings:
        """The next index: old number d becomes `moves[d]` (-1: gone; order is kept), `new` fills up to `size`."""
        lengths = np.zeros(size, np.int64)
        stay = moves >= 0
        lengths[moves[stay]] = self.lengths[stay]
        for number, document in new.items():
            lengths[number] = document.length

        kept = stay[self.docs]
        old_terms = np.repeat(np.arange(len(self.terms), dtype=np.int64), np.diff(self.bounds))[kept]
        old_docs = moves[self.docs[kept]].astype(np.int32)
        old_counts = self.counts[kept]

        words = self.terms.all()
        numbers = {word: position for position, word in enumerate(words)}
        known = _Numbered(numbers)
        added_terms: list[int] = []
        order_of_new = sorted(new)
        for number in order_of_new:
            added_terms.extend(map(known.__getitem__, new[number].terms()))
        added_counts = np.frombuffer(b"".join(new[number].counts for number in order_of_new), np.int32)
        spans = [len(new[number].counts) // added_counts.itemsize for number in order_of_new]
        added_docs = np.repeat(np.array(order_of_new, np.int64), np.array(spans, np.int64))
        spread = np.zeros(len(numbers), np.int64)
        spread[: len(words)] = np.bincount(old_terms, minlength=len(words)) if len(words) else 0
        new_terms = np.array(added_terms, np.int64)
        spread += np.bincount(new_terms, minlength=len(numbers)) if len(new_terms) else 0

        alive = sorted((word, position) for word, position in numbers.items() if spread[position])
        rank = np.full(len(numbers), -1, np.int64)
        rank[[position for _, position in alive]] = np.arange(len(alive))
        bounds = np.zeros(len(alive) + 1, np.int64)
        np.cumsum(spread[[position for _, position in alive]], out=bounds[1:])

        # both parts are ordered by (term, document) after this; merging them is one search and one insertion
        old_keys = rank[old_terms] * size + old_docs
        new_keys = rank[new_terms] * size + added_docs
        order = np.argsort(new_keys, kind="stable")
        places = np.searchsorted(old_keys, new_keys[order])
        return Postings(
            Terms.of([word for word, _ in alive]),
            bounds,
            np.insert(old_docs, places, added_docs[order].astype(np.int32)),
            np.insert(old_counts, places, added_counts[order]),
            lengths,
        )

    def of_term(self, term: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The documents that hold a term, ascending, and how often each does; empty arrays for an unknown term."""
        position = self.terms.find(term)
        if position < 0:
            return self.docs[:0], self.counts[:0]
        start, end = self.bounds[position], self.bounds[position + 1]
        return self.docs[start:end], self.counts[start:end]
