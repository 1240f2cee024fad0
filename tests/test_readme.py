"""The README tells the truth: its session runs, and it speaks of every command and setting file there is."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.test_cli import COMMANDS, say

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def session() -> list[tuple[str, list[str]]]:
    """The commands of the README's `console` blocks that ask the demo, each with the lines shown below it."""
    steps: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                steps.append((line[2:], []))
            elif steps:
                steps[-1][1].append(line)
    return [(command, shown) for command, shown in steps if " -w demo-wiki " in command]


@pytest.mark.parametrize(("command", "shown"), session(), ids=lambda value: value if isinstance(value, str) else "")
def test_the_session_prints_what_the_readme_shows(
    command: str, shown: list[str], demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every line shown is printed, in order; `...` stands for lines that are left out."""
    monkeypatch.setenv("COLUMNS", "100")
    words = shlex.split(command)[1:]
    code, out, err = say(*(str(demo) if word == "demo-wiki" else word for word in words))
    assert code in (0, 3), err
    printed = [line.rstrip() for line in (out + err).splitlines()]
    place = 0
    for line in shown:
        if line.strip() in ("...", ""):
            continue
        assert line.rstrip() in printed[place:], f"{line!r} is not among {printed[place:]}"
        place = printed.index(line.rstrip(), place) + 1


def test_the_session_is_not_empty() -> None:
    """There is something to try."""
    assert len(session()) >= 3


@pytest.mark.parametrize("command", [" ".join(path) for path in COMMANDS])
def test_each_command_is_documented(command: str) -> None:
    """The table of commands knows every command of the program."""
    assert f"nightwiki {command}" in README


def test_no_command_is_invented() -> None:
    """And every command that the README names exists."""
    known = {" ".join(path) for path in COMMANDS}
    named = {match.strip() for match in re.findall(r"^\| `nightwiki ([a-z]+(?: [a-z]+)?)", README, re.MULTILINE)}
    assert {name for name in named if name not in known and name.split()[0] not in known} == set()


def test_the_make_targets_exist() -> None:
    """make demo, make test and make bench are what the README says."""
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"^(?:    |\$ )make ([a-z]+)\b", README, re.MULTILINE))
    assert {"demo", "test"} <= named <= targets
