"""The MCP server as a part of another application: loaded when somebody first asks for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from starlette.types import Receive, Scope, Send

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager


class Beside:
    """An application that makes the server of `make` when the first request comes."""

    def __init__(self, make: Callable[[], Server[Any]]) -> None:
        self._make = make
        self._manager: StreamableHTTPSessionManager | None = None
        self._lock = asyncio.Lock()
        self._ending = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._lock:
            if self._manager is None:
                manager = await asyncio.to_thread(self._manage)
                ready = asyncio.Event()
                self._running = asyncio.create_task(self._run(manager, ready))
                await ready.wait()
                self._manager = manager
        await self._manager.handle_request(scope, receive, send)

    async def close(self) -> None:
        """End its sessions."""
        self._ending.set()
        if self._running is not None:
            await self._running

    def _manage(self) -> StreamableHTTPSessionManager:
        from serving.mcp.run import session_manager

        return session_manager(self._make())

    async def _run(self, manager: StreamableHTTPSessionManager, ready: asyncio.Event) -> None:
        async with manager.run():
            ready.set()
            await self._ending.wait()


