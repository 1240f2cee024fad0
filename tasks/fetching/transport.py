"""One exchange with a server: guarded, bounded in time and size, and without memory (no cookies, no
passwords).

Redirects, retries and manners are the fetcher's; this module sends one request and reads one answer safely.
"""

from __future__ import annotations

import re
import ssl
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore

from config.errors import SourceError
from config.settings import Fetch
from tasks.fetching.network import (
    Deadline,
    Guard,
    GuardedBackend,
    RefusedAddressError,
    Resolver,
    refused,
    system_resolve,
    tls_context,
)
from tasks.records import Outcome

_SAVE_IT = "Save the page with your browser into the sources folder."
_LATER = "It is tried again in a later night."


WHOLE = frozenset({HTTPStatus.OK, HTTPStatus.NON_AUTHORITATIVE_INFORMATION})
"""What an answer with the whole page has for a status; the second comes from proxies that change it on its way."""

_PACKINGS = frozenset({"br", "zstd", "compress", "x-compress", "gzip", "x-gzip", "deflate"})


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered; header names are in lower case, the body is decoded."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class FetchError(SourceError):
    """An address could not be fetched.

    `again`: another try in this run may help. `retry_after`: seconds the server asked to wait, 0 if it did
    not. `host_down`: the whole host is the problem, so its other addresses need not be tried in this run.
    """

    def __init__(
        self,
        subject: str,
        outcome: str,
        cause: str,
        next_step: str = "",
        again: bool = False,
        retry_after: float = 0.0,
        host_down: bool = False,
    ) -> None:
        super().__init__(subject, outcome, cause, next_step)
        self.again = again
        self.retry_after = retry_after
        self.host_down = host_down
        self.args = (subject, outcome, cause, next_step, again, retry_after, host_down)


class Transport:
    """Connections to any number of hosts; safe for threads."""

    def __init__(self, settings: Fetch, resolve: Resolver = system_resolve) -> None:
        self.deadline = Deadline()
        self._guard = Guard(settings.allow_private, resolve)
        self._tls = tls_context()
        self._pool = httpcore.ConnectionPool(
            ssl_context=self._tls,
            max_connections=32,
            max_keepalive_connections=0,  # what a server says after its answer must not become the next answer
            network_backend=GuardedBackend(self._guard, self.deadline),
        )
        self._proxies: dict[str, httpcore.ConnectionPool] = {}
        self._environment = settings.proxy == "environment"
        if self._environment:
            named = getproxies()
            self._proxies = {scheme: self._proxy(named[scheme]) for scheme in ("http", "https") if scheme in named}
        elif settings.proxy:
            proxy = self._proxy(settings.proxy)
            self._proxies = {"http": proxy, "https": proxy}

    def close(self) -> None:
        """Close all connections."""
        for pool in {self._pool, *self._proxies.values()}:
            pool.close()

    def exchange(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        limit: int,
        content: bytes = b"",
        wanted: Callable[[int], bool] = lambda status: status in WHOLE,
        cut: bool = False,
    ) -> Answer:
        """Send one request within the thread's deadline; the body is read only when the status is wanted.

        `limit` holds for the bytes on the wire and for the decoded body; beyond it FetchError refused is
        raised, or with `cut` the rest is left. Raises FetchError.
        """
        try:
            return self._exchange(method, url, headers, limit, content, wanted, cut)
        except RefusedAddressError as error:
            plain = refused(url, error)
            raise FetchError(url, plain.outcome, plain.cause, plain.next_step) from None
        except (httpcore.TimeoutException, TimeoutError) as error:
            connecting = isinstance(error, httpcore.ConnectTimeout)
            cause = "no connection in time" if connecting else "the answer took too long"
            raise FetchError(url, Outcome.TIMED_OUT, cause, _LATER, again=True, host_down=connecting) from None
        except httpcore.ConnectError as error:
            raise _unreachable(url, error) from None
        except httpcore.ProxyError as error:
            raise FetchError(
                url, Outcome.BLOCKED, f"the proxy refused: {error}", "Check fetch.proxy.", host_down=True
            ) from None
        except (httpcore.RemoteProtocolError, httpcore.ReadError, httpcore.WriteError) as error:
            raise FetchError(
                url, Outcome.BLOCKED, f"the connection broke: {_words(error)}", _LATER, again=True
            ) from None
        except (httpcore.LocalProtocolError, httpcore.UnsupportedProtocol) as error:
            raise FetchError(url, Outcome.UNSUPPORTED, f"the request cannot be made: {_words(error)}") from None

    def _exchange(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        limit: int,
        content: bytes,
        wanted: Callable[[int], bool],
        cut: bool,
    ) -> Answer:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        pool = self._pool
        if parts.scheme in self._proxies and not (self._environment and proxy_bypass(parts.hostname or "")):
            self._guard.check_proxied(parts.hostname or "", port, self.deadline.left(10))
            pool = self._proxies[parts.scheme]
        sent = {
            "host": parts.netloc,
            "accept-encoding": "gzip, deflate",
            "connection": "close",
            **{k.lower(): v for k, v in headers.items()},
        }
        if content:
            sent["content-length"] = str(len(content))
        request = httpcore.Request(
            method,
            httpcore.URL(
                scheme=parts.scheme.encode(),
                host=(parts.hostname or "").encode(),
                port=parts.port,
                target=(parts.path + (f"?{parts.query}" if parts.query else "")).encode("ascii") or b"/",
            ),
            headers=[(name.encode("ascii"), value.encode("utf-8")) for name, value in sent.items()],
            content=content,
            extensions={"timeout": dict.fromkeys(("connect", "read", "write", "pool"), self.deadline.left(None))},
        )
        response = pool.handle_request(request)
        try:
            found = {name.decode("latin-1").lower(): _text(value) for name, value in response.headers}
            if not wanted(response.status):
                return Answer(response.status, found, b"")
            assert not isinstance(response.stream, bytes)
            return Answer(response.status, found, _read(url, response.iter_stream(), found, limit, cut))
        finally:
            response.close()

    def _proxy(self, address: str) -> httpcore.ConnectionPool:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        login = (parts.username or "", parts.password or "") if parts.username else None
        return httpcore.HTTPProxy(
            proxy_url=httpcore.URL(scheme=parts.scheme.encode(), host=host.encode(), port=port, target=b"/"),
            proxy_auth=login,
            ssl_context=self._tls,
            max_keepalive_connections=0,
            network_backend=GuardedBackend(self._guard, self.deadline, trusted=(host, port)),
        )


