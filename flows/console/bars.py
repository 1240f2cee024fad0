"""Progress bars in Prefect's console, drawn beside the work: a call of the server keeps no step waiting.

A step that is over soon gets no bar: each costs the server more than such a step is worth.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
from functools import partial
from types import TracebackType
from typing import Any, Self, cast
from uuid import UUID

from prefect.artifacts import create_progress_artifact, update_progress_artifact

from flows.console.artifacts import artifact_key

_create = partial(cast("Any", create_progress_artifact), _sync=True)  # in an async flow, but in a thread of ours
_update = partial(cast("Any", update_progress_artifact), _sync=True)

PAUSE_SECONDS = 5.0
"""Pause between two looks at how far the steps are."""


class Bars:
    """Draws what `show` was told last, from a thread of its own; it ends with the block."""

    def __init__(self, pause: float = PAUSE_SECONDS) -> None:
        self._pause = pause
        self._guard = threading.Lock()
        self._told: dict[str, float] = {}
        self._drawn: dict[str, tuple[UUID, float]] = {}
        self._ended = threading.Event()
        context = contextvars.copy_context()  # it knows the run that the bars belong to
        self._thread = threading.Thread(target=context.run, args=(self._draw,), name="progress-bars", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join(self._pause)

    def show(self, name: str, done: int, total: int) -> None:
        """Note that a step has done `done` of `total`; returns at once."""
        if total > 0:
            with self._guard:
                self._told[name] = round(100 * done / total, 1)

    def _draw(self) -> None:
        while not self._ended.wait(self._pause):
            with contextlib.suppress(Exception):  # a bar is a courtesy; the night goes on without it
                self._draw_all(fresh=True)
        with contextlib.suppress(Exception):
            self._draw_all(fresh=False)

    def _draw_all(self, fresh: bool) -> None:
        with self._guard:
            told = dict(self._told)
        for name, percent in told.items():
            bar = self._drawn.get(name)
            if bar is None and fresh and percent < 100:
                made = _create(percent, key=artifact_key("progress", name), description=name)
                self._drawn[name] = (made, percent)
            elif bar is not None and bar[1] != percent:
                _update(bar[0], percent)
                self._drawn[name] = (bar[0], percent)
