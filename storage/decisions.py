"""Validated replies of models, so that a crash or a second machine repeats no paid call.

A reply is a blob and a line in a log as soon as it is known, before anything is made of it. The next commit makes the
lines rows, which are published and travel in backups; logs whose lines are all published are then dropped. Each
process has a log of its own, so that nobody writes into another's.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from config.errors import StateError
from storage.blobs import Blobs
from storage.durable import append_line, fsync_folder
from storage.reader import Reader
from tasks.llm.cached import Decision
from tasks.records import DecisionRecord

_FIELDS = ("id", "role", "model", "version", "reply", "made")


class Decisions:
    """The decisions of one wiki: published ones by the snapshot, newer ones by the logs. Implements `DecisionStore`."""

    def __init__(self, state_dir: Path, now: str, blobs: Blobs | None = None) -> None:
        self._folder = state_dir / "decisions"
        self._blobs = blobs or Blobs(state_dir / "blobs")
        self._reader = Reader(state_dir)
        self._now = now
        self._own = self._folder / f"{os.getpid()}-{secrets.token_hex(4)}.jsonl"
        self._lock = threading.Lock()
        self._known: dict[str, str] | None = None  # key to blob

    def find(self, key: str) -> bytes | None:
        """The reply to the question of this key; None when there is none, or its blob is gone or damaged."""
        with self._lock:
            digest = self._all().get(key)
        if digest is None:
            return None
        try:
            return self._blobs.get(digest)
        except StateError:
            return None

    def keep(self, decision: Decision) -> None:
        """Keep a decision; blob and line are durable when this returns."""
        with self._lock:
            digest = self._blobs.put(decision.reply)
            self._blobs.flush()
            row = DecisionRecord(decision.key, decision.role, decision.model, decision.version, digest, self._now)
            fresh = not self._own.exists()
            append_line(self._own, json.dumps({name: getattr(row, name) for name in _FIELDS}, ensure_ascii=False))
            if fresh:
                fsync_folder(self._folder)
            self._all()[decision.key] = digest

    def pending(self) -> tuple[DecisionRecord, ...]:
        """Decisions of all logs that no snapshot holds yet, by key: what the next commit is to record."""
        rows = {row.id: row for log in self._logs() for row in _rows(log)}
        published = _published(self._reader) if rows else {}
        return tuple(row for key, row in sorted(rows.items()) if published.get(key) != row.reply)

    def drop_published(self) -> None:
        """Remove logs that say nothing new; called after a commit, under the run lock."""
        logs = self._logs()
        published = _published(self._reader) if logs else {}
        gone = [log for log in logs if all(published.get(row.id) == row.reply for row in _rows(log))]
        for log in gone:
            with contextlib.suppress(FileNotFoundError):
                log.unlink()
        if gone:
            fsync_folder(self._folder)

    def _all(self) -> dict[str, str]:
        if self._known is None:
            self._known = _published(self._reader)
            self._known.update({row.id: row.reply for log in self._logs() for row in _rows(log)})
        return self._known

    def _logs(self) -> tuple[Path, ...]:
        return tuple(sorted(self._folder.glob("*.jsonl"))) if self._folder.is_dir() else ()


def _published(reader: Reader) -> dict[str, str]:
    snapshot = reader.current()
    if snapshot is None:
        return {}
    table = snapshot.table("decisions", ["id", "reply"])
    return dict(zip(table["id"].to_pylist(), table["reply"].to_pylist(), strict=True))


def _rows(log: Path) -> Iterator[DecisionRecord]:
    try:
        content = log.read_bytes()
    except FileNotFoundError:
        return
    for line in content.split(b"\n"):
        with contextlib.suppress(ValueError):  # a line torn by a crash
            told: object = json.loads(line)
            if isinstance(told, Mapping) and all(isinstance(told.get(name), str) for name in _FIELDS):
                yield DecisionRecord(*(told[name] for name in _FIELDS))
