"""A page that waits for review: the page itself, with a few properties and, for an update, its diff on top.

Taking these off again gives exactly the page that promotion writes, with what a person changed in the candidate
kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tasks.markdown import properties
from tasks.markdown.blocks import split
from tasks.markdown.properties import Value
from tasks.records import BlockKind
from tasks.text_bytes import digest, encode

KEYS = ("candidate_of", "base_hash", "reasons", "promote", "discard")

BOXES = ("promote", "discard")
"""Their names as they are written; Obsidian takes `Promote` for the same property."""

KEEPS = "candidate_keeps"
_OWN_BLOCK = "candidate_properties"
_TITLE = "What changes"
_CALLOUT = f"> [!info]- {_TITLE}"
_SHOWN = re.compile(  # also opened, or with the blank line that formatters put around code
    rf"> ?\[!info\][-+]? {_TITLE}[ \t]*(?:\r\n|\n|\r)(?:>[ \t]*(?:\r\n|\n|\r))*"
    r"> ?(`{3,})diff[ \t]*(?:\r\n|\n|\r)"
)
_TICKED = frozenset({"true", "yes", "y", "on", "x", "1", "\u2713", "\u2714", "\u2611", "\u2705"})  # check marks


@dataclass(frozen=True, slots=True)
class _Callout:
    """Where the callout that shows an update's diff stands in a candidate's text, and what stands in it."""

    start: int
    end: int
    shown: str   # the diff's rows
    theirs: str  # what a person wrote below them
    first: bool  # nothing of the body stands before it


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
    own = [key for key in found.values if key in KEYS or _box(key)]
    kept: dict[str, Value] = {KEEPS: own} if own else {}
    taken = {_box(key) or key for key in own}
    text = properties.edit(page_text, {key: value for key, value in values.items() if key not in taken} | kept)
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
    said = {_box(key) for key in _ticks(properties.read(text).values)}
    return tuple(box for box in BOXES if box in said)


def unticked(text: str) -> str:
    """The candidate's file with no box ticked."""
    return properties.edit(text, dict.fromkeys(_ticks(properties.read(text).values), False))


def _ticks(values: Mapping[str, object]) -> list[str]:
    """The keys of the boxes that are ticked, as they are spelt."""
    own = properties.strings(values, KEEPS)
    return [key for key, value in values.items() if _box(key) and key not in own and _is_yes(value)]


def _box(key: str) -> str:
    """The box that a property is, or ''."""
    name = key.strip().lower()
    return name if name in BOXES else ""


def _is_yes(value: object) -> bool:
    said = value[0] if isinstance(value, list) and len(value) == 1 else value
    return isinstance(said, str) and said.strip("[] \t").lower() in _TICKED


def strip_candidate(text: str) -> str:
    """The page that a candidate's file becomes when it is promoted."""
    text = _without_callout(text)
    values = properties.read(text).values
    own = properties.strings(values, KEEPS)
    marks = [key for key in values if key not in own and (key in (*KEYS, KEEPS) or _box(key))]
    text_without = properties.edit(text, {}, marks)
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
    if any(found.problem == properties.twice(key) for key in found.values if _box(key)):
        return f"line {found.line}: {found.problem}"
    if not found.problem.startswith(properties.LEFT_ALONE):
        return ""
    return f"its properties cannot be read: line {found.line}{found.problem[len(properties.LEFT_ALONE) :]}"


def shown_hash(text: str) -> str:
    """Hash of the words in the diff that an update shows; empty where it shows none."""
    callout = _shown(text)
    words = [" ".join(row.lstrip("> \t").split()) for row in callout.shown.splitlines()] if callout else []
    said = "\n".join(word for word in words if word)
    return digest(encode(said)) if said else ""


def _without_callout(text: str) -> str:
    """The text without the callout that shows an update's diff; what a person wrote below the diff in it stays."""
    callout = _shown(text)
    if callout is None:
        return text
    if callout.theirs.strip("> \t\r\n"):
        return text[: callout.start] + callout.theirs + text[callout.end :]
    rest = text[callout.end :]
    head = text[: callout.start]
    head = head if rest or not callout.first else re.sub(r"(?:\r\n|\n|\r)\Z", "", head)
    return head + re.sub(r"\A(?:\r\n|\n|\r){1,2}", "", rest)


def _shown(text: str) -> _Callout | None:
    found = properties.read(text)
    update = found.values.get("base_hash", "unknown") not in ("", None)
    blocks = split(found.body) if update and _TITLE in found.body else ()
    for number, block in enumerate(blocks):
        opening = _SHOWN.match(block.text) if block.kind is BlockKind.QUOTE else None
        if opening is None:
            continue
        start, end = found.start + block.start, found.start + block.end
        diff = text[start + opening.end() : end]
        closing = re.search(rf"^> ?{opening.group(1)}[ \t]*(?:\r\n|\n|\r|\Z)", diff, re.M)
        shown, theirs = (diff[: closing.start()], diff[closing.end() :]) if closing else (diff, "")
        return _Callout(start, end, shown, theirs, number == 0)
    return None


def said_hash(text: str) -> str:
    """Hash of what a candidate's file says: its text, and values of and comments on its properties, however spelt.

    The boxes are left out, so a person who ticks one in Obsidian, which spells the properties anew, has edited nothing.
    """
    found = properties.read(text)
    said = {key: properties.comparable(value) for key, value in found.values.items() if not _box(key)}
    body = text[found.start :].replace("\r\n", "\n")
    comments = properties.comments(text)
    return digest(encode(repr(sorted(said.items())) + body + (repr(comments) if comments else "")))


def _callout(diff: str) -> list[str]:
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", diff)), default=0))
    rows = re.split(r"\r\n|\n|\r", diff.rstrip("\r\n"))
    return [_CALLOUT, f"> {fence}diff", *(f"> {row}".rstrip() for row in rows), f"> {fence}"]
