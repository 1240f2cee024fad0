"""Two months of nights and weeks under a scripted person, with two power cuts: no dead link, no edit lost."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from config.wiki import Wiki
from flows.night import night
from flows.night_steps.listing import ROUTING, index_path
from flows.session import open_state
from flows.steps import DirectRunner
from flows.weekly import weekly
from tasks.navigation import route, scaffold
from tasks.pages.pages import stem_of
from tasks.pages.slugs import fold
from tasks.reading.reading import ReadingHere
from tests import wikis
from tests.invariants import broken
from tests.mortal import Mortal
from tests.person import Person
from tests.wikis import COLOSSUS, ENIAC, put

FIRST = datetime(2026, 3, 1, 2, tzinfo=UTC)  # a Sunday
DAYS = 61
POWER_CUTS = {20: "night", 42: "weekly"}  # day 42 is a Sunday
MACHINES = (
    "EDVAC", "UNIVAC", "Whirlwind", "Harvard Mark I", "ILLIAC", "Pilot ACE", "LEO", "Ferranti Mercury", "Straße 7",
    "Łódź Machine", "日本の計算機", "BESM", "CSIRAC", "Zuse Z4", "Atlas", "Manchester Baby", "SWAC", "JOHNNIAC",
)
SETTINGS = wikis.SETTINGS + "snapshots:\n  keep_days: 14\n"


class _Desk:
    """What a person does to sources, candidates, the index and the table of branches between two nights."""

    def __init__(self, root: Path, chance: random.Random) -> None:
        self.root, self.chance = root, chance
        self.waiting = list(MACHINES)
        self.notes: dict[str, list[str]] = {}  # file: lines that must stay

    def sources(self) -> list[Path]:
        return sorted(path for path in (self.root / "raw_sources").rglob("*") if path.is_file())

    def add(self) -> None:
        if self.waiting:
            name = self.waiting.pop(self.chance.randrange(len(self.waiting)))
            folder = self.chance.choice(["", "machines/", "more/sub/"])
            put(self.root, f"raw_sources/{folder}about {name}.{self.chance.choice(['md', 'txt'])}", self.text(name))

    def text(self, name: str) -> str:
        base = ENIAC.replace("ENIAC", name) if self.chance.random() < 0.7 else COLOSSUS.replace("Colossus", name)
        other = self.chance.choice(MACHINES)
        return base.replace("18,000", f"{self.chance.randint(1, 30)},000").replace("Unlike ENIAC", f"Unlike {other}")

    def change(self) -> None:
        file = self.chance.choice(self.sources())
        file.write_bytes(self.text(file.stem.split("about ")[-1]).encode())

    def move(self) -> None:
        file = self.chance.choice(self.sources())
        target = self.root / "raw_sources/moved" / f"{self.chance.randint(0, 99)} {file.name}"
        target.parent.mkdir(exist_ok=True)
        file.rename(target)

    def drop(self) -> None:
        if len(found := self.sources()) > 5:
            self.chance.choice(found).unlink()

    def tick(self) -> None:
        for file in sorted((self.root / "wiki/candidates").glob("*.md")):
            over_theirs = file.name.endswith(".update.md")  # promoting it would be their leave to lose their words
            box = "discard" if over_theirs else self.chance.choice(["promote", "discard"])
            file.write_bytes(file.read_bytes().replace(f"{box}: false".encode(), f"{box}: true".encode()))

    def write_above(self) -> None:
        """A line of the person's above the index's marker, and one between the branches."""
        for path, before in (("wiki/index.md", scaffold.MARKER), (ROUTING, "## ")):
            file, line = self.root / path, f"My own line {len(self.notes.get(path, ()))}: [[nowhere yet]]"
            text = file.read_bytes().decode() if file.is_file() else ""
            if before in text:
                file.write_bytes(text.replace(before, f"{line}\n\n{before}", 1).encode())
                self.notes.setdefault(path, []).append(line)

    def branch(self) -> None:
        """A branch of the person's own, with two pages of their choice."""
        file, pages = self.root / ROUTING, sorted(p for p in (self.root / "wiki").glob("*.md") if p.name != "index.md")
        if file.is_file() and pages:
            heading = f"## My branch {len(self.notes.get(ROUTING, ()))}"
            rows = "".join(f"- [[{page.stem}]]\n" for page in self.chance.sample(pages, min(2, len(pages))))
            file.write_bytes(file.read_bytes() + f"\n{heading}\n\n{rows}".encode())
            self.notes.setdefault(ROUTING, []).append(heading)

    def day(self) -> None:
        acts = [self.add] * 4 + [self.change] * 3 + [self.move, self.drop, self.tick, self.write_above, self.branch]
        for _ in range(self.chance.randint(0, 3)):
            self.chance.choice(acts)()

    def check(self) -> None:
        for path, lines in self.notes.items():
            text = (self.root / path).read_bytes().decode()
            assert [line for line in lines if line not in text.splitlines()] == [], path


