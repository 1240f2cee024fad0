"""What the short runs that tidy the wiki share: the vault read in, one commit, the run closed in the diary."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from config.wiki import Wiki
from flows.session import Session, writing
from flows.steps import utc_now
from storage.commit import commit
from tasks.commits import NO_CHANGES, Changes, CommitResult, FileWrite


class Housework:
    """A short run that is under way, and the vault paths that it wrote."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._written: set[str] = set()

    @property
    def written(self) -> tuple[str, ...]:
        return tuple(sorted(self._written))

    def note(self, paths: Sequence[str]) -> None:
        """Count paths that reading the vault in has written."""
        self._written.update(paths)

    def commit(self, writes: Sequence[FileWrite], changes: Changes = NO_CHANGES) -> CommitResult:
        """Commit under the write lock; a file that a person changed meanwhile is left as it is."""
        session = self.session
        with session.state.write_lock():
            done = commit(session.state, session.run, session.kind, writes, changes, session.now)
        self._written.update(done.landed)
        return done


@contextlib.contextmanager
def housework(wiki: Wiki, kind: str, now: str) -> Iterator[Housework]:
    """Hold the run lock and yield a run that is closed in the diary at the end. Raises BusyError."""
    with writing(wiki, kind, now) as session:
        work = Housework(session)
        yield work
        session.state.runs.finish(session.run, "ok", max(utc_now(), session.now), changed=len(work.written))
        session.state.close()
