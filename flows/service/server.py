"""nightwiki's own Prefect server: its environment, its start and end, and how other commands find it.

It keeps everything in the wiki's state folder and touches no Prefect profile. An inherited PREFECT_API_URL is
never consent: only `prefect.mode: existing` sends runs to a server that is not nightwiki's own.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

import certifi

from config.errors import NightwikiError
from config.wiki import Wiki
from flows.service.shrink import shrink
from flows.steps import utc_now
from storage.durable import write_file

START_SECONDS = 180
"""A first start creates the database, which took 17 to 27 s where it was measured."""

STOP_SECONDS = 15

_QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_EPHEMERAL_ENABLED": "false",
    "PREFECT_LOGGING_EXTRA_LOGGERS": "config,tasks,storage,flows,serving",
    "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",  # what is said before and after a run stays here
    "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
    "PYTHONSAFEPATH": "1",  # a folder `flows/` or `config/` beside the user must not take the place of ours
}
_SERVER = {
    "PREFECT_SERVER_API_HOST": "127.0.0.1",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "PREFECT_SERVER_UI_V2_ENABLED": "false",  # the new pages ask an analytics host from the browser
    "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": "prefect.server.concurrency.lease_storage.filesystem",
    "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
    "PREFECT_SERVER_DATABASE_TIMEOUT": "60",  # a busy machine makes SQLite wait; at 10 s requests end as 503
    "PREFECT_SERVER_DATABASE_CONNECTION_TIMEOUT": "60",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
    "PREFECT_SERVER_LOGGING_LEVEL": "WARNING",
    # Services for work pools and for thousands of runs, looked after less often: a computer that idles shall idle.
    "PREFECT_SERVER_SERVICES_FOREMAN_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_LATE_RUNS_LOOP_SECONDS": "60",
    "PREFECT_SERVER_SERVICES_PAUSE_EXPIRATIONS_LOOP_SECONDS": "60",
    "PREFECT_SERVER_SERVICES_CANCELLATION_CLEANUP_LOOP_SECONDS": "60",
    "PREFECT_SERVER_SERVICES_CLEANUP_RECONCILER_LOOP_SECONDS": "60",
    "PREFECT_SERVER_SERVICES_REPOSSESSOR_LOOP_SECONDS": "30",
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server that is up. `pid` is the process that `nightwiki up` runs in."""

    pid: int
    api_url: str
    started: str

    @property
    def ui_url(self) -> str:
        """Where a browser sees the runs."""
        return self.api_url.removesuffix("/api")


def endpoint_path(wiki: Wiki) -> Path:
    """Where `nightwiki up` tells other commands about itself."""
    return wiki.state_dir / "up.json"


def home(wiki: Wiki) -> Path:
    """Prefect's own folder in the wiki's state."""
    return wiki.state_dir / "prefect"


def working_folder(wiki: Wiki) -> Path:
    """An empty folder to run in, so that nothing of the user's can be imported by mistake."""
    folder = home(wiki) / "work"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def client_environment(wiki: Wiki, api_url: str) -> dict[str, str]:
    """The whole environment of a process that runs flows against the server at `api_url`."""
    kept = dict(os.environ)
    if wiki.settings.prefect.mode != "existing":
        kept = {name: value for name, value in kept.items() if not name.startswith("PREFECT_")}
        kept["PREFECT_HOME"] = str(home(wiki))
        kept["PREFECT_API_SSL_CERT_FILE"] = str(_one_authority(wiki))
        kept["PREFECT_CLIENT_CSRF_SUPPORT_ENABLED"] = "false"  # our server asks for no token; each client would ask it
    source = Path(__file__).resolve().parents[2]
    if "site-packages" not in source.parts:  # run from a checkout: its folder must be found from anywhere
        kept["PYTHONPATH"] = str(source)
    return kept | _QUIET | {"PREFECT_API_URL": api_url}


