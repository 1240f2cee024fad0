"""Which group of texts a text belongs to, by the words they share: for branches and index categories, with no model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from tasks.tokens import terms

FLOOR = 0.05
"""Cosine below which two texts are said to have nothing in common."""


def most_similar(text: str, groups: Mapping[str, str]) -> str:
    """Return the group most like `text` by tf-idf cosine over the groups, or '' below `FLOOR`; ties by name."""
    counts = {name: Counter(terms(words)) for name, words in groups.items()}
    spread = Counter(term for words in counts.values() for term in words)
    query = Counter(terms(text))
    scored = sorted((-_cosine(query, words, spread, len(groups)), name) for name, words in counts.items())
    return scored[0][1] if scored and -scored[0][0] >= FLOOR else ""


def _cosine(left: Counter[str], right: Counter[str], spread: Counter[str], groups: int) -> float:
    def weigh(counts: Counter[str]) -> dict[str, float]:
        return {t: (1 + math.log(n)) * math.log(1 + groups / spread[t]) for t, n in counts.items() if t in spread}

    a, b = weigh(left), weigh(right)
    norm = math.sqrt(sum(w * w for w in a.values()) * sum(w * w for w in b.values()))
    return sum(w * b[t] for t, w in a.items() if t in b) / norm if norm else 0.0
