"""Hashes of vault files without reading those that nobody wrote to since they were last hashed."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping

from storage.durable import sha256
from storage.ledger import FileRow
from storage.vault import Stat, Vault

RACY_NS = 2_000_000_000
"""A file written this shortly before it was hashed may have been written again within the same tick of its clock."""


class FileHashes:
    """Answers for one run; `fresh` holds what it learnt, to be remembered for the next."""

    def __init__(self, vault: Vault, known: Mapping[str, FileRow], clock: Callable[[], int] = time.time_ns) -> None:
        self._vault = vault
        self._known = known
        self._clock = clock
        self._fresh: dict[str, FileRow] = {}

    def of(self, path: str, stat: Stat) -> str:
        """Return the hash of a file; FileNotFoundError when it is gone by now."""
        row = self._fresh.get(path) or self._known.get(path)
        if (
            row is not None
            and (row.size, row.mtime_ns) == (stat.size, stat.mtime_ns)
            and row.mtime_ns + RACY_NS < row.seen_ns
        ):
            return row.hash
        seen = self._clock()
        digest = sha256(self._vault.read(path))
        self._fresh[path] = FileRow(path, stat.size, stat.mtime_ns, digest, seen)
        return digest

    def fresh(self) -> tuple[FileRow, ...]:
        """Rows for files that had to be read."""
        return tuple(self._fresh.values())

    def gone(self, present: Collection[str]) -> tuple[str, ...]:
        """Known paths that are not among those present."""
        return tuple(path for path in self._known if path not in present)
