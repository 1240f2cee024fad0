"""Groups of pages that mean alike, by their embeddings, and a name for each out of the words that its pages share.

Spherical k-means from fixed seeds, so the same pages give the same groups. A group is kept only when its pages are
clearly nearer to each other than pages of the wiki are by chance.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tasks.markdown import sentences

NEAR = 0.45
"""Cosine with a group's middle from which a page belongs to it; the wiki's own middle is taken off before."""

SMALLEST = 3
"""Pages that make a group."""

_MOSTLY = 0.6  # share of a group's pages that have the word which names it
_ROUNDS = 6   # of k-means; the groups hardly change any more
_MOST = 64   # groups that are looked for at once
_SAMPLE = 2048  # pages whose groups are looked for; all pages then join the nearest
_BEGINNINGS = 512  # pages from which the groups begin

Matrix = NDArray[np.float32]


class Space:
    """The embeddings of all pages by name (float32, little-endian), made ready for looking for groups among them."""

    def __init__(self, vectors: Mapping[str, bytes]) -> None:
        whole = len({len(vector) for vector in vectors.values()}) == 1
        self._place = {name: place for place, name in enumerate(vectors)} if whole else {}
        if whole:
            rows = np.frombuffer(b"".join(vectors.values()), dtype="<f4").reshape(len(vectors), -1)
            self._matrix: Matrix = _unit(rows - rows.mean(axis=0))

    def groups(self, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """The groups among `names`, largest first; none when embeddings are of several lengths."""
        known = sorted(name for name in names if name in self._place)
        if len(known) < SMALLEST:
            return ()
        return _groups(known, self._matrix[[self._place[name] for name in known]])


def _groups(rows: Sequence[str], matrix: Matrix) -> tuple[tuple[str, ...], ...]:
    sample = matrix[:: -(-len(rows) // _SAMPLE)]
    middles = _settled(sample, min(_MOST, max(1, len(rows) // 6)))
    scores = matrix @ middles.T
    nearest = scores.argmax(axis=1)
    found = []
    for number in range(len(middles)):
        here = np.flatnonzero((nearest == number) & (scores[:, number] >= NEAR)).tolist()
        if len(here) >= SMALLEST:
            found.append(tuple(rows[place] for place in here))
    return tuple(sorted(found, key=lambda group: (-len(group), group)))


def name_of(texts: Sequence[str], spread: Counter[str], size: int, taken: Collection[str]) -> str:
    """The word that most of a group's texts have and few others, as a heading; '' when no word is in most of them.

    `spread` counts the texts that have a word, of `size` texts in all; names in `taken` are other categories'.
    """
    counts = Counter(word for text in texts for word in set(sentences.words(text)))
    used = {name.casefold() for name in taken}
    best, most = "", 0.0
    for word in sorted(counts):
        share = counts[word] / len(texts)
        if share < _MOSTLY or len(word) < 3 or word[0].isdigit() or word.casefold() in used:
            continue
        score = share * math.log(1 + size / spread[word])
        if score > most:
            best, most = word, score
    return best[:1].upper() + best[1:]


def _unit(matrix: Matrix) -> Matrix:
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    unit: Matrix = (matrix / np.maximum(lengths, 1e-9)).astype(np.float32)
    return unit


def _settled(matrix: Matrix, number: int) -> Matrix:
    """The middles of `number` groups, begun from rows far apart."""
    few = matrix[:: -(-len(matrix) // _BEGINNINGS)]
    likeness = few @ few.T
    first = [0]
    nearest = likeness[0]
    while len(first) < number:
        first.append(int(nearest.argmin()))
        nearest = np.maximum(nearest, likeness[first[-1]])
    middles = few[first]
    before = None
    for _ in range(_ROUNDS):
        owner = (matrix @ middles.T).argmax(axis=1)
        if before is not None and np.array_equal(owner, before):
            break
        before = owner
        order = np.argsort(owner, kind="stable")
        owned, first_of = np.unique(owner[order], return_index=True)
        middles = middles.copy()
        middles[owned] = np.add.reduceat(matrix[order], first_of, axis=0)
        middles = _unit(middles)
    return middles
