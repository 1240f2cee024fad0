"""Models behind a command-line program, with programs of our own that behave like them."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import psutil
import pytest

from config.load import parse_settings
from tasks.llm.ask import Kind, ModelError
from tasks.llm.client import connect
from tests.keys import FAKE_KEYS
from tests.llm_backends import GOOD, PROMPT, Facts
from tests.web import FakeClock

USED = {"input_tokens": 3, "cache_read_input_tokens": 40, "output_tokens": 9}
CLAUDE = json.dumps({"type": "result", "is_error": False, "result": GOOD, "stop_reason": "end_turn", "usage": USED})
OPENCODE = "\n".join(json.dumps(one) for one in (
    {"type": "step_start", "part": {"type": "step-start"}},
    {"type": "text", "part": {"type": "text", "text": GOOD}},
    {"type": "step_finish", "part": {"reason": "stop", "tokens": {"input": 43, "output": 9}}},
))
SEEN = """import json, os, sys
with open({!r}, "w") as seen:
    json.dump([sys.argv[1:], dict(os.environ), os.getcwd(), os.listdir(), sys.stdin.read()], seen)
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is first on the PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    return folder


def install(folder: Path, name: str, code: str) -> Path:
    """A program of this name; returns where it notes what it saw."""
    seen = folder / "seen.json"
    file = folder / name
    file.write_text(f"#!{sys.executable}\n{SEEN.format(str(seen))}{code}\n")
    file.chmod(0o755)
    return seen


def ask(name: str, **endpoint: object) -> Facts:
    lines = "".join(f"  {key}: {value}\n" for key, value in {"timeout_seconds": 30, **endpoint}.items())
    asker = connect(parse_settings(f"model: {name}\nendpoint:\n{lines}"), clock=FakeClock())
    assert asker is not None
    return asker.ask(PROMPT, Facts)


@pytest.mark.parametrize(("name", "said"), [("claude", CLAUDE), ("opencode", OPENCODE)])
def test_a_program_answers(program: Path, name: str, said: str) -> None:
    """The question goes in on standard input, in an empty folder; the reply is the object."""
    seen = install(program, name, f"print({said!r})")
    assert ask(f"{name}:some/model").title == "Z3"
    arguments, environment, folder, files, question = json.loads(seen.read_text())
    assert "The Z3 was built in 1941." in question and "The Z3" not in " ".join(arguments)
    assert files == [] and not Path(folder).exists()
    assert arguments[arguments.index("--model") + 1] == "some/model"
    if name == "claude":
        assert arguments[arguments.index("--tools") + 1] == "" and "--strict-mcp-config" in arguments
    else:
        assert json.loads(environment["OPENCODE_CONFIG_CONTENT"])["permission"] == {"*": "deny"}


def test_a_subscription_pays_not_a_key(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key in the environment is not handed to `claude`."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", FAKE_KEYS[1])
    seen = install(program, "claude", f"print({CLAUDE!r})")
    ask("claude")
    assert FAKE_KEYS[1] not in seen.read_text()


def test_tokens_are_told(program: Path) -> None:
    """What the program says it used is counted, and costs nothing."""
    install(program, "claude", f"print({CLAUDE!r})")
    asker = connect(parse_settings("model: claude\nbudget: {run_money: 0.01}\n"))
    assert asker is not None
    asker.ask(PROMPT, Facts)
    assert (asker.spent.input_tokens, asker.spent.output_tokens, asker.spent.money) == (43, 9, 0)


MESSAGES = json.dumps([{"type": "system", "subtype": "init"}, {"type": "assistant"}, json.loads(CLAUDE)])
NOTICE = "\x1b[33mA new version is there.\x1b[0m\n"


@pytest.mark.parametrize(("name", "said"), [
    ("claude", NOTICE + "\x1b]0;claude\x07\x1b[32m" + CLAUDE + "\x1b[0m"),
    ("claude", MESSAGES),
    ("claude", "\n".join(json.dumps(one) for one in json.loads(MESSAGES)) + "\n" + json.dumps({"type": "later"})),
    ("claude", "\ufeff" + json.dumps(json.loads(CLAUDE), indent=2).replace("\n", "\r\n")),
    ("opencode", NOTICE + "\n".join(f"\x1b[0m{line}" for line in OPENCODE.splitlines())),
    ("opencode", json.dumps({"type": "tool_use", "part": {"tool": "read"}}) + "\r\n" + OPENCODE + "\r\nnot JSON"),
])
def test_colours_notices_and_other_messages_do_not_hide_the_reply(program: Path, name: str, said: str) -> None:
    """The reply is found in what the program prints besides."""
    install(program, name, f"sys.stdout.buffer.write({said!r}.encode())")
    assert ask(name).title == "Z3"


