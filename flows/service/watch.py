"""Takes a person's edits in while `nightwiki up` runs: looks at the vault every few seconds and syncs once it is quiet.

A sync runs in a process of its own, so that the embedding model does not stay in memory between two edits. What our own
runs wrote is known from the audit and needs none; while a run goes on nothing is done, for it holds the lock.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Collection
from pathlib import Path

from config.wiki import Wiki
from flows.service.kept_settings import open_by_kept
from flows.service.watching import Watching
from flows.steps import DirectRunner, utc_now
from storage.durable import sha256
from storage.locks import holder
from storage.runs import AuditTail

LOOK_SECONDS = 10.0
PATIENCE_SECONDS = 40.0
"""After this long a vault that never stands still is synced all the same."""

log = logging.getLogger(__name__)

Signature = dict[str, tuple[int, int]]


def signature(root: Path) -> Signature:
    """Size and time of each Markdown file of the vault by path; hidden folders are left out."""
    found: Signature = {}
    folders = [str(root)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    elif entry.name.endswith(".md"):
                        stat = entry.stat()
                        found[entry.path] = (stat.st_size, stat.st_mtime_ns)
        except OSError:  # a folder that went away between two looks
            continue
    return found


class OwnRuns:
    """The runs of a wiki, by its lock and its audit."""

    def __init__(self, wiki: Wiki) -> None:
        self._wiki = wiki
        self._audit = AuditTail(wiki.state_dir)

    def busy(self) -> bool:
        """Whether one is under way."""
        return holder(self._wiki.state_dir, "run") is not None

    def wrote(self, paths: Collection[str]) -> bool:
        """Whether these files are all as runs left them that ended since `settled` was last called."""
        written = self._audit.written()
        for path in sorted(paths):
            name = Path(path).relative_to(self._wiki.root).as_posix()
            if name not in written or written[name] != _hash(path):
                return False
        return True

    def settled(self) -> None:
        """Forget what runs have written so far: it is known, or about to be taken in."""
        self._audit.forget()


def _hash(path: str) -> str:
    try:
        return sha256(Path(path).read_bytes())
    except OSError:
        return ""


class Watcher(Watching):
    """Calls `sync` when a person has changed the vault and it then stood still from one look to the next."""

    def __init__(self, root: Path, sync: Callable[[], bool], runs: OwnRuns, pause: float = LOOK_SECONDS) -> None:
        super().__init__("watch-vault", pause)
        self._root = root
        self._sync = sync
        self._runs = runs
        self._begun = signature(root)  # here, not in the thread: what changes from now on is seen

    def _watch(self) -> None:
        synced = last = self._begun
        changed_at = 0.0
        while self._paused():
            now = signature(self._root)
            if now == synced:
                changed_at = 0.0
            else:
                changed_at = changed_at or time.monotonic()
                quiet = now == last or time.monotonic() - changed_at > PATIENCE_SECONDS
                if quiet and not self._runs.busy():
                    ours = self._runs.wrote({path for path, _ in now.items() ^ synced.items()})
                    self._runs.settled()  # what the sync itself writes is known at the next look
                    if ours or self._sync():
                        synced, changed_at = now, 0.0
                    now = signature(self._root)
            last = now


def sync_in_process(root: Path, variables: dict[str, str]) -> bool:
    """Sync in a process of its own; False when it is to be tried again (a run holds the lock)."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "flows.service.watch", str(root)],
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        log.warning("sync: %s", done.stderr.strip().rpartition("\n")[2])
    return done.returncode == 0


def sync_once(wiki: Wiki) -> None:
    """Take in what changed in the vault, in this process."""
    from flows.night import sync  # loads what the watching process itself never needs

    sync(wiki, DirectRunner(), utc_now())


if __name__ == "__main__":
    sync_once(open_by_kept(Path(sys.argv[1])))
