"""Boxes in candidates as people tick them, and what they write around them."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.errors import NightwikiError
from config.wiki import Wiki
from flows.night import review, sync
from flows.reading_in import Review
from flows.steps import DirectRunner
from tasks.digest import NightReport
from tasks.review.candidate import candidate_text, strip_candidate, ticked
from tests import wikis
from tests.wikis import page, put, run

THIN = "# Abacus\n\nAn abacus is a counting frame.\n"
PAGE = "---\ntitle: A\n---\n\n# A\n\nText.\n"


def _waiting(root: Path) -> Wiki:
    wiki = wikis.make(root, thin=THIN)
    run(wiki)
    return wiki


def _synced(wiki: Wiki, before: str, after: str) -> NightReport:
    """The report of a sync after a change in the candidate."""
    put(wiki.root, "wiki/candidates/abacus.md", page(wiki.root, "candidates/abacus").replace(before, after))
    return sync(wiki, DirectRunner(), "2026-03-02T12:00:00Z")


@pytest.mark.parametrize("said", ["true", "TRUE # ok", "'true'", "yes", "On", "x", "[x]", "1"])
def test_a_box_is_ticked_however_it_is_spelt(said: str) -> None:
    """By hand people write what they mean; Obsidian writes `true`."""
    text = candidate_text(PAGE, "new", "", "", ())
    assert ticked(text.replace("promote: false", f"promote: {said}")) == ("promote",)
    assert ticked(text.replace("promote: false", "promote: no")) == ticked(text.replace("promote: false", "")) == ()


@pytest.mark.parametrize("edit", ["promote:true", "- [x] promote", "promote: true\ntype: a: b"])
def test_a_tick_in_properties_that_cannot_be_read_is_told_of(tmp_path: Path, edit: str) -> None:
    """Nothing is promoted, by name neither, for the marks of a candidate could not be taken off."""
    wiki = _waiting(tmp_path / "w")
    assert "cannot be read: line" in _synced(wiki, "promote: false", edit).problems[0].cause
    named = review(wiki, DirectRunner(), "2026-03-02T13:00:00Z", [Review("abacus", True)])
    assert "cannot be read: line" in named.problems[0].cause and not (wiki.root / "wiki/abacus.md").exists()


@pytest.mark.parametrize("path", ["wiki/ABACUS.md", "notes/abacus.md"])
def test_a_page_is_not_promoted_beside_a_note_of_its_name(tmp_path: Path, path: str) -> None:
    """Links could not tell the two apart; the index does not list it either."""
    wiki = _waiting(tmp_path / "w")
    put(wiki.root, path, "mine\n")
    report = _synced(wiki, "promote: false", "promote: true")
    assert report.problems[0].cause == f"{path} exists already" and report.changed == ()


def test_an_emptied_candidate_is_not_promoted(tmp_path: Path) -> None:
    """A sync tool that broke off does not make an empty page."""
    wiki = _waiting(tmp_path / "w")
    put(wiki.root, "wiki/candidates/abacus.md", "")
    report = review(wiki, DirectRunner(), "2026-03-02T12:00:00Z", [Review("abacus", True)])
    assert "is empty" in report.problems[0].cause and not (wiki.root / "wiki/abacus.md").exists()


def test_what_is_said_by_name_goes_before_a_tick(tmp_path: Path) -> None:
    """A candidate is decided on once; to say both of it is an error."""
    wiki = _waiting(tmp_path / "w")
    text = page(wiki.root, "candidates/abacus").replace("promote: false", "promote: true")
    put(wiki.root, "wiki/candidates/abacus.md", text)
    both = [Review("abacus", True), Review("abacus", False)]
    with pytest.raises(NightwikiError, match="at once"):
        review(wiki, DirectRunner(), "2026-03-02T12:00:00Z", both)
    review(wiki, DirectRunner(), "2026-03-02T13:00:00Z", both[1:])
    assert not (wiki.root / "wiki/abacus.md").exists() and not (wiki.root / "wiki/candidates/abacus.md").exists()


@pytest.mark.parametrize(
    ("before", "after"),
    [("> [!info]", "Mine above.\n\n> [!info]"), ("+Text.\n> ```\n", "+Text.\n> ```\n> Mine below the diff.\n")],
)
def test_words_around_the_shown_diff_are_kept_and_the_diff_goes(before: str, after: str) -> None:
    """Nobody's words go with it, and no page is published with it."""
    text = candidate_text(PAGE, "update", "a", "0" * 64, (), "-Old.\n+Text.")
    edited = strip_candidate(text.replace(before, after))
    assert strip_candidate(text) == PAGE
    assert "Mine" in edited and "diff\n" not in edited and edited.endswith("# A\n\nText.\n")


@pytest.mark.parametrize("edit", ["promote: false # later?", "# not sure\npromote: false"])
def test_a_comment_in_a_candidate_s_properties_is_an_edit(tmp_path: Path, edit: str) -> None:
    """A candidate is not made anew over it, and does not go with its source."""
    wiki = _waiting(tmp_path / "w")
    _synced(wiki, "promote: false", edit)
    put(wiki.root, "raw_sources/thin.md", THIN.replace("counting", "reckoning"))
    run(wiki, 3)
    (wiki.root / "raw_sources/thin.md").unlink()
    run(wiki, 4)
    assert edit in page(wiki.root, "candidates/abacus")
