"""Has the system start `nightwiki up` at login and again when it dies: a systemd user unit, or a launchd agent."""

from __future__ import annotations

import hashlib
import os
import plistlib
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from config.errors import NightwikiError
from config.wiki import Wiki
from storage.durable import write_file

Run = Callable[[Sequence[str]], None]


@dataclass(frozen=True, slots=True)
class Service:
    """What is written where, and the commands that take it up and let it go."""

    path: Path
    text: str
    start: tuple[tuple[str, ...], ...]
    stop: tuple[tuple[str, ...], ...]
    note: str = ""


def service_of(wiki: Wiki, platform: str = sys.platform, api: bool = False) -> Service:
    """The service of this wiki on this system. Raises NightwikiError where neither systemd nor launchd is."""
    if platform == "darwin":
        return _launchd(wiki, command(wiki, api))
    if platform.startswith("linux"):
        return _systemd(wiki, command(wiki, api))
    cause = f"there is no service manager that nightwiki knows on {platform}"
    raise NightwikiError("up --install", cause, "Have your system run: nightwiki up")


def command(wiki: Wiki, api: bool = False) -> tuple[str, ...]:
    """How `nightwiki up` is started for this wiki, from any folder."""
    return (sys.executable, "-P", "-m", "serving.cli", "-w", str(wiki.root), "up", *(["--api"] if api else []))


def install(service: Service, run: Run | None = None) -> None:
    """Write the file and start the service. Raises NightwikiError when the service manager refuses."""
    service.path.parent.mkdir(parents=True, exist_ok=True)
    write_file(service.path, [service.text.encode()])
    for each in service.start:
        (run or _run)(each)


def uninstall(service: Service, run: Run | None = None) -> bool:
    """Stop the service and remove its file; False when it was not installed."""
    if not service.path.exists():
        return False
    for each in service.stop:
        (run or _run)(each)
    service.path.unlink()
    return True


def _label(wiki: Wiki) -> str:
    """A name of the wiki's own, for two wikis of one name may lie in two folders."""
    readable = re.sub(r"[^A-Za-z0-9]+", "-", wiki.name).strip("-").lower() or "wiki"
    return f"{readable}-{hashlib.sha256(str(wiki.root).encode()).hexdigest()[:6]}"


def _systemd(wiki: Wiki, start: Sequence[str]) -> Service:
    name = f"nightwiki-{_label(wiki)}.service"
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    lines = [
        "[Unit]",
        f"Description=nightwiki up ({_escape(' '.join(str(wiki.root).split()))})",
        "After=network.target",
        "",
        "[Service]",
        f"ExecStart={_quote(start[0])} {' '.join(_quote(part, '$$') for part in start[1:])}",
        *(f"Environment={_quote(one)}" for one in _environment()),
        "Restart=on-failure",
        "RestartSec=10",
        "KillMode=mixed",
        "TimeoutStopSec=60",
        "",
        "[Install]",
        "WantedBy=default.target",
    ]
    control = ("systemctl", "--user")
    return Service(
        home / "systemd" / "user" / name,
        "\n".join(lines) + "\n",
        start=((*control, "daemon-reload"), (*control, "enable", "--now", name)),
        stop=((*control, "disable", "--now", name),),
        note="It runs while you are logged in; for nights without you: loginctl enable-linger",
    )


def _launchd(wiki: Wiki, start: Sequence[str]) -> Service:
    label = f"nightwiki.{_label(wiki)}"
    path = Path.home() / "Library" / "LaunchAgents" / f"{label}.plist"
    log = str(wiki.state_dir / "logs" / "up.log")
    content = {
        "Label": label,
        "ProgramArguments": list(start),
        "EnvironmentVariables": dict(one.split("=", 1) for one in _environment()),
        "WorkingDirectory": str(wiki.root),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "StandardOutPath": log,
        "StandardErrorPath": log,
    }
    return Service(
        path,
        plistlib.dumps(content).decode(),
        start=(("launchctl", "load", "-w", str(path)),),
        stop=(("launchctl", "unload", "-w", str(path)),),
    )


def _environment() -> tuple[str, ...]:
    """What the service needs to find nightwiki: the checkout that it runs from, where it is not installed."""
    source = Path(__file__).resolve().parents[2]
    return () if "site-packages" in source.parts else (f"PYTHONPATH={source}",)


def _escape(text: str) -> str:
    """Text in a unit file: `%` begins a specifier there."""
    return text.replace("%", "%%")


def _quote(text: str, dollar: str = "$") -> str:
    """One word of a unit file. A `$` begins a variable in arguments, where it is doubled, but not in other places."""
    escaped = _escape(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("$", dollar)
    return escaped if re.fullmatch(r"[\w@%+=:,./$-]+", escaped) else f'"{escaped}"'


def _run(words: Sequence[str]) -> None:
    if shutil.which(words[0]) is None:
        step = "The file is written; have your system run it."
        raise NightwikiError(words[0], "is not on this system, so the service could not be started", step)
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).split()) or f"exit {done.returncode}"
        raise NightwikiError(" ".join(words), said, "The file is written; start the service by hand.")
