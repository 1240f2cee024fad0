"""The one reader and the one writer of a note's properties (the YAML block at its top).

Reading gives every scalar as the string that is written: `NO`, `1.10`, `01234` and `12:30` are what they look like.
Writing replaces single values line by line; keys, order, comments, quoting and line endings that were not asked
about stay byte for byte, a byte-order mark included. Each edit is read back before it counts; a block that is not
sound YAML is left alone. Strings are written so that YAML 1.1 and 1.2 readers see the same string.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import yaml

from tasks.markdown.yaml_text import Plain, Value, is_list, lines, scalar
from tasks.pages.slugs import fold

__all__ = [
    "BOM", "LEFT_ALONE", "Plain", "Properties", "Value", "aliases", "body_start", "comments", "comparable", "edit",
    "normal_aliases", "normal_tags", "read", "string", "strings", "tags", "twice",
]  # fmt: skip

LEFT_ALONE = "malformed frontmatter, left alone"
BOM = "\ufeff"

_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_OPENING = re.compile(r"\ufeff?---[ \t]*(\r\n|\n|\r)")
_CLOSING = re.compile(r"^---[ \t]*(?:\r\n|\n|\r(?!\n)|\Z)", re.M)
_KEY_LINE = re.compile(
    r"""(?:"[^"\r\n]*"[ \t]*|'[^'\r\n]*'[ \t]*|[^\s#\-:\[\]{}&*!|>%@`"'][^:#\r\n]*):(?=[ \t\r\n]|$)"""
)
_COMMENT = re.compile(  # or a string in quotes, in which a sharp begins none
    r"""(?:(?<=\s)|^)(\#[^\r\n]*) | (?<![^\s,:\[{])(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')""", re.S | re.M | re.X
)
_MAX_NODES = 20_000


@dataclass(frozen=True, slots=True)
class Properties:
    """The properties of a note. Scalars are strings, an empty value is None, lists and mappings are what they are."""

    values: Mapping[str, object] = field(default_factory=dict)
    body: str = ""
    start: int = 0            # character offset of the body
    problem: str = ""         # empty when the block is sound, or absent
    line: int = 0             # of the problem, from 1; 0 without one


@dataclass(frozen=True, slots=True)
class _Block:
    """Where a leading block lies: `text[first:last]` are its lines between the fences."""

    first: int
    last: int
    start: int                # of the body
    newline: str


@dataclass(frozen=True, slots=True)
class _Entry:
    key: str
    value: object
    key_start: int            # offsets in the block's text
    start: int
    end: int
    inline: bool              # the value ends on the line of its key


class _UnsoundError(Exception):
    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem, line)
        self.problem = problem
        self.line = line


def read(text: str) -> Properties:
    """The properties and body of a note; a leading block that is not properties belongs to the body."""
    block = _block(text)
    if block is None:
        opening = _OPENING.match(text)
        if opening and _KEY_LINE.match(text, opening.end()):
            return Properties({}, text, 0, f"{LEFT_ALONE}: the closing --- is missing", 1)
        start = 1 if text[:1] == BOM else 0
        return Properties({}, text[start:], start)
    inner = text[block.first : block.last]
    try:
        entries = _entries(inner)
    except _UnsoundError as error:
        line = error.line + 2
        problem = f"{LEFT_ALONE}: {error.problem}"
        if not _looks_like_properties(inner):
            start = 1 if text[:1] == BOM else 0
            return Properties({}, text[start:], start, problem, line)
        return Properties(_salvage(inner), text[block.start :], block.start, problem, line)
    values = {entry.key: entry.value for entry in entries}
    if len(values) < len(entries):
        seen: set[str] = set()
        for entry in entries:
            if entry.key in seen:
                line = inner.count("\n", 0, entry.key_start) + 2
                return Properties(values, text[block.start :], block.start, twice(entry.key), line)
            seen.add(entry.key)
    return Properties(values, text[block.start :], block.start)


def twice(key: str) -> str:
    """The problem of properties in which a key stands twice."""
    return f"the key '{key}' stands twice"


def body_start(text: str) -> int:
    """Offset of a note's body: behind its properties, or behind a byte-order mark."""
    if _OPENING.match(text):
        return read(text).start
    return 1 if text[:1] == BOM else 0


def comments(text: str) -> tuple[str, ...]:
    """The comments that stand among a note's properties, in their order."""
    block = _block(text)
    found = _COMMENT.finditer(text, block.first, block.last) if block is not None else ()
    return tuple(match[1].strip() for match in found if match[1] is not None)


