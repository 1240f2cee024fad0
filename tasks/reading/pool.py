"""Worker processes for reading, so that one bad file costs only itself.

The processes are plain children that talk over pipes: no part of the caller's `__main__` runs in them, they may be
started from any thread, and each can be killed at its limit and replaced. A source that kills its worker is named;
the others that waited behind it are read by the next.
"""

from __future__ import annotations

import json
import os
import pickle
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from config.errors import NightwikiError
from tasks.pipes import receive, send
from tasks.reading.read_source import Analyse, ReadJob, ReadResult, limits_of, too_large
from tasks.records import Outcome

if TYPE_CHECKING:
    from config.settings import Settings

AHEAD = 4  # jobs that wait in a worker, so that it never idles
START_SECONDS = 120.0
_HAND_OVER_SECONDS = 5.0
MEMORY_EXIT = 86  # exit status of a worker that saw itself grow past its limit
RETIRED_EXIT = 85  # ... and of one that ended itself between two jobs
SERVE = "serve"  # what a worker is told that reads no more but works for a crew, and what it answers
WARM = "warm"  # what a worker is told that will read web pages, so that it loads what those need
_START = "import json, sys\nsys.path[:] = json.loads(sys.argv[1])\nfrom tasks.reading.worker import main\nmain()\n"


class _Worker:
    """One child process and the jobs it has been given."""

    def __init__(
        self, settings: Settings, analyse: Analyse | None, inbox: queue.SimpleQueue[tuple[_Worker, object]]
    ) -> None:
        self.jobs: deque[ReadJob] = deque()
        self.ready = False
        self.serves = False  # a crew, and reads no more
        self.since = time.monotonic()  # when the job at the front began
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed by stop)
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-W",
                "ignore",
                "-c",
                _START,
                json.dumps([entry or str(Path.cwd()) for entry in sys.path]),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self._stdin, self._stdout = self.process.stdin, self.process.stdout
        self._reader = threading.Thread(target=self._listen, args=(inbox,), name="reading-results", daemon=True)
        self._reader.start()
        self._send((limits_of(settings), analyse))

    def _listen(self, inbox: queue.SimpleQueue[tuple[_Worker, object]]) -> None:
        while True:
            try:
                message = receive(self._stdout)
            except (EOFError, OSError, ValueError, pickle.UnpicklingError):
                inbox.put((self, None))
                return
            if message == SERVE:
                self.serves = True
                return
            self.since = time.monotonic()
            inbox.put((self, message))

    def _send(self, message: object) -> None:
        with suppress(OSError, ValueError):  # it died; its reader says so
            send(self._stdin, message)

    def give(self, job: ReadJob) -> None:
        if not self.jobs:
            self.since = time.monotonic()
        self.jobs.append(job)
        self._send(job)

    def warm(self) -> None:
        self._send(WARM)

    def overdue(self, limit: float) -> bool:
        """Has the job at the front (or the start) taken longer than its limit?"""
        if self.ready and not self.jobs:
            return False
        return time.monotonic() - self.since > (limit if self.ready else START_SECONDS)

    def last_words(self) -> str:
        """The last line that the process wrote as an error."""
        self.errors.seek(0)
        lines = self.errors.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""

    def hand_over(self) -> subprocess.Popen[bytes] | None:
        """Has the idle process serve a crew; None when it is not able to, and was ended."""
        self._send(SERVE)
        self._reader.join(timeout=_HAND_OVER_SECONDS)
        if not self.serves:
            self.stop()
            return None
        self.errors.close()
        return self.process

    def stop(self) -> int:
        """Ends the process at once and returns its exit status."""
        if self.process.poll() is None:
            self.process.kill()
        status = self.process.wait()
        self._reader.join(timeout=5)
        for stream in (self._stdin, self._stdout, self.errors):
            with suppress(OSError):
                stream.close()
        return status


