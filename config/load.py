"""Reads `nightwiki.yaml`; what it does not know is refused, with line, accepted values and nearest name.

The text is composed to nodes, which know their lines, and each scalar is read as the kind that its key wants.
So `off` stays a word where a word is expected and `01234` a string; YAML's own rules guess nothing.
"""

from __future__ import annotations

import difflib
import math
import re
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from config.consistency import problems
from config.errors import SettingsError
from config.secrets import holds_key
from config.settings import SCHEDULED_FLOWS, Schedule, Settings, Timed

Key = tuple[str, ...]
NEWEST = 1
"""The newest version of the file's form that this nightwiki reads."""

_KEY_NAME = re.compile(r"(?i)api_?key|secret|password|^token$|_token$|^key$")
_TRUE = frozenset({"true", "yes", "on"})
_FALSE = frozenset({"false", "no", "off"})
_BOUNDS = (
    ("ge", "at least"),
    ("gt", "more than"),
    ("le", "at most"),
    ("lt", "less than"),
    ("min_length", ""),
)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where errors are said to be."""

    subject: str

    def error(self, line: int, cause: str, next_step: str = "") -> SettingsError:
        return SettingsError(f"{self.subject}:{line}", cause, next_step)


def load_settings(path: Path) -> Settings:
    """The settings in a file. Raises SettingsError, which names file and line."""
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise SettingsError(
            str(path), error.strerror or "cannot be read", "Check the file's place and permissions."
        ) from None
    except UnicodeDecodeError as error:
        raise SettingsError(
            str(path), f"is not UTF-8 text (byte {error.start})", "Save it again as UTF-8."
        ) from None
    return parse_settings(text, str(path))


def parse_settings(text: str, subject: str = "nightwiki.yaml") -> Settings:
    """The settings in a text; `subject` is the file's name in errors."""
    place = _Place(subject)
    _refuse_keys(text, place)
    root = compose(text, subject)
    if root is None or (isinstance(root, yaml.ScalarNode) and _is_empty(root)):
        return Settings()
    if not isinstance(root, yaml.MappingNode):
        raise place.error(
            root.start_mark.line + 1,
            "is not a list of settings",
            "Write `key: value` lines, as `nightwiki init` does.",
        )
    lines: dict[Key, int] = {}
    _check_version(root, place)
    values = _section(root, Settings, (), lines, place)
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        first = min(error.errors(), key=lambda item: _line(lines, item["loc"]))
        key = tuple(str(part) for part in first["loc"] if isinstance(part, str))
        info = _field(Settings, key)
        cause = f"{'.'.join(key)}: {first['input']!r} is not accepted"
        raise place.error(_line(lines, first["loc"]), cause, _accepted(info)) from None
    for problem in problems(settings):
        raise place.error(
            _line(lines, problem.key), f"{'.'.join(problem.key)}: {problem.cause}", problem.next_step
        )
    return settings


def _refuse_keys(text: str, place: _Place) -> None:
    """A provider's key is refused wherever it stands, in comments too, and is not repeated."""
    for number, line in enumerate(text.splitlines(), start=1):
        if holds_key(line):
            cause = "holds a key or a password, which never belongs in a file of the wiki"
            step = "Keep it in the environment or the keyring, and renew it if others can read this file."
            raise place.error(number, cause, step)


def compose(text: str, subject: str) -> yaml.Node | None:
    """The text as YAML nodes, None when it holds nothing. Raises SettingsError with the line of a fault."""
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        if _tab_indented(text, line):
            raise SettingsError(f"{subject}:{line}", "a tab cannot indent here", "Use spaces.") from None
        cause = " ".join(part for part in (error.context, error.problem) if part)
        raise SettingsError(
            f"{subject}:{line}", f"is not valid YAML: {cause}", "Check quotes, colons and indents."
        ) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        cause = f"holds a character that YAML does not allow (U+{ord(text[error.position]):04X})"
        raise SettingsError(f"{subject}:{line}", cause, "Delete it.") from None


