"""An update whose page has moved on is not promoted; it is made anew from both."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.wiki import Wiki
from flows.night import review
from flows.night_steps.reading_in import Review
from flows.session import open_state
from flows.steps import DirectRunner
from tasks.markdown import properties
from tasks.pages import pages
from tasks.pages.three_way import three_way
from tests import wikis
from tests.invariants import broken
from tests.test_cli import told
from tests.test_merge import made, resolve
from tests.wikis import ENIAC, page, put, run

SETTINGS = wikis.SETTINGS + "staging:\n  policy: off\n"
PAGE, WAITS = "wiki/eniac.md", "wiki/candidates/eniac.update.md"


@pytest.fixture
def wiki(tmp_path: Path) -> Wiki:
    """A page of which a person edited a paragraph that its source then says otherwise: an update waits."""
    found = wikis.make(tmp_path / "w", SETTINGS, machine=ENIAC)
    run(found, 1)
    edit(found, "It filled a room", "It FILLED a room")
    put(found.root, "raw_sources/machine.md", ENIAC.replace("167 square metres", "170 square metres"))
    run(found, 2)
    assert (found.root / WAITS).exists() and "170" not in body(found)
    return found


def edit(wiki: Wiki, before: str, after: str, path: str = PAGE) -> None:
    text = (wiki.root / path).read_text()
    assert before in text
    put(wiki.root, path, text.replace(before, after, 1))


def body(wiki: Wiki) -> str:
    return page(wiki.root, "eniac").split("[^nw-", 1)[0] + page(wiki.root, "eniac")


def waiting(wiki: Wiki) -> str:
    return (wiki.root / WAITS).read_text().split("> ```\n")[-1]


def promote(wiki: Wiki, day: int) -> tuple[str, ...]:
    report = review(wiki, DirectRunner(), f"2026-03-{day:02d}T12:00:00Z", [Review("eniac", True)])
    return tuple(problem.cause for problem in report.problems)


def test_what_was_added_since_is_kept(wiki: Wiki) -> None:
    """The first promotion is refused and says so; the second has the update and the person's later text."""
    edit(wiki, "## Design", "My own paragraph.\n\n## Design")
    edit(wiki, "forty panels", "FORTY panels")
    before = page(wiki.root, "eniac")
    assert promote(wiki, 3) == ("the page has changed since this update was made",)
    assert page(wiki.root, "eniac") == before and broken(wiki) == []
    assert "My own paragraph." in waiting(wiki) and "FORTY" in waiting(wiki) and "170 square" in waiting(wiki)
    assert "promote: false" in (wiki.root / WAITS).read_text()
    assert told("-w", wiki.root, "candidates", "diff", "eniac")["current"]
    assert promote(wiki, 4) == ()
    text = page(wiki.root, "eniac")
    assert "My own paragraph." in text and "FORTY" in text and "170 square" in text and broken(wiki) == []
    assert text.count("My own paragraph.") == text.count("forty panels".upper()[:5]) == 1


def test_what_both_changed_is_said(wiki: Wiki) -> None:
    """The update proposes its own text again, with a reason; the page is not touched."""
    edit(wiki, "It FILLED a room", "It FILLED a whole room")
    promote(wiki, 3)
    assert "whole room" in page(wiki.root, "eniac") and "whole room" not in waiting(wiki)
    record = open_state(wiki).ledger.candidates()
    (reasons,) = [one.reasons for one in record.values() if one.state == "open"]
    assert any("you have changed" in reason for reason in reasons)


def test_edits_of_the_candidate_are_kept(wiki: Wiki) -> None:
    """What a person wrote into the candidate is part of the update."""
    head, mark, rest = (wiki.root / WAITS).read_text().rpartition("> ```\n")
    put(wiki.root, WAITS, head + mark + rest.replace("170 square metres", "170 SQUARE metres", 1))
    edit(wiki, "## Design", "Later.\n\n## Design")
    assert promote(wiki, 3) != ()
    assert "SQUARE" in waiting(wiki) and "Later." in waiting(wiki)
    assert promote(wiki, 4) == () and "SQUARE" in page(wiki.root, "eniac") and "Later." in page(wiki.root, "eniac")


def test_edits_of_the_candidate_outlive_another_proposal(wiki: Wiki) -> None:
    """Made anew from both sides it still holds a person's words, so the next night does not write over it."""
    edit(wiki, "\n## Design", "\nMine in the update.\n\n## Design", WAITS)
    edit(wiki, "## Design", "Later.\n\n## Design")
    assert promote(wiki, 3) != () and "Mine in the update." in waiting(wiki)
    put(wiki.root, "raw_sources/machine.md", ENIAC.replace("167 square metres", "180 square metres"))
    run(wiki, 4)
    (wiki.root / "raw_sources/machine.md").unlink()
    run(wiki, 5)
    assert "Mine in the update." in waiting(wiki)


