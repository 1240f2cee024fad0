"""Values as YAML text that every reader, of YAML 1.1 or 1.2, takes for the same string; emoji stay readable."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PLAIN = re.compile(r"[^\W\d_][\w ./()+&',!?;=–—’“”…*-]*\Z")
_ESCAPED = re.compile("[\"\\\\\\x00-\\x1f\\x7f-\\xa0\\u2028\\u2029\\ufeff\\ufffe\\uffff\\ud800-\\udfff]")
_BARE = frozenset({"y", "n", "yes", "no", "true", "false", "on", "off", "null", "nan", "inf"})


class Plain(str):
    """A value that is written as it stands: a date, a number, `false`."""

    __slots__ = ()


Value = str | bool | Sequence[str]


def is_list(value: Value) -> bool:
    """Whether a value is written as a list."""
    return not isinstance(value, str | bool)


def lines(key: str, value: Value, newline: str) -> str:
    """A property as its lines, each with its ending."""
    name = key if re.fullmatch(r"[A-Za-z][\w-]*", key) and key.lower() not in _BARE else _quoted(key)
    if isinstance(value, str | bool):
        return f"{name}: {scalar(value)}{newline}"
    if not value:
        return f"{name}: []{newline}"
    return f"{name}:{newline}" + "".join(f"  - {scalar(item)}{newline}" for item in value)


def scalar(value: object) -> str:
    """One value as it stands behind its key: plain where no reader can take it for something else, else quoted."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Plain):
        return str(value)
    text = str(value)
    plain = _PLAIN.match(text) and text[-1] != " " and text.lower() not in _BARE and text.isprintable()
    return text if plain else _quoted(text)


def _quoted(text: str) -> str:
    return '"' + _ESCAPED.sub(_escaped, text) + '"'


def _escaped(found: re.Match[str]) -> str:
    char = found.group()
    if char in '"\\':
        return "\\" + char
    if char == "\n":
        return "\\n"
    if char == "\t":
        return "\\t"
    code = ord(char)
    return f"\\x{code:02x}" if code <= 0xA0 else f"\\u{code:04x}"
