"""The wiki for readers without nightwiki: a clean vault, and texts that depend on nothing but the snapshot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from config.wiki import Wiki
from tests import wikis
from tests.test_cli import say, told
from tests.wikis import COLOSSUS, ENIAC, put, run, vault

THIN = "# Abacus\n\nAn abacus is a counting frame.\n"


@pytest.fixture
def wiki(tmp_path: Path) -> Wiki:
    """A wiki with two pages, one that waits, a routing table and Obsidian's own folder."""
    made = wikis.make(tmp_path / "w", machine=ENIAC, codes=COLOSSUS, thin=THIN)
    put(made.root, "ROUTING.md", "## Machines\n")
    put(made.root, ".obsidian/app.json", "{}")
    put(made.root, "raw_sources/sources.yaml", "[]\n")
    run(made)
    return made


def test_a_clean_vault(wiki: Wiki, tmp_path: Path) -> None:
    """Pages, index and sources, byte for byte, and nothing that only nightwiki needs."""
    answer = told("export", "obsidian", tmp_path / "out", "-w", wiki.root)
    copied = vault(tmp_path / "out")
    assert sorted(answer["files"]) == sorted(copied) and copied.items() <= vault(wiki.root).items()
    sources = {"raw_sources/codes.md", "raw_sources/machine.md", "raw_sources/thin.md"}
    assert set(copied) == {"wiki/eniac.md", "wiki/colossus.md", "wiki/index.md"} | sources
    code, _, err = say("export", "obsidian", tmp_path / "out", "-w", wiki.root)
    assert code == 1 and "not an empty folder" in err


@pytest.mark.parametrize("kind", ["llms.txt", "llms-full.txt", "jsonl"])
def test_texts_are_of_the_snapshot(wiki: Wiki, tmp_path: Path, kind: str) -> None:
    """Written twice they are the same, whatever was edited since; to a file or to the terminal."""
    first = told("export", kind, tmp_path / "a", "-w", wiki.root)
    put(wiki.root, "wiki/eniac.md", "edited since\n")
    _, out, _ = say("export", kind, "-w", wiki.root)
    assert (tmp_path / "a").read_text() == out and first["bytes"] == len(out.encode())
    assert "ENIAC" in out and "edited since" not in out and "Abacus" not in out


def test_the_index_for_models_has_its_form(wiki: Wiki) -> None:
    """A title, a summary, sections, and links with a sentence."""
    lines = say("export", "llms.txt", "-w", wiki.root)[1].splitlines()
    assert lines[0] == "# test" and lines[2].startswith("> 2 pages") and any(line.startswith("## ") for line in lines)
    said = "ENIAC was the first programmable general-purpose electronic digital computer."
    assert f"- [ENIAC](wiki/eniac.md): {said}" in lines


def test_each_line_is_a_page_with_its_evidence(wiki: Wiki) -> None:
    """With locations of sources and the quoted words."""
    pages = {one["slug"]: one for one in map(json.loads, say("export", "jsonl", "-w", wiki.root)[1].splitlines())}
    assert pages.keys() == {"eniac", "colossus"}
    assert pages["eniac"]["sources"][0]["location"] == "raw_sources/machine.md"
    assert pages["eniac"]["citations"][0]["quote"].startswith("ENIAC was the first")


def test_a_dry_run_writes_nothing(wiki: Wiki, tmp_path: Path) -> None:
    """It names the files; and a place inside of the wiki, or none, is refused."""
    for kind in ("obsidian", "jsonl"):
        assert told("export", kind, tmp_path / "out", "-w", wiki.root, "--dry-run")["files"]
    assert not (tmp_path / "out").exists()
    assert say("export", "obsidian", wiki.root / "out", "-w", wiki.root)[0] == 1
    assert say("export", "obsidian", "-w", wiki.root)[0] == 2
