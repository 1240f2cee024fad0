"""The HTTP client through which providers are reached: bounded replies, our certificates, our proxy, no loud logs."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from config.settings import Settings
from tasks.fetching.network import tls_context
from tasks.llm.prices import is_near

if TYPE_CHECKING:
    import httpx2

_TALKATIVE = ("httpx2", "httpcore2", "httpx", "httpcore", "openai", "anthropic", "google_genai", "google.genai")
"""At their DEBUG level these print requests, headers and all."""


class ReplyTooLarge(Exception):
    """A reply passed the limit while it was read."""


class PackedReply(Exception):
    """A reply came compressed although that was declined, so its size cannot be bounded."""


def make_client(settings: Settings, address: str, seconds: float) -> httpx2.AsyncClient:
    """A client for one provider at `address` (empty: the provider's own)."""
    import httpx2

    quieten()
    near = bool(address) and is_near(address)
    proxy = settings.fetch.proxy
    named = proxy if proxy not in ("", "environment") and not near else None
    limit = int(settings.endpoint.max_reply_megabytes * 1_000_000)

    async def bound(response: httpx2.Response) -> None:
        packed = response.headers.get("content-encoding", "identity").strip().lower()
        if packed not in ("", "identity"):
            raise PackedReply(packed)
        stream = response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        response.stream = _bounded(stream, limit)

    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(seconds, connect=min(seconds, 20.0)),
        limits=httpx2.Limits(max_connections=settings.endpoint.concurrent + 4),
        headers={"Accept-Encoding": "identity"},
        verify=tls_context(),
        trust_env=proxy == "environment" and not near,
        proxy=named,
        follow_redirects=False,  # a key goes to the address it is meant for, and nowhere else
        event_hooks={"response": [bound]},
    )


def quieten() -> None:
    """Keep the providers' libraries from logging requests, whatever the environment asks of them."""
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)


def _bounded(stream: httpx2.AsyncByteStream, limit: int) -> httpx2.AsyncByteStream:
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            read = 0
            async for piece in stream:
                read += len(piece)
                if read > limit:
                    raise ReplyTooLarge(f"{limit / 1_000_000:g} MB")
                yield piece

        async def aclose(self) -> None:
            await stream.aclose()

    return Bounded()