def edit(text: str, set: Mapping[str, Value], remove: Collection[str] = ()) -> str:
    """The note with some properties set, and those of `remove` gone; unchanged where its block is not sound YAML."""
    set = {key: value for key, value in set.items() if key not in remove}
    block = _block(text)
    if block is None:
        if _OPENING.match(text) and read(text).problem:
            return text
        if not set:
            return text
        start = 1 if text[:1] == BOM else 0
        ending = re.search(r"\r\n|\n|\r", text)
        newline = ending.group() if ending else "\n"
        written = "".join(lines(key, value, newline) for key, value in set.items())
        return f"{text[:start]}---{newline}{written}---{newline}{text[start:]}"
    inner = text[block.first : block.last]
    try:
        entries = _entries(inner)
    except _UnsoundError:
        return text
    wanted = {entry.key: comparable(entry.value) for entry in entries}
    for key, value in set.items():
        wanted[key] = comparable(value)
    for key in remove:
        wanted.pop(key, None)
    for whole_lines in (False, True):
        edited = _edited(inner, entries, set, remove, block.newline, whole_lines)
        try:
            result = {entry.key: comparable(entry.value) for entry in _entries(edited)}
        except _UnsoundError:
            continue
        if result == wanted:
            return text[: block.first] + edited + text[block.last :]
    return text


def _edited(
    inner: str,
    entries: Sequence[_Entry],
    set: Mapping[str, Value],
    remove: Collection[str],
    newline: str,
    whole_lines: bool,
) -> str:
    last = {entry.key: entry for entry in entries}
    pieces: list[tuple[int, int, str]] = []
    for entry in entries:
        if entry.key in remove:
            pieces.append((entry.key_start, _line_end(inner, entry), _remarks(inner, entry, newline, False)))
    for key, value in set.items():
        if key not in last:
            continue
        entry = last[key]
        if comparable(entry.value) == comparable(value):
            continue
        if entry.inline and not whole_lines and not is_list(value):
            joint = "" if inner[entry.start - 1 : entry.start] in (" ", "\t") else " "
            pieces.append((entry.start, entry.end, joint + scalar(value)))
        else:
            written = lines(key, value, newline) + _remarks(inner, entry, newline, True)
            pieces.append((entry.key_start, _line_end(inner, entry), written))
    for start, end, written in sorted(pieces, reverse=True):
        inner = inner[:start] + written + inner[end:]
    added = [key for key in set if key not in last]
    if added and inner and inner[-1] not in "\r\n":
        inner += newline
    return inner + "".join(lines(key, set[key], newline) for key in added)


def _remarks(inner: str, entry: _Entry, newline: str, hanging: bool) -> str:
    """The comments among the lines of an entry, each on a line; those behind its words only where `hanging`."""
    if isinstance(entry.value, str) and not entry.inline:
        return ""  # text over several lines, in which a sharp begins no comment
    found = []
    for match in _COMMENT.finditer(inner, entry.key_start, _line_end(inner, entry)):
        row = max(inner.rfind("\n", 0, match.start()), inner.rfind("\r", 0, match.start())) + 1
        before = inner[row : match.start()]
        if match[1] is not None and (hanging or not before.strip()):
            found.append(before * (not before.strip()) + match[1].rstrip() + newline)
    return "".join(found)


def _line_end(inner: str, entry: _Entry) -> int:
    """End of the last line of an entry; a comment that hangs on that line goes with it."""
    end = max(entry.end, entry.start)
    while end > entry.key_start and inner[end - 1 : end] in ("\n", "\r", " ", "\t"):
        end -= 1
    match = re.compile(r"\r\n|\n|\r").search(inner, end)
    return match.end() if match else len(inner)


def _block(text: str) -> _Block | None:
    opening = _OPENING.match(text)
    if not opening:
        return None
    closing = _CLOSING.search(text, opening.end())
    if not closing:
        return None
    return _Block(opening.end(), closing.start(), closing.end(), opening.group(1))


