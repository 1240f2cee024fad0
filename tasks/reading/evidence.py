"""The readable copy of a source, with a stable `^pN` on every paragraph, and a document's form on disk.

A citation points at `^p7`. So a paragraph keeps its number for as long as its words stay, wherever it moves to, and
through small edits at its old place; a number is never given out twice, not even after its paragraph is gone.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import fields, replace
from difflib import SequenceMatcher
from hashlib import sha256
from typing import Any

from tasks.markdown.escape import escape_block, escape_inline
from tasks.records import BlockKind, Document, Part

_NUMBER = re.compile(r"\^p(\d+)$")
ALIKE = 0.6  # share of words that two versions of a paragraph at the same place must have in common
MOST_COMPARED = 400


# --- numbers ---------------------------------------------------------------------------------------------------------


def anchor(document: Document, previous: Document | None = None) -> Document:
    """The document with `^pN` on every part but headings, which take the number of what follows them.

    Parts whose text stood in `previous` keep its number, also when moved; a changed part between the same neighbours
    keeps it when most words stayed; all others get numbers that were never used.
    """
    bodies = [index for index, part in enumerate(document.parts) if part.kind is not BlockKind.HEADING]
    old = (
        []
        if previous is None
        else [
            (part, number)
            for part in previous.parts
            if (number := _number(part.anchor)) and part.kind is not BlockKind.HEADING
        ]
    )
    highest = max([previous.last_anchor if previous else 0, *(number for _, number in old)])
    numbers = _kept([document.parts[index] for index in bodies], old)
    for position, number in enumerate(numbers):
        if not number:
            highest += 1
            numbers[position] = highest
    anchors = {index: f"^p{number}" for index, number in zip(bodies, numbers, strict=True)}
    parts: list[Part] = []
    following = f"^p{numbers[-1]}" if numbers else ""
    for index in range(len(document.parts) - 1, -1, -1):
        following = anchors.get(index, following)
        parts.append(replace(document.parts[index], anchor=following))
    return replace(document, parts=tuple(reversed(parts)), last_anchor=highest)


def _number(text: str) -> int:
    match = _NUMBER.match(text)
    return int(match.group(1)) if match else 0


def _key(part: Part) -> str:
    return sha256(" ".join(part.text.split()).casefold().encode("utf-8", "surrogatepass")).hexdigest()


def _kept(parts: list[Part], old: list[tuple[Part, int]]) -> list[int]:
    """The number each part keeps from before, or 0."""
    numbers = [0] * len(parts)
    if not old:
        return numbers
    old_keys, new_keys = [_key(part) for part, _ in old], [_key(part) for part in parts]
    taken: set[int] = set()
    matcher = SequenceMatcher(None, old_keys, new_keys, autojunk=False)
    gaps = []
    for operation, a0, a1, b0, b1 in matcher.get_opcodes():
        if operation == "equal":
            for a, b in zip(range(a0, a1), range(b0, b1), strict=True):
                numbers[b] = old[a][1]
                taken.add(a)
        elif operation == "replace":
            gaps.append((a0, a1, b0, b1))
    moved: dict[str, deque[int]] = defaultdict(deque)
    for index, key in enumerate(old_keys):
        if index not in taken:
            moved[key].append(index)
    for index, key in enumerate(new_keys):
        if not numbers[index] and moved[key]:
            origin = moved[key].popleft()
            numbers[index] = old[origin][1]
            taken.add(origin)
    for a0, a1, b0, b1 in gaps:
        _alike(parts, old, numbers, taken, range(a0, a1), range(b0, b1))
    return numbers


def _alike(
    parts: list[Part], old: list[tuple[Part, int]], numbers: list[int], taken: set[int], before: range, after: range
) -> None:
    """Within one changed stretch, gives edited parts the number of the part they were, in order."""
    if len(before) * len(after) > MOST_COMPARED:
        return
    first = before.start
    for index in after:
        if numbers[index]:
            continue
        for origin in range(first, before.stop):
            if (
                origin not in taken
                and old[origin][0].kind is parts[index].kind
                and _similar(old[origin][0].text, parts[index].text)
            ):
                numbers[index] = old[origin][1]
                taken.add(origin)
                first = origin + 1
                break


def _similar(one: str, other: str) -> bool:
    a, b = _units(one), _units(other)
    return bool(a and b) and 2 * len(a & b) >= ALIKE * (len(a) + len(b))


def _units(text: str) -> set[str]:
    words = set(text.casefold().split())
    return words if len(words) > 3 else {text[i : i + 2] for i in range(len(text) - 1)}


# --- the readable copy -----------------------------------------------------------------------------------------------


def render(document: Document, fetched: str) -> str:
    """The readable copy as Markdown: properties, then the text, each block with its `^pN`.

    Nothing in the text becomes a link, tag, embed or heading by accident. Lists, tables, quotes and code carry their
    number on a line of its own between blank lines, as Obsidian wants it.
    """
    lines = ["---", *_properties(document, fetched), "---", ""]
    if document.title and not _opens_with_title(document):
        lines += [f"# {escape_inline(' '.join(document.title.split()))}", ""]
    for part in document.parts:
        lines += [*_block(part), ""]
    return "\n".join(lines)


def _opens_with_title(document: Document) -> bool:
    first = document.parts[0] if document.parts else None
    return first is not None and first.kind is BlockKind.HEADING and first.text == document.title


def _properties(document: Document, fetched: str) -> Iterable[str]:
    source = document.url or (f"[[{document.location}]]" if document.location else "")
    location = document.location
    if location and not document.url and (re.search(r"[#^|\[\]]", location) or not location.isprintable()):
        source = location
    for key, value in (
        ("title", document.title),
        ("source", source),
        ("author", document.author),
        ("published", document.published),
        ("fetched", fetched),
    ):
        if value:
            yield f"{key}: {_quoted(value)}"


def _quoted(value: str) -> str:
    """A value as a double-quoted YAML string in one line; a date or time as it is."""
    if re.fullmatch(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?Z?)?", value):
        return value
    text = json.dumps(" ".join(value.split()), ensure_ascii=False)
    return re.sub(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]", "", text)


def _block(part: Part) -> list[str]:
    text = escape_block(part)
    if part.kind is BlockKind.HEADING:
        return [text]
    if part.kind is BlockKind.PARAGRAPH:
        lead = f"({part.time}) " if part.time else ""
        return [f"{lead}{text} {part.anchor}" if part.anchor else f"{lead}{text}"]
    return [text, "", part.anchor] if part.anchor else [text]


# --- the form on disk ------------------------------------------------------------------------------------------------


_PART = tuple(field.name for field in fields(Part))


def encode_document(document: Document) -> bytes:
    """A document as JSON, the same bytes for equal documents."""
    value: dict[str, object] = {field.name: getattr(document, field.name) for field in fields(document)}
    value["parts"] = [{name: getattr(part, name) for name in _PART} for part in document.parts]
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def decode_document(data: bytes) -> Document:
    """The document that `encode_document` wrote; fields that it does not know get their defaults."""
    value = json.loads(data)
    known = {field.name for field in fields(Document)}
    part_fields = {field.name for field in fields(Part)}
    parts = tuple(
        Part(**{**{key: item for key, item in part.items() if key in part_fields}, "kind": BlockKind(part["kind"])})
        for part in value["parts"]
    )
    plain: dict[str, Any] = {
        key: tuple(item) if isinstance(item, list) else item
        for key, item in value.items()
        if key in known and key != "parts"
    }
    return Document(parts=parts, **plain)
