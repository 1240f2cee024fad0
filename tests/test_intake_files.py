"""Files as strangers leave them in the sources folder: too large, oddly named, changed while they are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.wiki import open_wiki
from tests import wikis
from tests.invariants import broken, unsettled
from tests.wikis import COLOSSUS, ENIAC, SETTINGS, put, run


def test_a_file_above_the_limit_is_refused_unread(tmp_path: Path) -> None:
    """It is named once, later nights are quiet, and a higher limit has it read."""
    wiki = wikis.make(
        tmp_path / "w", SETTINGS.replace("settle_seconds: 0", "settle_seconds: 0\n  max_megabytes: 0.001")
    )
    put(wiki.root, "raw_sources/long.md", ENIAC + COLOSSUS * 3)
    (line,) = run(wiki).lines
    assert (line.outcome, line.reason) == ("refused", "the file is larger than 0.001 MB")
    assert "sources.max_megabytes" in line.next_step and run(wiki, 2).state == "ok"
    put(wiki.root, "nightwiki.yaml", SETTINGS)
    assert run(open_wiki(wiki.root), 3).created == 1


def test_a_source_that_grew_above_the_limit_keeps_its_pages(tmp_path: Path) -> None:
    """What it said before stays until it can be read again."""
    wiki = wikis.make(
        tmp_path / "w", SETTINGS.replace("settle_seconds: 0", "settle_seconds: 0\n  max_megabytes: 0.001")
    )
    put(wiki.root, "raw_sources/machine.md", ENIAC)
    before = run(wiki).created and wikis.page(wiki.root, "eniac")
    put(wiki.root, "raw_sources/machine.md", ENIAC + COLOSSUS * 3)
    assert run(wiki, 2).lines[0].outcome == "refused" and wikis.page(wiki.root, "eniac") == before
    put(wiki.root, "raw_sources/machine.md", ENIAC)
    assert run(wiki, 3).changed == () and wikis.page(wiki.root, "eniac") == before


@pytest.mark.parametrize("name", ["new\nline", "tab\tx", "red\x1b[31m", "\u202egnp", "a\u2028b", "[[x]] #1"], ids=repr)
def test_names_that_no_link_can_hold_are_cited_all_the_same(tmp_path: Path, name: str) -> None:
    """Each footnote stays one line, leads to the file, and shows nothing that could mislead its reader."""
    wiki = wikis.make(tmp_path / "w")
    put(wiki.root, f"raw_sources/{name}.md", ENIAC)
    assert run(wiki).created == 1 and broken(wiki) == [] and unsettled(wiki, 2) == []
    text = wikis.page(wiki.root, "eniac")
    assert all(character.isprintable() for character in text.replace("\n", ""))
    assert sum(line.startswith("[^nw-") for line in text.splitlines()) == text.count("[^nw-") / 2
