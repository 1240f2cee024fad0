"""Days and times as people write them, and what they are compared with."""

from __future__ import annotations

import pytest

from tasks.search.moments import beginning, end, is_moment


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026", "2026", "2026-12-31T23:59:59Z"),
        ("2026-11", "2026-11", "2026-11-31T23:59:59Z"),
        ("2026-11-30", "2026-11-30", "2026-11-30T23:59:59Z"),
        ("20261130", "2026-11-30", "2026-11-30T23:59:59Z"),
        ("2026-11-30T09:00", "2026-11-30T09:00:00Z", "2026-11-30T09:00:00Z"),
        ("2026-11-30t09:00:07z", "2026-11-30T09:00:07Z", "2026-11-30T09:00:07Z"),
        ("2026-11-30 09:00:07", "2026-11-30T09:00:07Z", "2026-11-30T09:00:07Z"),
        ("2026-11-30T00:30:00+02:00", "2026-11-29T22:30:00Z", "2026-11-29T22:30:00Z"),
        ("2026-11-30T00:30:00 02:00", "2026-11-29T22:30:00Z", "2026-11-29T22:30:00Z"),
        ("2026-11-30T20:00-0500", "2026-12-01T01:00:00Z", "2026-12-01T01:00:00Z"),
        ("20261130T090000Z", "2026-11-30T09:00:00Z", "2026-11-30T09:00:00Z"),
        ("2026-11-30T09:00:07.25Z", "2026-11-30T09:00:08Z", "2026-11-30T09:00:07Z"),
        ("9999-12-31T23:59:59.9Z", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
    ],
)
def test_what_people_write_is_compared_as_utc(text: str, first: str, last: str) -> None:
    """Every zone is turned into UTC, also one whose '+' a query string has eaten; parts of a second are rounded."""
    assert is_moment(text)
    assert (beginning(text), end(text)) == (first, last)


@pytest.mark.parametrize(
    "text",
    ["", "never", "2026-13", "2026-02-30", "2026-11-30T25:00", "2026-11-30T09:00+99:00", "1764460800", "２０２６",
     "s00000001-71b82703fe7d", "20261130-223340-01c8", "20261130-223340-0118", "0001-01-01T00:00+10:00", "0000"],
)  # fmt: skip
def test_what_is_no_day_and_no_time(text: str) -> None:
    """Neither days that do not exist nor names of snapshots and runs are taken for one."""
    assert not is_moment(text)
    with pytest.raises(ValueError, match="neither"):
        beginning(text)
    with pytest.raises(ValueError, match="neither"):
        end(text)