def _one_authority(wiki: Wiki) -> Path:
    """A file of one certificate. Prefect's clients load all authorities, which takes each of them a tenth of a second;
    those of our own server speak to loopback and need none."""
    path = home(wiki) / "authority.pem"
    if not path.exists():
        end = "-----END CERTIFICATE-----\n"
        first = Path(certifi.where()).read_text(encoding="utf-8").partition(end)[0] + end
        home(wiki).mkdir(parents=True, exist_ok=True)
        write_file(path, [first.encode()])
    return path


def server_environment(wiki: Wiki, port: int) -> dict[str, str]:
    """The whole environment of nightwiki's own server."""
    url = f"http://127.0.0.1:{port}/api"
    kept = str(wiki.settings.prefect.keep_days * 24 * 3600)
    own = {"PREFECT_SERVER_API_PORT": str(port), "PREFECT_SERVER_SERVICES_DB_VACUUM_RETENTION_PERIOD": kept}
    return client_environment(wiki, url) | _SERVER | own


@contextlib.contextmanager
def environment(variables: dict[str, str]) -> Iterator[None]:
    """Within the block the environment is exactly `variables`; Prefect reads it when it is imported."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def find_server(wiki: Wiki) -> Endpoint | None:
    """The server that this wiki's runs go to, if it answers; None means: run directly."""
    settings = wiki.settings.prefect
    if settings.mode == "none":
        return None
    if settings.mode == "existing":
        return Endpoint(0, settings.api_url, "") if answers(settings.api_url) else None
    endpoint = read_endpoint(wiki)
    return endpoint if endpoint and is_alive(endpoint.pid) and answers(endpoint.api_url) else None


def read_endpoint(wiki: Wiki) -> Endpoint | None:
    """What the last `nightwiki up` said of itself; it may have died since."""
    try:
        told = json.loads(endpoint_path(wiki).read_text(encoding="utf-8"))
        return Endpoint(int(told["pid"]), str(told["api_url"]), str(told["started"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def answers(api_url: str, timeout: float = 2.0) -> bool:
    """Whether a Prefect API is healthy at this address."""
    opener = build_opener(ProxyHandler({}))  # loopback never goes through a proxy
    try:
        with opener.open(f"{api_url.rstrip('/')}/health", timeout=timeout) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError, ValueError):
        return False


def is_alive(pid: int) -> bool:
    """Whether a process with this id exists."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return pid > 0


def is_free(port: int) -> bool:
    """Whether nothing listens on a loopback port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """A loopback port that nothing listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def own_server(wiki: Wiki, port: int = 0) -> Iterator[Endpoint]:
    """Start nightwiki's own server, tell other commands of it, stop it at the end. Port 0 takes a free one.

    The server ends with this process even if this one is killed: it watches the pipe that is its standard input.
    """
    chosen = port or free_port()
    if not is_free(chosen):
        step = "Set another prefect.port in nightwiki.yaml."
        raise NightwikiError(f"port {chosen}", "something else listens there", step)
    logs = wiki.state_dir / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    shrink(home(wiki) / "prefect.db")
    variables = server_environment(wiki, chosen)
    with (logs / "prefect-server.log").open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "flows.service.launch", "prefect", "server", "start"],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=working_folder(wiki),
            env=variables,
            start_new_session=True,  # Ctrl-C is for us; we stop the server when its clients have ended
        )
    try:
        _wait_until_healthy(process, variables["PREFECT_API_URL"], logs / "prefect-server.log")
        endpoint = Endpoint(os.getpid(), variables["PREFECT_API_URL"], utc_now())
        write_file(endpoint_path(wiki), [json.dumps(asdict(endpoint)).encode()])
        yield endpoint
    finally:
        endpoint_path(wiki).unlink(missing_ok=True)
        _stop(process)


def _wait_until_healthy(process: subprocess.Popen[bytes], api_url: str, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise NightwikiError("the Prefect server", f"ended at its start (exit {process.returncode})", f"See {log}.")
        if answers(api_url):
            return
        time.sleep(0.2)
    raise NightwikiError("the Prefect server", f"did not answer within {START_SECONDS} s", f"See {log}.")


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stdin:
        process.stdin.close()
