"""Boxes in candidates as people tick them, and what they write around them."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.errors import NightwikiError
from config.wiki import Wiki
from flows.night import review, sync
from flows.night_steps.reading_in import Review
from flows.steps import DirectRunner
from flows.undo import undo
from tasks.digest import NightReport
from tasks.review.candidate import candidate_text, shown_hash, strip_candidate, ticked
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


SPELT = ["true", "TRUE # ok", "'true'", "yes", "On", "x", "[x]", "'[x]'", "1", "✓", "\n  - true"]


@pytest.mark.parametrize("said", SPELT)
def test_a_box_is_ticked_however_it_is_spelt(said: str) -> None:
    """By hand people write what they mean; Obsidian writes `true`."""
    text = candidate_text(PAGE, "new", "", "", ())
    assert ticked(text.replace("promote: false", f"promote: {said}")) == ("promote",)
    assert ticked(text.replace("promote: false", f"Promote: {said}")) == ("promote",)
    assert ticked(text.replace("promote: false", "promote: no")) == ticked(text.replace("promote: false", "")) == ()
    assert strip_candidate(text.replace("promote: false", f"Promote: {said}")) == PAGE


def test_a_box_in_capitals_is_carried_out_and_taken_back(tmp_path: Path) -> None:
    """Obsidian takes `Promote` and `promote` for one property; so do a promotion and its undo."""
    wiki = _waiting(tmp_path / "w")
    report = _synced(wiki, "promote: false", "Promote: Yes")
    assert "romote:" not in page(wiki.root, "abacus")
    undo(wiki, report.run, "2026-03-02T13:00:00Z")
    assert "Promote: false" in page(wiki.root, "candidates/abacus")
    assert sync(wiki, DirectRunner(), "2026-03-02T14:00:00Z").changed == ()


def test_a_property_of_the_page_in_capitals_is_no_box() -> None:
    """It goes into the page as it is, whatever it says."""
    own = PAGE.replace("title: A", "title: A\nPromote: yes")
    text = candidate_text(own, "new", "", "", ())
    assert ticked(text) == () and strip_candidate(text) == own


@pytest.mark.parametrize("edit", ["promote:true", "- [x] promote", "promote: true\ntype: a: b"])
def test_a_tick_in_properties_that_cannot_be_read_is_told_of(tmp_path: Path, edit: str) -> None:
    """Nothing is promoted, by name neither, for the marks of a candidate could not be taken off."""
    wiki = _waiting(tmp_path / "w")
    assert "cannot be read: line" in _synced(wiki, "promote: false", edit).problems[0].cause
    named = review(wiki, DirectRunner(), "2026-03-02T13:00:00Z", [Review("abacus", True)])
    assert "cannot be read: line" in named.problems[0].cause and not (wiki.root / "wiki/abacus.md").exists()


def test_a_box_that_stands_twice_is_told_of(tmp_path: Path) -> None:
    """Obsidian shows no properties at all then; which of the two a person means is theirs to say."""
    wiki = _waiting(tmp_path / "w")
    report = _synced(wiki, "promote: false", "promote: true\npromote: false")
    assert "the key 'promote' stands twice" in report.problems[0].cause and report.changed == ()


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


DIFF = candidate_text(PAGE, "update", "a", "0" * 64, (), "@@ -1 +1 @@\n-Old.\n+Text.\n \n ```\n x")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("\n", "\r\n"),
        ("> [!info]- What", "> [!info]+ What"),
        ("> ````diff", ">\n> ````diff"),
        ("> ````\n\n", "> ````\n>\n\n"),
        ("> -Old.", "> -Old.  "),
        (DIFF[DIFF.index("> [!info]") : DIFF.index("# A")], ""),
    ],
)
def test_a_diff_that_only_a_program_touched_is_as_it_was(before: str, after: str) -> None:
    """Line endings, an opened callout, blanks: no word is new, and the page that comes of it is the same."""
    text = DIFF.replace(before, after)
    assert text != DIFF and shown_hash(text) in ("", shown_hash(DIFF))
    assert strip_candidate(text).replace("\r\n", "\n") in (PAGE, PAGE.replace("---\n\n", "---\n"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("+Text.", "+My text."),
        ("> ````\n\n", "> Mine.\n> ````\n\n"),
        ("> ````\n", "> Mine.\n"),
        ("-Old.", "-Old.\n> ````\n> Mine."),
        ("-Old.\n", "-Old.\n> > Mine.\n"),
    ],
)
def test_words_in_the_shown_diff_are_seen(before: str, after: str) -> None:
    """Also where they break the fence, so that it is not clear where the diff ends."""
    text = DIFF.replace(before, after)
    assert text != DIFF and shown_hash(text) not in ("", shown_hash(DIFF))


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
