"""What calls may cost: caps for a run and for a day, checked before each call.

A call is booked with what it may cost at most, and booked anew with what it did cost once it is over. So calls that
run at the same time cannot pass a cap together, and one that a crash cut off counts in full.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from config.settings import Budget
from tasks.llm.ask import Kind, ModelError


@dataclass(frozen=True, slots=True)
class Usage:
    """Of one call or of many."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    money: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.money + other.money,
        )

    @property
    def tokens(self) -> int:
        """Both kinds."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Book:
    """What counts against the caps now: usage and minutes of the run and of the day."""

    run: Usage = Usage()
    day: Usage = Usage()
    run_minutes: float = 0.0
    day_minutes: float = 0.0


@dataclass(frozen=True, slots=True)
class Ticket:
    """A booked call."""

    id: str
    booked: Usage


class Purse(Protocol):
    """Books calls. `storage.spending` keeps a day's bookings on disk; `OpenPurse` counts and allows everything."""

    def book(self, role: str, model: str, most: Usage) -> Ticket:
        """Book a call with what it may cost at most. Raises ModelError of kind `budget` when a cap forbids it."""
        ...

    def settle(self, ticket: Ticket, used: Usage) -> None:
        """Replace what was booked by what was used."""
        ...


@dataclass(slots=True)
class OpenPurse:
    """Counts in memory and forbids nothing."""

    used: Usage = Usage()
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def book(self, role: str, model: str, most: Usage) -> Ticket:
        """A ticket; never refused."""
        return Ticket("", most)

    def settle(self, ticket: Ticket, used: Usage) -> None:
        """Count what was used."""
        with self._lock:
            self.used += used


def refusal(caps: Budget, book: Book, most: Usage) -> str:
    """Why a call that may cost `most` is not made, or '' when it may be. A call that is free meets no cap on money."""
    after_run, after_day = book.run + most, book.day + most
    tests: Iterable[tuple[float, float, str, str]] = (
        (caps.run_tokens, after_run.tokens, "run_tokens", "tokens"),
        (caps.day_tokens, after_day.tokens, "day_tokens", "tokens"),
        (caps.run_money if most.money else 0, after_run.money, "run_money", "dollars"),
        (caps.day_money if most.money else 0, after_day.money, "day_money", "dollars"),
        (caps.run_minutes, book.run_minutes, "run_minutes", "minutes"),
        (caps.day_minutes, book.day_minutes, "day_minutes", "minutes"),
    )
    for cap, reached, key, unit in tests:
        if cap and reached > cap:
            span = "run" if key.startswith("run") else "day"
            return f"the {span}'s cap of {cap:,g} {unit} (budget.{key}) allows no further call"
    return ""


def forbidden(reason: str) -> ModelError:
    """The error of a call that a cap forbids."""
    return ModelError(Kind.BUDGET, reason, "model", "It is asked again in a later run; raise the cap if you want more.")
