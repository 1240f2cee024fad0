"""What models have cost, a file a day, so that a day's cap holds over several runs, and over a crash.

A call is a line when it is booked and a line when it is over. One that was cut off has only the first and counts as
booked. Runs of different processes read each other's lines before they book.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from filelock import FileLock, Timeout

from config.errors import BusyError
from config.settings import Budget
from storage.durable import append_line
from tasks.clock import Clock, SystemClock
from tasks.llm.budget import Book, Ticket, Usage, forbidden, refusal

_KEPT_DAYS = 60
_PATIENCE = 20.0  # seconds


@dataclass(slots=True)
class _Span:
    """When a run first and last asked."""

    first: float
    last: float

    def stretch(self, at: float) -> None:
        """Take a moment in."""
        self.first, self.last = min(self.first, at), max(self.last, at)

    @property
    def minutes(self) -> float:
        return (self.last - self.first) / 60


class Spending:
    """A run's purse. Implements `tasks.llm.budget.Purse`. Thread-safe."""

    def __init__(self, state_dir: Path, run: str, caps: Budget, time_zone: str = "UTC", clock: Clock | None = None
                 ) -> None:
        self._folder = state_dir / "spending"
        self._run, self._caps = run, caps
        self._zone: tzinfo = ZoneInfo(time_zone)
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._day = _Day(Path())
        self._earlier = Usage()   # of this run, on days before
        self._began: float | None = None

    def book(self, role: str, model: str, most: Usage) -> Ticket:
        """Book a call with what it may cost at most. Raises ModelError of kind `budget` when a cap forbids it."""
        with self._lock, self._file_lock():
            now = self._clock.now()
            self._read(now)
            if reason := refusal(self._caps, self._book(now), most):
                raise forbidden(reason)
            ticket = Ticket(f"{self._day.path.stem}/{secrets.token_hex(6)}", most)
            facts = {"call": ticket.id, "run": self._run, "role": role, "model": model, "booked": now}
            append_line(self._day.path, json.dumps({**facts, **_dump(most)}))
        return ticket

    def settle(self, ticket: Ticket, used: Usage) -> None:
        """Replace what was booked by what was used."""
        with self._lock, self._file_lock():
            now = self._clock.now()
            self._read(now)
            day = self._folder / f"{ticket.id.partition('/')[0]}.jsonl"  # the day on which it was booked
            if day != self._day.path:
                self._earlier += _difference(used, ticket.booked)
            line = json.dumps({"call": ticket.id, "run": self._run, "over": now, **_dump(used)})
            append_line(day, line, sync=False)  # lost in a crash, the call counts as it was booked

    def today(self) -> Book:
        """What counts now."""
        with self._lock:
            now = self._clock.now()
            self._read(now)
            return self._book(now)

    def _book(self, now: float) -> Book:
        day = self._day
        began = self._began if self._began is not None else now
        # What goes on now counts as well, or a run that waits for one long reply would never reach its minutes.
        minutes = {run: span.minutes for run, span in day.spans.items()}
        if self._run in day.spans:
            minutes[self._run] = (now - day.spans[self._run].first) / 60
        return Book(self._earlier + day.of(self._run), day.all(), (now - began) / 60, sum(minutes.values()))

    def _read(self, now: float) -> None:
        """Bring the day's book up to date; begin a new one after midnight."""
        self._began = now if self._began is None else self._began
        path = self._folder / f"{datetime.fromtimestamp(now, self._zone):%Y-%m-%d}.jsonl"
        if path != self._day.path:
            self._day.read()
            self._earlier += self._day.of(self._run)
            self._day = _Day(path)
            self._sweep()
        self._day.read()

    def _sweep(self) -> None:
        for old in sorted(self._folder.glob("*.jsonl"))[:-_KEPT_DAYS]:
            with contextlib.suppress(OSError):
                old.unlink()

    @contextlib.contextmanager
    def _file_lock(self) -> Iterator[None]:
        self._folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(str(self._folder / "lock"))
        try:
            lock.acquire(timeout=_PATIENCE, poll_interval=0.01)
        except Timeout:
            raise BusyError(str(self._folder), "another process keeps the book of calls locked", "Try again.") from None
        try:
            yield
        finally:
            lock.release()


class _Day:
    """One day's file, read as far as it was written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.spans: dict[str, _Span] = {}
        self._calls: dict[str, tuple[str, Usage]] = {}
        self._runs: dict[str, Usage] = {}
        self._offset = 0

    def of(self, run: str) -> Usage:
        """What a run has used or booked."""
        return self._runs.get(run, Usage())

    def all(self) -> Usage:
        """What all runs have used or booked."""
        total = Usage()
        for used in self._runs.values():
            total += used
        return total

    def read(self) -> None:
        """Take in the lines that are new."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._offset)
                content = file.read()
        except (FileNotFoundError, IsADirectoryError):
            return
        whole = content.rfind(b"\n") + 1  # a line that is being written, or was torn, is read when it is closed
        self._offset += whole
        for line in content[:whole].split(b"\n"):
            with contextlib.suppress(ValueError, KeyError, TypeError):
                self._take(json.loads(line))

    def _take(self, event: dict[str, Any]) -> None:
        call, run = str(event["call"]), str(event["run"])
        at = float(event["booked"] if "booked" in event else event["over"])
        used = Usage(int(event["calls"]), int(event["input"]), int(event["output"]), float(event["money"]))
        before = self._calls.get(call, (run, Usage()))[1]
        self._calls[call] = (run, used)
        self._runs[run] = self._runs.get(run, Usage()) + _difference(used, before)
        self.spans.setdefault(run, _Span(at, at)).stretch(at)


def _dump(used: Usage) -> dict[str, object]:
    return {"calls": used.calls, "input": used.input_tokens, "output": used.output_tokens,
            "money": round(used.money, 9)}


def _difference(new: Usage, old: Usage) -> Usage:
    return Usage(new.calls - old.calls, new.input_tokens - old.input_tokens, new.output_tokens - old.output_tokens,
                 new.money - old.money)
