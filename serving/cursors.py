"""Cursors: where a list goes on, and in which snapshot, so that its parts are of one piece."""

from __future__ import annotations

import base64
import binascii
import re

from config.errors import NotFoundError


def cursor(snapshot: str, offset: int) -> str:
    """The cursor of a place in a list of a snapshot."""
    return base64.urlsafe_b64encode(f"{offset}:{snapshot}".encode()).decode().rstrip("=")


def read_cursor(text: str) -> tuple[str, int]:
    """Snapshot and offset that a cursor holds, '' and 0 of an empty one. Raises NotFoundError for what is none."""
    if not text:
        return "", 0
    try:
        told = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode("ascii")
        offset, _, snapshot = told.partition(":")
        if not re.fullmatch(r"\d{1,9}", offset) or not snapshot:
            raise ValueError
    except (ValueError, binascii.Error):
        raise NotFoundError(text[:40], "this is no cursor", "Take `next` of the answer before") from None
    return snapshot, int(offset)
