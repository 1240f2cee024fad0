"""The inside of a reading process: takes jobs from a pipe, returns results, and keeps to its memory limit.

It ends itself when its parent is gone or when it grows past the limit; the parent kills it when it is late.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
import threading
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO, cast

from tasks.pipes import receive, send
from tasks.reading.pool import MEMORY_EXIT, RETIRED_EXIT, SERVE, WARM
from tasks.reading.read_source import Analyse, Limits, ReadJob, read_within
from tasks.records import Outcome

_MEBI = 1024 * 1024
_CHECK_SECONDS = 0.2
_RECURSION = sys.getrecursionlimit()
_STRANGERS = threading.Event()  # set while strangers' files are read
_STRANGERS.set()


def main() -> None:
    """Serves jobs until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    jobs = os.fdopen(os.dup(0), "rb")
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not enter the pipe
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    limits, analyse = cast("tuple[Limits, Analyse | None]", receive(jobs))
    _limit(limits.memory_megabytes)
    # Parsers make many short-lived objects and few cycles; by default a tenth of the time goes to looking for those.
    gc.set_threshold(200_000, 20, 20)
    send(results, "ready")
    warm = False
    while True:
        try:
            job = receive(jobs)
        except EOFError:
            break
        if job == SERVE:
            _serve(jobs, results)
            break
        if job == WARM:
            import_module("tasks.extraction.html")
            continue
        result = read_within(cast(ReadJob, job), limits, analyse)
        send(results, result)
        if not warm:
            gc.freeze()  # the modules that are loaded now stay, and need not be looked at again
            warm = True
        if result.outcome is Outcome.REFUSED:
            os._exit(RETIRED_EXIT)  # memory that was scarce once is in pieces: a new process goes on
    os._exit(0)


def _serve(jobs: IO[bytes], results: IO[bytes]) -> None:
    """Becomes a process of a crew, which works on what was read: without the limits of reading."""
    from tasks import crew

    _STRANGERS.clear()
    sys.setrecursionlimit(_RECURSION)
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    send(results, SERVE)
    crew.serve(jobs, results)


def _limit(megabytes: int) -> None:
    """Bounds the address space where the system does that, and watches size and parent everywhere."""
    sys.setrecursionlimit(3000)
    limit = megabytes * _MEBI
    with suppress(ValueError, OSError):  # the watch below is left
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    threading.Thread(target=_watch, args=(limit, os.getppid()), daemon=True).start()


def _watch(limit: int, parent: int) -> None:
    while os.getppid() == parent:
        if _STRANGERS.is_set() and _resident() > limit:
            os._exit(MEMORY_EXIT)
        time.sleep(_CHECK_SECONDS)
    os._exit(0)


def _resident() -> int:
    """Bytes of memory in use. Linux counts the peak of the process that started this one as ours too, so that its
    present size is asked for there; elsewhere the peak is our own.
    """
    try:
        with Path("/proc/self/statm").open("rb") as told:
            return int(told.read().split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
