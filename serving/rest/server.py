"""Serves an application over HTTP until it is told to stop, and is patient with nobody who only half asks."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import signal
import socket
from collections.abc import Callable, Iterator
from typing import Any, cast

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from config.errors import NightwikiError
from serving.rest.memory import share_heaps

HEADER_SECONDS = 10.0
MOST_CONNECTIONS = 400


class _Gathering:
    """A connection that sends what is written in one turn of the loop at once: an answer's headers with its body."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send this, soon."""
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)

    def close(self) -> None:
        """Send what was written and hang up."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        parts, self._parts = self._parts, []
        if parts and not self._transport.is_closing():
            self._transport.write(b"".join(parts))


class _Protocol(H11Protocol):
    """uvicorn's own, but a connection that does not finish its headers in time is closed."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # of TCP
        super().connection_made(cast("asyncio.Transport", _Gathering(transport, self.loop)))
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unwatch()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Start the clock when headers are awaited; stop it once they are there."""
        if self.conn.their_state is not h11.IDLE:
            self._unwatch()
        elif self._waiting is None:
            self._waiting = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def _unwatch(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _give_up(self) -> None:
        self._waiting = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.close()


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one. Raises NightwikiError when it cannot be had."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        subject = f"{host}:{port}"
        if error.errno == errno.EADDRINUSE:
            raise NightwikiError(subject, "another program listens there", "Choose another with --port") from None
        raise NightwikiError(subject, f"cannot listen there ({error.strerror or error})", "See --host") from None


def address(listening: socket.socket) -> str:
    """The address under which a listening socket is reached."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def server_for(app: ASGIApp, ready: Callable[[], None] = lambda: None) -> uvicorn.Server:
    """A server for an application; `ready` is called once it listens. `run(sockets=[...])` it."""
    config = uvicorn.Config(
        app,
        http=_Protocol,
        ws="none",
        loop="asyncio",
        lifespan="on",
        access_log=False,  # questions are nobody's business
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=5,
        limit_concurrency=MOST_CONNECTIONS,
    )
    return _Server(config, ready)


def serve(app: ASGIApp, listening: socket.socket, ready: Callable[[], None] = lambda: None) -> None:
    """Answer until SIGTERM or SIGINT; answers under way have five seconds to end."""
    share_heaps()
    server = server_for(app, ready)
    with _calm_signals():
        server.run(sockets=[listening])
    if not server.started:
        raise NightwikiError(address(listening), "the server could not start", "The lines above say why")


class _Server(uvicorn.Server):
    """Says when it listens."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()


@contextlib.contextmanager
def _calm_signals() -> Iterator[None]:
    """uvicorn raises the signal that ended it once more when it is done; being told to stop is no failure."""
    try:
        before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGTERM, signal.SIGINT)}
    except ValueError:  # not in the main thread: signals are not ours
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
