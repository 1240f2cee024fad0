"""Pages that say nearly the same: one page of two is proposed, and made when a person agrees."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from config.wiki import Wiki
from flows.lint import lint
from flows.night import review
from flows.night_steps.reading_in import Review
from flows.session import open_state
from flows.steps import DirectRunner
from flows.undo import undo
from storage.commit import commit
from tasks.commits import Changes
from tasks.records import CandidateRecord, EmbeddingRecord, PageRecord
from tests import wikis
from tests.invariants import broken, unsettled
from tests.wikis import page, put, run

SETTINGS = wikis.SETTINGS + "staging:\n  policy: off\n"
SHARED = """It weighed two tons and stood in a hall of the institute. The relays came from telephone exchanges and were
bought used. Programs were punched into film that cinemas had thrown away.
The arithmetic was binary with floating point.
"""
ONE = f"# Relay calculator\n\nThe relay calculator was a machine for engineers of aircraft. {SHARED}"
TWO = f"# Calculating relay machine\n\nThe calculator was made for aircraft engineers. {SHARED}It was lost.\n"
OTHER = "# Cinema film\n\nCinema film was used by the Calculating relay machine to store programs in those years.\n"


@pytest.fixture
def wiki(tmp_path: Path) -> Wiki:
    """Two pages that are alike by embedding and by words, and one that links to the second."""
    made = wikis.make(tmp_path / "w", SETTINGS, one=ONE, two=TWO, other=OTHER)
    run(made, 1)
    similar(made)
    return made


def similar(wiki: Wiki) -> None:
    vector = np.eye(1, 8, dtype="<f4").tobytes()
    ids = [one.id for one in pages(wiki) if "machine" in one.slug or "calculator" in one.slug]
    rows = tuple(EmbeddingRecord(name, "h", "m", vector) for name in ids)
    commit(open_state(wiki), "r", "ingest", (), Changes(embeddings=rows), "2026-03-01T05:00:00Z")


def pages(wiki: Wiki) -> list[PageRecord]:
    return [one for one in open_state(wiki).ledger.pages().values() if not one.deleted]


def waiting(wiki: Wiki) -> list[CandidateRecord]:
    return [one for one in open_state(wiki).ledger.candidates().values() if one.state == "open"]


def fix(wiki: Wiki, day: int = 2) -> None:
    lint(wiki, DirectRunner(), f"2026-03-{day:02d}T03:00:00Z", fix=True)


def decide(wiki: Wiki, promote: bool, day: int = 3) -> str:
    (candidate,) = waiting(wiki)
    reviews = [Review(candidate.slug, promote, "no")]
    return review(wiki, DirectRunner(), f"2026-03-{day:02d}T12:00:00Z", reviews).run


def test_a_merge_is_proposed_and_carried_out(wiki: Wiki) -> None:
    """One page of both, its other name an alias, links and lists led to it, and later nights keep it so."""
    before = wikis.vault(wiki.root)
    fix(wiki)
    (candidate,) = waiting(wiki)
    assert "says nearly the same as wiki/relay-calculator.md" in candidate.reasons[0]
    assert {path for path in wikis.vault(wiki.root) if wikis.vault(wiki.root)[path] != before.get(path)} == {
        candidate.path, "wiki/candidates/candidates.base"
    }
    decide(wiki, promote=True)
    text = page(wiki.root, "calculating-relay-machine")
    assert not (wiki.root / "wiki/relay-calculator.md").exists() and "  - Relay calculator\n" in text
    assert text.count("It weighed two tons") == 2 and "was a machine for engineers" in text  # once as a footnote
    assert "relay-calculator|" not in page(wiki.root, "index") and broken(wiki) == [] == unsettled(wiki, 4)
    run(wiki, 5, force=True)
    assert len(pages(wiki)) == 2 and broken(wiki) == []
    put(wiki.root, "raw_sources/one.md", ONE.replace("two tons", "three tons"))
    run(wiki, 6)
    assert len(pages(wiki)) == 2 and "three tons" in page(wiki.root, "calculating-relay-machine")


def test_a_discard_is_remembered(wiki: Wiki) -> None:
    """The two are not set beside each other again, whatever changes in them."""
    fix(wiki)
    decide(wiki, promote=False)
    put(wiki.root, "raw_sources/one.md", ONE.replace("two tons", "three tons"))
    run(wiki, 4)
    similar(wiki)
    fix(wiki, 5)
    assert waiting(wiki) == []
    findings = lint(wiki, DirectRunner(), "2026-03-06T03:00:00Z").findings
    assert not [one for one in findings if one.check == "near-duplicate"] and len(pages(wiki)) == 3


@pytest.mark.parametrize("how", ["edited", "linked", "both edited"])
def test_pages_of_a_person_do_not_go(wiki: Wiki, how: str) -> None:
    """The page that a person edited or links to stays; when that is true of both nothing is proposed."""
    if how == "linked":
        put(wiki.root, "wiki/mine.md", "See [[relay-calculator]].\n")
    for name in {"edited": ["relay-calculator"], "linked": []}.get(
        how, ["relay-calculator", "calculating-relay-machine"]
    ):
        path = f"wiki/{name}.md"
        put(wiki.root, path, (wiki.root / path).read_text() + "\nMine.\n")
    run(wiki, 2)
    fix(wiki)
    if how == "both edited":
        assert waiting(wiki) == []
        return
    decide(wiki, promote=True)
    assert (wiki.root / "wiki/relay-calculator.md").exists() and broken(wiki) == []
    assert not (wiki.root / "wiki/calculating-relay-machine.md").exists()
    assert how == "linked" or "Mine." in page(wiki.root, "relay-calculator")
    assert "[[relay-calculator|" in page(wiki.root, "cinema-film")


def test_a_merge_of_what_has_changed_is_not_made(wiki: Wiki) -> None:
    """When the page that would go was edited meanwhile, promoting is refused and the page stays."""
    fix(wiki)
    path = wiki.root / "wiki/relay-calculator.md"
    path.write_text(path.read_text() + "\nMine.\n")
    decide(wiki, promote=True)
    assert "Mine." in path.read_text() and len(pages(wiki)) == 3 and len(waiting(wiki)) == 1 and broken(wiki) == []


def test_undo_makes_two_of_one(wiki: Wiki) -> None:
    """Taking the review back brings both pages and the links to them back, byte for byte."""
    fix(wiki)
    before = wikis.vault(wiki.root)
    done = decide(wiki, promote=True)
    undo(wiki, done, "2026-03-04T12:00:00Z")
    after = wikis.vault(wiki.root)
    assert {path for path in before | after if before.get(path) != after.get(path)} <= {"wiki/index.md"}
    assert len(pages(wiki)) == 3 and len(waiting(wiki)) == 1 and broken(wiki) == []


def test_a_night_leaves_the_proposal_alone(wiki: Wiki) -> None:
    """A merge that waits is not dropped by an unrelated change of its page, and is made anew by the next lint."""
    fix(wiki)
    put(wiki.root, "raw_sources/two.md", TWO.replace("It was lost.", "It was lost in 1944."))
    run(wiki, 3)
    assert len(waiting(wiki)) == 1
    similar(wiki)
    fix(wiki, 4)
    decide(wiki, promote=True, day=5)
    assert "lost in 1944" in page(wiki.root, "calculating-relay-machine") and broken(wiki) == []


def test_the_page_that_stays_may_move_on(wiki: Wiki) -> None:
    """Edited meanwhile, the merge is made anew with the edit, and is still a merge when it is promoted."""
    fix(wiki)
    (candidate,) = waiting(wiki)
    path = wiki.root / candidate.target
    path.write_text(path.read_text() + "\nMine.\n")
    decide(wiki, promote=True)
    assert len(pages(wiki)) == 3 and len(waiting(wiki)) == 1
    decide(wiki, promote=True, day=4)
    assert len(pages(wiki)) == 2 and "Mine." in path.read_text() and broken(wiki) == []
    run(wiki, 5, force=True)
    assert len(pages(wiki)) == 2 and "Mine." in path.read_text() and broken(wiki) == []


def test_a_merge_whose_page_was_deleted_is_withdrawn(wiki: Wiki) -> None:
    """Nothing is made of a page that a person took away."""
    fix(wiki)
    (candidate,) = waiting(wiki)
    (wiki.root / candidate.target).unlink()
    run(wiki, 3)
    assert waiting(wiki) == [] and len(pages(wiki)) == 2
