"""Writing inside the state folder so that a crash leaves the old or the new bytes, never a mixture.

The vault has its own, stricter gate (`storage.vault`); these helpers serve nightwiki's own files.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

TEMP_PREFIX = ".nightwiki-"
TEMP_SUFFIX = ".tmp"


def sha256(content: bytes) -> str:
    """The hash by which nightwiki knows bytes, in hex."""
    return hashlib.sha256(content).hexdigest()


def temp_name() -> str:
    """A fresh name for a file on its way; the leading dot hides it from Obsidian."""
    return f"{TEMP_PREFIX}{secrets.token_hex(8)}{TEMP_SUFFIX}"


def is_temp_name(name: str) -> bool:
    """Whether a file of this name is one of ours that a crash left behind."""
    middle = name.removeprefix(TEMP_PREFIX).removesuffix(TEMP_SUFFIX)
    ours = name == f"{TEMP_PREFIX}{middle}{TEMP_SUFFIX}"
    return ours and len(middle) == 16 and set(middle) <= set("0123456789abcdef")


def fsync_folder(folder: Path | str) -> None:
    """Make renames and removals in a folder durable (a no-op where folders cannot be opened)."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:  # Windows, or a folder that may be written but not listed
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def fsync_file(path: Path | str) -> None:
    """Make a file's bytes durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, content: bytes | memoryview) -> None:
    """Write every byte, however many calls the system takes for it."""
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view):]


def write_file(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Replace a file of the state folder atomically and durably; on an error the old one stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temp = path.parent / temp_name()
    descriptor = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        try:
            for part in parts:
                write_all(descriptor, part)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        temp.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temp.unlink()
        raise
    fsync_folder(path.parent)


def append_line(path: Path, line: str, sync: bool = True) -> None:
    """Append one line with one write, so that lines of two processes never mix; with `sync` durable when it returns.

    A torn last line, left by a crash, is closed first so that it spoils nothing but itself.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        size = os.fstat(descriptor).st_size
        torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        write_all(descriptor, (("\n" if torn else "") + line + "\n").encode())
        if sync:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