@lru_cache(maxsize=32)  # a note is read, edited and read again
def _entries(inner: str) -> tuple[_Entry, ...]:
    """The top-level keys of a block, in order; raises _UnsoundError when it is not a mapping of strings."""
    try:
        node = yaml.compose(inner, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _UnsoundError(error.problem or "not YAML", mark.line if mark else 0) from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise _UnsoundError(str(error).splitlines()[0] or "not YAML", 0) from None
    if node is None:
        return ()
    if not isinstance(node, yaml.MappingNode) or node.flow_style:
        raise _UnsoundError("not a list of properties", 0)
    budget = [_MAX_NODES]
    entries = []
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _UnsoundError("a key is not a word", key.start_mark.line)
        entries.append(
            _Entry(
                key.value,
                _value(value, budget, 0),
                key.start_mark.index,
                value.start_mark.index,
                _end(value, inner),
                isinstance(value, yaml.ScalarNode)
                and value.style not in ("|", ">")
                and key.start_mark.line == value.end_mark.line,
            )
        )
    return tuple(entries)


def _end(node: yaml.Node, inner: str) -> int:
    """Offset behind the last character of a value; comments and blank lines behind it are not part of it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(node, yaml.MappingNode) else last, inner)
    if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        head = re.compile(r"[^\r\n]*").match(inner, node.start_mark.index)
        end = head.end() if head else node.end_mark.index
        for row in re.compile(r"(?:\r\n|\n|\r)(?:[ \t][^\r\n]*)?").finditer(inner, end):
            if row.start() != end or row.start() >= node.end_mark.index:
                break
            end = row.end()
        return len(inner[:end].rstrip())
    return int(node.end_mark.index)


def _value(node: yaml.Node, budget: list[int], depth: int) -> object:
    budget[0] -= 1
    if budget[0] < 0 or depth > 50:
        raise _UnsoundError("too large or too deeply nested", node.start_mark.line)
    if isinstance(node, yaml.ScalarNode):
        if node.style is None and node.value in ("", "~", "null", "Null", "NULL"):
            return None
        return str(node.value)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, budget, depth + 1) for item in node.value]
    return {str(_value(key, budget, depth + 1)): _value(value, budget, depth + 1) for key, value in node.value}


def _looks_like_properties(inner: str) -> bool:
    rows = [row for row in re.split(r"\r\n|\n|\r", inner) if row.strip() and row[0] not in " \t#"]
    keys = [row for row in rows if _KEY_LINE.match(row)]
    listed = [row for row in rows if row.startswith("-")]
    return bool(keys) and (len(keys) + len(listed) == len(rows) or len(keys) > len(rows) / 2)


def _salvage(inner: str) -> dict[str, object]:
    """What can be read of a broken block: each key by itself, a value that is no YAML as the text that stands there."""
    groups: list[str] = []
    for row in re.split(r"(?<=\n)|(?<=\r)(?!\n)", inner):
        if groups and not _KEY_LINE.match(row):
            groups[-1] += row
        elif _KEY_LINE.match(row):
            groups.append(row)
    values: dict[str, object] = {}
    for group in groups:
        try:
            values.update({entry.key: entry.value for entry in _entries(group)})
        except _UnsoundError:
            key, _, rest = group.partition(":")
            values[key.strip().strip("\"'")] = rest.strip()
    return values


def comparable(value: object) -> object:
    """A value in a form in which equal values are equal, however they are spelt."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, str):
        return "" if value is None else str(value)
    if isinstance(value, Mapping):
        return {str(key): comparable(item) for key, item in value.items()}
    if isinstance(value, Iterable):
        return [comparable(item) for item in value]
    return str(value)


# --- the shapes that Obsidian's own properties come in ---------------------------------------------------------------


def string(values: Mapping[str, object], key: str) -> str:
    """A property as one string; empty when it is absent, empty or not a string. Obsidian takes `Key` for `key`, too."""
    value = values[key] if key in values else next((said for name, said in values.items() if name.lower() == key), None)
    return value.strip() if isinstance(value, str) else ""


def strings(values: Mapping[str, object], key: str) -> tuple[str, ...]:
    """A property as a tuple of strings: a list's strings, or the one string."""
    value = values.get(key)
    items = value if isinstance(value, list) else [value]
    return tuple(item.strip() for item in items if isinstance(item, str) and item.strip())


def tags(values: Mapping[str, object]) -> tuple[str, ...]:
    """The tags of a note without '#', from a list or from one string with commas or spaces; never raises."""
    found: list[str] = []
    for key, value in values.items():
        if key.lower() in ("tags", "tag"):
            items = re.split(r"[,\s]+", value) if isinstance(value, str) else value if isinstance(value, list) else []
            found += [item.strip().lstrip("#") for item in items if isinstance(item, str)]
    return _unique(found)


def aliases(values: Mapping[str, object]) -> tuple[str, ...]:
    """The aliases of a note, from a list or from one string with commas."""
    found: list[str] = []
    for key, value in values.items():
        if key.lower() in ("aliases", "alias"):
            items = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
            found += [item.strip() for item in items if isinstance(item, str)]
    return _unique(found)


def normal_tags(names: Iterable[str]) -> tuple[str, ...]:
    """Tags as Obsidian accepts them: no '#', no spaces, not digits alone, each once."""
    found = []
    for name in names:
        text = unicodedata.normalize("NFC", name).strip().lstrip("#")
        text = re.sub(r"(?<=\w)\++(?!\w)", lambda match: "plus" * len(match.group()), text)
        text = "".join(char if char in "-_/" or unicodedata.category(char)[0] in "LNM" else "-" for char in text)
        text = re.sub(r"-{2,}", "-", re.sub(r"-*/+[-/]*", "/", text)).strip("-/")
        if text.replace("/", "").replace("-", "").replace("_", "").isdigit():
            text = f"y{text}"
        found.append(text)
    return _unique(found)


def normal_aliases(names: Iterable[str], stem: str) -> tuple[str, ...]:
    """Aliases without blanks, doubles and the file's own name."""
    return tuple(name for name in _unique(" ".join(name.split()) for name in names) if fold(name) != fold(stem))


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for name in names:
        if name:
            found.setdefault(fold(name), name)
    return tuple(found.values())
