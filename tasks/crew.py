"""Processes that share out one function over many items: the parts of a night that cost time and need nothing else.

For few items it is called right here, which gives the same results and starts nothing. The processes are plain
children that talk over pipes, as those of reading; a batch that one of them did not finish is worked on here.
"""

from __future__ import annotations

import gc
import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from tasks.many import Common, Item, Result, here
from tasks.pipes import receive, send

FEW = 200  # items that are done sooner than processes have started
_BATCH = 16
_START = "import json, sys\nsys.path[:] = json.loads(sys.argv[1])\nfrom tasks.crew import main\nmain()\n"


class Crew:
    """One process a core, started when they are first needed. Use as a context manager."""

    def __init__(self, size: int = 0, few: int = FEW) -> None:
        self._size = size or os.cpu_count() or 1
        self._few = few
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        processes, self._processes = self._processes, []
        for process in processes:
            _end(process)

    def adopt(self, processes: Sequence[subprocess.Popen[bytes]]) -> None:
        """Take over processes that `serve` already; they end with this crew."""
        self._processes += processes

    def start(self, items: int) -> None:
        """Have the processes ready for so many items."""
        while items >= self._few and 1 < self._size > len(self._processes):
            self._processes.append(_started())

    def many(self, function: Callable[[Common, Item], Result], common: Common, items: Sequence[Item]) -> list[Result]:
        """What the function, a top-level one, returns for each item, in order. `common` is sent to a process once."""
        if len(items) < self._few or self._size < 2:
            return here(function, common, items)
        self.start(len(items))
        return self._shared_out(function, common, items, _BATCH)

    def each(self, function: Callable[[Common, Item], Result], common: Common, items: Sequence[Item]) -> list[Result]:
        """As `many`, for few items that are large: one at a time, in the processes that there are."""
        if not self._processes:
            return here(function, common, items)
        return self._shared_out(function, common, items, 1)

    def _shared_out(
        self, function: Callable[[Common, Item], Result], common: Common, items: Sequence[Item], size: int
    ) -> list[Result]:
        work = pickle.dumps((function, common), pickle.HIGHEST_PROTOCOL)
        starts = range(0, len(items), size)
        waiting = iter(starts)  # shared by the threads below, each of which takes its next batch
        done: dict[int, list[Result]] = {}

        def serve(process: subprocess.Popen[bytes]) -> bool:
            try:
                _ask(process, work)
                for start in waiting:
                    done[start] = _ask(process, items[start : start + size])
            except (OSError, EOFError, ValueError, pickle.UnpicklingError):
                _end(process)
                return False
            return True

        with ThreadPoolExecutor(len(self._processes), thread_name_prefix="crew") as threads:
            alive = list(threads.map(serve, self._processes))
        self._processes = [process for process, lives in zip(self._processes, alive, strict=True) if lives]
        results: list[Result] = []
        for start in starts:
            batch = done.pop(start, None)
            results += batch if batch is not None else here(function, common, items[start : start + size])
        return results


def _started() -> subprocess.Popen[bytes]:
    path = json.dumps([entry or str(Path.cwd()) for entry in sys.path])
    command = [sys.executable, "-P", "-W", "ignore", "-c", _START, path]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # what was not sent any more is of no use
            if pipe is not None:
                pipe.close()


def _ask(process: subprocess.Popen[bytes], message: object) -> Any:
    assert process.stdin is not None and process.stdout is not None
    send(process.stdin, message)
    return receive(process.stdout)


def main() -> None:
    """The inside of such a process: takes work, then batches of items, until its pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not enter the pipe
    serve(incoming, outgoing)


def serve(incoming: IO[bytes], outgoing: IO[bytes]) -> None:
    """Carry out work until the pipe closes."""
    gc.disable()  # results are trees without cycles, and the process lives for a minute
    function: Callable[[Any, Any], Any] | None = None
    common: Any = None
    with suppress(EOFError, BrokenPipeError):
        while True:
            message = receive(incoming)
            if isinstance(message, bytes):
                function, common = pickle.loads(message)
                send(outgoing, None)
                continue
            assert function is not None
            try:
                answer = here(function, common, message)  # type: ignore[arg-type]
            except Exception:
                answer = None  # the parent tries it itself, and so meets the error where it can be told
            send(outgoing, answer)
