"""What office files say of themselves, and how words are put in one line; shared by the three readers."""

from __future__ import annotations

from datetime import date
from typing import Any

_TEMPLATES = frozenset({date(2013, 12, 23), date(2013, 1, 27)})
"""Days of the templates that python-docx and python-pptx begin with; a report made by them keeps these."""


def words(text: str) -> str:
    """A text in one line, its white space as single blanks."""
    return " ".join(text.split())


def facts(properties: Any) -> tuple[str, str, str]:
    """Title, author and date of an office file's own properties."""
    created = properties.modified or properties.created
    generic = {"python-docx", "openpyxl", "steve canny", "microsoft office user", "user", "admin", "administrator"}
    author = words((properties.author if hasattr(properties, "author") else properties.creator) or "")
    title = words(properties.title or "")
    if title == "Word Document":  # the reading library's own, where the file says nothing of itself
        return "", "", ""
    if author.lower() in generic:
        return title, "", ""  # a program's template; its date means nothing
    return (
        title,
        author,
        created.strftime("%Y-%m-%d") if created and created.year > 1990 and created.date() not in _TEMPLATES else "",
    )
