"""The schedule in the settings: its two forms, what is refused, and edits in place."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.cron import cron_problem
from config.defaults import render_settings
from config.errors import SettingsError
from config.load import parse_settings
from config.schedule_edit import remove_entry, set_entry
from config.settings import SCHEDULED_FLOWS, Schedule, Settings, Timed

LONG = """name: mine  # my own
schedule:
  # the night
  nightly: "0 1 * * *"
  noon:  # papers
    flow: ingest
    cron: "0 12 * * 1-5"
    time_zone: America/New_York
  lint: "0 5 * * *"
digest:
  note: ""
"""

names = st.from_regex(r"[a-z0-9][a-z0-9-]{0,8}", fullmatch=True)
entries = st.builds(
    Timed,
    name=names,
    flow=st.sampled_from(SCHEDULED_FLOWS),
    cron=st.sampled_from(["0 2 * * *", "*/5 1-3 1,15 * mon", ""]),
    time_zone=st.sampled_from(["", "Europe/Berlin", "UTC"]),
)


def test_both_forms_are_read() -> None:
    """A cron line under the name of a flow, or keys of its own under any name; the defaults stay."""
    found = {entry.name: (entry.flow, entry.cron, entry.time_zone) for entry in parse_settings(LONG).schedule.entries}
    assert found == {
        "nightly": ("nightly", "0 1 * * *", ""),
        "weekly": ("weekly", "0 3 * * 0", ""),
        "noon": ("ingest", "0 12 * * 1-5", "America/New_York"),
        "lint": ("lint", "0 5 * * *", ""),
    }


@pytest.mark.parametrize(
    ("entry", "line", "said"),
    [
        ("nightly: 0 2 30 2 *", 2, "can never fire"),
        ("nightly: 30 2 31 2 */2", 2, "can never fire"),
        ("nightly: 0 2 31 FEB fri", 2, "can never fire"),
        ("nightly: 0 25 * * *", 2, "'25' is no hour"),
        ("nightli: 0 2 * * *", 2, "Did you mean 'schedule.nightly'?"),
        ("noon: 0 12 * * *", 2, "noon: {flow: ingest, cron: ...}"),
        ("noon: {cron: 0 12 * * *}", 2, "schedule.noon: is no whole entry"),
        ("noon:\n    flow: ingest\n    cron: 0 12 31 6 *", 4, "can never fire"),
        ("noon:\n    cron: 0 12 * * *\n    flow: injest", 4, "Did you mean 'ingest'?"),
        ("noon:\n    cron: 0 12 * * *\n    flow: ingest\n    time_zone: europe/berln", 5, "'Europe/Berlin'?"),
        ("Noon Papers: {flow: ingest, cron: 0 12 * * *}", 2, "Use lower-case letters, digits and dashes."),
        ("lint: 0 5 * * *\n  lint: 0 6 * * *", 3, "is written twice"),
        ("noon: {flow: ingest, cron: 0 5 * * *, crn: 1}", 2, "unknown key 'schedule.noon.crn'"),
        ("[1, 2]", 2, ""),
    ],
)
def test_a_wrong_entry_is_refused_with_its_line(entry: str, line: int, said: str) -> None:
    """The line where it stands, and what is accepted."""
    with pytest.raises(SettingsError) as caught:
        parse_settings(f"schedule:\n  {entry}\n")
    assert str(caught.value).startswith(f"nightwiki.yaml:{line}:") and said in str(caught.value)


@given(st.lists(entries, max_size=4, unique_by=lambda entry: entry.name))
def test_what_is_written_is_read_again(found: list[Timed]) -> None:
    """Any entries survive the file that `init` would write."""
    written = Settings(schedule=Schedule(named=tuple(found)))
    assert parse_settings(render_settings(written)).schedule.entries == written.schedule.entries


texts = [LONG, "", "name: x", "schedule:\n", "schedule: {nightly: 0 1 * * *}\n", LONG.rstrip()]


@given(st.sampled_from(texts), entries)
def test_an_entry_is_put_and_taken_out_in_place(text: str, entry: Timed) -> None:
    """The entry says what was asked for; every other line stays as it is."""
    added = set_entry(text, entry)
    assert entry in parse_settings(added).schedule.entries
    removed = remove_entry(added, entry.name)
    assert all(one.name != entry.name or not one.cron for one in parse_settings(removed).schedule.entries)
    assert "# my own" in removed or "# my own" not in text


def test_an_edit_touches_its_own_lines_alone() -> None:
    """Comments, order and quotes of all other entries survive."""
    changed = set_entry(LONG, Timed(name="noon", flow="ingest", cron="0 13 * * *"))
    assert changed.count("\n") == LONG.count("\n") - 2
    assert remove_entry(changed, "noon") == remove_entry(LONG, "noon")
    assert remove_entry(set_entry(LONG, Timed(name="papers", flow="ingest", cron="1 1 * * *")), "papers") == LONG
    assert remove_entry(LONG, "nightly") == LONG.replace('"0 1 * * *"', '""')


fields = [
    st.from_regex(r"(\*|[0-9]{1,2}(-[0-9]{1,2})?)(/[1-9][0-9]?)?(,[0-9]{1,2})?", fullmatch=True),
    st.sampled_from(["*", "2", "1,15", "*/2", "sun", "mon-fri", "feb", "31", "30", "29"]),
]


@settings(deadline=None)  # the first one imports Prefect
@given(st.lists(st.one_of(fields), min_size=5, max_size=5))
def test_what_is_accepted_has_a_next_run(parts: list[str]) -> None:
    """Prefect finds a time for every line that the settings accept."""
    from prefect.server.schemas.schedules import CronSchedule

    line = " ".join(parts)
    if not cron_problem(line):
        dates = asyncio.run(CronSchedule(cron=line).get_dates(n=1, start=datetime(2026, 12, 1, tzinfo=UTC)))
        assert len(dates) == 1


def test_an_entry_that_is_not_there_is_named() -> None:
    """The refusal lists what the schedule has."""
    with pytest.raises(SettingsError, match=r"has no entry 'moon'\. It has: nightly, weekly, noon, lint"):
        remove_entry(LONG, "moon")
