"""Dates and times as people and programs write them, made comparable with the times that pages and snapshots carry.

Those are UTC, to the second, as text: `2026-12-01T02:00:00Z`. What is asked for may be a year, a month, a day, or a
time with any zone; without one it is UTC. A day stands for itself, so that it compares as the beginning of its times.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

_MONTH = re.compile(r"[0-9]{4}(?:-[0-9][0-9])?")
_TIME = re.compile(r"[0-9W-]{8,10}[Tt ][0-9:.,]+ ?(?:[Zz]|[+-][0-9:]{2,8})?")
_LOST_PLUS = re.compile(r"(\S+[Tt ]\d\d:?\d\d\S*) (\d\d:?\d\d)")
"""A zone whose '+' became a blank, as in a query string that was not encoded."""


def is_moment(text: str) -> bool:
    """Whether a text is a day that there is, the year or month of one, or a time: '2026-12-01', '…T09:00+01:00'."""
    return is_day(text) or _time(text) is not None


def is_day(text: str) -> bool:
    """Whether a text is a day, month or year, without a time."""
    return bool(_period(text))


def beginning(text: str) -> str:
    """The first second of a time, for 'from then on' and 'before then'; a year, month or day as it is.

    Raises ValueError for what is neither.
    """
    if period := _period(text):
        return period
    time = _time(text)
    if time is None:
        raise ValueError(f"{text!r} is neither a day nor a time")
    try:
        return _shown(time + timedelta(seconds=1) if time.microsecond else time)
    except OverflowError:
        return _shown(time)


def end(text: str) -> str:
    """The last second of a day, month, year or time, for 'as it was then'. Raises ValueError for what is neither."""
    if period := _period(text):
        return f"{period}{'-12-31T23:59:59Z'[3 * period.count('-') :]}"
    time = _time(text)
    if time is None:
        raise ValueError(f"{text!r} is neither a day nor a time")
    return _shown(time)


def _period(text: str) -> str:
    """A year or month as it is, a day as `2026-12-01`; '' for anything else."""
    try:
        if _MONTH.fullmatch(text):
            date.fromisoformat(f"{text}-01-01"[:10])
            return text
        return date.fromisoformat(text).isoformat() if text.isascii() else ""
    except ValueError:
        return ""


def _time(text: str) -> datetime | None:
    lost = _LOST_PLUS.fullmatch(text)
    written = f"{lost[1]}+{lost[2]}" if lost else text
    if _TIME.fullmatch(written) is None:
        return None  # the library takes any sign between day and time, so also names of runs
    try:
        time = datetime.fromisoformat(written.upper())
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _shown(time: datetime) -> str:
    return f"{time.replace(microsecond=0, tzinfo=None).isoformat()}Z"