class ReadingPool:
    """Reads sources in worker processes with limits of time and memory. Use as a context manager."""

    def __init__(self, settings: Settings, analyse: Analyse | None = None) -> None:
        self._settings = settings
        self._analyse = analyse
        self._size = settings.extract.workers or os.cpu_count() or 1
        self._workers: list[_Worker] = []
        self._inbox: queue.SimpleQueue[tuple[_Worker, object]] = queue.SimpleQueue()
        self._failed_starts = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def pids(self) -> tuple[int, ...]:
        """The process ids of the workers."""
        return tuple(worker.process.pid for worker in self._workers)

    def start(self, web_pages: bool) -> None:
        """Start the processes before there are jobs; those that will read web pages load what these need."""
        while len(self._workers) < self._size:
            self._workers.append(_Worker(self._settings, self._analyse, self._inbox))
            if web_pages:
                self._workers[-1].warm()

    def close(self) -> None:
        """Ends all workers."""
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.stop()

    def release(self) -> tuple[subprocess.Popen[bytes], ...]:
        """The processes of idle workers, which are `tasks.crew`'s from now on; all others are ended."""
        workers, self._workers = self._workers, []
        idle = [worker for worker in workers if worker.ready and not worker.jobs]
        for worker in workers:
            if worker not in idle:
                worker.stop()
        return tuple(process for worker in idle if (process := worker.hand_over()) is not None)

    def read(self, jobs: Iterable[ReadJob]) -> Iterator[ReadResult]:
        """The result of every job, as they finish. Raises NightwikiError when workers cannot be started at all."""
        waiting = iter(jobs)
        returned: deque[ReadJob] = deque()
        exhausted = False
        while True:
            while not exhausted or returned:
                worker = self._idlest()
                if worker is None:
                    break
                job = returned.popleft() if returned else next(waiting, None)
                if job is None:
                    exhausted = True
                    break
                worker.give(job)
            if exhausted and not returned and not any(worker.jobs for worker in self._workers):
                return
            yield from self._results(returned)

    def _idlest(self) -> _Worker | None:
        """The worker with the fewest jobs, a new one if there is room, or None when all have enough."""
        idlest = min(self._workers, key=lambda worker: len(worker.jobs), default=None)
        if idlest is not None and not idlest.jobs:
            return idlest
        if len(self._workers) < self._size:
            worker = _Worker(self._settings, self._analyse, self._inbox)
            self._workers.append(worker)
            return worker
        return idlest if idlest is not None and len(idlest.jobs) < AHEAD else None

    def _results(self, returned: deque[ReadJob]) -> Iterator[ReadResult]:
        """What arrives next; nothing after a short while, so that limits are looked at."""
        try:
            worker, message = self._inbox.get(timeout=0.1)
        except queue.Empty:
            yield from self._kill_overdue(returned)
            return
        if worker not in self._workers:
            return
        if message is None:
            yield from self._bury(worker, returned, "")
        elif message == "ready":
            worker.ready, self._failed_starts = True, 0
        elif isinstance(message, ReadResult) and worker.jobs and worker.jobs[0].source_id == message.source_id:
            worker.jobs.popleft()
            yield message
        if self._inbox.empty():
            yield from self._kill_overdue(returned)

    def _kill_overdue(self, returned: deque[ReadJob]) -> Iterator[ReadResult]:
        limit = self._settings.extract.timeout_seconds
        for worker in list(self._workers):
            if worker.overdue(limit):
                yield from self._bury(worker, returned, f"reading it took longer than {limit:g} seconds")

    def _bury(self, worker: _Worker, returned: deque[ReadJob], late: str) -> Iterator[ReadResult]:
        """Takes a dead or late worker out; its current job has failed, the others are given back."""
        self._workers.remove(worker)
        status = worker.process.poll() if late else worker.process.wait()
        words = "" if late else worker.last_words()
        worker.stop()
        if not worker.ready:
            self._failed_starts += 1
            returned.extendleft(reversed(worker.jobs))
            if self._failed_starts >= 3:
                raise NightwikiError(
                    "reading process", f"it does not start ({late or words or status})", "Run `nightwiki check`."
                )
            return
        if status == RETIRED_EXIT:
            returned.extendleft(reversed(worker.jobs))
        if status == RETIRED_EXIT or not worker.jobs:
            return
        failed = worker.jobs.popleft()
        returned.extendleft(reversed(worker.jobs))
        if late:
            yield ReadResult(
                failed.source_id, Outcome.TIMED_OUT, late, "Raise extract.timeout_seconds, or split the file."
            )
        elif status == MEMORY_EXIT:
            yield too_large(failed, self._settings.extract.memory_megabytes)
        else:
            how = f"signal {-status}" if status is not None and status < 0 else f"status {status}"
            yield ReadResult(
                failed.source_id,
                Outcome.UNREADABLE,
                f"the reading process broke down over it ({how})",
                "Open and save it again, or drop it in another form.",
            )
