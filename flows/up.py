"""`nightwiki up`: the server, the schedules and the watch over the vault, started together and ended together."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from config.errors import BusyError, NightwikiError
from config.wiki import Wiki
from flows import server
from flows.steps import Progress
from flows.watch import Watcher, sync_in_process

if TYPE_CHECKING:
    from tasks.digest import NightReport

Say = Callable[[str], None]


def up(wiki: Wiki, say: Say) -> None:
    """Serve the wiki's flows and watch its vault until SIGTERM or SIGINT. Raises BusyError when it is already up."""
    with _one_at_a_time(wiki), _endpoint(wiki, wiki.settings.prefect.port, say) as endpoint:
        variables = server.client_environment(wiki, endpoint.api_url)
        watcher = Watcher(wiki.root, partial(sync_in_process, wiki.root, variables))
        os.chdir(server.working_folder(wiki))
        with server.environment(variables):
            from flows.deployed import serve_deployments  # Prefect reads its environment when it is imported

            say(f"Prefect's console: {endpoint.ui_url}")
            say(f"Serving nightly/{wiki.name} and ingest/{wiki.name}; edits are taken in within a minute.")
            say("Stop with Ctrl-C.")
            watcher.start()
            try:
                with _ended_by_signal():
                    serve_deployments(wiki)
            finally:
                watcher.stop()
    say("Stopped.")


def once(wiki: Wiki, listener: Progress, say: Say) -> NightReport:
    """One night as a Prefect flow on nightwiki's own server, which is started for it and stopped after it."""
    with _one_at_a_time(wiki), _endpoint(wiki, 0, say) as endpoint:
        say(f"Running the flow on {endpoint.ui_url}")
        return run_flow(wiki, endpoint, "nightly", listener)


def run_flow(
    wiki: Wiki,
    endpoint: server.Endpoint,
    kind: str,
    listener: Progress,
    only: tuple[str, ...] = (),
    force: bool = False,
) -> NightReport:
    """One night as a Prefect flow in this process, seen and limited by the server at `endpoint`."""
    quiet = {"PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "WARNING"}  # the terminal has its own progress and report
    with server.environment(server.client_environment(wiki, endpoint.api_url) | quiet):
        from flows.deployed import run_here  # Prefect reads its environment when it is imported

        return run_here(wiki, kind, listener, only, force)


@contextlib.contextmanager
def _endpoint(wiki: Wiki, port: int, say: Say) -> Iterator[server.Endpoint]:
    settings = wiki.settings.prefect
    if settings.mode == "none":
        step = "Set it to own or existing in nightwiki.yaml, or run `nightwiki ingest`."
        raise NightwikiError(str(wiki.settings_path), "prefect.mode is none, so there is nothing to start", step)
    if settings.mode == "existing":
        if not server.answers(settings.api_url):
            raise NightwikiError(
                settings.api_url, "no Prefect server answers there", "Start it, or check prefect.api_url."
            )
        yield server.Endpoint(os.getpid(), settings.api_url, "")
        return
    say("Starting Prefect's server (the first start takes half a minute) ...")
    with server.own_server(wiki, port) as endpoint:
        yield endpoint


@contextlib.contextmanager
def _one_at_a_time(wiki: Wiki) -> Iterator[None]:
    wiki.state_dir.mkdir(parents=True, exist_ok=True)
    lock = FileLock(str(wiki.state_dir / "up.lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        known = server.read_endpoint(wiki)
        who = f"since {known.started} (pid {known.pid}, {known.ui_url})" if known else "in another process"
        raise BusyError(
            str(wiki.root), f"`nightwiki up` is already on {who}", "Use that one, or stop it first."
        ) from None
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def _ended_by_signal() -> Iterator[None]:
    """SIGTERM and SIGINT end the serving, even if they come before Prefect listens for them."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        with contextlib.suppress(KeyboardInterrupt):
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
