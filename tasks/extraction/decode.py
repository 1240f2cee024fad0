"""Bytes to text: byte-order mark, then a declared encoding, then UTF-8, then the best guess.

A wrong guess yields readable-looking nonsense that would be cited for ever, so the declared and the self-evident
come first.
"""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
from dataclasses import dataclass

from tasks.extraction import latin

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]+)"""
    rb"""|<\?xml[^>]{0,100}encoding\s*=\s*["']([A-Za-z0-9_.:-]+)""",
    re.I,
)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]+)", re.I)
# As browsers do: these names mean their Windows supersets.
_SUPERSETS = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
    "tis-620": "cp874",
}
_USUAL = (
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "koi8_r", "cp866", "iso8859_2",
    "gb18030", "big5", "shift_jis", "euc_jp", "euc_kr", "cp949", "iso2022_jp", "cp874",
)  # fmt: skip
GUESS_BYTES = 60_000
TOO_FEW = 12  # bytes beyond ASCII to tell an encoding by


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text and the encoding it was read with."""

    text: str
    encoding: str


def decode(data: bytes, content_type: str = "") -> Decoded | None:
    """The text of `data`, with `\\n` line ends and without byte-order mark; None when it is no text."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _as(data[len(mark) :], encoding, "replace")
    wide = _wide(data)
    if wide:
        return _as(data, wide, "replace")
    if b"\x00" in data[:4096]:
        return None
    try:
        return _switched(data) or Decoded(_lines(data.decode("utf-8")), "utf-8")
    except UnicodeDecodeError as error:
        # One cut or odd byte in a long UTF-8 text does not make it another encoding.
        broken = error.start
    head = data[:4096]
    meta = _DECLARED.search(head)
    declared = [match.group(1) for match in [_CHARSET.search(content_type)] if match]
    declared += [(meta.group(1) or meta.group(2)).decode("ascii")] if meta else []
    for label in declared:
        try:
            codec = codecs.lookup(label).name
            name = _SUPERSETS.get(codec, codec)
            return Decoded(_lines(data.decode(name)), name)
        except (LookupError, UnicodeDecodeError, ValueError):
            continue
    text = data.decode("utf-8", "replace")
    damaged = text.count("\ufffd")
    if (
        damaged * 200 < len(text)
        and (broken > 200 or damaged < 3)
        and any(ord(c) > 127 and c != "\ufffd" for c in text[:200_000])
    ):
        return Decoded(_lines(text), "utf-8")
    return _by_two_programs(data) or _guess(data)


def _as(data: bytes, encoding: str, errors: str) -> Decoded:
    return Decoded(_lines(data.decode(encoding, errors)), encoding)


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _switched(data: bytes) -> Decoded | None:
    """Text of mails and old systems in seven bits, whose escape sequences switch between alphabets."""
    if b"\x1b" not in data or b"\x1b$" not in data:  # one byte is found sooner than two
        return None
    for encoding in ("iso2022_jp_ext", "iso2022_kr"):
        with suppress(UnicodeDecodeError):
            return _as(data, encoding, "strict")
    return None


def _by_two_programs(data: bytes) -> Decoded | None:
    """A text some lines of which are UTF-8 and the others are not; None when too few are."""
    lines = data.split(b"\n")
    texts: list[str | None] = []
    for line in lines:
        try:
            texts.append(line.decode("utf-8"))
        except UnicodeDecodeError:
            texts.append(None)
    others = b"\n".join(line for line, text in zip(lines, texts, strict=True) if text is None)
    sound = sum(not character.isascii() for text in texts if text for character in text)
    if sound < TOO_FEW / 2 or sound * 10 < len(others.translate(None, delete=bytes(range(128)))):
        return None
    guess = _guess(others)
    if guess is None:
        return None
    guessed = iter(guess.text.split("\n"))
    return Decoded(_lines("\n".join(next(guessed, "") if text is None else text for text in texts)), "utf-8")


def _wide(data: bytes) -> str:
    """UTF-16 without a mark: its zero bytes stand nearly all on one side."""
    head = data[:2000]
    head = head[: len(head) // 2 * 2]
    if len(head) < 8:
        return ""
    even, odd = head[::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    if odd > half * 0.4 and even < half * 0.02:
        return "utf-16-le"
    if even > half * 0.4 and odd < half * 0.02:
        return "utf-16-be"
    return ""


def _guess(data: bytes) -> Decoded | None:
    """By the letters of a Latin text, else as charset-normalizer guesses, else Windows-1252 if most are letters."""
    from charset_normalizer import from_bytes

    head = data[:GUESS_BYTES]
    known = latin.encoding(head)
    if known:
        return _as(data, known, "replace")
    high = len(head.translate(None, delete=bytes(range(128))))
    western = high < TOO_FEW or high * 30 < len(head)
    best = None if western else from_bytes(head, cp_isolation=list(_USUAL)).best()
    if best is not None:
        return _as(data, _SUPERSETS.get(best.encoding, best.encoding), "replace")
    text = data.decode("cp1252", "replace")
    printable = sum(character.isprintable() or character in "\n\r\t" for character in text[:GUESS_BYTES])
    letters = sum(
        character.isascii() and (character.isalnum() or character.isspace()) for character in text[:GUESS_BYTES]
    )
    size = min(len(text), GUESS_BYTES)
    return Decoded(_lines(text), "cp1252") if printable > 0.95 * size and letters > 0.6 * size else None
