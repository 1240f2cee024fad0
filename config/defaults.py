"""Writes a new `nightwiki.yaml`: every key with its sentence, its default and its value."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from config.settings import Schedule, Settings, Timed

_HEADER = (
    "# Settings of this wiki, read anew at every run. Keep what you like and delete the rest:",
    "# a key that is not here has its default.",
)
_RESOLVE: Callable[[type[yaml.Node], str, tuple[bool, bool]], str] = yaml.resolver.Resolver().resolve
_PLAIN = re.compile(r"[A-Za-z_][\w./-]*")


def render_settings(settings: Settings) -> str:
    """The text of a settings file with these values; reading it gives equal settings."""
    return "\n".join((*_HEADER, *_keys(settings, ""))) + "\n"


def scalar(value: object) -> str:
    """One value as YAML on one line, quoted wherever some YAML reader could take it for something else."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if isinstance(value, tuple | list):
        return f"[{', '.join(scalar(item) for item in value)}]"
    text = str(value)
    plain = _PLAIN.fullmatch(text) and _RESOLVE(yaml.ScalarNode, text, (True, False))
    return text if plain == "tag:yaml.org,2002:str" else json.dumps(text, ensure_ascii=False)


def entry_text(entry: Timed) -> str:
    """An entry of the schedule on one line: its cron line where its name says what runs, else all it holds."""
    if entry.flow == entry.name and not entry.time_zone:
        return scalar(entry.cron)
    zone = f", time_zone: {scalar(entry.time_zone)}" if entry.time_zone else ""
    return f"{{flow: {entry.flow}, cron: {scalar(entry.cron)}{zone}}}"


def _keys(model: BaseModel, indent: str) -> Iterator[str]:
    section = False  # whether the lines above are those of a section
    for name, info in type(model).model_fields.items():
        value = getattr(model, name)
        if isinstance(model, Schedule) and name == "named":
            yield from (f"{indent}{entry.name}: {entry_text(entry)}" for entry in value)
            continue
        if isinstance(value, BaseModel):
            yield ""
            yield f"{indent}# {info.description}"
            yield f"{indent}{name}:"
            yield from _keys(value, indent + "  ")
            section = True
            continue
        if section:  # a key that is no section's stands apart
            yield ""
            section = False
        yield f"{indent}# {info.description} {_default(info)}"
        if isinstance(value, tuple) and value:
            yield f"{indent}{name}:"
            yield from (f"{indent}  - {scalar(item)}" for item in value)
        else:
            yield f"{indent}{name}: {scalar(value)}"


def _default(info: FieldInfo) -> str:
    default = info.get_default(call_default_factory=True)
    return f"Default: {scalar(default)}."