def nearest(name: str, names: Iterable[str]) -> str:
    """The known name most like `name`, or '' when none is like it."""
    folded = {known.casefold(): known for known in names}
    found = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return folded[found[0]] if found else ""


def _tab_indented(text: str, line: int) -> bool:
    lines = text.splitlines()
    near = lines[max(0, line - 2) : line]
    return any("\t" in item[: len(item) - len(item.lstrip())] for item in near)


def _check_version(root: yaml.MappingNode, place: _Place) -> None:
    """Said before anything else, for a newer file may hold keys that are not known here."""
    for key, value in root.value:
        if key.value == "version" and isinstance(value, yaml.ScalarNode) and value.value.isdigit():
            found = int(value.value)
            if found > NEWEST:
                cause = (
                    f"was written for a newer nightwiki (settings version {found}; this one reads {NEWEST})"
                )
                raise place.error(key.start_mark.line + 1, cause, "Update nightwiki.")


def _section(
    node: yaml.Node, model: type[BaseModel], path: Key, lines: dict[Key, int], place: _Place
) -> dict[str, object]:
    if isinstance(node, yaml.ScalarNode) and _is_empty(node):
        return {}
    if not isinstance(node, yaml.MappingNode):
        cause = f"{'.'.join(path)}: holds keys of its own, not one value"
        raise place.error(node.start_mark.line + 1, cause, f"Accepted keys: {', '.join(model.model_fields)}.")
    values: dict[str, object] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        name = key_node.value if isinstance(key_node, yaml.ScalarNode) else ""
        key = (*path, name)
        if name not in model.model_fields:
            raise place.error(line, f"unknown key '{'.'.join(key)}'", _known(name, path, model))
        if name in values:
            raise place.error(
                line, f"'{'.'.join(key)}' is written twice (first on line {lines[key]})", "Keep one of them."
            )
        lines[key] = line
        values[name] = _value(value_node, model.model_fields[name], key, lines, place)
    return values


def _schedule(node: yaml.Node, path: Key, lines: dict[Key, int], place: _Place) -> dict[str, object]:
    """Entries by name: a cron line where the name says what runs, else keys of their own."""
    if isinstance(node, yaml.ScalarNode) and _is_empty(node):
        return {}
    if not isinstance(node, yaml.MappingNode):
        step = "Write an entry a line, such as nightly: '0 2 * * *'."
        raise place.error(node.start_mark.line + 1, "schedule: holds entries, not one value", step)
    values: dict[str, object] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        name = key_node.value if isinstance(key_node, yaml.ScalarNode) else ""
        key = (*path, name)
        if name in values:
            cause = f"'schedule.{name}' is written twice (first on line {lines[key]})"
            raise place.error(line, cause, "Keep one of them.")
        lines[key] = line
        if isinstance(value_node, yaml.MappingNode):
            entry = _section(value_node, Timed, key, lines, place)
            if "name" in entry or "cron" not in entry or not {"flow", *SCHEDULED_FLOWS} & {*entry, name}:
                step = "Write flow and cron below it; its key is its name."
                raise place.error(line, f"schedule.{name}: is no whole entry", step)
            values[name] = entry
        elif name in SCHEDULED_FLOWS:
            values[name] = _value(value_node, Schedule.model_fields["nightly"], key, lines, place)
        else:
            hint = nearest(name, SCHEDULED_FLOWS)
            own = f"For a name of your own write `{name or 'name'}: {{flow: ingest, cron: ...}}`."
            step = f"Did you mean 'schedule.{hint}'? {own}" if hint else own
            raise place.error(line, f"unknown key 'schedule.{name}'", step)
    return values


