"""Drops what Prefect keeps of answers and packs past their time: it writes each into a file, and never deletes one.

Only nightwiki's own storage is looked at, below the wiki's state; on a server of the person's own their rules hold.
"""

from __future__ import annotations

import contextlib
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

KEPT = timedelta(days=7)
"""How long a result is good for."""

_NAME = re.compile(r"[0-9a-f]{32}")


def drop_expired(folder: Path, now: datetime) -> int:
    """Delete the results in Prefect's storage folder whose time is over at `now`; how many. Never raises."""
    gone = 0
    with contextlib.suppress(OSError):
        for path in sorted(folder.iterdir()):
            gone += _NAME.fullmatch(path.name) is not None and _dropped(path, now)
    return gone


def _dropped(path: Path, now: datetime) -> bool:
    """Whether a file was old and is gone; one that another process deletes or reads meanwhile is no matter."""
    with contextlib.suppress(OSError):
        old = datetime.fromtimestamp(path.lstat().st_mtime, UTC) + KEPT < now
        if old and path.is_file() and not path.is_symlink():
            path.unlink()
            return True
    return False
