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
    try:
        yaml.compose(edited, Loader=yaml.SafeLoader)
    except yaml.YAMLError:  # the reader gets along with much that is no list any more
        raise SettingsError(path, f"{address.location} cannot be added to it", "Add it by hand.") from None
    return edited


def _added(text: str, root: yaml.Node | None, address: Address) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    whole = text if not text or text.endswith("\n") else text + newline
    item = f"- {_quoted(address.location)}"
    if isinstance(root, yaml.SequenceNode):
        return _in_sequence(whole, root, item, newline)
    group = _GROUPS.get(address.kind, "links")
    if isinstance(root, yaml.ScalarNode) and root.value and not _is_empty(root):  # addresses without dashes
        end = _line_end(whole, root.end_mark.index - 1)
        return f"{whole[:end]}{address.location}{newline}{whole[end:]}"
    if root is not None and _is_empty(root):
        start, end = root.start_mark.index, root.end_mark.index
        return f"{whole[:start]}{group}:{newline}  {item}{whole[end:]}"
    if isinstance(root, yaml.MappingNode):
        for key, value in root.value:
            if str(key.value).strip().lower() != group:
                continue
            if isinstance(value, yaml.SequenceNode):
                return _in_sequence(whole, value, item, newline)
            if _is_empty(value):
                written = slice(value.start_mark.index, value.end_mark.index)
                bare = (
                    whole[: written.start].rstrip(" ") + whole[written.stop :]
                    if written.start < written.stop
                    else whole
                )
                end = _line_end(bare, key.end_mark.index)
                return bare[:end] + f"{' ' * key.start_mark.column}  {item}{newline}" + bare[end:]
    return f"{whole}{group}:{newline}  {item}{newline}"


def _is_empty(node: yaml.Node) -> bool:
    """Whether a person wrote that there is nothing yet: `~`, `null`, `{}`, or nothing at all."""
    if isinstance(node, yaml.MappingNode):
        return not node.value
    return isinstance(node, yaml.ScalarNode) and node.tag.endswith(":null")


def _in_sequence(text: str, node: yaml.SequenceNode, item: str, newline: str) -> str:
    if node.flow_style:
        at = node.value[-1].end_mark.index if node.value else node.start_mark.index + 1
        address = item[2:] if item[2:3] == "'" else f"'{item[2:]}'"  # between brackets a question mark is a sign
        return text[:at] + (", " if node.value else "") + address + text[at:]
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
