"""Names of page files: readable, legal on every system, linkable in Obsidian, and stable.

This is the one slug function of the code base. Latin letters lose their accents, every other script stays as it is;
what cannot be told from another page's name gets a suffix from the page's identity, never from the order of arrival.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Collection
from typing import Literal

MAX_BYTES = 180
"""Of a stem; leaves room for '.update.md' and a suffix within 200 bytes of file name."""

ATTACHMENTS = frozenset({
    "avif", "bmp", "gif", "jpeg", "jpg", "png", "svg", "webp", "3gp", "flac", "m4a", "mp3", "oga", "ogg", "opus",
    "wav", "mkv", "mov", "mp4", "ogv", "webm", "pdf", "canvas", "base",
})  # fmt: skip
"""Extensions that Obsidian takes for files; any other ending of a link belongs to a page's name."""

_LETTERS = str.maketrans({
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "oe", "đ": "d", "ð": "dh", "þ": "th", "ł": "l", "ħ": "h", "ŧ": "t",
    "ı": "i", "ŋ": "ng", "ĸ": "k", "ſ": "s", "ɨ": "i", "ƀ": "b", "ɖ": "d", "ƒ": "f", "ɗ": "d", "ɓ": "b", "ƙ": "k",
})  # fmt: skip
_RESERVED = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?=$|\.)", re.I)
_SAID = re.compile("['’ʼ`´+#]")  # signs that are more than a gap between words
_NO_ASCII_NAME = re.compile(r"[^a-z0-9]+")
_FORBIDDEN = re.compile(r'[\[\]#^|\\/:*?"<>]')


def fold(name: str) -> str:
    """The name with case and Unicode form folded: equal for names that some file system takes for one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def slugify(title: str) -> str:
    """A lower-case name of words joined by '-', at most 180 bytes; never empty, reserved or hidden."""
    text = unicodedata.normalize("NFKC", title).lower()
    if _SAID.search(text):
        text = re.sub(r"(?<=\w)['’ʼ`´](?=\w)", "", text)
        text = re.sub(r"(?<=[^\W_])\++(?![^\W_])", lambda m: "-plus" * len(m.group()), text)
        text = re.sub(r"(?<=[^\W_])#(?![^\W_])", "-sharp", text)
    slug = _NO_ASCII_NAME.sub("-", text).strip("-") if text.isascii() else _of_any_script(text)
    if not slug:
        return f"page-{_digest(title)[:8]}"
    if _RESERVED.match(slug):
        slug = f"{slug}-page"
    if len(slug.encode()) > MAX_BYTES:
        slug = f"{_cut(slug, MAX_BYTES - 9).rstrip('-')}-{_digest(title)[:8]}"
    return slug


def _of_any_script(text: str) -> str:
    """Words of any script joined by '-', Latin letters without their accents."""
    kept: list[str] = []
    base = ""
    for char in unicodedata.normalize("NFD", text):
        category = unicodedata.category(char)
        if category[0] == "M":
            if kept and kept[-1] != "-" and not _latin(base):
                kept.append(char)
        elif category[0] in "LN":
            kept.append(char)
            base = char
        elif category != "Cf" and kept and kept[-1] != "-":
            kept.append("-")
    return unicodedata.normalize("NFC", "".join(kept).translate(_LETTERS)).strip("-")


def file_stem(title: str, identity: str, taken: Collection[str], style: Literal["slug", "title"] = "slug") -> str:
    """A stem whose folded form is not in `taken` (folded stems); the suffix is a hash of `identity`."""
    stem = slugify(title) if style == "slug" else _readable(title)
    if fold(stem) not in taken:
        return stem
    digest = _digest(identity)
    joint = "-" if style == "slug" else " "
    for length in range(6, len(digest) + 1, 2):
        suffix = joint + digest[:length]
        named = _cut(stem, MAX_BYTES - len(suffix)).rstrip("- .") + suffix
        if fold(named) not in taken:
            return named
    return f"{_cut(stem, 80)}{joint}{_digest(identity + repr(sorted(taken)))}"


def _readable(title: str) -> str:
    text = unicodedata.normalize("NFC", title)
    text = "".join(" " if unicodedata.category(char)[0] in "CZ" else char for char in text)
    text = _FORBIDDEN.sub(" ", text).replace("%%", "%").replace("`", "'")
    stem, dot, extension = text.rstrip(" .").rpartition(".")
    if dot and extension.lower() in ATTACHMENTS | {"md", "update"}:
        text = f"{stem} {extension}"
    text = " ".join(text.split()).strip(" .")
    if not any(unicodedata.category(char)[0] in "LN" for char in text):
        return f"page-{_digest(title)[:8]}"
    if _RESERVED.match(text):
        text = f"{text} page" if "." not in text else text.replace(".", " ")
        text = f"{text} page" if _RESERVED.match(text) else text
    if len(text.encode()) > MAX_BYTES:
        text = f"{_cut(text, MAX_BYTES - 9).rstrip(' .')} {_digest(title)[:8]}"
    return text


def _latin(base: str) -> bool:
    return bool(base) and unicodedata.name(base, "").startswith("LATIN ")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _cut(text: str, size: int) -> str:
    """At most `size` bytes of `text`, never inside a character or between a letter and its marks."""
    kept = text.encode()[:size].decode(errors="ignore")
    if len(kept) < len(text):
        while kept and unicodedata.category(text[len(kept)])[0] == "M":
            kept = kept[:-1]
    return kept
