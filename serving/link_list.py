"""Adds one address to a person's list of links, and leaves every other byte of the list as it is."""

from __future__ import annotations

import yaml

from config.errors import SettingsError
from tasks.records import SourceKind
from tasks.sources.addresses import Address
from tasks.sources.source_list import read_list

_GROUPS = {SourceKind.VIDEO: "videos", SourceKind.FEED: "feeds"}


def with_link(text: str, address: Address, path: str) -> str:
    """The list with the address in it; the same text when it is listed. SettingsError when that cannot be done."""
    before = read_list(text.encode(), path)
    known = [one.location for one in before.found]
    if address.location in known:
        return text
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        raise SettingsError(path, "is not valid YAML, so nothing can be added to it", "Correct it first.") from None
    edited = _added(text, root, address)
    after = read_list(edited.encode(), path)
    if [*known, address.location] != sorted(
        (one.location for one in after.found), key=[*known, address.location].index
    ):
        raise SettingsError(path, f"{address.location} cannot be added to it", "Add it by hand.")
    return edited


def _added(text: str, root: yaml.Node | None, address: Address) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    whole = text if not text or text.endswith("\n") else text + newline
    item = f"- {_quoted(address.location)}"
    if isinstance(root, yaml.SequenceNode):
        return _in_sequence(whole, root, item, newline)
    group = _GROUPS.get(address.kind, "links")
    if isinstance(root, yaml.MappingNode):
        for key, value in root.value:
            if str(key.value).strip().lower() != group:
                continue
            if isinstance(value, yaml.SequenceNode):
                return _in_sequence(whole, value, item, newline)
            if isinstance(value, yaml.ScalarNode) and not value.value:
                end = _line_end(whole, key.end_mark.index)
                return whole[:end] + f"{' ' * key.start_mark.column}  {item}{newline}" + whole[end:]
    return f"{whole}{group}:{newline}  {item}{newline}"


def _in_sequence(text: str, node: yaml.SequenceNode, item: str, newline: str) -> str:
    if node.flow_style:
        at = node.value[-1].end_mark.index if node.value else node.start_mark.index + 1
        return text[:at] + (", " if node.value else "") + item[2:] + text[at:]
    last: yaml.Node = node
    while isinstance(last, yaml.CollectionNode) and last.value and not last.flow_style:
        child = last.value[-1]
        last = child[1] if isinstance(child, tuple) else child
    end = _line_end(text, last.end_mark.index)
    return text[:end] + f"{' ' * node.start_mark.column}{item}{newline}" + text[end:]


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end + 1


def _quoted(address: str) -> str:
    """An address needs quotes only where YAML would read it as something else."""
    plain = not any(mark in address for mark in (" #", ": ", "'", '"', ",", "[", "]", "{", "}")) and address[-1] != ":"
    return address if plain else "'" + address.replace("'", "''") + "'"
