"""Random weeks of a wiki: after every night all links lead somewhere, all quotes stand, and nothing is left to do."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests import wikis
from tests.invariants import anchored, broken, unsettled
from tests.wikis import COLOSSUS, ENIAC, put, run

NAMES = ("ENIAC", "EDVAC", "Straße 7", "Łódź Machine", "日本の計算機")


def _text(name: str, chance: random.Random) -> str:
    base = ENIAC.replace("ENIAC", name) if chance.random() < 0.7 else COLOSSUS.replace("Colossus", name)
    return base.replace("18,000", f"{chance.randint(1, 30)},000").replace("ENIAC", chance.choice(NAMES))


class _World:
    """What happens between two nights."""

    def __init__(self, root: Path, chance: random.Random) -> None:
        self.root, self.chance = root, chance

    def files(self, folder: str) -> list[Path]:
        found = (path for path in (self.root / folder).rglob("*") if path.is_file() and path.name != "index.md")
        return sorted(found)

    def source(self) -> None:
        ending = self.chance.choice(["md", "txt"])
        name = f"raw_sources/s{self.chance.randint(0, 4)}.{ending}"
        put(self.root, name, _text(self.chance.choice(NAMES), self.chance))

    def lose_source(self) -> None:
        if len(found := self.files("raw_sources")) > 2:
            self.chance.choice(found).unlink()

    def move(self, folder: str) -> None:
        if found := self.files(folder):
            file = self.chance.choice(found)
            target = file.parent / "moved" / file.name
            if not target.exists() and "candidates" not in file.parts:
                target.parent.mkdir(exist_ok=True)
                file.rename(target)

    def rename_page(self) -> None:
        pages = [file for file in self.files("wiki") if file.suffix == ".md" and "candidates" not in file.parts]
        if pages:
            file = self.chance.choice(pages)
            file.rename(file.with_name(f"Renamed {self.chance.randint(0, 999)}.md"))

    def tick(self) -> None:
        for file in self.files("wiki/candidates"):
            text = file.read_text(encoding="utf-8")
            box = self.chance.choice(["promote", "discard"])
            file.write_text(text.replace(f"{box}: false", f"{box}: true"), encoding="utf-8")

    def sync_program(self) -> None:
        for file in [*self.files("evidence"), *self.files("wiki")]:
            if file.suffix == ".md" and self.chance.random() < 0.3:
                file.write_bytes(file.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))

    def happen(self) -> None:
        acts = [self.source] * 4 + [self.lose_source, self.rename_page, self.tick, self.sync_program]
        acts += [lambda: self.move("raw_sources"), lambda: self.move("wiki"), lambda: self.move("evidence")]
        self.chance.choice(acts)()


@pytest.mark.parametrize("seed", [1, 2])
def test_every_night_leaves_a_sound_wiki(tmp_path: Path, seed: int) -> None:
    """Links, quotes, outcomes and stored rows hold after each night; a dry run tells it all; a second night rests."""
    chance = random.Random(seed)
    wiki = wikis.make(tmp_path / "w", machine=ENIAC, codes=COLOSSUS, thin="# Abacus\n\nA counting frame.\n")
    world = _World(wiki.root, chance)
    for day in range(1, 5):
        planned = run(wiki, day, dry_run=True).changed
        assert run(wiki, day).changed == planned
        assert broken(wiki) == []
        assert unsettled(wiki, day) == []
        for _ in range(chance.randint(1, 4)):
            world.happen()


def test_an_anchor_on_a_line_of_its_own_stands_for_the_block_before_it() -> None:
    """As behind tables, lists and code in a readable copy; one behind a paragraph stands for that alone."""
    copy = "# A\n\nOne. ^p1\n\n```\ncode\n\nmore\n```\n\n^p2\n\nWithout.\n\nThree. ^p3\n"
    assert anchored(copy, "^p1") == "One." and anchored(copy, "^p3") == "Three."
    assert "code\n\nmore" in anchored(copy, "^p2") and "One" not in anchored(copy, "^p2")
    assert anchored(copy, "^p4") == ""