def _read(url: str, pieces: Iterable[bytes], headers: Mapping[str, str], limit: int, cut: bool) -> bytes:
    """The decoded body, never longer than `limit`."""
    announced = headers.get("content-length", "")
    if announced.isdigit() and int(announced[:20]) > limit and not cut:
        raise _too_large(url, limit)
    encodings = [name.strip() for name in headers.get("content-encoding", "").lower().split(",")]
    encodings = [name for name in encodings if name in _PACKINGS]  # servers also write none, utf-8 and the like there
    if len(encodings) > 1 or not set(encodings) <= {"gzip", "x-gzip", "deflate"}:
        raise FetchError(
            url,
            Outcome.UNREADABLE,
            f"the answer is packed in a way nobody asked for: {', '.join(encodings)}",
            _SAVE_IT,
        )
    inflater = _Inflater() if encodings else None
    body = bytearray()
    wire = 0
    for piece in pieces:
        wire += len(piece)
        try:
            body += inflater.feed(piece, limit - len(body)) if inflater else piece
        except zlib.error:
            raise FetchError(url, Outcome.UNREADABLE, "the answer's compression is damaged", _SAVE_IT) from None
        if len(body) > limit or wire > limit:
            if cut:
                return bytes(body[:limit])
            raise _too_large(url, limit)
    if inflater is not None and wire and not inflater.complete:
        raise FetchError(url, Outcome.BLOCKED, "the answer was cut short", _LATER, again=True)
    return bytes(body)


class _Inflater:
    """gzip or deflate in bounded steps: a bomb costs its limit, not its size."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(47)  # gzip and zlib headers, told apart by themselves
        self._untouched = True

    @property
    def complete(self) -> bool:
        """Whether the last stream came to its end."""
        return self._stream.eof

    def feed(self, data: bytes, room: int) -> bytes:
        """The next decoded bytes, at most one more than `room`; raises zlib.error."""
        out = bytearray()
        while data and len(out) <= room:
            if self._stream.eof:  # gzip files may be several streams in a row, padded with zeros
                data = data.lstrip(b"\0")
                if not data.startswith(b"\x1f"):
                    break
                self._stream = zlib.decompressobj(47)
            try:
                out += self._stream.decompress(data, room - len(out) + 1)
            except zlib.error:
                if not self._untouched:
                    raise
                self._stream = zlib.decompressobj(-15)  # "deflate" without its header, as some servers send it
                out += self._stream.decompress(data, room - len(out) + 1)
            self._untouched = False
            data = self._stream.unused_data if self._stream.eof else self._stream.unconsumed_tail
        return bytes(out)


def _unreachable(url: str, error: httpcore.ConnectError) -> FetchError:
    cause = error.__cause__
    host = urlsplit(url).hostname or ""
    if isinstance(cause, ssl.SSLError):
        reason = getattr(cause, "verify_message", "") or cause.reason or "no secure connection"
        return FetchError(
            url,
            Outcome.BLOCKED,
            f"{host} has no valid certificate: {str(reason).lower().replace('_', ' ')}",
            f"Open it in a browser to see why. {_LATER}",
            host_down=True,
        )
    return FetchError(
        url,
        Outcome.BLOCKED,
        f"no connection: {_words(error)}",
        f"Check the address. {_LATER}",
        again=True,
        host_down=True,
    )


def _too_large(url: str, limit: int) -> FetchError:
    return FetchError(
        url,
        Outcome.REFUSED,
        f"the answer is larger than {limit / 1e6:g} MB",
        "Raise fetch.max_megabytes, or put the file into the sources folder.",
    )


def _words(error: Exception) -> str:
    words = re.sub(r": bytearray\(.*", "", " ".join(str(error).split()))
    return words[:200].rstrip(".") or type(error).__name__


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")
