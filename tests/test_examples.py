"""The example at the end of each command's help works as it stands, on the demo, with the names that the demo has."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from serving.cli.app import cli
from serving.cli.group import Example
from tests.test_cli import COMMANDS, say, told

READ_ONLY = {
    "search", "query", "context build", "status", "sources list", "candidates list", "contradictions list", "runs",
    "audit", "changes", "page history", "routing validate", "schema", "mcp", "schedule list", "sources withdraw",
    "scaffold", "routing clean",
}  # fmt: skip
"""Commands whose example writes nothing, so that all may ask one demo."""

ELSEWHERE = {"up", "serve", "bench", "ingest", "model check", "schedule apply"}
"""Commands that run on, reach out, ask a server or take long: their example is parsed here, and run by other tests."""


def words(path: tuple[str, ...]) -> list[str]:
    command = COMMANDS[path]
    assert isinstance(command, Example)
    assert command.example, "there is no example"
    return shlex.split(command.example.splitlines()[0])[1:]


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_each_example_is_understood(path: tuple[str, ...], demo_night: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its words name the command, and every option and argument is one that the command takes."""
    monkeypatch.chdir(demo_night)
    context: click.Context = click.Context(cli, obj=None)
    group: click.Command = cli
    rest = words(path)
    while isinstance(group, click.Group):
        name = rest.pop(0) if rest and group.get_command(context, rest[0]) else getattr(group, "default", "")
        found = group.get_command(context, name)
        assert found is not None
        context, group = click.Context(group, parent=context, info_name=name), found
    assert group is COMMANDS[path] or group.name == COMMANDS[path].name
    with group.make_context(path[-1], rest, parent=context):
        pass


@pytest.fixture(scope="module")
def standing(demo_night: Path) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(demo_night)
        yield demo_night


@pytest.mark.parametrize("path", [one for one in COMMANDS if " ".join(one) in READ_ONLY], ids=" ".join)
def test_examples_that_read(path: tuple[str, ...], standing: Path) -> None:
    """They end well."""
    _run(words(path), standing)


@pytest.mark.parametrize(
    "path", [one for one in COMMANDS if " ".join(one) not in READ_ONLY | ELSEWHERE], ids=" ".join
)
def test_examples_that_write(path: tuple[str, ...], demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They end well on a wiki of one's own."""
    monkeypatch.chdir(demo)
    monkeypatch.setenv("HOME", str(demo.parent))
    for folder in ("notes", "backups", "shared"):
        (demo.parent / folder).mkdir()
    if path == ("restore",):
        _run(shlex.split("backup ~/backups/computing-2026-12-01.tar.zst"), demo)
    if path == ("schedule", "remove"):
        _run(words(("schedule", "add")), demo)
    _run(words(path), demo)


def _run(given: list[str], root: Path) -> None:
    code, _, err = say(*(_named(word, given, root) for word in given))
    assert code in (0, 3), err


def _named(word: str, given: list[str], root: Path) -> str:
    """A word of an example with what the demo has in the place of invented names."""
    if word.startswith("~/"):
        return str(root.parent / word[2:])
    if given[0] == "candidates" and word == "zuse-z3":
        return "pascaline"
    if word == "raw_sources/scan.pdf":
        return "raw_sources/scanned-memo.pdf"
    if word == "raw_sources/flyer.pdf":
        return "raw_sources/eniac.pdf"
    if given[0] == "sources" and word == "3fa94c1e77d0":
        return str(told("-w", root, "sources", "list")["sources"][0]["id"])
    if given[0] == "contradictions" and word == "3fa94c1e07":
        return str(told("-w", root, "contradictions", "list")["contradictions"][0]["id"])
    if given[0] == "undo" and word.startswith("2026"):
        return str(told("-w", root, "runs")["runs"][0]["run"])
    return word