@pytest.mark.parametrize(("name", "code", "kind", "said"), [
    ("claude", "print(json.dumps({'is_error': True, 'result': 'Invalid API key · Please run /login'}))", Kind.REFUSED,
     "not logged in"),
    ("claude", "sys.exit('Invalid API key. Please run /login')", Kind.REFUSED, "Run `claude` once and log in."),
    ("opencode", "print(json.dumps({'type': 'error', 'error': {'data': {'message': 'Unauthorized'}}}))", Kind.REFUSED,
     "opencode auth login"),
    ("claude", "print(json.dumps({'is_error': True, 'result': 'usage limit reached|18'}))", Kind.BUDGET, "limit"),
    ("claude", "print('Welcome!')", Kind.UNAVAILABLE, "failed (Welcome!)"),
    ("claude", "sys.exit(3)", Kind.UNAVAILABLE, "exit code 3"),
    ("opencode", "print('[' * 100000)", Kind.UNAVAILABLE, "failed"),
    ("claude", "print(json.dumps({'result': 5}))", Kind.UNAVAILABLE, "failed"),
    ("claude", "print(json.dumps({'result': '{', 'stop_reason': 'max_tokens'}))", Kind.TRUNCATED, "cut off"),
    ("claude", "print('x' * 12_000_000)", Kind.INVALID, "more than 4 MB"),
    ("opencode", "sys.stderr.write('x' * 12_000_000)", Kind.INVALID, "more than 4 MB"),
    ("claude", "os.kill(os.getpid(), 9)", Kind.UNAVAILABLE, "failed"),
    ("claude", "print(json.dumps({'type': 'result', 'subtype': 'error_max_turns', 'is_error': True}))",
     Kind.UNAVAILABLE, "error_max_turns"),
    ("claude", "print('{\"type\": \"result\", \"result\": \"cut')", Kind.UNAVAILABLE, "failed"),
    ("claude", f"print({CLAUDE!r}); sys.exit(1)", Kind.UNAVAILABLE, "failed"),
    ("opencode", "print(json.dumps({'type': 'text', 'part': {'text': ''}}))", Kind.INVALID, "refused twice"),
    ("opencode", "sys.stderr.write('\\x1b[91mError: No provider\\x1b[0m'); sys.exit(1)", Kind.REFUSED,
     "(Error: No provider)"),
    ("opencode", "print(json.dumps({'type': 'error', 'error': {'name': 'APIError', 'data': {'statusCode': 429,"
     " 'message': 'Too Many Requests'}}}))", Kind.BUDGET, "reached its limit"),
])
def test_a_program_that_fails_is_said(program: Path, name: str, code: str, kind: Kind, said: str) -> None:
    """Not logged in, at its limit, talkative, broken: each has its kind and next step."""
    install(program, name, code)
    with pytest.raises(ModelError) as raised:
        ask(name, retries=0)
    assert raised.value.kind == kind and said in str(raised.value) and len(str(raised.value)) < 700


def test_a_program_that_hangs_is_ended_with_its_children(program: Path) -> None:
    """Nothing is left running, and no folder."""
    child = "import subprocess; p = subprocess.Popen(['sleep', '600']); open({!r}, 'a').write(f'{{p.pid}} '); p.wait()"
    pids = program / "pids"
    seen = install(program, "claude", child.format(str(pids)))
    with pytest.raises(ModelError) as raised:
        ask("claude", timeout_seconds=1.5, retries=0)
    assert raised.value.kind == Kind.TIMED_OUT
    until = time.monotonic() + 120
    while any(_lives(int(pid)) for pid in pids.read_text().split()) and time.monotonic() < until:
        time.sleep(0.05)
    assert [pid for pid in pids.read_text().split() if _lives(int(pid))] == []
    assert not Path(json.loads(seen.read_text())[2]).exists()


def test_a_program_that_does_not_listen(program: Path) -> None:
    """One that never reads its question is answered for all the same."""
    file = program / "claude"
    file.write_text(f"#!{sys.executable}\nprint({CLAUDE!r})\n")
    file.chmod(0o755)
    assert ask("claude").title == "Z3"


def test_a_program_that_is_not_there(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named, and not tried again."""
    monkeypatch.setenv("PATH", str(program))
    with pytest.raises(ModelError, match="`opencode` is not installed"):
        ask("opencode")


def test_a_key_that_a_program_prints_is_not_shown(program: Path) -> None:
    """Its complaint is told without the key."""
    install(program, "claude", f"sys.exit('bad {FAKE_KEYS[1]}')")
    with pytest.raises(ModelError) as raised:
        ask("claude", retries=0)
    assert FAKE_KEYS[1] not in repr(raised.value) and "[key]" in str(raised.value)


def _lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
