"""The digest tells a person what came in, what waits and why, and what to do about failures."""

from __future__ import annotations

from dataclasses import replace

from tasks import digest
from tasks.digest import Cost, NightReport, Problem, RoleCost, SourceLine, StagedLine
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


def test_a_large_night_fits_on_half_a_page() -> None:
    """Failures of one cause are one row, long lists are folded with counts, and what needs a person comes first."""
    why = ("it is data (JSON), not a text to read", "Export it as CSV")
    bad = [SourceLine(f"b{n}", f"raw/{n}.json", "", Outcome.UNSUPPORTED, *why, (), ()) for n in range(30)]
    good = [SourceLine(f"g{n}", f"raw/{n}.md", f"Page {n}", Outcome.OK, "", "", (f"page-{n}",), ()) for n in range(80)]
    none = [SourceLine("n", "raw/n.md", "", Outcome.OK, "no page: the model found no fact in it", "", (), ())]
    told = tuple(Problem(f"raw/{n}.md", "left out: “It sank.”") for n in range(40))
    text = digest.markdown(replace(_report(*bad, *good, *none), problems=told))
    assert "| 30: raw/0.json, raw/1.json, raw/2.json and 27 more | unsupported |" in text
    assert "## What came in (80)" in text and "And 74 more: `nightwiki sources list`." in text
    assert "And 34 more: the report of the run, `runs/reports/r1.json`." in text and "found no fact" in text
    assert len(text.splitlines()) < 60 and text.index("Waits") < text.index("Could not") < text.index("What came in")


def test_the_cost_is_told_by_role_and_with_the_calls_that_failed() -> None:
    """Calls, tokens and money of the night and of each kind of question; calls in vain are counted by their kind."""
    roles = (RoleCost("cite", 1, 900, 0.01), RoleCost("write", 4, 4100, 0.20))
    first, second = digest.cost_lines(Cost(5, 4000, 1000, 0.21, 2, "", roles, (("timed_out", 1), ("invalid", 2))))
    assert first == (
        "The model was asked 5 times (4,000 tokens sent and 1,000 received), which cost $0.21; 2 answers known from"
        " before. By role: write 4 (4,100 tokens, $0.20), cite 1 (900 tokens, $0.01)."
    )
    assert second.startswith("3 calls brought no usable reply (1 timed out, 2 invalid)")
    assert digest.cost_lines(Cost()) == ()
