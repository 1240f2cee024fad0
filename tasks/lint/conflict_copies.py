"""Copies that sync tools leave behind when two machines changed one file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tasks.lint.desk import Desk
from tasks.lint.model import WARNING, Check, Issue

_COPY = re.compile(
    r"""^(?P<stem>.+?)(?:
        \ ?\((?:[^()]*\ )?conflict(?:ed)?(?:\ copy)?[^()]*\)   # Dropbox, Nextcloud, Obsidian Sync
      | \.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]+)?             # Syncthing
      | \.conflict\w*                                          # Resilio
      | _conf\(\d+\)                                           # pCloud
      | \ \[conflict(?:ed)?[^\]]*\]                            # Google Drive, MEGA
    )(?:\ \d+)?(?P<suffix>\.\w+)?$""",
    re.I | re.X,
)
_NUMBERED = re.compile(r"^(?P<stem>.+?)(?:\ (?P<number>[2-9])|\ \((?P<bracket>[1-9])\))(?P<suffix>\.md)$")


def _find(desk: Desk) -> Iterator[Issue]:
    for path in sorted(desk.material.files):
        folder, _, name = path.rpartition("/")
        match = _COPY.match(name)
        original = f"{folder}/" if folder else ""
        if match:
            original += match["stem"] + (match["suffix"] or "")
        elif (match := _NUMBERED.match(name)) and _same_page(desk, path, f"{original}{match['stem']}.md"):
            original += f"{match['stem']}.md"  # iCloud counts, Google Drive counts in brackets
        else:
            continue
        message = f"it looks like a sync tool's conflict copy of {original}"
        yield CHECK.issue(path, 0, message, "Take over what it has more, then delete it")


def _same_page(desk: Desk, path: str, original: str) -> bool:
    """Whether a counted copy carries the identity of the page it is named after."""
    if original not in desk.by_path or path not in desk.by_path:
        return False
    first, second = (desk.properties(desk.by_path[one]).values.get("nightwiki_id") for one in (original, path))
    return first is not None and first == second


CHECK = Check("conflict-copy", WARNING, "No conflict copy of a sync tool is left in the vault.", _find)
