"""Counting letters fast: those of plain ASCII in one sweep, and the others, few in most texts, by themselves."""

from __future__ import annotations

_ASCII = bytes(range(128))
_OTHER_ASCII = bytes(code for code in range(128) if not chr(code).isalpha())


def letters(text: str) -> int:
    """How many characters of a text are letters of any alphabet."""
    found = len(text.encode("ascii", "ignore").translate(None, _OTHER_ASCII))
    if text.isascii():
        return found
    others = beyond_ascii(text)
    return found + (len(others) if others.isalpha() else sum(map(str.isalpha, others)))


def beyond_ascii(text: str) -> str:
    """The characters of a text that are not ASCII, in order."""
    # in UTF-8 no part of such a character is an ASCII byte
    return text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")
