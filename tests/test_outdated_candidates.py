"""Pages that wait for review, while their sources come to say something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.wiki import Wiki
from tests import wikis
from tests.invariants import broken
from tests.wikis import COLOSSUS, ENIAC, put

ABACUS = "# Abacus\n\nA counting frame.\n"
ALL = wikis.SETTINGS + "staging:\n  policy: all\n"


def waiting(wiki: Wiki) -> dict[str, Path]:
    """The files that wait, by name."""
    return {file.stem: file for file in sorted((wiki.root / "wiki/candidates").glob("*.md"))}


def promote(wiki: Wiki) -> None:
    for file in waiting(wiki).values():
        file.write_bytes(file.read_bytes().replace(b"promote: false", b"promote: true"))


@pytest.mark.parametrize("after", [COLOSSUS, "# Sundial\n\nA stick in the sun.\n"])
def test_a_candidate_that_no_source_says_any_longer_goes(tmp_path: Path, after: str) -> None:
    """Promoted it would cite words that stand nowhere."""
    wiki = wikis.make(tmp_path / "w", thin=ABACUS)
    wikis.run(wiki)
    assert "abacus" in waiting(wiki)
    put(wiki.root, "raw_sources/thin.md", after)
    wikis.run(wiki)
    promote(wiki)
    wikis.run(wiki)
    assert not (wiki.root / "wiki/abacus.md").exists()
    assert broken(wiki) == []


def test_one_that_a_person_has_begun_to_edit_stays(tmp_path: Path) -> None:
    """Their words are in it."""
    wiki = wikis.make(tmp_path / "w", thin=ABACUS)
    wikis.run(wiki)
    file = waiting(wiki)["abacus"]
    file.write_text(file.read_text() + "\nMine.\n")
    put(wiki.root, "raw_sources/thin.md", COLOSSUS)
    wikis.run(wiki)
    assert "Mine." in file.read_text()


def test_what_one_of_two_sources_said_leaves_the_candidate_of_both(tmp_path: Path) -> None:
    """The other one still makes the page, of its own sentences."""
    second = "# ENIAC\n\nENIAC weighed 27 tonnes and filled a hall of its own in Philadelphia.\n"
    wiki = wikis.make(tmp_path / "w", ALL, one=ENIAC, more=second)
    wikis.run(wiki)
    assert "27 tonnes" in waiting(wiki)["eniac"].read_text()
    put(wiki.root, "raw_sources/more.md", COLOSSUS)
    wikis.run(wiki)
    assert "27 tonnes" not in waiting(wiki)["eniac"].read_text()
    (wiki.root / "raw_sources/one.md").unlink()
    wikis.run(wiki)
    assert sorted(waiting(wiki)) == ["colossus"]
    promote(wiki)
    wikis.run(wiki)
    assert broken(wiki) == []
