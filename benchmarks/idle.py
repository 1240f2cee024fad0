"""What an idle `nightwiki up` costs beside a bare Prefect server: `python -m benchmarks.idle [--seconds N]`.

Both run at the same time, each on a new database, with nothing to do. Given are processor time as a share of one core,
and memory (pages that processes share are counted by their share), over all their processes.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.cpu import cpu_of_all, megabytes
from config.wiki import open_wiki
from flows.service import server

ROOT = Path(__file__).resolve().parents[1]
SETTLE_SECONDS = 60
"""A server just started looks through everything once."""

CPU_BAR, MEMORY_BAR = 0.01, 200.0


@dataclass(frozen=True, slots=True)
class Idle:
    """What a process tree takes while it has nothing to do."""

    name: str
    cpu: float  # of one core
    megabytes: float


def main() -> None:
    """Start both, wait, measure, print; exit 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=180, help="how long they are watched (default 180)")
    parser.add_argument("--json", type=Path, help="write the figures into this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nightwiki-idle-") as folder, contextlib.ExitStack() as stack:
        bare = stack.enter_context(_bare_server(Path(folder) / "bare"))
        up = stack.enter_context(_up(Path(folder) / "wiki"))
        time.sleep(SETTLE_SECONDS)
        figures = _watch({"bare Prefect server": bare, "nightwiki up": up}, options.seconds)
    for one in figures:
        print(f"{one.name:24} {100 * one.cpu:6.2f} % of a core  {one.megabytes:7.1f} MB")
    cpu, memory = figures[1].cpu - figures[0].cpu, figures[1].megabytes - figures[0].megabytes
    print(f"{'above the bare server':24} {100 * cpu:6.2f} % (bar 1 %)  {memory:7.1f} MB (bar {MEMORY_BAR:.0f})")
    if options.json:
        options.json.write_text(json.dumps([asdict(one) for one in figures], indent=1), encoding="utf-8")
    sys.exit(0 if cpu <= CPU_BAR and memory <= MEMORY_BAR else 1)


def _watch(pids: dict[str, int], seconds: int) -> list[Idle]:
    before = {name: cpu_of_all(pid) for name, pid in pids.items()}
    start = time.monotonic()
    time.sleep(seconds)
    passed = time.monotonic() - start
    return [Idle(name, (cpu_of_all(pid) - before[name]) / passed, megabytes(pid)) for name, pid in pids.items()]


@contextlib.contextmanager
def _bare_server(home: Path) -> Iterator[int]:
    home.mkdir()
    port = server.free_port()
    url = f"http://127.0.0.1:{port}/api"
    variables = {
        "PREFECT_HOME": str(home),
        "PREFECT_SERVER_API_PORT": str(port),
        "DO_NOT_TRACK": "1",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    }
    command = ["-m", "prefect", "server", "start", "--port", str(port)]
    with _running(command, variables, home) as pid:
        _until_healthy(url)
        yield pid


@contextlib.contextmanager
def _up(root: Path) -> Iterator[int]:
    root.mkdir()
    (root / "nightwiki.yaml").write_text(f"name: idle\nprefect:\n  port: {server.free_port()}\n", encoding="utf-8")
    wiki = open_wiki(root)
    with _running(["-m", "serving.cli", "-w", str(root), "up"], {"PYTHONPATH": str(ROOT)}, root) as pid:
        _until_healthy(f"http://127.0.0.1:{wiki.settings.prefect.port}/api")
        yield pid


@contextlib.contextmanager
def _running(command: Sequence[str], variables: dict[str, str], folder: Path) -> Iterator[int]:
    process = subprocess.Popen(
        [sys.executable, *command],
        env=os.environ | variables,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def _until_healthy(url: str) -> None:
    deadline = time.monotonic() + 180
    while not server.answers(url):
        if time.monotonic() > deadline:
            raise SystemExit(f"{url} did not answer")
        time.sleep(0.5)


if __name__ == "__main__":
    main()
