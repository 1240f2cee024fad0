"""Which words are a title, and which are what a program wrote because nobody gave one."""

from __future__ import annotations

import re

_PROGRAMS = r"(?:microsoft\s+)?(?:word|powerpoint|excel|publisher)"
_NO_TITLE = re.compile(
    rf"untitled\b.*|{_PROGRAMS}\s*[-–:]\s+.*|{_PROGRAMS}|(?:layout|slide|folie|document|dokument"
    rf"|presentation|präsentation|book|sheet|tabelle|page|seite|scan)\s*[-–_]?\s*\d*"
    r"|.*\.(?:docx?|pptx?|xlsx?|odt|tex|dvi|pdf|indd|qxd|ps|eps|rtf|pages|html?|md|txt|p65|fm|cdr|ai)"
    r"|(?:no\s+)?title|none|null|home|index|\(anonymous\)|unknown"
    r"|titel|print|default|template|new\s+document|ohne\s+titel|sans\s+titre|sin\s+título|無題.*|未命名.*"
    r"|.*(?:\{\{.*\}\}|<%.*%>).*"  # a template that was not filled in
    r"|(?:https?|file)://\S+|[a-z]:\\.*|\W*|[\W\d_]+",
    re.IGNORECASE,
)
LONGEST = 200


def sensible(title: str) -> str:
    """The title in one line, cut to 200 characters; '' when it is a program's filler, a file name or no words."""
    title = " ".join(title.split())
    if _NO_TITLE.fullmatch(title) or not any(character.isalnum() for character in title):
        return ""
    if sum(character == "\ufffd" or not character.isprintable() for character in title) * 5 > len(title):
        return ""
    return title if len(title) <= LONGEST else title[:LONGEST].rsplit(" ", 1)[0] + "…"
