"""Which group of texts a text belongs to, by the words they share: for branches and index categories, with no model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from tasks.search.tokens import terms

FLOOR = 0.05
"""Cosine below which two texts are said to have nothing in common."""


class Groups:
    """Texts by group, prepared so that many texts can be compared with them."""

    def __init__(self, groups: Mapping[str, str]) -> None:
        counts = {name: Counter(terms(words)) for name, words in groups.items()}
        self._size = len(groups)
        self._spread = Counter(term for words in counts.values() for term in words)
        self._weights = {name: self._weigh(words) for name, words in counts.items()}
        self._norms = {name: sum(w * w for w in weights.values()) for name, weights in self._weights.items()}

    def most_similar(self, text: str) -> str:
        """Return the group most like `text` by tf-idf cosine over the groups, or '' below `FLOOR`; ties by name."""
        wanted = self._weigh(Counter(terms(text)))
        length = sum(w * w for w in wanted.values())
        scored = []
        for name, weights in self._weights.items():
            norm = math.sqrt(length * self._norms[name])
            score = sum(w * weights[t] for t, w in wanted.items() if t in weights) / norm if norm else 0.0
            scored.append((-score, name))
        best = min(scored, default=(0.0, ""))
        return best[1] if -best[0] >= FLOOR else ""

    def _weigh(self, counts: Counter[str]) -> dict[str, float]:
        spread, size = self._spread, self._size
        return {t: (1 + math.log(n)) * math.log(1 + size / spread[t]) for t, n in counts.items() if t in spread}


def most_similar(text: str, groups: Mapping[str, str]) -> str:
    """Return the group most like `text`, or '' when none is; for a single question."""
    return Groups(groups).most_similar(text)
