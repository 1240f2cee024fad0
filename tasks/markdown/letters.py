"""Counting letters fast: those of plain ASCII in one sweep, and the others, few in most texts, by themselves."""

from __future__ import annotations

import re

_OTHER_ASCII = bytes(code for code in range(128) if not chr(code).isalpha())
_BEYOND = re.compile(r"[^\x00-\x7f]+")


def letters(text: str) -> int:
    """How many characters of a text are letters of any alphabet."""
    found = len(text.encode("ascii", "ignore").translate(None, _OTHER_ASCII))
    if text.isascii():
        return found
    beyond = "".join(_BEYOND.findall(text))
    return found + (len(beyond) if beyond.isalpha() else sum(map(str.isalpha, beyond)))
