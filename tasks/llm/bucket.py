"""How often a model is asked: calls at once, calls a minute, tokens a minute, and pauses the provider asks for.

A token bucket in this process. Orchestrators have limits too, but each costs a round trip to their server.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tasks.clock import Clock, SystemClock

_BURST_SECONDS = 10  # of the rate that may be used at once after a silence
_LEAST_WAIT = 0.001  # seconds; a clock cannot tell shorter ones apart


class Bucket:
    """Turns for calls; thread-safe."""

    def __init__(self, concurrent: int, requests_per_minute: float = 0, tokens_per_minute: float = 0,
                 clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._slots = threading.Semaphore(concurrent)
        self._lock = threading.Lock()
        now = self._clock.now()
        self._requests = _Level(requests_per_minute, now, 1)
        self._tokens = _Level(tokens_per_minute, now, 0)
        self._paused_until = 0.0

    @contextmanager
    def turn(self, tokens: int) -> Iterator[None]:
        """Wait for a turn for a call of about so many tokens, and keep its place among the calls under way."""
        with self._slots:
            while (wait := self._take(tokens)) > 0:
                self._clock.sleep(max(wait, _LEAST_WAIT))
            yield

    def pause(self, seconds: float) -> None:
        """Begin no call for so long: the provider asked for it."""
        with self._lock:
            self._paused_until = max(self._paused_until, self._clock.now() + seconds)

    def _take(self, tokens: int) -> float:
        """Seconds to wait; 0 when the turn was taken."""
        with self._lock:
            now = self._clock.now()
            wait = max(self._paused_until - now, self._requests.wait(1, now), self._tokens.wait(tokens, now))
            if wait <= 0:
                self._requests.take(1)
                self._tokens.take(tokens)
            return wait


class _Level:
    """One bucket. An amount larger than the bucket is let through when it is full, and leaves a debt."""

    def __init__(self, per_minute: float, now: float, least: float) -> None:
        self._rate = per_minute / 60
        self._size = max(self._rate * _BURST_SECONDS, least)
        self._level, self._at = self._size, now

    def wait(self, amount: float, now: float) -> float:
        """Seconds until this amount may be taken."""
        if not self._rate:
            return 0.0
        self._level = min(self._size, self._level + max(0.0, now - self._at) * self._rate)
        self._at = now
        missing = min(amount, self._size) - self._level
        return missing / self._rate if missing > 1e-9 else 0.0

    def take(self, amount: float) -> None:
        """Take it out."""
        if self._rate:
            self._level -= amount
