"""Nights with a model as a person starts them: caps, refusals, a crash, another machine, another purpose."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from serving.cli import run
from tests.loopback_model import Loopback, Question, loopback
from tests.web import Reply
from tests.wikis import COLOSSUS, ENIAC, SETTINGS, make, put, vault
from tests.writing_model import answer

ROOT = Path(__file__).resolve().parents[1]
ZUSE = """# Zuse Z3

The Zuse Z3 was a programmable calculating machine that Konrad Zuse built in Berlin and finished in 1941. About 2,600
relays did the work of its arithmetic unit and its memory. Programs were punched into old film and read one instruction
at a time. The machine was destroyed in an air raid in 1943.
"""


@pytest.fixture
def model() -> Iterator[Loopback]:
    """A model that writes by rule and tells what it used."""
    with loopback(answer) as running:
        yield running


def wiki(root: Path, model: Loopback, more: str = "", **endpoint: object) -> Path:
    """A wiki with three sources that uses the model."""
    settings = SETTINGS + "prefect:\n  mode: none\n" + model.settings(retries=1, **endpoint) + more
    make(root, settings, eniac=ENIAC, colossus=COLOSSUS, zuse=ZUSE)
    return root


def say(root: Path, *words: str) -> tuple[int, str]:
    """Exit code and all that is printed of a command on a wiki."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = run(["-w", str(root), *words])
    return code, out.getvalue()


def titles(root: Path) -> set[str]:
    """The pages there are."""
    return {path.stem for path in (root / "wiki").glob("*.md") if path.stem != "index"}


@pytest.mark.parametrize(
    ("cap", "told"),
    [
        ("run_tokens: 12000", "(budget.run_tokens) allows no further call"),
        ("day_tokens: 12000", "(budget.day_tokens) allows no further call"),
        ("run_money: 0.012\n  prices: ['openai-compatible:loopback 1 2']", "(budget.run_money) allows no further call"),
        ("run_minutes: 0.01", "(budget.run_minutes) allows no further call"),
    ],
)
def test_a_cap_ends_the_asking_and_names_what_waits(tmp_path: Path, model: Loopback, cap: str, told: str) -> None:
    """No call is made that could pass the cap; the sources wait by name, and a night without the cap takes them up."""
    model.seconds = 0.3 if "minutes" in cap else 0.0
    root = wiki(tmp_path, model, f"budget:\n  {cap}\n", concurrent=1, max_output_tokens=4000)
    code, out = say(root, "ingest", "--yes")
    assert code == 3 and "deferred_budget" in out and told in out and "3: raw_sources/" in out
    assert 0 < model.calls < 9
    settings = root / "nightwiki.yaml"
    settings.write_text(settings.read_text().partition("budget:")[0])
    calls = model.calls
    code, out = say(root, "ingest", "--yes")
    assert code == 0 and len(titles(root)) == 3 and model.calls == 9, (out, calls)


def test_a_bill_that_is_not_paid_stops_the_run_at_once(tmp_path: Path, model: Loopback) -> None:
    """After 402 nothing more is asked; all sources wait, with the next step."""
    model.script(Reply(402, b'{"error": {"message": "insufficient balance"}}', {"Content-Type": "application/json"}))
    code, out = say(wiki(tmp_path, model, concurrent=1), "ingest", "--yes")
    assert code == 3 and model.calls == 1
    assert "3: raw_sources/" in out and "wants payment first" in out and "Top up the account" in out
    assert "1 call brought no usable reply (1 budget)" in out


def test_a_rate_limit_is_waited_for_as_long_as_it_says(tmp_path: Path, model: Loopback) -> None:
    """429 with Retry-After costs time and nothing else."""
    times: list[float] = []

    def limited(question: Question) -> str | Reply:
        times.append(time.monotonic())
        if len(times) == 1:
            return Reply(429, b'{"error": {"message": "slow down"}}',
                         {"Content-Type": "application/json", "Retry-After": "2"})
        return answer(question)

    model.answer = limited
    code, out = say(wiki(tmp_path, model, concurrent=1), "ingest", "--yes")
    assert code == 0 and times[1] - times[0] >= 1.9 and len(titles(tmp_path)) == 3
    assert "1 call brought no usable reply (1 unavailable)" in out


