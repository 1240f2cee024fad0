"""How long a night may take: asked between two pieces of work, so that it stops where nothing is half done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tasks.llm.ask import Asker, Kind, M, ModelError, Prompt, Spent, fine

SPENT = "the night's time was used up (night.max_minutes)"
LATER = "The next run takes it up"


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """A moment on a clock that only goes forward; None means that there is no limit."""

    end: float | None = None
    clock: Callable[[], float] = time.monotonic

    def is_over(self) -> bool:
        """Whether the time is used up."""
        return self.end is not None and self.clock() >= self.end


NO_LIMIT = TimeLimit()


@dataclass(frozen=True, slots=True)
class TimedAsker:
    """A model that is asked nothing more once the time is used up; what it was asked before is waited for."""

    inner: Asker
    limit: TimeLimit

    @property
    def spent(self) -> Spent:
        return self.inner.spent

    def ask(self, prompt: Prompt, schema: type[M], accept: Callable[[M], str] = fine) -> M:
        """The model's reply. Raises ModelError, of the kind that ends a run's questions when the time is used up."""
        self._check()
        return self.inner.ask(prompt, schema, accept)

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """The model's words. Raises ModelError as `ask` does."""
        self._check()
        return self.inner.stream(prompt)

    def _check(self) -> None:
        if self.limit.is_over():
            raise ModelError(Kind.BUDGET, SPENT, next_step=LATER)


def begin(minutes: float) -> TimeLimit:
    """A limit that begins now; 0 minutes means none."""
    return TimeLimit(time.monotonic() + minutes * 60 if minutes else None)
