"""Notices while `nightwiki up` runs that the computer's clock was set.

Prefect plans the next few runs beforehand, by the clock, and its services set their alarms by it. After a clock that
ran ahead for a while is right again (a flat battery, a virtual machine moved), both wait for that time: no night would
come until then. What is done about it is `jumped`'s business.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from flows.service.watching import Watching

LOOK_SECONDS = 10.0

JUMP_SECONDS = 120.0
"""Smaller corrections harm nothing."""

Jumped = Callable[[float], bool]
"""Deals with a clock that was set by so many seconds; False when it cannot be done now and is to be tried again."""


def steady() -> float:
    """Seconds of a clock that nobody sets, and that goes on while the computer sleeps where the system has one."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


class ClockWatch(Watching):
    """Calls `jumped` when the clock was set; tried again at the next look when that fails."""

    def __init__(
        self,
        jumped: Jumped,
        say: Callable[[str], None],
        pause: float = LOOK_SECONDS,
        clock: Callable[[], float] = time.time,
        even: Callable[[], float] = steady,
    ) -> None:
        super().__init__("watch-clock", pause)
        self._jumped, self._say = jumped, say
        self._clock, self._even = clock, even
        self._offset = clock() - even()
        self._said: set[str] = set()  # of this jump

    def look(self) -> None:
        """Look once."""
        offset = self._clock() - self._even()
        moved = offset - self._offset
        if abs(moved) >= JUMP_SECONDS:
            way = "forward" if moved > 0 else "back"
            self._tell(f"The computer's clock was set {way}; the next runs are planned anew.")
            if not self._jumped(moved):
                return
            self._said.clear()
        self._offset = offset  # also after small steps: a clock that is steered creeps, and that is no jump

    def _watch(self) -> None:
        while self._paused():
            try:
                self.look()
            except Exception as error:  # a server that is busy now
                self._tell(f"The next runs could not be planned anew; it is tried again: {error}")

    def _tell(self, line: str) -> None:
        """Say it, once for each jump."""
        if line not in self._said:
            self._said.add(line)
            self._say(line)
