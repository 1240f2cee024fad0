"""Server-sent events: an answer sentence by sentence, made in a thread, stopped when nobody listens any more."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from concurrent.futures import Executor
from threading import Event as Flag
from typing import Any

from config.errors import NightwikiError
from serving.rest.answers import as_json
from tasks.answers.answering import Failed, event_json

log = logging.getLogger(__name__)

BEAT_SECONDS = 15.0
"""A comment after so long a silence keeps proxies from closing, and shows that a reader is gone."""


def encoded(event: dict[str, Any]) -> bytes:
    """One event, named by its member `event`; JSON holds no line breaks, so one `data` line is enough."""
    return b"event: %s\ndata: %s\n\n" % (event["event"].encode(), as_json(event))


async def stream(
    events: Callable[[], Iterator[dict[str, Any]]], executor: Executor
) -> AsyncIterator[bytes]:
    """The events that `events()` makes in a thread, as they come; an error becomes the last one."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[bytes | None] = asyncio.Queue()
    left = Flag()

    def put(item: bytes | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(queue.put_nowait, item)

    def produce() -> None:
        try:
            with contextlib.closing(_closable(events())) as made:
                for event in made:
                    if left.is_set():
                        return
                    put(encoded(event))
        except NightwikiError as error:
            put(encoded(event_json(Failed(error.subject, error.cause, error.next_step))))
        except Exception as error:
            log.exception("an answer failed")
            put(encoded(event_json(Failed("answer", f"unexpected {type(error).__name__}", "See the server's log"))))
        finally:
            put(None)

    executor.submit(produce)
    try:
        while True:
            try:
                item = await asyncio.wait_for(queue.get(), BEAT_SECONDS)
            except TimeoutError:
                yield b": still there\n\n"
                continue
            if item is None:
                return
            yield item
    finally:
        left.set()


def _closable(events: Iterator[dict[str, Any]]) -> Generator[dict[str, Any], None, None]:
    yield from events
