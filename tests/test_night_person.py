"""A scripted person edits, renames, copies and deletes between nights; not one byte of theirs may go."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests import wikis
from tests.person import Person
from tests.wikis import ENIAC, put, run

STEPS = 1000
PER_NIGHT = 25
MACHINES = ("ENIAC", "EDVAC", "UNIVAC", "Whirlwind", "Harvard Mark I", "ILLIAC")


def _source(name: str, chance: random.Random) -> str:
    """A source on a machine that changes from night to night."""
    text = (
        ENIAC.replace("ENIAC", name)
        .replace("18,000", f"{chance.randint(1, 30)},000")
        .replace("1945", str(1944 + chance.randint(0, 8)))
    )
    return text + (
        "\n## Fate\n\nIt was switched off and parts of it stand in museums.\n" if chance.random() < 0.5 else ""
    )


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", [1, 2])
def test_no_byte_of_a_person_is_lost(tmp_path: Path, seed: int) -> None:
    """A thousand random edits, renames, copies and deletions between nights with changing sources."""
    chance = random.Random(seed)
    wiki = wikis.make(tmp_path / "w", **{f"s{i}": _source(name, chance) for i, name in enumerate(MACHINES)})
    run(wiki)
    person = Person(wiki.root, chance)
    for night in range(STEPS // PER_NIGHT // 2):
        for _ in range(PER_NIGHT):
            person.act()
        for i, name in enumerate(MACHINES):
            if chance.random() < 0.3:
                put(wiki.root, f"raw_sources/s{i}.md", _source(name, chance))
        person.check()
        run(wiki, 2 + night)
        person.check()
