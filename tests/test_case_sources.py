"""Sources that are corrected, moved, swapped or spoilt, and readable copies that a person was at."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.wiki import Wiki, open_wiki
from tests import wikis
from tests.invariants import broken, unsettled
from tests.wikis import COLOSSUS, ENIAC, SETTINGS, page, put, run, vault

PLAIN = ENIAC.replace("# ", "").replace("ENIAC", "EDVAC")
CORRECTED = PLAIN.replace("18,000", "17,468")


def _with_copy(root: Path) -> tuple[Wiki, Path]:
    """A wiki over one plain text, and its readable copy."""
    wiki = wikis.make(root)
    put(root, "raw_sources/a.txt", PLAIN)
    run(wiki)
    (copy,) = (root / "evidence").iterdir()
    return wiki, copy


def test_citations_follow_a_moved_copy(tmp_path: Path) -> None:
    """Wherever a person puts the readable copy, the footnotes lead there, and so does the next edition of it."""
    wiki, copy = _with_copy(tmp_path / "w")
    copy.parent.joinpath("old").mkdir()
    copy.rename(copy.parent / "old" / copy.name)
    run(wiki, 2)
    assert broken(wiki) == [] and unsettled(wiki, 2) == []
    put(wiki.root, "raw_sources/a.txt", CORRECTED)
    run(wiki, 3)
    assert broken(wiki) == [] and not copy.exists()


def test_another_evidence_folder_takes_new_copies(tmp_path: Path) -> None:
    """Copies stay where they are until a person moves them; then they are found by name."""
    wiki, copy = _with_copy(tmp_path / "w")
    put(wiki.root, "nightwiki.yaml", SETTINGS + "pages:\n  evidence: Archive\n")
    wiki = open_wiki(wiki.root)
    copy.parent.rename(wiki.root / "Archive")
    put(wiki.root, "raw_sources/a.txt", CORRECTED)
    run(wiki, 2)
    assert broken(wiki) == [] and [p for p in vault(wiki.root) if p.startswith("evidence")] == []


def test_a_deleted_copy_is_told_of_once_and_made_with_the_next_edition(tmp_path: Path) -> None:
    """An unchanged source does not bring it back; a corrected one is archived anew."""
    wiki, copy = _with_copy(tmp_path / "w")
    copy.unlink()
    assert "deleted" in run(wiki, 2).problems[0].cause
    assert run(wiki, 3).problems == () and not copy.exists()
    put(wiki.root, "raw_sources/a.txt", CORRECTED)
    run(wiki, 4)
    assert broken(wiki) == []


@pytest.mark.parametrize("edited", [True, False], ids=["a person's words", "line endings"])
def test_a_copy_that_a_person_wrote_into_is_kept(tmp_path: Path, edited: bool) -> None:
    """The next edition goes beside it; line endings that a program changed are no words of a person."""
    wiki, copy = _with_copy(tmp_path / "w")
    before = copy.read_bytes().replace(b"\n", b"\r\n") + (b"==mine==\r\n" if edited else b"")
    copy.write_bytes(before)
    put(wiki.root, "raw_sources/a.txt", CORRECTED)
    run(wiki, 2)
    assert broken(wiki) == [] and (copy.read_bytes() == before) is edited


def test_a_source_moved_in_obsidian_claims_nothing(tmp_path: Path) -> None:
    """Obsidian leads the links along; they are the pipeline's still, and follow a second move."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    (wiki.root / "raw_sources/machine.md").rename(wiki.root / "raw_sources/giant.md")
    put(wiki.root, "wiki/eniac.md", page(wiki.root, "eniac").replace("[[raw_sources/machine", "[[raw_sources/giant"))
    run(wiki, 2)
    (wiki.root / "raw_sources/giant.md").rename(wiki.root / "raw_sources/third.md")
    run(wiki, 3)
    assert "raw_sources/giant" not in page(wiki.root, "eniac") and broken(wiki) == []


def test_two_sources_that_swap_names_swap_citations(tmp_path: Path) -> None:
    """Each page keeps its words, and they are found where they stand now."""
    wiki = wikis.make(tmp_path / "w", a=ENIAC, b=COLOSSUS)
    run(wiki)
    put(wiki.root, "raw_sources/a.md", COLOSSUS)
    put(wiki.root, "raw_sources/b.md", ENIAC)
    run(wiki, 2)
    assert broken(wiki) == [] and "raw_sources/b#" in page(wiki.root, "eniac")


def test_a_source_moved_and_corrected_at_once_keeps_its_page(tmp_path: Path) -> None:
    """One page, with the new words and the new place."""
    wiki = wikis.make(tmp_path / "w", a=ENIAC, b=COLOSSUS)
    run(wiki)
    (wiki.root / "raw_sources/a.md").unlink()
    put(wiki.root, "raw_sources/sub/a.md", ENIAC.replace("18,000", "17,468"))
    run(wiki, 2)
    assert broken(wiki) == [] and "17,468" in page(wiki.root, "eniac")
    assert sorted(p.name for p in (wiki.root / "wiki").glob("*.md")) == ["colossus.md", "eniac.md", "index.md"]


def test_a_spoilt_source_keeps_what_it_said(tmp_path: Path) -> None:
    """An emptied file is an outcome with its reason; its page stays, and the file's return changes nothing."""
    wiki = wikis.make(tmp_path / "w", a=ENIAC)
    run(wiki)
    before = page(wiki.root, "eniac")
    put(wiki.root, "raw_sources/a.md", "")
    report = run(wiki, 2)
    assert report.lines[0].reason and report.state == "partial" and page(wiki.root, "eniac") == before
    put(wiki.root, "raw_sources/a.md", ENIAC)
    assert run(wiki, 3).changed == () and page(wiki.root, "eniac") == before


def test_a_folder_in_a_sources_place_is_looked_into(tmp_path: Path) -> None:
    """The former file is gone; what lies in the folder is a source."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    (wiki.root / "raw_sources/machine.md").unlink()
    put(wiki.root, "raw_sources/machine.md/inner.md", COLOSSUS)
    report = run(wiki, 2)
    assert (report.created, report.removed) == (1, 1) and broken(wiki) == []


def test_a_page_below_the_threshold_follows_its_source(tmp_path: Path) -> None:
    """A promoted page of low confidence has its footnotes and `sources` led along when the file is moved."""
    wiki = wikis.make(tmp_path / "w", thin="# Abacus\n\nAn abacus is a counting frame.\n")
    run(wiki)
    waiting = wikis.page(wiki.root, "candidates/abacus")
    put(wiki.root, "wiki/candidates/abacus.md", waiting.replace("promote: false", "promote: true"))
    run(wiki, 2)
    put(wiki.root, "wiki/abacus.md", wikis.page(wiki.root, "abacus") + "\nMine.\n")
    (wiki.root / "raw_sources/thin.md").rename(wiki.root / "raw_sources/Counting frames.md")
    run(wiki, 3)
    text = wikis.page(wiki.root, "abacus")
    assert '"[[raw_sources/Counting frames]]"' in text and "[[raw_sources/thin" not in text and "Mine." in text
    assert broken(wiki) == [] and unsettled(wiki, 4) == []
