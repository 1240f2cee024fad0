"""One run and one writer at a time, and no dead process ever in the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from config.errors import BusyError
from storage.locks import holder, run_lock, write_lock

HOLD = """
import sys, time
from pathlib import Path
from storage.locks import run_lock
with run_lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def hold_elsewhere(folder: Path) -> subprocess.Popen[str]:
    """A real second process that holds the run lock."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    return process


def test_the_second_caller_is_told_who_is_first(tmp_path: Path) -> None:
    """The message names pid and start; once the holder is killed, the lock is free."""
    process = hold_elsewhere(tmp_path)
    try:
        with pytest.raises(BusyError, match=rf"busy since \d{{4}}-\S+Z \(pid {process.pid}\)"), run_lock(tmp_path):
            pass
        found = holder(tmp_path, "run")
        assert found is not None and found.pid == process.pid
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    assert holder(tmp_path, "run") is None
    with run_lock(tmp_path):
        assert holder(tmp_path, "run") is not None


def test_a_thread_takes_its_lock_again_and_others_wait(tmp_path: Path) -> None:
    """Reading in and committing may each take the write lock; another thread of the same process does not get in."""
    errors: list[BaseException] = []

    def other() -> None:
        try:
            with write_lock(tmp_path, timeout=0):
                pass
        except BusyError as error:
            errors.append(error)

    with write_lock(tmp_path), write_lock(tmp_path):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert len(errors) == 1 and f"pid {os.getpid()}" in str(errors[0])
    with write_lock(tmp_path, timeout=0):
        pass


def test_looking_for_the_holder_creates_nothing(tmp_path: Path) -> None:
    """Readers may ask who holds a lock in a folder that has none."""
    assert holder(tmp_path, "run") is None and list(tmp_path.iterdir()) == []
