"""How the MCP server is reached: over standard input and output, or over HTTP at /mcp."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from serving.mcp import PATH
from serving.rest.guard import Guard, Rules
from serving.rest.problems import http_error


def serve_stdio(server: Server[Any]) -> None:
    """Speak the protocol over standard input and output until the input ends.

    While it is spoken, whatever else prints goes to standard error.
    """

    async def speak() -> None:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    anyio.run(speak)


@contextlib.contextmanager
def nothing_printed() -> Iterator[None]:
    """Within it, what libraries print goes to standard error, also what native code writes."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def http_app(server: Server[Any], rules: Rules) -> ASGIApp:
    """The server as an application of its own, behind the guard."""
    manager = session_manager(server)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    app = Starlette(
        routes=[Route(PATH, endpoint=_Endpoint(manager), methods=["POST"])],
        lifespan=lifespan,
        exception_handlers={HTTPException: http_error},
    )
    app.add_middleware(Guard, rules=rules)
    return app


class _Endpoint:
    """The manager as an application; a class, for a function would be given a request."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._manager.handle_request(scope, receive, send)


def session_manager(server: Server[Any]) -> StreamableHTTPSessionManager:
    """The HTTP side: each request stands alone and is answered with JSON, so nothing is kept between two.

    Its route takes POST alone: a GET would hold a stream open on which nothing can ever come.
    """
    return StreamableHTTPSessionManager(server, json_response=True, stateless=True)