def _value(node: yaml.Node, info: FieldInfo, key: Key, lines: dict[Key, int], place: _Place) -> object:
    kind = info.annotation
    if kind is Schedule:
        return _schedule(node, key, lines, place)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return _section(node, kind, key, lines, place)
    if typing.get_origin(kind) is tuple:
        if isinstance(node, yaml.ScalarNode) and _is_empty(node):
            return ()
        if not isinstance(node, yaml.SequenceNode) or not all(
            isinstance(item, yaml.ScalarNode) for item in node.value
        ):
            raise place.error(
                node.start_mark.line + 1, f"{'.'.join(key)}: a list is expected", _accepted(info)
            )
        return tuple(item.value for item in node.value)
    if not isinstance(node, yaml.ScalarNode):
        raise place.error(
            node.start_mark.line + 1, f"{'.'.join(key)}: one value is expected", _accepted(info)
        )
    text = "" if _is_empty(node) else node.value
    try:
        return _scalar(text, kind)
    except ValueError:
        shown = f"'{text}' is not accepted" if text else "a value is missing"
        hint = nearest(text, _choices(kind))
        step = _accepted(info) + (f" Did you mean '{hint}'?" if hint else "")
        raise place.error(key_line(lines, key), f"{'.'.join(key)}: {shown}", step) from None


def key_line(lines: Mapping[Key, int], key: Key) -> int:
    """The line of a key, or of the nearest section above it, from 1."""
    while key and key not in lines:
        key = key[:-1]
    return lines.get(key, 1)


def _line(lines: Mapping[Key, int], loc: Sequence[int | str]) -> int:
    return key_line(lines, tuple(part for part in loc if isinstance(part, str)))


def _is_empty(node: yaml.ScalarNode) -> bool:
    return node.style is None and node.value in ("", "null", "Null", "NULL")


def _scalar(text: str, kind: Any) -> object:
    choices = _choices(kind)
    if choices:
        for value in typing.get_args(kind):
            if str(value) == text:
                return value
        raise ValueError(text)
    if kind is bool:
        if text.lower() in _TRUE | _FALSE:
            return text.lower() in _TRUE
        raise ValueError(text)
    if kind is int:
        return int(text)
    if kind is float:
        number = float(text)
        if not math.isfinite(number):
            raise ValueError(text)
        return number
    return text


def _choices(kind: Any) -> tuple[str, ...]:
    return tuple(str(value) for value in typing.get_args(kind)) if typing.get_origin(kind) is Literal else ()


def _known(name: str, path: Key, model: type[BaseModel]) -> str:
    if _KEY_NAME.search(name):
        return "Keys are never kept here: put it in the environment or the keyring, as `nightwiki model check` says."
    hint = nearest(name, model.model_fields)
    if hint:
        return f"Did you mean '{'.'.join((*path, hint))}'?"
    for section, info in Settings.model_fields.items():
        inner = info.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel) and name in inner.model_fields:
            return f"'{name}' belongs under '{section}:'."
    if not path and (deep := _deep(name)):
        return f"Did you mean '{deep}'?"
    return f"Accepted: {', '.join(model.model_fields)}."


def _deep(name: str) -> str:
    """For a key at the top that resembles one of a section."""
    names = {
        inner: f"{section}.{inner}"
        for section, info in Settings.model_fields.items()
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel)
        for inner in info.annotation.model_fields
    }
    hint = nearest(name, names)
    return names[hint] if hint else ""


def _field(model: type[BaseModel], key: Key) -> FieldInfo:
    info = model.model_fields[key[0]]
    inner = info.annotation
    if len(key) > 1 and isinstance(inner, type) and issubclass(inner, BaseModel):
        return _field(inner, key[1:])
    return info


def _accepted(info: FieldInfo) -> str:
    """A sentence that says which values a key takes."""
    kind = info.annotation
    if choices := _choices(kind):
        return f"Accepted: {', '.join(choices)}."
    if kind is bool:
        return "Accepted: true, false."
    if typing.get_origin(kind) in (tuple, types.GenericAlias):
        return "Accepted: a list, such as [one, two]."
    noun = {int: "a whole number", float: "a number"}.get(kind, "text") if isinstance(kind, type) else "text"
    bounds = [
        "not empty" if name == "min_length" else f"{words} {getattr(item, name):g}"
        for item in info.metadata
        for name, words in _BOUNDS
        if hasattr(item, name) and getattr(item, name) is not None
    ]
    return f"Accepted: {noun}{', ' if bounds else ''}{' and '.join(bounds)}."
