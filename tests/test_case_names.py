"""Names of pages and files that clash, fold together or cannot be files, through whole nights."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from tests import wikis
from tests.invariants import broken, unsettled
from tests.wikis import ENIAC, SETTINGS, put, run


def _pages(root: Path) -> list[str]:
    found = (path for path in (root / "wiki").rglob("*.md") if path.name != "index.md")
    return sorted(path.stem for path in found)


def _make(root: Path, titles: list[str], style: str = "slug") -> list[str]:
    wiki = wikis.make(root, SETTINGS + f"pages:\n  file_name: {style}\n")
    for number, title in enumerate(titles):
        put(root, f"raw_sources/s{number}.md", ENIAC.replace("ENIAC", title).replace("1945", str(1945 + number)))
    run(wiki)
    assert broken(wiki) == [] and unsettled(wiki, 2) == []
    return _pages(root)


@pytest.mark.parametrize("style", ["slug", "title"])
@pytest.mark.parametrize(
    "titles",
    [
        ["高效能人士", "时间管理", "Гильдии"],
        ["Đại", "Ái", "Straße", "Łódź", "Ærø"],
        ["AC/DC: live?", "CON", "aux.md", "ends with dot.", "Draft (v2) 1 x | y", "..x", ".hidden"],
        ["A" * 300, "語" * 120],
    ],
    ids=["scripts", "letters", "forbidden", "long"],
)
def test_every_title_gets_a_file_of_its_own(tmp_path: Path, titles: list[str], style: str) -> None:
    """Readable, legal on every system, never hidden, never too long, never one over the other."""
    stems = _make(tmp_path / "w", titles, style)
    assert len({stem.casefold() for stem in stems}) == len(titles)
    for stem in stems:
        assert len(f"{stem}.md".encode()) <= 200 and not stem.startswith((".", " ")) and not stem.endswith((".", " "))
        assert not set(stem) & set('[]#^|\\/:*?"<>') and stem.upper() not in ("CON", "AUX")


def test_a_name_that_differs_in_case_alone_is_taken(tmp_path: Path) -> None:
    """A person's note keeps its name on any file system, and the page gets another."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    put(wiki.root, "Diary/Eniac.md", "mine")
    report = run(wiki)
    assert report.problems == () and (wiki.root / "Diary/Eniac.md").read_text() == "mine"
    assert "eniac" not in {stem.casefold() for stem in _pages(wiki.root)} and broken(wiki) == []


@pytest.mark.parametrize("name", ["ENIAC.md", "Eniac.md"])
def test_a_rename_in_case_alone_is_kept(tmp_path: Path, name: str) -> None:
    """The next night neither reverts it nor makes a twin."""
    wiki = wikis.make(tmp_path / "w", machine=ENIAC)
    run(wiki)
    (wiki.root / "wiki/eniac.md").rename(wiki.root / "wiki" / name)
    put(wiki.root, "raw_sources/machine.md", ENIAC.replace("18,000", "17,468"))
    run(wiki, 2)
    assert _pages(wiki.root) == [name[:-3]] and broken(wiki) == []


def test_a_source_renamed_in_unicode_form_or_case_is_the_same(tmp_path: Path) -> None:
    """Another system spells the name another way; the page stays one."""
    wiki = wikis.make(tmp_path / "w")
    put(wiki.root, "raw_sources/Zürich.md", ENIAC)
    run(wiki)
    (wiki.root / "raw_sources/Zürich.md").rename(wiki.root / "raw_sources" / unicodedata.normalize("NFD", "zürich.md"))
    report = run(wiki, 2)
    assert (report.created, report.removed, _pages(wiki.root)) == (0, 0, ["eniac"]) and broken(wiki) == []
