"""Gives the disk back what Prefect's database has deleted: SQLite does so only by VACUUM, with the server stopped."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

WORTH_BYTES = 16 * 2**20
WORTH_SHARE = 0.25
"""What is free must be at least so much, and such a part of the file, to be worth the rewriting."""


def shrink(database: Path) -> int:
    """Bytes given back to the disk; 0 when it is not worth it, not possible, or not a database. Never raises."""
    if not database.is_file():
        return 0
    with contextlib.suppress(sqlite3.Error, OSError), closing(sqlite3.connect(database, timeout=1)) as opened:
        size = _pragma(opened, "page_count") * _pragma(opened, "page_size")
        free = _pragma(opened, "freelist_count") * _pragma(opened, "page_size")
        room = shutil.disk_usage(database.parent).free
        if free < WORTH_BYTES or free < WORTH_SHARE * size or room < 2 * (size - free):
            return 0
        before = database.stat().st_size
        opened.execute("VACUUM")
        opened.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return max(0, before - database.stat().st_size)
    return 0


def _pragma(opened: sqlite3.Connection, name: str) -> int:
    return int(opened.execute(f"PRAGMA {name}").fetchone()[0])
