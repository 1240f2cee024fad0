"""Who may write: two operating-system locks that die with their process, so no night is blocked by a dead one.

`run.lock` lets one pipeline run at a time; `write.lock` is held for the seconds of reading in and committing. The
holder's pid, start and kind stand beside the lock, for the message that the second caller gets.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from config.errors import BusyError, StateError

SOON_OVER = frozenset({"sync"})
"""Kinds of runs that end in seconds: they are waited for. Any other run may last for hours."""

SYNC_PATIENCE = 60.0
"""Seconds after which a run that should be over soon is no longer waited for."""

_LOCKS: dict[str, FileLock] = {}
_GUARD = threading.Lock()


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lock, as far as is known."""

    pid: int
    since: str
    kind: str = ""

    @property
    def soon_over(self) -> bool:
        """Whether this is worth waiting for."""
        return self.kind in SOON_OVER


def run_lock(
    state_dir: Path, timeout: float = 0.3, kind: str = "", patience: float = SYNC_PATIENCE
) -> contextlib.AbstractContextManager[None]:
    """Hold the wiki's run lock for a run of this kind, one at a time; BusyError after `timeout` seconds.

    The short wait is for `holder`, which touches the lock for an instant. A sync is waited for up to `patience`
    seconds.
    """
    return _hold(state_dir / "run.lock", "another run is going on", timeout, kind, patience)


def write_lock(state_dir: Path, timeout: float = 10.0) -> contextlib.AbstractContextManager[None]:
    """Hold the wiki's write lock; may be taken again by the same thread. BusyError after `timeout` seconds."""
    return _hold(state_dir / "write.lock", "the wiki is being written", timeout)


def holder(state_dir: Path, name: str) -> Holder | None:
    """Who holds the lock `name` ('run' or 'write') now, or None when it is free. Creates nothing."""
    path = state_dir / f"{name}.lock"
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)  # the kind of lock that `filelock` takes
    except BlockingIOError:
        return _read_holder(path) or Holder(0, "")
    finally:
        os.close(descriptor)
    return None


def busy(state_dir: Path, held: Holder | None, cause: str = "another run is going on") -> BusyError:
    """The error of a caller that finds a lock held."""
    who = f"busy since {held.since} (pid {held.pid}{f', {held.kind}' if held.kind else ''})" if held else "busy"
    return BusyError(str(state_dir), f"{cause}, {who}", "Try again when it has ended.")


@contextlib.contextmanager
def _hold(path: Path, cause: str, timeout: float, kind: str = "", patience: float = 0.0) -> Iterator[None]:
    lock = _shared_lock(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _acquire(lock, path, timeout, patience)
    except Timeout:
        raise busy(path.parent, _read_holder(path), cause) from None
    except OSError as error:
        cause = f"the state folder cannot be written ({error.strerror or error})"
        raise StateError(str(path.parent), cause, "Check its disk and rights.") from None
    try:
        if lock.lock_counter == 1:
            _write_holder(path, kind)
        yield
    finally:
        lock.release()


def _acquire(lock: FileLock, path: Path, timeout: float, patience: float) -> None:
    """Take the lock within `timeout`, or within `patience` while the holder is one that is over soon."""
    deadline = time.monotonic() + patience
    while True:
        try:
            lock.acquire(timeout=timeout, poll_interval=0.05)
            return
        except Timeout:
            known = _read_holder(path)
            if known is None or not known.soon_over or time.monotonic() >= deadline:
                raise


def _shared_lock(path: Path) -> FileLock:
    """One lock object a path and process: a thread may take it again, another thread waits."""
    key = f"{os.getpid()}:{path.resolve()}"
    with _GUARD:
        if key not in _LOCKS:
            _LOCKS[key] = FileLock(str(path))
        return _LOCKS[key]


def _holder_path(path: Path) -> Path:
    return path.with_suffix(".holder")


def _write_holder(path: Path, kind: str) -> None:
    since = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    # Only a courtesy to the second caller: a full disk must not keep the lock from working.
    with contextlib.suppress(OSError):
        told = {"pid": os.getpid(), "since": since, "kind": kind}
        _holder_path(path).write_text(json.dumps(told), encoding="utf-8")


def _read_holder(path: Path) -> Holder | None:
    try:
        told = json.loads(_holder_path(path).read_text(encoding="utf-8"))
        return Holder(int(told["pid"]), str(told["since"]), str(told.get("kind", "")))
    except (OSError, ValueError, KeyError, TypeError):
        return None
