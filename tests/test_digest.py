"""The digest tells a person what came in, what waits and why, and what to do about failures."""

from __future__ import annotations

from dataclasses import replace

from tasks import digest
from tasks.digest import NightReport, SourceLine, StagedLine
from tasks.records import Outcome


def _report(*lines: SourceLine) -> NightReport:
    return NightReport(
        "r1",
        "ingest",
        "partial",
        "2026-03-01T02:00:00Z",
        "2026-03-01T02:00:09Z",
        digest.count([x.outcome for x in lines]),
        created=1,
        staged=1,
        lines=lines,
        waiting=(StagedLine("thin", "A | thin page", "new", "low", ("only one sentence",), ("raw/thin.md",)),),
    )


def test_it_names_failures_with_the_next_step() -> None:
    """A failed source stands with its reason and what to do."""
    bad = SourceLine(
        "s2",
        "raw_sources/locked.pdf",
        "",
        Outcome.NEEDS_PASSWORD,
        "the file is encrypted",
        "Save it without a password",
        (),
        (),
    )
    text = digest.markdown(_report(bad))
    assert "| raw\\_sources/locked.pdf | needs_password | the file is encrypted | Save it without a password |" in text
    assert "1 new page, 0 updated, 1 held back for review; 1 source could not be used." in text


def test_a_title_cannot_break_the_table() -> None:
    """Titles are strangers' text: bars and links in them stay text."""
    assert "| A \\| thin page (new) | low | only one sentence |" in digest.markdown(_report())


def test_pages_are_linked_and_candidates_are_not() -> None:
    """Published pages never link to candidates, and neither does the digest."""
    good = SourceLine("s1", "raw_sources/z3.md", "Zuse Z3", Outcome.OK, "", "", ("zuse-z3",), ("z4",))
    assert "| Zuse Z3 (raw\\_sources/z3.md) | [[zuse-z3]] | z4 |" in digest.markdown(_report(good))


def test_times_are_told_in_the_wikis_own_zone() -> None:
    """A night that begins before midnight in UTC belongs to the next day further east."""
    late = replace(_report(), started="2026-03-01T23:30:00Z", finished="2026-03-01T23:31:00Z")
    text = digest.markdown(late, "Europe/Berlin")
    assert "# Night of 2026-03-02" in text and "started 2026-03-02 00:30:00" in text and "(Europe/Berlin)" in text
