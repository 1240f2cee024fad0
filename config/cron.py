"""Checks a cron line before any scheduler sees it: its form, its ranges, and that it can ever fire.

Prefect computes the times. What is caught here is the typing mistake, at the line where it was made.
"""

from __future__ import annotations

import re

_FIELDS = (
    ("minute", 0, 59),
    ("hour", 0, 23),
    ("day of month", 1, 31),
    ("month", 1, 12),
    ("day of week", 0, 7),
)
_MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, start=1)}
_DAYS = {name: number for number, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))}
_LONGEST = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_ITEM = re.compile(r"(?P<first>\*|\w+)(?:-(?P<last>\w+))?(?:/(?P<step>\d+))?")


def cron_problem(line: str) -> str:
    """What is wrong with a cron line, as part of a sentence; '' when it is right."""
    fields = line.split()
    if len(fields) != len(_FIELDS):
        return f"'{line}' has {len(fields)} fields instead of five (minute hour day month weekday)"
    values: list[frozenset[int]] = []
    for text, (name, low, high) in zip(fields, _FIELDS, strict=True):
        names = _MONTHS if name == "month" else _DAYS if name == "day of week" else {}
        found = _expand(text, low, high, names)
        if not found:
            return f"'{text}' is no {name} ({low} to {high})"
        values.append(found)
    days, months = values[2], values[3]
    # Also with a weekday beside it: Prefect's own reader finds no date then, although other crons would.
    if not any(day <= _LONGEST[month - 1] for month in months for day in days):
        return f"'{line}' can never fire: no such day in that month"
    return ""


def _expand(text: str, low: int, high: int, names: dict[str, int]) -> frozenset[int]:
    """The values that a field stands for; empty when it is wrong."""
    found: set[int] = set()
    for item in text.lower().split(","):
        match = _ITEM.fullmatch(item)
        if match is None or match["step"] == "0" or (match["first"] == "*" and match["last"]):
            return frozenset()
        step = int(match["step"] or 1)
        if match["first"] == "*":
            first, last = low, high
        else:
            start = _number(match["first"], names)
            end = _number(match["last"], names) if match["last"] else (high if match["step"] else start)
            if not (low <= start <= end <= high):
                return frozenset()
            first, last = start, end
        found.update(range(first, last + 1, step))
    return frozenset(found)


def _number(text: str, names: dict[str, int]) -> int:
    if text in names:
        return names[text]
    return int(text) if text.isascii() and text.isdigit() else -1
