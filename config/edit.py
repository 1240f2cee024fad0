"""Changes one value in a settings file and leaves every other byte of it as it is."""

from __future__ import annotations

import yaml

from config.defaults import scalar
from config.errors import SettingsError
from config.load import compose, parse_settings

Key = tuple[str, ...]


def set_value(text: str, key: Key, value: object, subject: str = "nightwiki.yaml") -> str:
    """The text with `section.name` set to a value.

    A value that is there is replaced where it stands; a missing key is added at the end of its section, and a
    missing section at the end of the file. Raises SettingsError when the text or the value is not accepted.
    """
    parse_settings(text, subject)
    edited = put(text, key, scalar(value), subject)
    _check(text, edited, key, value, subject)
    return edited


def put(text: str, key: Key, written: str, subject: str) -> str:
    """The text with a value, written as YAML on one line, under a key; what it comes to mean is not checked."""
    newline = "\r\n" if "\r\n" in text else "\n"
    root = compose(text, subject)
    node: yaml.Node | None = root
    indent = ""
    for depth, name in enumerate(key):
        found = _child(node, name)
        if found is None:
            lines = _lines(key[depth:], written, indent)
            if not isinstance(node, yaml.MappingNode) or not node.value:
                return _append(text, node, lines, newline)
            return _add(text, node, lines, newline, key[depth:], written)
        name_node, node = found
        indent = " " * name_node.start_mark.column + "  "
    assert node is not None
    start, end = node.start_mark.index, _end(node)
    space = " " if start and text[start - 1] == ":" else ""
    return text[:start] + space + written + text[end:]


def without(text: str, key: Key, subject: str) -> str:
    """The text without a key and its value, and else as it is; the text itself when the key is not there."""
    node: yaml.Node | None = compose(text, subject)
    for name in key[:-1]:
        found = _child(node, name)
        node = found[1] if found else None
    if not isinstance(node, yaml.MappingNode):
        return text
    place = next((place for place, (name, _) in enumerate(node.value) if name.value == key[-1]), None)
    if place is None:
        return text
    start, end = node.value[place][0].start_mark.index, _end(node.value[place][1])
    if not node.flow_style:
        line_end = text.find("\n", end)
        start = text.rfind("\n", 0, start) + 1
        return text[:start] + ("" if line_end < 0 else text[line_end + 1 :])
    if place + 1 < len(node.value):
        return text[:start] + text[node.value[place + 1][0].start_mark.index :]
    return text[: _end(node.value[place - 1][1]) if place else start] + text[end:]


def _child(node: yaml.Node | None, name: str) -> tuple[yaml.Node, yaml.Node] | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next(((key, value) for key, value in node.value if key.value == name), None)


def _lines(key: Key, written: str, indent: str) -> list[str]:
    return [
        f"{indent}{'  ' * depth}{name}:" + (f" {written}" if depth == len(key) - 1 else "")
        for depth, name in enumerate(key)
    ]


def _add(text: str, node: yaml.MappingNode, lines: list[str], newline: str, key: Key, written: str) -> str:
    """A new key behind the last one of a section."""
    last_key, last_value = node.value[-1]
    end = _end(last_value)
    if node.flow_style:
        flow = "".join(f", {name}: " if depth == 0 else f"{{{name}: " for depth, name in enumerate(key))
        return text[:end] + flow + written + "}" * (len(key) - 1) + text[end:]
    end = len(text[:end].rstrip())
    line_end = text.find("\n", end)
    column = " " * last_key.start_mark.column
    own = len(lines[0]) - len(lines[0].lstrip())
    block = newline.join(column + line[own:] for line in lines)
    if line_end < 0:
        return text + newline + block + newline
    return text[: line_end + 1] + block + newline + text[line_end + 1 :]


def _end(node: yaml.Node) -> int:
    """Where a value's text ends; a block collection's own mark lies behind the comments that follow it."""
    while isinstance(node, yaml.CollectionNode) and node.value and not node.flow_style:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return node.end_mark.index


def _append(text: str, node: yaml.Node | None, lines: list[str], newline: str) -> str:
    """A new key where its section is empty (`staging:` and nothing below) or the whole file is."""
    block = newline.join(lines)
    if node is None:
        gap = "" if not text or text.endswith("\n") else newline
        return text + gap + block + newline
    if isinstance(node, yaml.MappingNode):
        inside = node.start_mark.index + 1
        return text[:inside] + ", ".join(line.strip() for line in lines) + text[inside:]
    line_end = text.find("\n", node.start_mark.index)
    if line_end < 0:
        return text + newline + block + newline
    return text[: line_end + 1] + block + newline + text[line_end + 1 :]


def _check(text: str, edited: str, key: Key, value: object, subject: str) -> None:
    """The edited text must say just what was asked for; anything else is refused, not written."""
    before = parse_settings(text, subject).model_dump()
    after = parse_settings(edited, subject).model_dump()
    section = before
    for name in key[:-1]:
        section = section[name]
    section[key[-1]] = value
    if before != after:
        raise SettingsError(subject, f"{'.'.join(key)} cannot be changed in place", "Edit the file by hand.")
