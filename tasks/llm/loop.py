"""One event loop in a thread of its own, on which the providers' asynchronous clients live.

Callers are plain threads. A client belongs to the loop it was first used on, so all share this one for as long as the
process lives.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

_guard = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def submit(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Begin the work on the loop."""
    return asyncio.run_coroutine_threadsafe(work, _running())


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """The work's result, waited for here; the work is cancelled when this thread is interrupted."""
    future = submit(work)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def _running() -> asyncio.AbstractEventLoop:
    global _loop
    with _guard:
        if _loop is None or _loop.is_closed():
            _loop = asyncio.new_event_loop()
            thread = threading.Thread(target=_loop.run_forever, name="nightwiki-models", daemon=True)
            thread.start()
            atexit.register(_stop, _loop, thread)
        return _loop


def _stop(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    with contextlib.suppress(TimeoutError):
        asyncio.run_coroutine_threadsafe(_wound_up(), loop).result(timeout=2)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(timeout=2)
    if not thread.is_alive():
        loop.close()


async def _wound_up() -> None:
    """End what is still under way, so that nothing is complained about at exit."""
    tasks = [one for one in asyncio.all_tasks() if one is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