def test_a_program_that_is_not_logged_in_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The night says for all sources together what is wrong and how to log in; no page is made up."""
    folder, seen = tmp_path / "bin", tmp_path / "seen"
    folder.mkdir()
    program = folder / "claude"
    complaint = json.dumps({"type": "result", "is_error": True, "result": "Invalid API key · Please run /login"})
    program.write_text(f"#!/bin/sh\ncat > /dev/null\necho x >> {seen}\necho '{complaint}'\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    settings = SETTINGS + "prefect:\n  mode: none\nmodel: claude\nendpoint:\n  concurrent: 1\n"
    make(tmp_path / "wiki", settings, eniac=ENIAC, colossus=COLOSSUS)
    code, out = say(tmp_path / "wiki", "ingest", "--yes")
    assert code == 3 and not titles(tmp_path / "wiki") and seen.read_text() == "x\n"
    assert "model_failed: 2: raw_sources/" in out and "not logged in" in out and "Run `claude` once and log in." in out
    code, out = say(tmp_path / "wiki", "model", "check")
    assert code == 3 and "fails" in out and "Run `claude` once and log in." in out


def test_withdrawing_takes_a_sources_pages_along_and_asks_nothing(tmp_path: Path, model: Loopback) -> None:
    """A dry run says what goes; the page goes, the file stays, and no call is made, then or later."""
    root = wiki(tmp_path, model)
    say(root, "ingest", "--yes")
    calls, before = model.calls, vault(root)
    code, out = say(root, "sources", "withdraw", "raw_sources/zuse.md", "--dry-run")
    assert code == 0 and "zuse-z3" in out and vault(root) == before
    say(root, "sources", "withdraw", "raw_sources/zuse.md")
    say(root, "ingest", "--yes")
    assert titles(root) == {path for path in titles(root) if not path.startswith("zuse")} and len(titles(root)) == 2
    assert (root / "raw_sources/zuse.md").exists() and model.calls == calls


def test_another_purpose_asks_about_scope_and_writes_only_what_is_new(tmp_path: Path, model: Loopback) -> None:
    """A purpose that shuts one source out asks one decision a source, and no page is written anew."""
    root = wiki(tmp_path, model)
    say(root, "ingest", "--yes")
    before, calls = vault(root), model.calls
    put(root, "purpose.md", "# Purpose\n\nMachines. Not: Zuse Z3\n")
    say(root, "ingest", "--yes")
    asked = [sorted((question.schema or {})["properties"]) for question in model.questions[calls:]]
    assert len(asked) == 3 and all("decisions" in fields for fields in asked)
    kept = [f"wiki/{name}.md" for name in titles(root)]
    assert len(kept) == 2 and all(vault(root)[path] == before[path] for path in kept)


def test_a_killed_night_and_another_machine_repeat_no_paid_call(tmp_path: Path, model: Loopback) -> None:
    """Only what was under way at the kill is asked again; a copy of the wiki asks nothing that was ever answered."""
    model.seconds = 0.2
    root = wiki(tmp_path / "one", model, concurrent=2)
    command = [sys.executable, "-m", "serving.cli", "-w", str(root), "ingest", "--yes"]
    process = subprocess.Popen(command, cwd=ROOT, start_new_session=True, stdout=subprocess.DEVNULL)
    until = time.monotonic() + 120
    while model.calls < 5 and time.monotonic() < until:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    time.sleep(0.5)
    assert 5 <= model.calls < 9 and not titles(root)
    model.seconds = 0.0
    assert say(root, "ingest", "--yes")[0] == 0 and len(titles(root)) == 3
    assert model.calls <= 9 + 2
    other, calls = tmp_path / "two", model.calls
    shutil.copytree(root, other)
    (other / ".nightwiki" / "ledger.duckdb").unlink()
    night = json.loads(say(other, "runs", "--json")[1])["runs"][0]["run"]
    assert say(other, "undo", night)[0] == 0 and not titles(other)
    assert say(other, "ingest", "--force", "--yes")[0] == 0 and len(titles(other)) == 3
    assert model.calls == calls


def test_the_price_is_told_in_json_and_by_role(tmp_path: Path, model: Loopback) -> None:
    """A dry run prices the night, the night says what it cost, as text and as JSON."""
    root = wiki(tmp_path, model, "budget:\n  prices: ['openai-compatible:loopback 3 15']\n")
    code, out = say(root, "ingest", "--dry-run")
    assert code == 0 and "The model would be asked: 12 calls" in out and "$" in out and model.calls == 0
    code, out = say(root, "ingest", "--yes", "--json")
    cost = json.loads(out)["cost"]
    assert cost["calls"] == 9 and cost["money"] > 0 and cost["tokens"] > 1000
