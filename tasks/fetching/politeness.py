"""Manners towards hosts: a pause between two requests, and none in this run once a host asked us to stop."""

from __future__ import annotations

import threading

from config.errors import SourceError
from tasks.clock import Clock
from tasks.fetching.transport import FetchError
from tasks.records import Outcome

_IN_A_ROW = 3  # a server in trouble is not helped by being asked for its other pages


class Politeness:
    """What is known of every host in one run; safe for threads."""

    def __init__(self, pause: float, clock: Clock) -> None:
        self._pause = pause
        self._clock = clock
        self._free: dict[str, float] = {}
        self._stopped: dict[str, SourceError] = {}
        self._failures: dict[str, int] = {}
        self._lock = threading.Lock()

    def wait(self, host: str, at_least: float = 0.0) -> float:
        """Wait for this host's turn; returns the seconds waited."""
        with self._lock:
            now = self._clock.now()
            turn = max(now, self._free.get(host, 0.0))
            self._free[host] = turn + max(self._pause, at_least)
        self._clock.sleep(turn - now)
        return turn - now

    def hold(self, host: str, seconds: float) -> None:
        """No request to this host before so many seconds have passed."""
        with self._lock:
            self._free[host] = max(self._free.get(host, 0.0), self._clock.now() + seconds)

    def stop(self, host: str, error: SourceError) -> None:
        """No further request to this host in this run."""
        with self._lock:
            self._stopped.setdefault(host, error)

    def failed(self, host: str, error: SourceError) -> None:
        """An address of this host failed for a passing reason, all tries used; the third in a row stops the host."""
        with self._lock:
            self._failures[host] = self._failures.get(host, 0) + 1
            if self._failures[host] >= _IN_A_ROW:
                self._stopped.setdefault(host, error)

    def answered(self, host: str) -> None:
        """This host answered properly."""
        with self._lock:
            self._failures.pop(host, None)

    def check(self, host: str, url: str) -> None:
        """Raises FetchError, transient, for a host that was stopped."""
        error = self._stopped.get(host)
        if error is not None:
            outcome = error.outcome if error.outcome == Outcome.TIMED_OUT else Outcome.BLOCKED
            raise FetchError(
                url,
                outcome,
                f"{host} was left alone for this run: {error.cause}",
                "It is tried again in a later night.",
            )
