"""Runs nights and weeks in forked children that die at a chosen file operation; one JSON line in and out for each.

Not a test itself. A child counts the file operations that Python audits and dies as by SIGKILL, without any clean-up.
What a process has written outlives its death with or without fsync, so that is skipped here for speed.
"""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from pathlib import Path

from config.wiki import open_wiki
from flows.night import night
from flows.steps import DirectRunner
from flows.weekly import weekly
from tasks.reading.reading import ReadingHere

_COUNTED = frozenset({"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.truncate"})


_WORK = {"night": partial(night, reader=ReadingHere), "weekly": weekly}


def _child(root: str, die_at: int, work: str, now: str, tell: int) -> None:
    steps = 0

    def count(event: str, args: tuple[object, ...]) -> None:
        nonlocal steps
        writes = event != "open" or (isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        if event in _COUNTED and writes:
            steps += 1
            if steps == die_at:
                os._exit(9)

    sys.addaudithook(count)
    os.fsync = lambda fd: None  # type: ignore[assignment]
    _WORK[work](open_wiki(Path(root)), DirectRunner(), now)
    os.write(tell, str(steps).encode())
    os._exit(0)


def main() -> None:
    """Serve until standard input closes."""
    for line in sys.stdin:
        root, die_at, work, now = json.loads(line)
        hear, tell = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                _child(root, die_at, work, now, tell)
            except BaseException as error:
                sys.stderr.write(f"{type(error).__name__}: {error}\n")
                os._exit(1)
        os.close(tell)
        _, status = os.waitpid(child, 0)
        steps = int(os.read(hear, 20) or b"0")
        os.close(hear)
        sys.stdout.write(json.dumps([os.waitstatus_to_exitcode(status), steps]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
