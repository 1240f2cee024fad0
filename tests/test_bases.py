"""The Bases that come with a wiki are sound YAML over its folders, and a person's once changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from flows.bases import attention_base, candidates_base
from flows.scaffold import scaffold
from flows.session import open_state
from flows.steps import DirectRunner
from tasks.review import bases
from tests import wikis
from tests.wikis import ENIAC, run

NOW = "2026-03-05T12:00:00Z"


@pytest.mark.parametrize("folder", ["wiki/candidates", 'odd "name"/\u65e5\u672c: #1', "."])
def test_bases_are_yaml_without_references(folder: str) -> None:
    """Whatever the folder is called, it is filtered by, and every view has its columns."""
    for text in (bases.candidates(folder), bases.attention(folder, "wiki/candidates")):
        base = yaml.safe_load(text)
        assert "&" not in text and "*" not in text
        assert all(view["type"] == "table" and "file.name" in view["order"] for view in base["views"])
    columns = yaml.safe_load(bases.candidates(folder))["views"][0]["order"]
    assert {"note.confidence", "note.reasons", "note.sources", "note.promote", "note.discard"} <= set(columns)


def test_a_night_that_holds_pages_back_brings_the_base(tmp_path: Path) -> None:
    """It is there with the first candidate, and stays as a person left it, changed or deleted."""
    wiki = wikis.make(tmp_path / "w", wikis.SETTINGS + "staging:\n  policy: all\n", eniac=ENIAC)
    run(wiki)
    base = wiki.root / "wiki/candidates/candidates.base"
    assert base.read_text() == bases.candidates("wiki/candidates")
    base.write_text("views: []\n")
    assert candidates_base(wiki, open_state(wiki)) == ()
    base.unlink()
    assert candidates_base(wiki, open_state(wiki)) == ()


def test_scaffold_brings_both(tmp_path: Path) -> None:
    """With the first pages; one that a person changed is theirs, whatever the settings say later."""
    wiki = wikis.make(tmp_path / "w", wikis.SETTINGS + "staging:\n  policy: off\n", eniac=ENIAC)
    run(wiki)
    assert len(scaffold(wiki, DirectRunner(), NOW).changed) == 2
    waiting, attention = wiki.root / "wiki/candidates/candidates.base", wiki.root / "wiki/needs-attention.base"
    attention.write_text(attention.read_text() + "# mine\n")
    moved = replace(wiki, candidates_dir="held")
    assert attention_base(moved, open_state(wiki)) == ()
    assert [write.path for write in candidates_base(moved, open_state(wiki))] == ["held/candidates.base"]
    assert waiting.exists() and scaffold(wiki, DirectRunner(), NOW).changed == ()
