"""A real server for tests, in a thread, on a free loopback port."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
from starlette.types import ASGIApp

from config.wiki import model_cache
from serving.backend import Backend
from serving.rest.app import Limits, make_app
from serving.rest.server import address, bind, server_for


@contextlib.contextmanager
def running(app: ASGIApp) -> Iterator[str]:
    """The address of a server over an application."""
    listening = bind("127.0.0.1", 0)
    ready = threading.Event()
    server = server_for(app, ready.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    assert ready.wait(60)
    try:
        yield address(listening)
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()


@contextlib.contextmanager
def rest(*folders: Path, limits: Limits | None = None) -> Iterator[httpx.Client]:
    """A client of the REST over some wikis."""
    with (
        running(make_app(Backend(folders, model_cache()), limits)) as url,
        httpx.Client(base_url=url, timeout=60, trust_env=False) as client,
    ):
        yield client
