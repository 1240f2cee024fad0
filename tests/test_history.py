"""The versions of a page: runs and persons, names it had, and what is kept no longer."""

from __future__ import annotations

from pathlib import Path

from flows.night import sync
from flows.session import open_state
from flows.steps import DirectRunner
from tests import wikis
from tests.test_cli import say, told
from tests.wikis import ENIAC, page, put, run


def _versions(root: Path, name: str, *options: str) -> list[tuple[str, str]]:
    answer = told("page", "history", name, "-w", root, *options)
    return [(one["who"], one["change"]) for one in answer["versions"]]


def test_versions_tell_who_made_them(tmp_path: Path) -> None:
    """A night, a person's edit, a rename, a corrected source; the former slug leads there, too."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    put(wiki.root, "wiki/eniac.md", page(wiki.root, "eniac") + "\nMine.\n")
    sync(wiki, DirectRunner(), "2026-03-01T09:00:00Z")
    (wiki.root / "wiki/eniac.md").rename(wiki.root / "wiki/The ENIAC.md")
    sync(wiki, DirectRunner(), "2026-03-01T10:00:00Z")
    put(wiki.root, "raw_sources/machine.md", ENIAC.replace("18,000", "17,468"))
    run(wiki, 2)
    expected = [("run", "changed"), ("person", "renamed"), ("person", "changed"), ("run", "created")]
    assert _versions(wiki.root, "The ENIAC") == expected == _versions(wiki.root, "eniac")
    newest, _, edited, _ = told("page", "history", "eniac", "-w", wiki.root, "--diff")["versions"]
    assert "+Mine." in edited["diff"] and "17,468" in newest["diff"] and newest["added"] >= 1


def test_a_deleted_page_has_a_history(tmp_path: Path) -> None:
    """Whether a person or a run took it out."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    (wiki.root / "wiki/eniac.md").unlink()
    sync(wiki, DirectRunner(), "2026-03-01T09:00:00Z")
    assert _versions(wiki.root, "eniac")[0] == ("person", "deleted")
    other = wikis.make(tmp_path / "v", machine=ENIAC)
    run(other)
    (other.root / "raw_sources/machine.md").unlink()
    run(other, 2)
    assert _versions(other.root, "eniac") == [("run", "deleted"), ("run", "created")]


def test_what_is_past_retention_is_known_from_the_audit(tmp_path: Path) -> None:
    """Its text is gone, not the fact."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    put(wiki.root, "raw_sources/machine.md", ENIAC.replace("18,000", "17,468"))
    run(wiki, 28)
    open_state(wiki).retention(3, "2026-04-20T00:00:00Z")
    answer = told("page", "history", "eniac", "-w", wiki.root)
    told_of = [(one["change"], one["snapshot"] == "") for one in answer["versions"]]
    assert told_of == [("changed", False), ("created", True)]
    code, out, _ = say("page", "history", "eniac", "-w", wiki.root)
    assert code == 0 and "not kept" in out


def test_an_unknown_page_is_one_line(tmp_path: Path) -> None:
    """With the nearest name."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    code, _, err = say("page", "history", "eniak", "-w", wiki.root)
    assert code == 1 and "Did you mean 'eniac'?" in err and err.count("\n") == 1
