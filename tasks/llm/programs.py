"""Models behind a command-line program, for people with a subscription: `claude` and `opencode`.

The question goes in on standard input. The program runs in an empty folder, with its tools switched off, and is ended
with all its children when it takes too long or says too much.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from config.models import ModelName
from config.secrets import redact
from config.settings import Settings
from tasks.llm.ask import Kind
from tasks.llm.backend import Call, CallFailed, Completion

_SYSTEM = "You answer the question on standard input with exactly what it asks for. You have no tools."
_TERMINAL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\^_]|"
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff]"
)
"""Colours, window titles and other signs to a terminal: none of them can stand in JSON."""

_LOGGED_OUT = re.compile(
    r"(?i)/login|not logged in|log ?in (?:again|first)|invalid api key|unauthori[sz]ed|authentication|auth login"
    r"|no (?:provider|credential)|oauth token|session expired|missing api key"
)
_LIMIT = re.compile(r"(?i)usage limit|rate.?limit|limit reached|too many requests|out of credits|quota")
_NO_TOOLS = {
    "permission": {"*": "deny"},
    "share": "disabled",
    "autoupdate": False,
    "mcp": {},
    "instructions": [],
}
_HOW_TO_LOG_IN = {"claude": "Run `claude` once and log in.", "opencode": "Run `opencode auth login`."}


@dataclass(frozen=True, slots=True)
class _Ended:
    code: int
    out: str
    err: str


class ProgramBackend:
    """One of the programs. A model's name behind the colon is handed to it."""

    def __init__(self, name: ModelName, settings: Settings) -> None:
        self.name = name
        self._limit = int(settings.endpoint.max_reply_megabytes * 1_000_000)
        self._path = shutil.which(name.provider) or ""

    def complete(self, call: Call) -> Completion:
        """The reply to a call. Raises CallFailed."""
        if not self._path:
            raise CallFailed(Kind.UNAVAILABLE, f"the program `{self.name.provider}` is not installed here",
                             "Install it, or name another model.", final=True)
        ended = self._run(call)
        completion = _claude(ended) if self.name.provider == "claude" else _opencode(ended)
        if completion is None:
            raise self._failed(ended)
        return completion

    def stream(self, call: Call) -> Iterator[str]:
        """The reply's text, in one piece: what these programs print on the way is not text alone."""
        completion = self.complete(call)
        yield completion.text
        if completion.cut_off:
            raise CallFailed(Kind.TRUNCATED, "the reply was cut off at its greatest length", charged=True)

    def close(self) -> None:
        """Nothing is kept open."""

    def _run(self, call: Call) -> _Ended:
        with tempfile.TemporaryDirectory(prefix="nightwiki-model-") as folder:
            try:
                process = subprocess.Popen(
                    [self._path, *self._arguments()],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=folder,
                    env=self._environment(os.environ),
                    start_new_session=True,
                )
            except OSError as error:
                cause = f"the program `{self.name.provider}` cannot be started ({error.strerror or error})"
                raise CallFailed(Kind.UNAVAILABLE, cause, "Look at " + self._path, final=True) from None
            try:
                return _conversed(process, call.text.encode("utf-8", "replace"), call.seconds, self._limit)
            finally:
                _end_all(process)

    def _arguments(self) -> Sequence[str]:
        if self.name.provider == "claude":
            fixed = ["-p", "--output-format", "json", "--tools", "", "--strict-mcp-config", "--setting-sources", "",
                     "--no-session-persistence", "--system-prompt", _SYSTEM]
            return [*fixed, *(["--model", self.name.name] if self.name.name else [])]
        return ["run", "--format", "json", *(["--model", self.name.name] if self.name.name else [])]

    def _environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        kept = dict(environ)
        if self.name.provider == "claude":
            kept.pop("ANTHROPIC_API_KEY", None)  # else the key pays, not the subscription
        else:
            kept["OPENCODE_CONFIG_CONTENT"] = json.dumps(_NO_TOOLS)
            kept["OPENCODE_DISABLE_AUTOUPDATE"] = "1"
        return kept

    def _failed(self, ended: _Ended) -> CallFailed:
        program = self.name.provider
        said = " ".join(redact(f"{ended.err} {ended.out}").split())
        told = said[:300] or f"exit code {ended.code}"
        if _LIMIT.search(said):
            return CallFailed(Kind.BUDGET, f"`{program}` has reached its limit ({told})", "Wait until it is reset.",
                              final=True)
        if _LOGGED_OUT.search(said):
            return CallFailed(Kind.REFUSED, f"`{program}` is not logged in ({told})", _HOW_TO_LOG_IN[program],
                              final=True)
        return CallFailed(Kind.UNAVAILABLE, f"`{program}` failed ({told})", passing=True)


