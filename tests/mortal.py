"""Nights and weeks that die at a chosen file operation, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

_SERVER = Path(__file__).with_name("kill_server.py")


class Mortal:
    """A process that has everything imported and forks a child for each night, which dies at a chosen step."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(_SERVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": str(_SERVER.parents[1])},
        )

    def run(self, root: Path, die_at: int, work: str, now: str) -> tuple[int, int]:
        """Return the exit status of a `night` or `weekly`, 9 when it died, and the number of steps it came to."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(root), die_at, work, now]) + "\n")
        self._process.stdin.flush()
        status, steps = json.loads(self._process.stdout.readline())
        return int(status), int(steps)

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()
