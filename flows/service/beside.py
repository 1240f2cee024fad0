"""Another command of nightwiki that runs beside `nightwiki up`: started with it, ended with it, again if it dies."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

STOP_SECONDS = 15
PAUSES = (1.0, 5.0, 30.0)
"""Seconds before it is begun again, after the first, second and each further death in a row."""

STEADY_SECONDS = 60.0
"""A process that lived this long has begun well; the pauses start from the first again."""


@contextlib.contextmanager
def beside(
    module: str, arguments: Sequence[str], variables: Mapping[str, str], log: Path, say: Callable[[str], None]
) -> Iterator[None]:
    """Within the block `python -m MODULE ARGUMENTS` runs; it ends with this process, however that one ends."""
    keeper = _Keeper([module, *arguments], variables, log, say)
    thread = threading.Thread(target=keeper.run, name=f"beside-{module}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        keeper.stop()
        thread.join()


class _Keeper:
    """Keeps one process running."""

    def __init__(
        self, command: Sequence[str], variables: Mapping[str, str], log: Path, say: Callable[[str], None]
    ) -> None:
        self._command = [sys.executable, "-P", "-m", "flows.service.launch", *command]
        self._variables, self._log, self._say = variables, log, say
        self._ended = threading.Event()
        self._guard = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        """Start it, and again when it dies, until `stop`."""
        deaths = 0
        while not self._ended.is_set():
            begun = time.monotonic()
            self._start()
            if self._process is None:
                return
            code = self._process.wait()
            if self._process.stdin is not None:
                self._process.stdin.close()
            if self._ended.is_set():
                return
            deaths = 1 if time.monotonic() - begun > STEADY_SECONDS else deaths + 1
            if deaths == 1:
                self._say(f"{self._command[4]} ended (exit {code}) and is begun again; see {self._log}.")
            self._ended.wait(PAUSES[min(deaths, len(PAUSES)) - 1])

    def stop(self) -> None:
        """End it and begin it no more."""
        self._ended.set()
        with self._guard:
            process = self._process
        if process is not None and process.poll() is None:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()

    def _start(self) -> None:
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._guard, self._log.open("ab") as output:
            if not self._ended.is_set():
                self._process = subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=dict(self._variables),
                    start_new_session=True,
                )
