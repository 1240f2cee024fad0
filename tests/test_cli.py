"""The command line as people and programs meet it: help, JSON, exit codes, errors of one line, honest output."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import jsonschema
import psutil
import pytest

from serving.cli import run
from serving.cli.app import cli
from serving.schemas.registry import ANSWERS
from serving.schemas.served import SERVED

ROOT = Path(__file__).resolve().parents[1]


def commands(group: click.Command = cli, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command of the tree with its words."""
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            yield from commands(command, (*path, name))
    else:
        yield path, group


COMMANDS = dict(commands())


def say(*arguments: object) -> tuple[int, str, str]:
    """Exit code, output and errors of one command, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([str(argument) for argument in arguments])
    return code, out.getvalue(), err.getvalue()


def told(*arguments: object) -> Any:
    """The JSON of one command, checked against the schema that `nightwiki schema` prints."""
    _, out, err = say(*arguments, "--json")
    assert out, err
    words = [word for word in map(str, arguments) if not word.startswith("-")]
    name = max((name for name in ANSWERS if " ".join(words).find(name) >= 0), key=len)
    answer = json.loads(out)
    jsonschema.validate(answer, json.loads(say("schema", *name.split())[1]))
    return answer


def process(*arguments: object, **environ: str) -> subprocess.CompletedProcess[bytes]:
    """A command in a process of its own."""
    command = [sys.executable, "-m", "serving.cli", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, env=os.environ | environ, capture_output=True, check=False)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_each_command_explains_itself(path: tuple[str, ...]) -> None:
    """Help says what a command does and shows an example of it."""
    code, out, _ = say(*path, "--help")
    assert code == 0
    assert f"nightwiki {path[0]}" in out.partition("Example")[2]
    assert "..." not in say(*path[:-1], "--help")[1].partition("Commands:")[2]


def test_help_is_grouped() -> None:
    """A newcomer sees the daily commands first."""
    _, out, _ = say("--help")
    places = [out.find(f"\n{section}:") for section in ("Daily", "Review", "Maintenance", "Advanced")]
    assert places == sorted(places)
    assert -1 not in places


def test_writing_commands_can_be_tried_dry() -> None:
    """What writes the wiki can say first what it would do."""
    readers = {
        "search",
        "status",
        "runs",
        "audit",
        "changes",
        "schema",
        "bench",
        "up",
        "serve",
        "mcp",
        "model check",
        "list",
        "show",
        "diff",
        "history",
        "validate",
    }
    lacking = [
        path
        for path, command in COMMANDS.items()
        if readers.isdisjoint({path[-1], " ".join(path)}) and "--dry-run" not in options(command)
    ]
    assert lacking == []


def options(command: click.Command) -> set[str]:
    return {name for parameter in command.params for name in parameter.opts}


def test_each_json_has_a_schema() -> None:
    """Every command with --json is known to `nightwiki schema`, and no other."""
    assert {" ".join(path) for path, command in COMMANDS.items() if "--json" in options(command)} == set(ANSWERS)
    assert say("schema")[1].split("\n")[:-1] == [*ANSWERS, *SERVED]


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "who built the Z3"),
        ("search", "relays", "-k", "2", "--explain", "--layer", "both"),
        ("status",),
        ("sources", "list"),
        ("runs",),
        ("audit",),
        ("changes", "--since", "2026-11-01"),
        ("candidates", "list"),
        ("check",),
        ("staging", "policy"),
        ("candidates", "show", "pascaline"),
        ("candidates", "promote", "pascaline", "--dry-run"),
        ("check", "--repair", "--dry-run"),
        ("ingest", "--dry-run"),
        ("sync", "--dry-run"),
        ("sources", "ignore", "raw_sources/pascaline.txt", "--dry-run"),
    ],
    ids=" ".join,
)
def test_json_keeps_to_its_schema(demo_night: Path, arguments: tuple[str, ...]) -> None:
    """Programs can rely on what `nightwiki schema` says."""
    assert told("-w", demo_night, *arguments)["schema_version"] == 1


def test_a_night_is_told_and_counted(demo_night: Path) -> None:
    """Status, sources, runs and changes agree about the first night."""
    status = told("-w", demo_night, "status")
    sources = told("-w", demo_night, "sources", "list")["sources"]
    assert status["sources"] == {"no_text": 1, "ok": len(sources) - 1}
    assert status["pages"] == len(told("-w", demo_night, "changes", "--since", "2026-01-01")["pages"])
    assert [run["state"] for run in told("-w", demo_night, "runs")["runs"]] == ["partial"]
    assert next(one for one in sources if one["outcome"] == "no_text")["next_step"]


def test_a_question_is_answered_with_its_evidence(demo_night: Path) -> None:
    """The first hit is the page about it, and its citations name a place in a source."""
    hit = told("-w", demo_night, "search", "who built the Z3")["hits"][0]
    assert hit["title"] == "Zuse Z3"
    assert {one["place"] for one in hit["citations"]} and all(one["quote"] for one in hit["citations"])


def test_several_wikis_are_named_before_the_command_too(demo: Path, demo_night: Path) -> None:
    """All of them are asked; a command that works on one says so instead of taking the last."""
    after = say("search", "-w", demo_night, "-w", demo, "relay", "--json")
    assert say("-w", demo_night, "-w", demo, "search", "relay", "--json") == after
    code, _, err = say("-w", demo_night, "-w", demo, "status")
    assert (code, "works on one wiki, and 2 are named" in err) == (2, True)


def test_several_wikis_are_asked_together(demo_night: Path, demo: Path) -> None:
    """-w may be repeated, and every hit says where it comes from."""
    code, out, _ = say("search", "-w", demo_night, "-w", demo, "relay", "--json")
    assert code == 0
    assert len(json.loads(out)["hits"]) > 1


def test_a_wiki_that_cannot_be_opened_is_named(demo_night: Path, tmp_path: Path) -> None:
    """The others answer without it; alone, it is an error."""
    code, out, _ = say("search", "-w", demo_night, "-w", tmp_path, "relay", "--json")
    found = json.loads(out)
    assert (code, [one["what"] for one in found["degraded"]]) == (0, ["wiki"])
    assert found["hits"]
    assert say("search", "-w", tmp_path, "relay")[0] != 0


def test_filters_narrow_a_search(demo_night: Path) -> None:
    """A path glob leaves out everything else."""
    hits = told("-w", demo_night, "search", "machine", "--path", "wiki/eniac.md")["hits"]
    assert {hit["path"] for hit in hits} == {"wiki/eniac.md"}


def test_an_empty_wiki_has_no_hits_and_no_error(tmp_path: Path) -> None:
    """Nothing there is not a failure."""
    say("init", tmp_path / "w")
    assert told("-w", tmp_path / "w", "search", "x")["hits"] == []
    assert told("-w", tmp_path / "w", "status")["pages"] == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("frobnicate",), 2),
        (("search",), 2),
        (("search", "x", "-k", "0"), 2),
        (("search", "x", "--updated-after", "soon"), 2),
        (("candidates", "show", "nothing-such"), 1),
        (("ingest", "no/such/file.pdf"), 1),
        (("changes", "--since", "never"), 1),
        (("ingest", "ftp://example.org/x"), 1),
        (("ingest", "wiki/eniac.md"), 1),
        (("sources", "retry", "nothing"), 1),
        (("schema", "nothing"), 2),
        (("staging", "policy", "sometimes"), 2),
    ],
)
def test_errors_are_one_line_with_an_honest_code(demo: Path, arguments: tuple[str, ...], code: int) -> None:
    """1 for what went wrong, 2 for what was asked wrongly; never a stack trace, nothing on standard output."""
    got, out, err = say("-w", demo, *arguments)
    assert (got, out) == (code, "")
    assert len(err.strip().splitlines()) == 1 or code == 2
    assert "Traceback" not in err


def test_broken_settings_are_named_by_every_command(tmp_path: Path) -> None:
    """The line of the fault, and the right name."""
    (tmp_path / "nightwiki.yaml").write_text("staging:\n  polici: all\n")
    code, _, err = say("-w", tmp_path, "status")
    assert code == 1
    assert (
        err == f"nightwiki: {tmp_path}/nightwiki.yaml:2: unknown key 'staging.polici'. Did you mean 'staging.policy'?\n"
    )


def test_a_file_from_outside_is_copied_and_read(demo: Path, tmp_path: Path) -> None:
    """It stays where it was, its copy becomes a source; said twice, it is copied once."""
    note = tmp_path / "difference-engine.md"
    note.write_text(
        "# Difference engine\n\nThe difference engine was designed by Charles Babbage. It tabulated polynomials.\n"
    )
    for expected in ("copied", "already"):
        code, _, err = say("-w", demo, "ingest", "--direct", note)
        assert code == 0, err
        assert expected in err
    assert note.exists()
    assert (demo / "raw_sources" / note.name).read_bytes() == note.read_bytes()
    assert any(one["slug"].startswith(note.stem) for one in told("-w", demo, "candidates", "list")["candidates"])


def test_a_dry_run_changes_nothing(demo: Path, tmp_path: Path) -> None:
    """Neither vault nor state differ by a byte afterwards."""
    (tmp_path / "new.md").write_text("# New\n\nSomething new is written here about computers of the past.\n")
    (demo / "raw_sources" / "more.md").write_text(
        "# More\n\nThe Harvard Mark I was built by IBM in 1944 in Endicott.\n"
    )
    (demo / "wiki" / "mine.md").write_text("# Mine\n\nA note of mine.\n")
    before = {path: path.read_bytes() for path in sorted(demo.rglob("*")) if path.is_file()}
    for arguments in (
        ("ingest", "--dry-run"),
        ("sync", "--dry-run"),
        ("ingest", "--dry-run", tmp_path / "new.md"),
        ("candidates", "promote", "pascaline", "--dry-run"),
    ):
        assert say("-w", demo, *arguments)[0] in (0, 3)
    assert {path: path.read_bytes() for path in sorted(demo.rglob("*")) if path.is_file()} == before


def test_an_address_is_listed_once(demo: Path) -> None:
    """A one-off address is added to the list of links in place, and said so."""
    listing = demo / "raw_sources" / "sources.yaml"
    before = listing.read_text()
    for _ in range(2):
        say("-w", demo, "ingest", "--direct", "http://127.0.0.1:9/none")
    after = listing.read_text()
    assert after.count("http://127.0.0.1:9/none") == 1
    assert after.startswith(before)


def test_a_mistyped_name_leaves_no_run(demo: Path) -> None:
    """Nothing was done, so there is nothing to tell; the next run goes on as if it had not been said."""
    before = told("-w", demo, "runs")["runs"]
    for words in ("sources ignore", "sources retry", "sources withdraw", "candidates promote", "ingest", "undo"):
        code, _, err = say("-w", demo, *words.split(), "nothing")
        assert (code, err.count("\n")) == (1, 1)
    assert told("-w", demo, "runs")["runs"] == before



def test_a_source_can_be_ignored_and_tried_again(demo: Path) -> None:
    """The mark is kept, and taken back by retry."""
    scan = "raw_sources/scanned-memo.pdf"
    assert told("-w", demo, "sources", "ignore", scan)["sources"][0]["ignored"] is True
    assert say("-w", demo, "ingest", "--direct")[0] == 0
    assert told("-w", demo, "sources", "retry", scan)["sources"][0]["ignored"] is False
    assert say("-w", demo, "ingest", "--direct")[0] == 0
    assert [one["location"] for one in told("-w", demo, "sources", "list", "--failed")["sources"]] == [scan]


def test_a_candidate_is_promoted_or_discarded(demo: Path) -> None:
    """Promoted, it is a page that search finds; nothing waits any more."""
    answer = told("-w", demo, "candidates", "promote", "pascaline")
    assert answer["promoted"] == ["wiki/pascaline.md"]
    assert told("-w", demo, "candidates", "list")["candidates"] == []
    assert told("-w", demo, "search", "Pascaline")["hits"][0]["path"] == "wiki/pascaline.md"


def test_the_staging_policy_is_edited_in_place(demo: Path) -> None:
    """Only the one line differs."""
    before = (demo / "nightwiki.yaml").read_text().splitlines()
    assert told("-w", demo, "staging", "policy", "all")["policy"] == "all"
    after = (demo / "nightwiki.yaml").read_text().splitlines()
    assert [line for old, line in zip(before, after, strict=True) if old != line] == ["  policy: all"]


def test_output_is_utf8_whatever_the_locale(demo: Path) -> None:
    """Pages hold every script, also where the terminal says it knows ASCII only."""
    (demo / "wiki" / "时间.md").write_text("# 时间管理\n\nŁódź und 时间.\n", encoding="utf-8")
    say("-w", demo, "sync")
    done = process("-w", demo, "search", "时间管理", LC_ALL="C", LANG="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0, done.stderr
    assert "时间管理" in done.stdout.decode("utf-8")


def test_a_closed_pipe_is_no_error(demo_night: Path) -> None:
    """`nightwiki audit | head -1` ends in silence."""
    command = f"{sys.executable} -m serving.cli -w {demo_night} audit --json"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | head -c 1"], cwd=ROOT, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"{", b"")


def test_no_colours_where_nobody_sees_them(demo_night: Path) -> None:
    """Output that is not a terminal holds no escape sequences."""
    assert b"\x1b" not in process("-w", demo_night, "sources", "list").stdout


def _heed_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_command_ends_what_it_started(demo: Path, number: int, code: int) -> None:
    """Ctrl-C and SIGTERM end the server that is being started, without a stack trace."""
    command = [sys.executable, "-m", "serving.cli", "-w", str(demo), "up", "--once"]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    # A shell that started the tests in the background may have them ignore Ctrl-C, which is inherited.
    with subprocess.Popen(command, cwd=ROOT, text=True, **streams, preexec_fn=_heed_interrupts) as running:
        assert running.stderr
        assert "Starting" in running.stderr.readline()
        (child,) = wait_for(lambda: psutil.Process(running.pid).children())
        running.send_signal(number)
        _, err = running.communicate(timeout=60)
    assert (running.returncode, err.strip()) == (code, "")
    child.wait(30)  # it follows its parent at the latest


def wait_for(get: Callable[[], list[psutil.Process]]) -> list[psutil.Process]:
    deadline = time.monotonic() + 120
    while not (found := get()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def test_a_busy_wiki_says_who_holds_it(demo: Path) -> None:
    """The second run ends at once and names the first."""
    from storage.locks import run_lock

    with run_lock(demo / ".nightwiki"):
        done = process("-w", demo, "ingest", "--direct")
        locks = told("-w", demo, "status")["locks"]
    assert done.returncode == 1
    assert f"pid {os.getpid()}" in done.stderr.decode()
    assert [lock["name"] for lock in locks] == ["run"]