def _claude(ended: _Ended) -> Completion | None:
    """What `claude -p --output-format json` printed; None when it is no reply."""
    told = _last_object(ended.out)
    result = told.get("result")
    if told.get("is_error") or not isinstance(result, str) or ended.code != 0:
        return None
    usage = told.get("usage")
    used = usage if isinstance(usage, dict) else {}
    coming_in = sum(_number(used.get(key)) for key in
                    ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"))
    return Completion(result, told.get("stop_reason") == "max_tokens", coming_in, _number(used.get("output_tokens")))


def _opencode(ended: _Ended) -> Completion | None:
    """What `opencode run --format json` printed, event by event; None when it is no reply."""
    texts: list[str] = []
    coming_in = going_out = 0
    cut_off = False
    for event in _objects(ended.out):
        part = event.get("part")
        inner = part if isinstance(part, dict) else {}
        if event.get("type") == "error":
            return None
        if event.get("type") == "text" and isinstance(inner.get("text"), str):
            texts.append(str(inner["text"]))
        tokens = inner.get("tokens")
        if event.get("type") == "step_finish" and isinstance(tokens, dict):
            coming_in += _number(tokens.get("input"))
            going_out += _number(tokens.get("output"))
            cut_off = cut_off or inner.get("reason") == "length"
    if ended.code != 0 or not texts:
        return None
    return Completion("".join(texts), cut_off, coming_in, going_out)


def _objects(text: str) -> Iterator[dict[str, object]]:
    for line in text.splitlines():
        with contextlib.suppress(ValueError, RecursionError):
            value = json.loads(line)
            if isinstance(value, dict):
                yield value


def _last_object(text: str) -> dict[str, object]:
    """The result among what was printed: alone, in a list of all messages, or on a line of its own."""
    with contextlib.suppress(ValueError, RecursionError):
        value = json.loads(text)
        if isinstance(value, dict):
            return value
        if isinstance(value, list):
            return _result([one for one in value if isinstance(one, dict)])
    return _result([*_objects(text)])


def _result(found: Sequence[dict[str, object]]) -> dict[str, object]:
    results = [one for one in found if one.get("type") == "result"]
    return (results or [*found] or [{}])[-1]


def _number(value: object) -> int:
    return int(value) if isinstance(value, int | float) and value > 0 else 0


def _conversed(process: subprocess.Popen[bytes], question: bytes, seconds: float, limit: int) -> _Ended:
    """Say the question, hear the reply. Raises CallFailed after `seconds` or `limit` bytes."""
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    until = time.monotonic() + seconds
    heard, complained = _Ear(process.stdout, limit), _Ear(process.stderr, limit)
    speaker = threading.Thread(target=_say, args=(process.stdin, question), daemon=True)
    speaker.start()
    while heard.is_alive() or complained.is_alive():
        if heard.full or complained.full:
            raise CallFailed(Kind.INVALID, f"the program said more than {limit / 1_000_000:g} MB", charged=True)
        if time.monotonic() >= until:
            raise CallFailed(Kind.TIMED_OUT, f"there was no whole reply within {seconds:g} s",
                             "Raise endpoint.timeout_seconds, or look whether the program hangs.", passing=True)
        (heard if heard.is_alive() else complained).join(0.05)
    try:
        code = process.wait(max(0.1, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise CallFailed(Kind.TIMED_OUT, f"the program did not end within {seconds:g} s", passing=True) from None
    return _Ended(code, heard.text(), complained.text())


class _Ear(threading.Thread):
    """Reads a pipe to its end, or until it has heard enough."""

    def __init__(self, pipe: IO[bytes], limit: int) -> None:
        super().__init__(daemon=True)
        self._pipe, self._limit = pipe, limit
        self._heard = bytearray()
        self.full = False
        self.start()

    def run(self) -> None:
        """Read."""
        with contextlib.suppress(OSError, ValueError):
            while piece := os.read(self._pipe.fileno(), 65536):
                self._heard += piece
                if len(self._heard) > self._limit:
                    self.full = True
                    return

    def text(self) -> str:
        """What was heard."""
        return _TERMINAL.sub("", self._heard.decode("utf-8", "replace"))


def _say(pipe: IO[bytes], question: bytes) -> None:
    with contextlib.suppress(OSError, ValueError):
        pipe.write(question)
    with contextlib.suppress(OSError, ValueError):
        pipe.close()


def _end_all(process: subprocess.Popen[bytes]) -> None:
    """End the program and its children, which share its session."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
