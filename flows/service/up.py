"""`nightwiki up`: the server, the schedules and the watch over the vault, started together and ended together."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from config.errors import BusyError, NightwikiError
from config.wiki import Wiki
from flows.service import server
from flows.service.beside import beside
from flows.service.kept_settings import VARIABLE, keep, kept_path
from flows.service.watch import OwnRuns, Watcher, sync_in_process
from flows.service.watch_clock import ClockWatch
from flows.service.watch_settings import SettingsWatch
from flows.steps import Progress

if TYPE_CHECKING:
    from tasks.digest import NightReport

Say = Callable[[str], None]


def up(wiki: Wiki, say: Say, beside_it: Sequence[Sequence[str]] = ()) -> bool:
    """Serve the wiki's flows and watch its vault and settings until SIGTERM or SIGINT; whether to begin anew then.

    `beside_it` are arguments of further `nightwiki` commands that run as long as this does, each in a process of its
    own. Raises BusyError when the wiki is already up.
    """
    anew = threading.Event()
    with _one_at_a_time(wiki), _endpoint(wiki, wiki.settings.prefect.port, say) as endpoint:
        keep(wiki)
        variables = server.client_environment(wiki, endpoint.api_url) | {VARIABLE: str(kept_path(wiki))}
        watcher = Watcher(wiki.root, partial(sync_in_process, wiki.root, variables), OwnRuns(wiki))
        os.chdir(server.working_folder(wiki))
        with server.environment(variables), contextlib.ExitStack() as stack:
            from flows.console.environment import take_up_environment

            take_up_environment()
            from flows.console.serving import TakeUp, serve

            def ready(take_up: TakeUp) -> None:
                served, one_at_a_time = wiki, threading.Lock()

                def changed(now: Wiki) -> None:
                    nonlocal served
                    with one_at_a_time:
                        take_up(now)
                        served = now
                    say("The settings have changed; the schedules are brought up to date.")
                    if (now.settings.prefect, now.state_dir) != (wiki.settings.prefect, wiki.state_dir):
                        say("What has changed in `prefect` and `state_dir` is taken up when you start this anew.")

                def jumped(seconds: float) -> bool:
                    if seconds < 0 and wiki.settings.prefect.mode == "own":
                        # The server's services would wait until the clock is there again; only a new one does not.
                        if OwnRuns(wiki).busy():
                            return False
                        anew.set()
                        os.kill(os.getpid(), signal.SIGTERM)
                        return True
                    with one_at_a_time:
                        take_up(served)
                    if seconds < 0:
                        say("A Prefect server that was up meanwhile may still wait: start yours anew.")
                    return True

                say(f"Prefect's console: {endpoint.ui_url}")
                for line in _schedule(wiki):
                    say(line)
                say("Edits in the vault are taken in within a minute. Stop with Ctrl-C.")
                for watch in (watcher, SettingsWatch(wiki, changed, say), ClockWatch(jumped, say)):
                    watch.start()
                    stack.callback(watch.stop)
                for command in beside_it:
                    stack.enter_context(beside("serving.cli", command, variables, _log_of(wiki, command), say))

            with _ended_by_signal():
                serve(wiki, ready)
    say("Prefect is started anew." if anew.is_set() else "Stopped.")
    return anew.is_set()


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
    quiet = {"PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL"}  # the terminal reports itself
    with server.environment(server.client_environment(wiki, endpoint.api_url) | quiet):
        from flows.console.environment import take_up_environment
        from flows.deployed import run_here

        take_up_environment()
        return run_here(wiki, kind, listener, only, force)


def _schedule(wiki: Wiki) -> list[str]:
    zone = wiki.settings.time_zone
    return [
        f"Scheduled: {entry.name}{'' if entry.flow == entry.name else f' ({entry.flow})'}, '{entry.cron}' "
        f"({entry.time_zone or zone})"
        for entry in wiki.settings.schedule.entries
        if entry.cron
    ]


def _log_of(wiki: Wiki, command: Sequence[str]) -> Path:
    return wiki.state_dir / "logs" / f"{command[0]}.log"


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
