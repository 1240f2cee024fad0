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
_ROUNDS = 12  # of k-means; it has settled long before
_MOST = 64    # groups that are looked for at once

Vectors = NDArray[np.float32]


def clusters(vectors: Mapping[str, bytes], names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The groups among `names`, largest first; `vectors` are those of all pages, float32, by name."""
    rows = sorted(name for name in names if name in vectors)
    if len(rows) < SMALLEST or len({len(vector) for vector in vectors.values()}) != 1:
        return ()
    everything = np.frombuffer(b"".join(vectors.values()), dtype="<f4").reshape(len(vectors), -1)
    matrix = np.frombuffer(b"".join(vectors[name] for name in rows), dtype="<f4").reshape(len(rows), -1)
    matrix = _unit(matrix - everything.mean(axis=0))
    middles = _settled(matrix, min(_MOST, max(1, len(rows) // 6)))
    scores = matrix @ middles.T
    nearest = scores.argmax(axis=1)
    found = []
    for number in range(len(middles)):
        here = [place for place in np.flatnonzero(nearest == number) if scores[place, number] >= NEAR]
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


def _unit(matrix: Vectors) -> Vectors:
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    unit: Vectors = (matrix / np.maximum(lengths, 1e-9)).astype(np.float32)
    return unit


def _settled(matrix: Vectors, number: int) -> Vectors:
    """The middles of `number` groups, begun from rows far apart."""
    first = [0]
    nearest = matrix @ matrix[0]
    while len(first) < number:
        first.append(int(nearest.argmin()))
        nearest = np.maximum(nearest, matrix @ matrix[first[-1]])
    middles = matrix[first]
    before = None
    for _ in range(_ROUNDS):
        owner = (matrix @ middles.T).argmax(axis=1)
        if before is not None and np.array_equal(owner, before):
            break
        before = owner
        sums = np.zeros_like(middles)
        np.add.at(sums, owner, matrix)
        empty = np.bincount(owner, minlength=number) == 0
        sums[empty] = middles[empty]
        middles = _unit(sums)
    return middles
