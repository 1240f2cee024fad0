"""A page that waits for review: the page itself, with a few properties and, for an update, its diff on top.

Taking these off again gives exactly the page that promotion writes, with what a person changed in the candidate
kept.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tasks.markdown import properties
from tasks.markdown.blocks import split
from tasks.markdown.properties import Value
from tasks.records import BlockKind
from tasks.text_bytes import digest, encode

KEYS = ("candidate_of", "base_hash", "reasons", "promote", "discard")

BOXES = ("promote", "discard")

KEEPS = "candidate_keeps"
_OWN_BLOCK = "candidate_properties"
_CALLOUT = "> [!info]- What changes"
_SHOWN = re.compile(r"> \[!info\]- What changes[ \t]*(?:\r\n|\n|\r)> (`{3,})diff[ \t]*(?:\r\n|\n|\r)")
_TICKED = frozenset({"true", "yes", "y", "on", "x", "1"})


def candidate_text(
    page_text: str, kind: str, of: str, base_hash: str, reasons: Sequence[str], diff: str = ""
) -> str:
    """The candidate's file; `kind` is 'new' or 'update', which shows `diff` in a folded callout."""
    found = properties.read(page_text)
    values: dict[str, Value] = {
        "candidate_of": of,
        "base_hash": base_hash,
        "reasons": tuple(reasons),
        "promote": False,
        "discard": False,
    }
    own = [key for key in KEYS if key in found.values]
    kept: dict[str, Value] = {KEEPS: own} if own else {}
    text = properties.edit(page_text, {key: value for key, value in values.items() if key not in own} | kept)
    mark = properties.BOM if page_text[:1] == properties.BOM else ""
    if text == page_text or found.start == len(mark):
        text = mark + properties.edit("", values | {_OWN_BLOCK: True}) + page_text[len(mark) :]
    if kind != "update":
        return text
    start = properties.body_start(text)
    newline = "\r\n" if "\r\n" in text[:start] else "\n"
    callout = newline.join(_callout(diff))
    if start == len(text) and text[-1:] not in ("\n", "\r"):
        return text + newline + callout
    return text[:start] + callout + newline * 2 + text[start:]


def ticked(text: str) -> tuple[str, ...]:
    """The boxes that a person ticked in a candidate's file, in whatever spelling; keys of the page itself are none."""
    values = properties.read(text).values
    own = properties.strings(values, KEEPS)
    boxes = {key: values.get(key) for key in BOXES if key not in own}
    said = {key: value[0] if isinstance(value, list) and len(value) == 1 else value for key, value in boxes.items()}
    return tuple(key for key, value in said.items() if isinstance(value, str) and value.strip().lower() in _TICKED)


def strip_candidate(text: str) -> str:
    """The page that a candidate's file becomes when it is promoted."""
    text = _without_callout(text)
    values = properties.read(text).values
    own = properties.strings(values, KEEPS)
    text_without = properties.edit(text, {}, [key for key in (*KEYS, KEEPS) if key not in own and key in values])
    if _OWN_BLOCK not in values:
        return text_without
    text_without = properties.edit(text_without, {}, [_OWN_BLOCK])
    if properties.read(text_without).values:
        return text_without
    mark = properties.BOM if text[:1] == properties.BOM else ""
    return mark + text_without[properties.body_start(text_without) :]


def unreadable(text: str) -> str:
    """Why the properties of a candidate's file cannot be read or taken off; empty where they can."""
    found = properties.read(text)
    if not found.problem.startswith(properties.LEFT_ALONE):
        return ""
    return f"its properties cannot be read: line {found.line}{found.problem[len(properties.LEFT_ALONE) :]}"


def _without_callout(text: str) -> str:
    """The text without the callout that shows an update's diff; what a person wrote below the diff in it stays."""
    found = properties.read(text)
    update = found.values.get("base_hash", "unknown") not in ("", None)
    blocks = split(found.body) if update and _CALLOUT in found.body else ()
    for number, block in enumerate(blocks):
        shown = _SHOWN.match(block.text) if block.kind is BlockKind.QUOTE else None
        if shown is None:
            continue
        start, end = found.start + block.start, found.start + block.end
        closing = re.search(rf"^> {shown.group(1)}[ \t]*(?:\r\n|\n|\r|\Z)", text[start + shown.end() : end], re.M)
        theirs = text[start + shown.end() + closing.end() : end] if closing else ""
        if theirs.strip("> \t\r\n"):
            return text[:start] + theirs + text[end:]
        rest = text[end:]
        head = text[:start] if rest or number else re.sub(r"(?:\r\n|\n|\r)\Z", "", text[:start])
        return head + re.sub(r"\A(?:\r\n|\n|\r){1,2}", "", rest)
    return text


def said_hash(text: str) -> str:
    """Hash of what a candidate's file says: its text, and values of and comments on its properties, however spelt.

    The boxes are left out, so a person who ticks one in Obsidian, which spells the properties anew, has edited nothing.
    """
    found = properties.read(text)
    said = {key: properties.comparable(value) for key, value in found.values.items() if key not in BOXES}
    body = text[found.start :].replace("\r\n", "\n")
    comments = properties.comments(text)
    return digest(encode(repr(sorted(said.items())) + body + (repr(comments) if comments else "")))


def _callout(diff: str) -> list[str]:
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", diff)), default=0))
    rows = re.split(r"\r\n|\n|\r", diff.rstrip("\r\n"))
    return [_CALLOUT, f"> {fence}diff", *(f"> {row}".rstrip() for row in rows), f"> {fence}"]
