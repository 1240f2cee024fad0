"""Nights under a sync tool that renames, copies, sets times back and brings other versions while they go on."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from flows.night import sync
from flows.steps import DirectRunner
from flows.weekly import weekly
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


@pytest.mark.parametrize("seed", [1])
def test_no_line_of_the_other_machine_is_lost(tmp_path: Path, seed: int) -> None:
    """Nights, a sync and a week each come to their end; all that was brought still stands; the next night settles."""
    wiki = wikis.make(tmp_path, SETTINGS, **{f"engine-{n}": source(n, 0) for n in range(6)})
    wikis.run(wiki)
    with working(tmp_path / "wiki", seed) as brought:
        for night in range(2, 7):
            for number in range(6):
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
