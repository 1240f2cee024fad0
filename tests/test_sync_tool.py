"""Nights under a sync tool that renames, copies, sets times back and brings other versions while they go on."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from config.errors import StateError
from config.wiki import open_wiki
from flows.night import sync
from flows.steps import DirectRunner
from flows.weekly import weekly
from storage import readin
from storage.durable import sha256
from storage.readin import Known, ReadIn, read_in
from storage.vault import Stat, Vault
from tests import wikis
from tests.invariants import broken, unsettled
from tests.wikis import put, vault

TOOL = Path(__file__).with_name("sync_tool.py")
SETTINGS = wikis.SETTINGS + 'staging:\n  policy: "off"\nextract:\n  workers: 1\n'


@contextmanager
def working(folder: Path, seed: int) -> Iterator[list[tuple[str, str]]]:
    """The tool at work on a folder in a process of its own; afterwards the list holds the lines that it brought."""
    brought: list[tuple[str, str]] = []
    command = [sys.executable, str(TOOL), str(folder), str(seed)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as tool:
        assert tool.stdin is not None and tool.stdout is not None and tool.stdout.readline() == "begun\n"
        try:
            yield brought
            tool.stdin.close()
            brought += [(line, path) for line, path in json.loads(tool.stdout.read())]
        finally:
            tool.kill()


def source(number: int, night: int) -> str:
    """A source that says more every night."""
    said = "".join(f"In {1900 + n} the engine {number} was given {n + 2} wheels of brass. " for n in range(night + 1))
    return f"# Engine {number}\n\nThe engine {number} was built in London from steel. {said}\n"


def test_no_line_of_the_other_machine_is_lost(tmp_path: Path) -> None:
    """Nights, a sync and a week each come to their end; all that was brought still stands; the next night settles."""
    wiki = wikis.make(tmp_path, SETTINGS, **{f"engine-{n}": source(n, 0) for n in range(5)})
    wikis.run(wiki)
    with working(tmp_path / "wiki", 1) as brought:
        for night in range(2, 5):
            for number in range(5):
                put(tmp_path, f"raw_sources/engine-{number}.md", source(number, night))
            assert wikis.run(wiki, night).state in ("ok", "partial")
            sync(wiki, DirectRunner(), f"2026-03-{night:02d}T12:00:00Z")
        weekly(wiki, DirectRunner(), "2026-03-08T03:00:00Z")
    assert len(brought) > 20
    there = b"\n".join(content for path, content in vault(tmp_path).items() if path.endswith(".md")).decode()
    assert [one for one in brought if one[0] not in there] == []
    wikis.run(wiki, 9)
    assert broken(wiki) == []
    assert unsettled(wiki, 10) == []


class Restless(Vault):
    """A vault of which a file is taken away, for a while, just before it is read."""

    def __init__(self, root: Path, times: int) -> None:
        super().__init__(root)
        self._times = times

    def read(self, path: str) -> bytes:
        if self._times == 0:
            return super().read(path)
        self._times -= 1
        aside = self.root / ".aside"
        (self.root / path).rename(aside)
        try:
            return super().read(path)
        finally:
            aside.rename(self.root / path)


def looked(root: Path, times: int) -> ReadIn:
    """What a run reads in from a vault of one page that is away so many times."""
    wiki, vault = open_wiki(root), Restless(root, times)

    def hashes(stats: Mapping[str, Stat]) -> Mapping[str, str]:
        return {path: sha256((root / path).read_bytes()) for path in stats}

    return read_in(wiki, vault, hashes, Known({}, {}), "run", "2026-03-01T02:00:00Z")


def test_a_file_that_comes_back_is_read(tmp_path: Path) -> None:
    """The vault is looked at again, and the page is there as it was."""
    wikis.make(tmp_path)
    put(tmp_path, "wiki/mine.md", "# Mine\n\nKept.\n")
    found = looked(tmp_path, 2)
    assert [(page.path, page.deleted) for page in found.pages.values()] == [("wiki/mine.md", "")]


def test_a_vault_that_never_stands_still_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the last look the run ends with the file's name and the next step."""
    monkeypatch.setattr(readin, "_PAUSES", (0.0, 0.0))
    wikis.make(tmp_path)
    put(tmp_path, "wiki/mine.md", "# Mine\n\nKept.\n")
    with pytest.raises(StateError, match=r"mine\.md: files go away while they are read"):
        looked(tmp_path, 99)
