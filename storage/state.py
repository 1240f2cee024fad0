"""The state of one wiki: every store of the write plane, opened together. Nothing is created before the first write.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from config.errors import StateError
from storage import locks
from storage.blobs import Blobs
from storage.commit import finish, no_crash, plainly
from storage.durable import sha256, write_file
from storage.journal import Journal
from storage.ledger import FileRow, Ledger
from storage.reader import Reader
from storage.runs import Runs
from storage.snapshots import IndexBuilder, IndexDamage, Snapshots
from storage.vault import Stat, Vault
from tasks.commits import CommitResult

FORMAT = 1
_RACY_NS = 2_000_000_000  # a file changed within one tick of the clock can look unchanged; FAT's tick is two seconds


@dataclass(frozen=True, slots=True)
class Recovery:
    """What a start found: the commit it finished, if one was open, and what a person should know."""

    commit: CommitResult | None
    messages: tuple[str, ...]


class WikiState:
    """One wiki's vault and state folder, for writers. Readers use `storage.reader.Reader`."""

    def __init__(self, vault: Path, state: Path, protected: Sequence[str] = (),
                 build_index: IndexBuilder | None = None, index_damage: IndexDamage = lambda folder: "") -> None:
        self.root = Path(state)
        self.vault = Vault(Path(vault), protected)
        self.blobs = Blobs(self.root / "blobs")
        self.snapshots = Snapshots(self.root, build_index, index_damage)
        self.ledger = Ledger(self.root, self.snapshots)
        self.journal = Journal(self.root)
        self.runs = Runs(self.root)
        self.reader = Reader(self.root)
        self.recovering = False

    def open(self) -> WikiState:
        """This state, once its version is known to be ours; StateError otherwise. Creates nothing."""
        self._check_format()
        return self

    def prepare(self) -> None:
        """Make the state folder, its `.gitignore` and its version file if they are not there."""
        self._check_format()
        for name, text in ((".gitignore", "*\n"), ("format", f"{FORMAT}\n")):
            if not (self.root / name).exists():
                write_file(self.root / name, [text.encode()])

    def run_lock(self, timeout: float = 0.3, kind: str = "") -> contextlib.AbstractContextManager[None]:
        """Hold the run lock of this wiki for a run of this kind; waits for a sync, else BusyError names the holder."""
        with plainly(self):
            self.prepare()
        return locks.run_lock(self.root, timeout, kind)

    def write_lock(self, timeout: float = 10.0) -> contextlib.AbstractContextManager[None]:
        """Hold the write lock of this wiki, again if this thread has it; BusyError names the holder."""
        self.prepare()
        return locks.write_lock(self.root, timeout)

    def recover(self, crash: Callable[[str], None] = no_crash) -> Recovery:
        """Finish what a crash left open, and bring the ledger to the current snapshot. Takes the write lock."""
        if not self.root.is_dir():
            return Recovery(None, ())
        done: CommitResult | None = None
        messages: list[str] = []
        with plainly(self), self.write_lock(), self._recovering():
            if self.journal.is_open():
                try:
                    plan = self.journal.read()
                except StateError as error:
                    if "damaged" not in error.cause:
                        raise
                    aside = self.journal.set_aside()
                    messages.append(f"The journal of the last commit was damaged and set aside as {aside}; "
                                    "files it wrote count as edited by you.")
                else:
                    done = finish(self, plan, crash)
                    messages += done.messages
            self.ledger.reconcile()
            if self.snapshots.rebuild_index():
                messages.append("The search index was missing or damaged and has been built anew.")
        messages += [*self.ledger.take_messages(), *self.snapshots.take_messages()]
        return Recovery(done, tuple(messages))

    def file_hashes(self, stats: Mapping[str, Stat]) -> Mapping[str, str]:
        """The hash of every file of a scan; reads only those whose size or time is new. Needs the write lock.

        Files that vanish meanwhile are left out.
        """
        known = self.ledger.files()
        hashes: dict[str, str] = {}
        fresh: list[FileRow] = []
        for path, stat in stats.items():
            row = known.get(path)
            if row and (row.size, row.mtime_ns) == (stat.size, stat.mtime_ns) and row.mtime_ns + _RACY_NS < row.seen_ns:
                hashes[path] = row.hash
                continue
            seen = time.time_ns()
            with contextlib.suppress(OSError):
                hashes[path] = sha256(self.vault.read(path))
                fresh.append(FileRow(path, stat.size, stat.mtime_ns, hashes[path], seen))
        gone = [path for path in known if path not in stats and not (self.vault.root / path).exists()]
        self.ledger.remember_files(fresh, gone)
        return hashes

    def retention(self, keep_days: int, now: str, keep: Collection[str] = ()) -> int:
        """Drop snapshots, closed journals and blobs that are past their time; how many snapshots went.

        Blobs stay while a kept snapshot, a kept journal or `keep` names them, and at least a day.
        """
        with plainly(self), self.write_lock():
            dropped = self.snapshots.retention(keep_days, now)
            manifests = self.reader.history()
            oldest = min((one.created for one in manifests), default=now)
            closed = self.journal.closed()
            past = [one.commit for one in closed if one.now < oldest]
            self.journal.drop_closed(past)
            if len(manifests) == len(self.snapshots.layout.listed()):  # else some references are not known
                live = {*self.snapshots.named_hashes(manifests), *(one.digest for one in self.runs.all()), *keep}
                live |= {one.before for each in closed if each.commit not in past for one in each.landed}
                moment = datetime.fromisoformat(now.replace("Z", "+00:00")) - timedelta(days=max(keep_days, 1))
                self.blobs.collect(live, int(moment.timestamp() * 1e9))
                self.blobs.clean()
        return len(dropped)

    def close(self) -> None:
        """Flush the blobs and let go of files."""
        self.blobs.close()

    @contextlib.contextmanager
    def _recovering(self) -> Iterator[None]:
        before, self.recovering = self.recovering, True
        try:
            yield
        finally:
            self.recovering = before

    def _check_format(self) -> None:
        file = self.root / "format"
        try:
            told = file.read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            return
        if not told.isdigit():
            raise StateError(str(file), "the version of the state folder cannot be read", f"It should say {FORMAT}.")
        if int(told) > FORMAT:
            raise StateError(str(self.root), f"was written by a newer nightwiki (format {told}, known is {FORMAT})",
                             "Update nightwiki.")
