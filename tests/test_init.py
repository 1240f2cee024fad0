"""`nightwiki init`: a skeleton in a new folder, the demo, and nothing but settings beside somebody's notes."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path

import pytest

from config.errors import NightwikiError
from config.globs import matches
from config.wiki import open_wiki
from serving.new_wiki import carry_out, plan


def snapshot(root: Path) -> dict[str, str]:
    """Hash of every file below a folder."""
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in root.rglob("*")
        if path.is_file()
    }


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def test_a_new_folder_gets_a_skeleton_that_opens(tmp_path: Path) -> None:
    """Settings, purpose, inbox and list; the settings are readable and carry the folder's name."""
    written = carry_out(plan(tmp_path / "computing"))
    wiki = open_wiki(tmp_path / "computing")
    assert set(written) == {
        "nightwiki.yaml",
        "purpose.md",
        "raw_sources/inbox.md",
        "raw_sources/sources.yaml",
    }
    assert wiki.name == "computing"
    assert (wiki.state_dir / ".gitignore").read_text() == "*\n"


def test_a_plan_writes_nothing(tmp_path: Path) -> None:
    """Looking is free."""
    plan(tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_already_stays(tmp_path: Path) -> None:
    """PDFs and the like in the folder do no harm and are not touched."""
    write(tmp_path, {"raw_sources/paper.pdf": "x", "raw_sources/sources.yaml": "links: []\n"})
    before = snapshot(tmp_path)
    carry_out(plan(tmp_path))
    after = snapshot(tmp_path)
    assert {name: after[name] for name in before} == before


def test_the_demo_brings_its_sources(tmp_path: Path) -> None:
    """About a dozen sources, and the model that needs no network."""
    carry_out(plan(tmp_path / "demo", demo=True))
    wiki = open_wiki(tmp_path / "demo")
    assert len(list((wiki.root / wiki.sources_dir).iterdir())) >= 12
    assert wiki.settings.embedding.model == "sentence-transformers/all-MiniLM-L6-v2"


VAULT = {
    "Home.md": "# Home",
    "Projects/a.md": "a",
    "Projects/deep/b.md": "b",
    "Daily/2026-01-01.md": "c",
    "Templates/t.md": "{{title}}",
    "Tpl/x.md": "{{date}}",
    "Clippings/page.md": "---\nsource: https://example.org\n---\n",
    "wiki/mine.md": "mine",
    "Evidence/e.md": "mine too",
    "draw.excalidraw.md": "{}",
    ".obsidian/app.json": "{}",
    ".obsidian/templates.json": json.dumps({"folder": "Tpl"}),
    ".trash/old.md": "old",
}


def test_notes_are_taken_folder_by_folder_and_never_touched(tmp_path: Path) -> None:
    """Only settings and state are made; each note is assigned by a glob, templates are left out."""
    write(tmp_path, VAULT)
    before = snapshot(tmp_path)
    planned = plan(tmp_path)
    assert carry_out(planned) == ("nightwiki.yaml",)
    after = snapshot(tmp_path)
    assert set(after) - set(before) == {"nightwiki.yaml", ".nightwiki/.gitignore"}
    assert {name: after[name] for name in before} == before
    adopt = planned.settings.adopt
    assert [name for name in VAULT if matches(name, adopt.ignored)] == [
        "Templates/t.md",
        "Tpl/x.md",
        "draw.excalidraw.md",
    ]
    taken = [name for name in VAULT if matches(name, adopt.pages) and not matches(name, adopt.ignored)]
    assert taken == [
        "Home.md",
        "Projects/a.md",
        "Projects/deep/b.md",
        "Daily/2026-01-01.md",
        "wiki/mine.md",
        "Evidence/e.md",
    ]


def test_new_pages_go_where_no_note_is(tmp_path: Path) -> None:
    """A folder that the person uses is not taken, in whatever letter case."""
    write(tmp_path, VAULT)
    wiki = plan(tmp_path).settings
    assert (wiki.pages.dir, wiki.pages.evidence, wiki.sources.dir) == (
        "nightwiki wiki",
        "nightwiki evidence",
        "raw_sources",
    )


def test_wikis_do_not_hold_one_another(tmp_path: Path) -> None:
    """Inside, around and twice are refused, each with the place of the other."""
    carry_out(plan(tmp_path / "a" / "b"))
    for place, words in (
        ("a/b", "is a wiki already"),
        ("a/b/c", "lies inside the wiki"),
        ("a", "holds the wiki at"),
    ):
        with pytest.raises(NightwikiError, match=words):
            plan(tmp_path / place)


def test_the_demo_wants_a_folder_of_its_own(tmp_path: Path) -> None:
    """Demo sources are not mixed into somebody's notes."""
    write(tmp_path, {"note.md": "x"})
    with pytest.raises(NightwikiError, match="holds notes"):
        plan(tmp_path, demo=True)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    """One line says so."""
    write(tmp_path, {"x": ""})
    with pytest.raises(NightwikiError, match="is a file"):
        plan(tmp_path / "x")


def test_a_note_that_appears_meanwhile_wins(tmp_path: Path) -> None:
    """A file made between the plan and the writing is kept."""
    planned = plan(tmp_path / "w")
    write(tmp_path / "w", {"purpose.md": "mine"})
    with pytest.raises(NightwikiError):
        carry_out(planned)
    assert (tmp_path / "w" / "purpose.md").read_text() == "mine"


def test_a_real_vault_is_adopted_untouched(shared: Path, tmp_path: Path) -> None:
    """The Obsidian help vault: every note is assigned, no byte changes."""
    with zipfile.ZipFile(shared / "vaults" / "obsidian-help-en.zip") as archive:
        archive.extractall(tmp_path)
    before = snapshot(tmp_path)
    planned = plan(tmp_path)
    carry_out(planned)
    after = snapshot(tmp_path)
    assert {name: after[name] for name in before} == before
    notes = [name for name in before if name.endswith(".md") and not name.startswith(".")]
    assert planned.notes == len(notes) > 150
    assert [name for name in notes if not matches(name, planned.settings.adopt.pages)] == []
