"""The words of a Markdown page without what is not said to a reader: properties, comments, footnotes, link
targets.
"""

from __future__ import annotations

import re

_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(?:[^\n]*\n)*?---[ \t]*(?:\r?\n|\Z)")
_COMMENT = re.compile(r"<!--.*?-->|%%.*?%%", re.DOTALL)
_DEFINITION = re.compile(r"^\[\^[^\]\s]+\]:.*(?:\n(?:[ \t]{2,}|\t).*)*", re.MULTILINE)
_REFERENCE = re.compile(r"\[\^[^\]\s]+\]")
_ANCHOR = re.compile(r"[ \t]\^[\w-]+[ \t]*$", re.MULTILINE)
_WIKILINK = re.compile(r"!?\[\[(?:[^\]|\n]*\|)?([^\]|\n]*)\]\]")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_LINE_MARK = re.compile(
    r"^[ \t]*(?:#{1,6}|[-*+>]|\d+[.)]|```.*|~~~.*|\|[-:| \t]+\|?|[-*_]{3,})(?:[ \t]+|$)", re.MULTILINE
)
_EMPHASIS = re.compile(r"(?<!\w)[*_`~=]{1,3}(?=\S)|(?<=\S)[*_`~=]{1,3}(?!\w)")
_SPACE = re.compile(r"\s+")


def body_start(text: str) -> int:
    """Where the page begins behind its properties; 0 without any."""
    front = _FRONT.match(text)
    return front.end() if front else 0


def readable(markdown: str) -> str:
    """What a page says, marks and line breaks kept: no properties, comments, footnotes, block ids or link targets."""
    text = markdown[body_start(markdown) :]
    if "<!--" in text or "%%" in text:
        text = _COMMENT.sub(" ", text)
    if "[^" in text:
        text = _REFERENCE.sub("", _DEFINITION.sub("", text))
    if " ^" in text:
        text = _ANCHOR.sub("", text)
    if "[" in text:
        text = _LINK.sub(r"\1", _WIKILINK.sub(r"\1", text))
    return text


def plain(markdown: str) -> str:
    """The words of a page in one line, marks left out as well."""
    text = _LINE_MARK.sub("", readable(markdown))
    return _SPACE.sub(" ", _EMPHASIS.sub("", text)).strip()
