"""A bare Prefect server of one's own, as a person may have one: for tests that send runs to it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from flows.service import server

ROOT = Path(__file__).resolve().parents[1]
ENDED = {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}


def wait_until(true: Callable[[], bool], seconds: float) -> None:
    """Look every fifth of a second until it is true."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.2)


class Api:
    """The server's HTTP API, with the patience that Prefect's own client has."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.http = httpx.Client(base_url=url, timeout=30)

    def send(self, method: str, path: str, json: Any = None) -> Any:
        """What the server answers; a busy database is waited for."""
        answer = self.http.request(method, path, json=json)
        for _ in range(20):
            if answer.status_code != 503:
                break
            time.sleep(1)
            answer = self.http.request(method, path, json=json)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def post(self, path: str, **body: Any) -> Any:
        """What the server answers to a POST."""
        return self.send("POST", path, body)

    def get(self, path: str) -> Any:
        """What the server answers to a GET."""
        return self.send("GET", path)

    def trigger(self, deployment: str, **parameters: Any) -> str:
        """Start a deployment (FLOW/NAME) as the console does; the run's id."""
        found = self.get(f"deployments/name/{deployment}")["id"]
        return str(self.post(f"deployments/{found}/create_flow_run", parameters=parameters)["id"])

    def ended(self, run: str, seconds: float = 240) -> Any:
        """The run, once it has come to an end."""
        wait_until(lambda: self.get(f"flow_runs/{run}")["state"]["type"] in ENDED, seconds)
        return self.get(f"flow_runs/{run}")

    def artifacts(self, run: str) -> list[Any]:
        """What a run has published."""
        return list(self.post("artifacts/filter", flow_runs={"id": {"any_": [run]}}))


@dataclass(frozen=True, slots=True)
class Bare:
    """A server that knows nothing of nightwiki."""

    api: Api
    home: Path


@contextmanager
def bare_server(home: Path) -> Iterator[Bare]:
    """A server of one's own, on a free port of loopback."""
    port = server.free_port()
    url = f"http://127.0.0.1:{port}/api"
    process = subprocess.Popen(
        [sys.executable, "-m", "prefect", "server", "start", "--port", str(port)],
        env=environment(home, url) | {"PREFECT_SERVER_API_PORT": str(port), "PREFECT_SERVER_DATABASE_TIMEOUT": "60"},
        cwd=home,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_until(lambda: server.answers(url) or process.poll() is not None, 180)
        api = Api(url)
        yield Bare(api, home)
        api.http.close()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def environment(home: Path, url: str) -> dict[str, str]:
    """The shell of a person who has this server."""
    return os.environ | {
        "PREFECT_HOME": str(home),
        "PREFECT_API_URL": url,
        "DO_NOT_TRACK": "1",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PYTHONPATH": str(ROOT),
    }
