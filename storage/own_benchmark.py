"""Which configuration finds a person's own pages best: the engine asked questions whose answers are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from storage.search.engine import Engine
from tasks.search.fusion import Configuration
from tasks.search.own_questions import OwnQuestion

TOP = 5
COMPARED: tuple[Configuration, ...] = ("bm25", "vector", "rrf", "seed", "fused")


@dataclass(frozen=True, slots=True)
class Found:
    """Of one configuration and kind of question: how many pages came among the first five."""

    configuration: Configuration
    kind: str
    questions: int
    found: int

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self.found / self.questions if self.questions else 0.0


@dataclass(frozen=True, slots=True)
class OwnReport:
    """The comparison, and what it says."""

    found: tuple[Found, ...]
    degraded: tuple[str, ...]

    def share(self, configuration: str) -> float:
        """Over all kinds, each weighing by its questions."""
        rows = [one for one in self.found if one.configuration == configuration]
        questions = sum(one.questions for one in rows)
        return sum(one.found for one in rows) / questions if questions else 0.0

    def paragraph(self) -> str:
        """One paragraph for the person: which is best for this wiki, and by how much."""
        names = list(dict.fromkeys(one.configuration for one in self.found))
        questions = sum(one.questions for one in self.found if one.configuration == names[0]) if names else 0
        if not questions:
            return "No questions could be drawn from these pages: they have too few telling words."
        ranked = sorted(names, key=lambda name: (-self.share(name), names.index(name)))
        best = [name for name in ranked if self.share(name) == self.share(ranked[0])]
        # among equals the default stays
        winner = "fused" if "fused" in best else best[0]
        others = [name for name in ranked if name != winner]
        told = ", ".join(f"{name} {self.share(name):.1%}" for name in others)
        text = (
            f"Of {questions} questions drawn from your own pages, {winner} found {self.share(winner):.1%} of the pages"
            f" among the first {TOP} ({told})."
        )
        gap = self.share(winner) - max((self.share(name) for name in others), default=0.0)
        verdict = (
            f"It is the best for this wiki, by {gap:.1%}." if gap > 0 else "No other is better for this wiki."
        )
        weak = min(
            (one for one in self.found if one.configuration == winner),
            key=lambda one: one.share,
            default=None,
        )
        where = (
            f" Its weakest kind are {weak.kind} questions, at {weak.share:.1%}."
            if weak and weak.share < 1
            else ""
        )
        return " ".join([text, verdict + where, *self.degraded])


def _untold(name: str, done: int, total: int) -> None:
    """Nobody listens."""


def compare(
    engine: Engine,
    questions: Sequence[OwnQuestion],
    configurations: Sequence[Configuration] = COMPARED,
    tell: Callable[[str, int, int], None] = _untold,
) -> OwnReport:
    """Asks every question under every configuration; `tell` hears how far it is."""
    kinds = sorted({question.kind for question in questions})
    counts = {(configuration, kind): 0 for configuration in configurations for kind in kinds}
    degraded: dict[str, None] = {}
    total = len(configurations) * len(questions)
    for turn, configuration in enumerate(configurations):
        for number, question in enumerate(questions, start=1):
            tell("ask", turn * len(questions) + number, total)
            result = engine.search(question.text, TOP, configuration=configuration)
            degraded.update(dict.fromkeys(f"{one.what}: {one.reason}." for one in result.degraded))
            counts[configuration, question.kind] += any(hit.id == question.page_id for hit in result.hits)
    sizes = {kind: sum(question.kind == kind for question in questions) for kind in kinds}
    found = tuple(
        Found(configuration, kind, sizes[kind], counts[configuration, kind])
        for configuration in configurations
        for kind in kinds
    )
    return OwnReport(found, tuple(degraded))
