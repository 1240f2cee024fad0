"""One wiki as the engine holds it: a snapshot that questions are put to, opened once and swapped for each new one.

An index that is damaged, or breaks while it is asked, is made anew in memory; where the tables are damaged, too, the
last snapshot that is whole answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Protocol

from config.errors import StateError
from storage.search.answer import answer
from storage.search.index_files import damage, open_index
from storage.search.opened import Opened, Question, Snapshot
from tasks.embedding.model import Model
from tasks.search.fusion import Configuration
from tasks.search.result import Degraded, SearchResult
from tasks.search.scope import BranchChooser

EMPTY = Degraded("snapshot", "nothing was published yet", "Run `nightwiki ingest`")
_REPAIR = "Run `nightwiki check --repair`"


class Reader(Protocol):
    """Gives snapshots; `storage.reader.Reader` is one."""

    def current(self) -> Snapshot | None: ...

    def at(self, ref: str) -> Snapshot: ...


@dataclass(frozen=True, slots=True)
class SearchedWiki:
    """One wiki to search: its name, snapshots and settings; `model` is None when meaning search is off."""

    name: str
    reader: Reader
    model: Model | None = None
    configuration: Configuration = "fused"
    hits: int = 10
    chooser: BranchChooser | None = None  # narrows questions to branches; None: every question to the whole wiki


class OpenedWiki:
    """The opened snapshots of one wiki."""

    def __init__(self, wiki: SearchedWiki) -> None:
        self.wiki = wiki
        self._held: Opened | None = None
        self._pinned: Opened | None = None
        self._broken: tuple[int, ...] = ()
        self._opening = Lock()

    @property
    def held(self) -> Opened | None:
        """The snapshot that was asked last, None before the first question."""
        return self._held

    def answer(self, questions: Sequence[Question], as_of: str) -> tuple[SearchResult, ...]:
        """An answer a question, all from one snapshot."""
        opened = self.opened(as_of)
        if opened is None:
            return tuple(SearchResult(one.text, "", True, (EMPTY,), ()) for one in questions)
        if len(questions) > 1 and self.wiki.model is not None and opened.index.vectors:
            self.wiki.model.ask_together([one.text for one in questions])
        try:
            return tuple(answer(self.wiki.name, opened, self.wiki.model, one) for one in questions)
        except Exception:  # bytes that changed under an open index may break it anywhere
            mended = self._mended(opened)
            if mended is None:
                raise
            return tuple(answer(self.wiki.name, mended, self.wiki.model, one) for one in questions)

    def _repaired(self, held: Opened) -> bool:
        """Whether the index on disk, damaged when it was last looked at, has been built anew since."""
        broken = any(one.what == "index" for one in held.degraded)
        return broken and _stamp(held.snapshot.index_dir) != self._broken

    def _mended(self, opened: Opened) -> Opened | None:
        """The same snapshot with an index made in memory, when the one on disk was damaged since it was opened."""
        trouble = damage(opened.snapshot.index_dir)
        if not trouble or any(one.what == "index" for one in opened.degraded):
            return None
        stamp = _stamp(opened.snapshot.index_dir)
        built = replace(self._build(opened.snapshot), degraded=(Degraded("index", trouble, _REPAIR),))
        with self._opening:
            self._broken = stamp
            if self._held is opened:
                self._held = built
            if self._pinned is opened:
                self._pinned = built
        return built

    def opened(self, as_of: str) -> Opened | None:
        """The snapshot a question is put to."""
        held = self._held
        if held is not None and held.snapshot.id == as_of:
            return held
        return self._at(as_of) if as_of else self._current()

    def _at(self, ref: str) -> Opened:
        snapshot = self.wiki.reader.at(ref)
        pinned = self._pinned
        if pinned is None or pinned.snapshot.id != snapshot.id:
            pinned = self._open(snapshot) or self._build(snapshot)
            self._pinned = pinned
        return pinned

    def _current(self) -> Opened | None:
        held = self._held
        try:
            current = self.wiki.reader.current()
        except StateError as error:
            return self._instead(held, error)
        if current is None:
            return None
        if held is not None and held.snapshot.id == current.id and not self._repaired(held):
            return held
        if held is not None and not self._opening.acquire(blocking=False):
            return held  # another thread is opening the new one; this question is answered from the last
        if held is None:
            self._opening.acquire()
        try:
            if self._held is held or self._held is None or self._held.snapshot.id != current.id:
                self._held = self._open_or_former(current, self._held)
            return self._held
        finally:
            self._opening.release()

    def _instead(self, held: Opened | None, error: StateError) -> Opened:
        """The last snapshot that is whole, in place of one that cannot be read; `error` when there is none."""
        trouble = Degraded("snapshot", f"{error.subject}: {error.cause}", error.next_step)
        if held is None:
            with self._opening:
                held = self._held or self._former("")
                self._held = held
        if held is None:
            raise error
        return replace(held, degraded=(trouble, *(one for one in held.degraded if one.what != "snapshot")))

    def _open_or_former(self, snapshot: Snapshot, held: Opened | None) -> Opened:
        """The snapshot; with a damaged index, one made in memory; with damaged tables too, the last that is whole."""
        stamp = _stamp(snapshot.index_dir)
        try:
            return Opened.of(snapshot, open_index(snapshot.index_dir))
        except StateError as error:
            trouble = Degraded("index", f"{error.subject}: {error.cause}", error.next_step)
            self._broken = stamp
        try:
            return replace(self._build(snapshot), degraded=(trouble,))
        except StateError as error:
            former = held or self._former(snapshot.id)
            if former is None:
                raise
            return replace(
                former, degraded=(trouble, Degraded("snapshot", f"{error.subject}: {error.cause}", error.next_step))
            )

    def _former(self, snapshot: str) -> Opened | None:
        """The newest kept snapshot but this one that can be opened."""
        history = getattr(self.wiki.reader, "history", tuple)
        for manifest in reversed(history()):
            if manifest.id != snapshot:
                try:
                    former = self.wiki.reader.at(manifest.id)
                    return self._open(former) or self._build(former)
                except StateError:
                    continue
        return None

    def _open(self, snapshot: Snapshot) -> Opened | None:
        try:
            return Opened.of(snapshot, open_index(snapshot.index_dir))
        except StateError:
            return None

    def _build(self, snapshot: Snapshot) -> Opened:
        """An index made from the snapshot's tables for this process: slow once, and right."""
        from storage.search.search_index import SnapshotTables, index_of

        if not isinstance(snapshot, SnapshotTables):
            raise StateError(str(snapshot.index_dir), "the search index is missing", _REPAIR)
        return Opened.of(snapshot, index_of(snapshot))


def _stamp(index_dir: Path) -> tuple[int, ...]:
    """Tells an index from one built later in its place; empty when there is none."""
    try:
        stat = (index_dir / "manifest.json").stat()
    except OSError:
        return ()
    return stat.st_ino, stat.st_mtime_ns, stat.st_size
