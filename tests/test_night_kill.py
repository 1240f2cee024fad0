"""A night that is killed anywhere and run again leaves the vault as if nothing had happened."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.session import open_state
from tests import wikis
from tests.mortal import Mortal
from tests.wikis import COLOSSUS, ENIAC, page, put, run, vault

KILLS = 200
NOW = "2026-03-02T02:00:00Z"
THIN = "# Abacus\n\nAn abacus is a counting frame.\n"


def _prepare(root: Path) -> None:
    """A wiki after its first night, with a second night's work lying there: all kinds of changes at once."""
    wiki = wikis.make(root, machine=ENIAC, codes=COLOSSUS, thin=THIN)
    run(wiki)
    put(root, "raw_sources/machine.md", ENIAC.replace("18,000", "17,468").replace("completed in 1945", "ready in 1946"))
    put(root, "raw_sources/unix.md", ENIAC.replace("ENIAC", "UNIVAC").replace("1945", "1951"))
    put(root, "raw_sources/page.txt", "Tommy Flowers was an engineer.\n\nHe designed Colossus, and worked in London.\n")
    (root / "raw_sources/thin.md").rename(root / "raw_sources/abacus-moved.md")
    put(root, "wiki/eniac.md", page(root, "eniac").replace("completed in 1945", "completed (I think) in 1945"))
    (root / "wiki/colossus.md").rename(root / "wiki/Colossus machines.md")
    put(root, "wiki/candidates/abacus.md", page(root, "candidates/abacus").replace("promote: false", "promote: true"))


def _rows(root: Path) -> dict[str, object]:
    """The published rows of all tables."""
    snapshot = open_state(wikis.open_wiki(root)).reader.current()
    assert snapshot is not None
    names = ("pages", "sources", "documents", "chunks", "candidates")
    return {name: snapshot.rows(name) for name in names}


@pytest.fixture
def fast_path(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: thousands of copies are made and thrown away."""
    memory = Path("/dev/shm")
    if not (memory.is_dir() and os.access(memory, os.W_OK)):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_killed_at_any_file_operation_and_run_again(fast_path: Path) -> None:
    """At 200 random file operations of a night of all kinds of changes."""
    _prepare(fast_path / "start")
    nights = Mortal()
    try:
        shutil.copytree(fast_path / "start", fast_path / "whole", copy_function=shutil.copy2)
        status, steps = nights.run(fast_path / "whole", 0, "night", NOW)
        assert status == 0
        expected, rows = vault(fast_path / "whole"), _rows(fast_path / "whole")
        chance = random.Random(7)
        for number in range(KILLS):
            root = fast_path / f"k{number}"
            shutil.copytree(fast_path / "start", root, copy_function=shutil.copy2)
            at = chance.randint(1, steps)
            assert nights.run(root, at, "night", NOW)[0] == 9
            if chance.random() < 0.3:  # killed again while it picks up the pieces
                nights.run(root, chance.randint(1, steps), "night", NOW)
            assert nights.run(root, 0, "night", NOW)[0] == 0
            assert vault(root) == expected, f"killed at step {at} of {steps}"
            assert _rows(root) == rows, f"killed at step {at} of {steps}"
            shutil.rmtree(root)
    finally:
        nights.close()
