"""Files as text and back: bytes that are not UTF-8 survive the way through."""

from __future__ import annotations

import hashlib


def decode(content: bytes) -> str:
    """Return a file's text; `encode` gives its bytes again, whatever they are."""
    return content.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Return the bytes of a text that `decode` gave."""
    return text.encode("utf-8", "surrogateescape")


def shown(text: str) -> str:
    """Return a text that can be shown and sent: bytes that are not UTF-8 become marks of replacement."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def digest(content: bytes) -> str:
    """Return the sha256 of some bytes, in hex."""
    return hashlib.sha256(content).hexdigest()
