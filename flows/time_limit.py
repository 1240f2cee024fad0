"""How long a night may take: asked between two pieces of work, so that it stops where nothing is half done."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

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


def begin(minutes: float) -> TimeLimit:
    """A limit that begins now; 0 minutes means none."""
    return TimeLimit(time.monotonic() + minutes * 60 if minutes else None)
