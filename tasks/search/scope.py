"""Which branches of ROUTING.md a question is put to, when that is clear; else to the whole wiki.

A person's branches group pages by subject, and most questions belong to one or two of them. The choice is made from
the keyword ranking, which is there before the question is embedded: the branches of its best pages. Nearness to the
middle of a branch by meaning was tried and finds the right two branches of eleven for less than three quarters of
the questions, so it has no vote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

MOST_BRANCHES = 2
LOOKED_AT = 10
"""Keyword pages whose branches are looked at."""
COVERED = 0.5
"""Share of the question's idf mass that the best page must hold, before its branch says anything."""
CLEAR = 0.85
"""Share of the evidence that the chosen branches must have together."""


@dataclass(frozen=True, slots=True)
class BranchEvidence:
    """A branch, how many pages it has, and what the best keyword pages in it say: coverage times BM25, added up."""

    name: str
    pages: int
    mass: float


class BranchChooser(Protocol):
    """Chooses branches; a language model may take the place of `ByKeywords`."""

    def choose(self, question: str, covered: float, branches: Sequence[BranchEvidence]) -> tuple[str, ...]:
        """One or two names, or none for the whole wiki. `covered` is what the best page holds of the question."""


@dataclass(frozen=True, slots=True)
class ByKeywords:
    """The branches of the best keyword pages, when these cover the question and hardly lie elsewhere."""

    def choose(self, question: str, covered: float, branches: Sequence[BranchEvidence]) -> tuple[str, ...]:
        """As `BranchChooser`; ties by name."""
        total = sum(one.mass for one in branches)
        if covered < COVERED or total <= 0:
            return ()
        best = sorted((one for one in branches if one.mass > 0), key=lambda one: (-one.mass, one.name))[:MOST_BRANCHES]
        return tuple(one.name for one in best) if sum(one.mass for one in best) >= CLEAR * total else ()
