"""What the wiki is for, as its owner wrote it in `purpose.md`: the measure of what belongs."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from tasks.markdown import properties

NOTE = "purpose.md"
_COMMENT = re.compile(r"<!--.*?-->|%%.*?%%", re.S)
_SCAFFOLD = frozenset(
    {"purpose", "Say in a few lines what this wiki is for and what belongs into it. nightwiki never changes this note."}
)


@dataclass(frozen=True, slots=True)
class Purpose:
    """The purpose in the owner's words; empty when nothing was written yet."""

    text: str = ""

    @property
    def digest(self) -> str:
        """8 hex digits that change when the words do, not when lines are wrapped otherwise; '' without a purpose."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:8] if self.text else ""


def read_purpose(note: str) -> Purpose:
    """The purpose in a note's text, properties and comments aside; empty while it is only the note that `init` made."""
    body = _COMMENT.sub(" ", properties.read(note).body)
    lines = [" ".join(line.split()) for line in body.splitlines()]
    said = [line for line in lines if line and line.lstrip("# ").casefold() != "purpose" and line not in _SCAFFOLD]
    return Purpose("\n".join(said))
