"""How globs in the settings match vault paths; one meaning wherever the settings use them."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable


def matches(path: str, globs: Iterable[str]) -> bool:
    """Whether a vault path (forward slashes) matches one of the globs.

    `*` and `?` stay within a name, `**` spans folders, and a folder's own name stands for everything in it.
    Globs start at the vault's root: `*.md` is the notes at the top, `**/*.md` is all of them.
    """
    name = unicodedata.normalize("NFC", path)
    return any(_pattern(glob).fullmatch(name) for glob in globs)


@functools.lru_cache(maxsize=512)
def _pattern(glob: str) -> re.Pattern[str]:
    text = unicodedata.normalize("NFC", glob.strip()).removeprefix("./").removesuffix("/")
    out, at = "", 0
    while at < len(text):
        if text.startswith("**/", at):
            out, at = out + "(?:.*/)?", at + 3
        elif text.startswith("**", at):
            out, at = out + ".*", at + 2
        elif text[at] == "*":
            out, at = out + "[^/]*", at + 1
        elif text[at] == "?":
            out, at = out + "[^/]", at + 1
        else:
            out, at = out + re.escape(text[at]), at + 1
    return re.compile(f"{out}(?:/.*)?", re.DOTALL)
