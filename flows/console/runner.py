"""Carries out the steps of a night as Prefect tasks, and stops between two of them when the run is cancelled.

What a task works on is wrapped in `quote`, for Prefect would else walk through all sources.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.futures import PrefectFuture
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner
from prefect.tasks import Task, task
from prefect.utilities.annotations import quote

from config.errors import NightwikiError
from flows.console.bars import Bars
from flows.steps import THREADS, Progress, silent

S = TypeVar("S")
T = TypeVar("T")

RETRIES = 2
RETRY_SECONDS = [1, 10]

threads = cast("TaskRunner[PrefectFuture[Any]]", ThreadPoolTaskRunner(max_workers=THREADS))  # invariant


class PrefectRunner:
    """Carries out each step as a Prefect task, and the batches of a step as tasks in threads; none after `stop`."""

    def __init__(self, bars: Bars, stop: threading.Event, listener: Progress = silent) -> None:
        self._bars = bars
        self._stop = stop
        self._listener = listener

    def run(self, name: str, function: Callable[..., T], *args: Any) -> T:
        self._check()
        return cast(T, _step(name)(quote(functools.partial(function, *args))))

    def map(self, name: str, function: Callable[[S], T], items: Sequence[S]) -> list[T]:
        self._check()
        step = _step(name)
        futures = [step.submit(quote(functools.partial(function, item))) for item in items]
        results = []
        for done, future in enumerate(futures, start=1):
            results.append(future.result())
            self.progress(name, done, len(items))
        return results

    def progress(self, name: str, done: int, total: int) -> None:
        self._check()
        self._listener(name, done, total)
        self._bars.show(name, done, total)

    def _check(self) -> None:
        if self._stop.is_set():
            raise NightwikiError("the run", "was cancelled", "What it had not committed is taken up by the next run.")


def _call(work: Callable[[], T]) -> T:
    return work()


def _is_passing(step: Task[Any, Any], run: TaskRun, state: State[Any]) -> bool:
    """Retry what the machine or the network may do better at the next try; our own errors are final."""
    try:
        state.result()
    except (OSError, MemoryError) as error:
        return not isinstance(error, FileNotFoundError | PermissionError)
    except Exception:
        return False
    return False


def _step(name: str) -> Task[Any, Any]:
    return task(
        name=name,
        task_run_name=name,
        retries=RETRIES,
        retry_delay_seconds=list(RETRY_SECONDS),
        retry_condition_fn=_is_passing,
        cache_policy=NO_CACHE,
        persist_result=False,
    )(_call)
