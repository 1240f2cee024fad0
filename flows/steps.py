"""Who carries out the steps of a night: called directly here, or as Prefect tasks by `flows.deployed`.

The night is a plain function that is handed a step runner, so both ways do the same work in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

S = TypeVar("S")
T = TypeVar("T")

THREADS = 4
"""Batches of one step that are worked on at once; they wait for the network or for worker processes."""


class Progress(Protocol):
    """Told how far a step is."""

    def __call__(self, name: str, done: int, total: int) -> None: ...


class StepRunner(Protocol):
    """Carries out one step, or one step for each batch."""

    def run(self, name: str, function: Callable[..., T], *args: Any) -> T:
        """What the function returns; its errors pass through."""

    def map(self, name: str, function: Callable[[S], T], items: Sequence[S]) -> list[T]:
        """What the function returns for each item, in the items' order. Items may be worked on in threads."""

    def progress(self, name: str, done: int, total: int) -> None:
        """Reports how far a step is; never fails."""


def silent(name: str, done: int, total: int) -> None:
    """A progress listener that does nothing."""


class DirectRunner:
    """Calls each step at once, in this process."""

    def __init__(self, listener: Progress = silent, threads: int = THREADS) -> None:
        self._listener = listener
        self._threads = threads

    def run(self, name: str, function: Callable[..., T], *args: Any) -> T:
        return function(*args)

    def map(self, name: str, function: Callable[[S], T], items: Sequence[S]) -> list[T]:
        if len(items) < 2:
            return [function(item) for item in items]
        with ThreadPoolExecutor(min(self._threads, len(items)), thread_name_prefix=name) as pool:
            futures = [pool.submit(function, item) for item in items]
            try:
                for done, future in enumerate(as_completed(futures), start=1):
                    future.result()
                    self.progress(name, done, len(items))
            except BaseException:
                for future in futures:
                    future.cancel()
                raise
            return [future.result() for future in futures]

    def progress(self, name: str, done: int, total: int) -> None:
        self._listener(name, done, total)


def utc_now() -> str:
    """The time as records write it: ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