def test_a_ticked_box_meets_a_page_that_moved_on(wiki: Wiki) -> None:
    """The box is empty again in the fresh candidate, and ticking it once more publishes it."""
    edit(wiki, "## Design", "Later.\n\n## Design")
    edit(wiki, "promote: false", "promote: true", WAITS)
    report = run(wiki, 3)
    assert [one.cause for one in report.problems] and "promote: false" in (wiki.root / WAITS).read_text()
    edit(wiki, "promote: false", "promote: true", WAITS)
    run(wiki, 4)
    assert "170 square" in page(wiki.root, "eniac") and "Later." in page(wiki.root, "eniac") and broken(wiki) == []


@pytest.mark.parametrize("moved_on", [False, True])
def test_words_in_the_shown_diff_are_not_lost(wiki: Wiki, moved_on: bool) -> None:
    """The update is not promoted, nor made anew, until they stand in the page below or are gone with the diff."""
    edit(wiki, "> +", "> My own words.\n> +", WAITS)
    edit(wiki, "## Design", "Later.\n\n## Design" if moved_on else "## Design")
    before = (wiki.root / WAITS).read_bytes()
    assert promote(wiki, 3) == ("you have written into its diff, which is not part of the page",)
    assert (wiki.root / WAITS).read_bytes() == before
    head, _, rest = before.decode().partition("> [!info]- What changes")
    put(wiki.root, WAITS, head + "My own words.\n\n" + rest.rpartition("> ```\n\n")[2])
    promote(wiki, 4)
    promote(wiki, 5) if moved_on else None
    assert "My own words." in page(wiki.root, "eniac") and "170 square" in page(wiki.root, "eniac")


@pytest.mark.parametrize("remark", ["promote: false # why not?", "type: topic # or a person?", "# later"])
def test_a_remark_among_the_properties_of_an_update_is_kept(wiki: Wiki, remark: str) -> None:
    """It stands once in the update that is made anew, and goes into the page with it."""
    key = remark.partition(" #")[0]
    edit(wiki, f"{key}\n" if key != remark else "type:", f"{remark}\n" + "type:" * (key == remark), WAITS)
    edit(wiki, "## Design", "Later.\n\n## Design")
    promote(wiki, 3)
    comment = remark[remark.index("#") :]
    assert properties.comments((wiki.root / WAITS).read_text()) == (comment,)
    assert promote(wiki, 4) == () and page(wiki.root, "eniac").count(comment) == 1


@pytest.mark.parametrize("edit_of", ["type: topic\nmine: yes\ntype: mine", "type: topic\n- mine"])
def test_an_update_whose_properties_cannot_be_read_is_not_made_anew(wiki: Wiki, edit_of: str) -> None:
    """Neither a key that stands twice, nor words that are no property, go with it."""
    edit(wiki, "type: topic", edit_of, WAITS)
    edit(wiki, "## Design", "Later.\n\n## Design")
    before = (wiki.root / WAITS).read_bytes()
    assert "line" in promote(wiki, 3)[0] or "stands twice" in promote(wiki, 4)[0]
    assert (wiki.root / WAITS).read_bytes() == before


def test_an_emptied_update_is_not_made_anew(wiki: Wiki) -> None:
    """A sync tool that broke off does not make an update that empties the page."""
    edit(wiki, "## Design", "Later.\n\n## Design")
    put(wiki.root, WAITS, "")
    assert promote(wiki, 3) == ("the candidate's file is empty",) and (wiki.root / WAITS).read_bytes() == b""


def test_an_update_that_the_page_already_has_is_withdrawn(wiki: Wiki) -> None:
    """When the person took its text over, nothing is left to decide."""
    text = (wiki.root / WAITS).read_text()
    start = properties.body_start(page(wiki.root, "eniac"))
    head = page(wiki.root, "eniac")[:start]
    put(wiki.root, PAGE, head + "\n" + text.split("> ```\n")[-1].lstrip("\n"))
    promote(wiki, 3)
    assert not (wiki.root / WAITS).exists() or "170" in page(wiki.root, "eniac")


WORDS = st.sampled_from(["", "Mine.", "# X", "- a\n- b", "```\ncode\n```", "> quote", "Text[^1].\n\n[^1]: note", "***"])


@settings(max_examples=80, deadline=None)
@given(st.lists(WORDS, max_size=3), st.lists(WORDS, max_size=3), st.integers(0, 3), st.integers(0, 3))
def test_nothing_a_person_added_is_lost(live: list[str], update: list[str], at: int, there: int) -> None:
    """Whatever stands where, the page's own additions come through, and equal sides give the page itself."""
    base = made().record

    def with_added(added: list[str], place: int) -> str:
        parts = base.markdown.split("\n\n")
        cut = min(place + 2, len(parts) - 1)
        return "\n\n".join([*parts[:cut], *filter(None, added), *parts[cut:]])

    now = pages.read_page(base.path, with_added(live, at), base, resolve)
    proposed = pages.read_page(base.path, with_added(update, there), base, resolve)
    result = three_way(base, now, proposed, resolve)
    assert all(block in result.page.markdown for block in live)
    assert properties.read(result.page.markdown).values == properties.read(now.markdown).values
    again = pages.read_page(base.path, result.page.markdown + " ", replace(result.page), resolve)
    assert [block.hash for block in again.blocks] == [block.hash for block in result.page.blocks]
    assert three_way(base, now, base, resolve).page.markdown.split() == now.markdown.split()