def _inconsistent(wiki: Wiki) -> Iterator[str]:
    """What index.md and ROUTING.md say that the pages do not; the index holds each page in exactly one category."""
    pages = [page for page in open_state(wiki).ledger.pages().values() if not page.deleted]
    stems = {fold(stem_of(page.path)) for page in pages}
    listed = Counter(
        stem
        for found in scaffold.sections((wiki.root / index_path(wiki)).read_bytes().decode()).values()
        for stem in found
    )
    yield from (f"the index lacks {stem}" for stem in sorted(stems - listed.keys()))
    yield from (f"the index has {stem}, which is gone" for stem in sorted(listed.keys() - stems))
    yield from (f"the index has {stem} {count} times" for stem, count in listed.items() if count > 1)
    for branch in route.parse((wiki.root / ROUTING).read_bytes().decode()):
        for entry in branch.entries:
            if fold(stem_of(entry.target)) not in stems:
                yield f"{ROUTING}:{entry.line}: {entry.target} is gone"


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", [3])
def test_two_months_end_sound(tmp_path: Path, seed: int) -> None:
    """Every night keeps every edit and every week leaves index and table true, also where the power went."""
    chance = random.Random(seed)
    wiki = wikis.make(tmp_path / "w", SETTINGS, machine=ENIAC, codes=COLOSSUS, thin="# Abacus\n\nA counting frame.\n")
    person, desk, mortal = Person(wiki.root, chance), _Desk(wiki.root, chance), Mortal()
    try:
        for day in range(DAYS):
            now = FIRST + timedelta(days=day)
            desk.day()
            for _ in range(chance.randint(0, 6) if day else 0):
                person.act()
            if POWER_CUTS.get(day) == "night":
                _cut(mortal, wiki, "night", now, chance)
            night(wiki, DirectRunner(), _text(now), reader=ReadingHere)
            person.check()
            desk.check()
            if now.weekday() == 6:
                if POWER_CUTS.get(day) == "weekly":
                    _cut(mortal, wiki, "weekly", now + timedelta(hours=1), chance)
                if not day:  # the person makes a table
                    put(wiki.root, ROUTING, "# Where to look\n\n## Machines\n\n- [[eniac]]\n- [[never]]\n\n## Empty\n")
                report = weekly(wiki, DirectRunner(), _text(now + timedelta(hours=1)))
                assert not report.failed
                person.check()
                desk.check()
                assert broken(wiki) == [] and list(_inconsistent(wiki)) == [], f"week of day {day}"
    finally:
        mortal.close()
    assert len(open_state(wiki).ledger.pages()) > 10 and person.counter > 100


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _cut(mortal: Mortal, wiki: Wiki, work: str, now: datetime, chance: random.Random) -> None:
    """The power goes in the middle of a run."""
    status, _ = mortal.run(wiki.root, chance.randint(5, 60), work, _text(now))
    assert status == 9
