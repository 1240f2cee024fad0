"""What stands before every route: who may ask (Host, Origin, token), how much may be sent, and in what time.

A web page in the person's browser may reach 127.0.0.1, by its own name after the name was bound anew (DNS rebinding)
or by a request across origins. So the Host must be one of ours, an Origin must be one of ours, and bodies must be
JSON, which a page cannot send across origins unasked.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import re
import socket
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serving.rest.problems import problem

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
)


@dataclass(frozen=True, slots=True)
class Rules:
    """Who may ask, and how much. Hosts are names without port; `token` empty: none is needed."""

    hosts: Collection[str] = LOOPBACK
    any_address: bool = False  # Hosts that are bare IP addresses are ours, too: no name can be bound anew to them
    token: str = ""
    most_bytes: int = 256 * 1024
    body_seconds: float = 10.0


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address to listen on."""
    if host.lower() == "localhost":
        return True
    return _is_address(host) and ipaddress.ip_address(host).is_loopback


def rules_for(host: str, allowed: Collection[str], token: str) -> Rules:
    """The rules for listening on `host`; `allowed` are further names that others ask by."""
    if is_loopback(host):
        return Rules(LOOPBACK | {host.lower()} | {name.lower() for name in allowed}, token=token)
    names = {host.lower(), socket.gethostname().lower(), *(name.lower() for name in allowed)}
    return Rules(LOOPBACK | names, any_address=True, token=token)


class Guard:
    """ASGI middleware; what it refuses never reaches a route."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self.app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        refused = self._refused(scope, headers)
        if refused is None and (b"content-length" in headers or b"transfer-encoding" in headers):
            try:
                body = await asyncio.wait_for(self._body(receive), self._rules.body_seconds)
            except TimeoutError:
                body, refused = b"", problem(408, f"no whole body in {self._rules.body_seconds:g} s", _CLOSE)
            if body is None:
                refused = self._too_large()
            elif body and scope["method"] not in ("GET", "HEAD") and not _is_json(headers.get(b"content-type", b"")):
                refused = problem(415, "the body must be JSON", next_step="Send Content-Type: application/json")
            elif name := _twice(body):
                refused = problem(400, f"{name!r} stands in the body more than once", next_step="Send it once")
            receive = _again(body or b"", receive)
        if scope["method"] == "HEAD":  # what GET answers, without the body, which the server leaves out
            scope = {**scope, "method": "GET"}
        await (refused or self.app)(scope, receive, _with_headers(send))

    def _refused(self, scope: Scope, headers: dict[bytes, bytes]) -> Response | None:
        host = _name(headers.get(b"host", b"").decode("latin-1"))
        if not self._ours(host):
            step = "Ask by 127.0.0.1, or allow the name with --allow-host"
            return problem(421, f"requests for the host {host[:100]!r} are not answered", next_step=step)
        origin = headers.get(b"origin")
        if origin is not None and not self._ours(_host(origin.decode("latin-1"))):
            return problem(403, f"pages of {origin.decode('latin-1')[:100]!r} may not ask")
        if self._rules.token and not self._authorised(headers.get(b"authorization", b"")):
            step = "Send Authorization: Bearer TOKEN"
            return problem(401, "a token is needed", {"WWW-Authenticate": "Bearer"}, next_step=step)
        if headers.get(b"content-encoding", b"identity").strip().lower() not in (b"identity", b""):
            return problem(415, "the body is compressed", _CLOSE, next_step="Send it as it is")
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > self._rules.most_bytes:
            return self._too_large()
        return None

    def _ours(self, host: str) -> bool:
        if host in self._rules.hosts:
            return True
        return self._rules.any_address and _is_address(host)

    def _authorised(self, header: bytes) -> bool:
        kind, _, given = header.partition(b" ")
        return kind.lower() == b"bearer" and hmac.compare_digest(given.strip(), self._rules.token.encode())

    def _too_large(self) -> Response:
        return problem(413, f"a body may have {self._rules.most_bytes} bytes", _CLOSE)

    async def _body(self, receive: Receive) -> bytes | None:
        """The whole body, or None when it is too large."""
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return b"".join(parts)
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._rules.most_bytes:
                return None
            if not message.get("more_body", False):
                return b"".join(parts)


_CLOSE = {"Connection": "close"}


_HOST = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([^\s:/@\[\],]+))(?::\d{0,5})?")


def _name(host: str) -> str:
    """The name in a Host header, without its port; '' for what is no host."""
    found = _HOST.fullmatch(host)
    return (found[1] or found[2]).rstrip(".").lower() if found else ""


def _host(origin: str) -> str:
    """The name in an Origin header; '' for what is no origin."""
    try:
        return urlsplit(origin).hostname or ""
    except ValueError:
        return ""


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_json(content_type: bytes) -> bool:
    kind = content_type.partition(b";")[0].strip().lower()
    return kind == b"application/json" or (kind.startswith(b"application/") and kind.endswith(b"+json"))


class _Twice(Exception):
    """A name stands twice in an object; readers differ in which value they take."""


def _twice(body: bytes) -> str:
    """A name that stands twice in an object of a JSON body; '' for none, and for what is no JSON."""
    try:
        json.loads(body, object_pairs_hook=_once)
    except _Twice as found:
        return str(found)[:100]
    except (ValueError, RecursionError):
        pass  # the route says what is wrong with it
    return ""


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    told = dict(pairs)
    if len(told) < len(pairs):
        raise _Twice(Counter(name for name, _ in pairs).most_common(1)[0][0])
    return told


def _again(body: bytes, receive: Receive) -> Receive:
    """Gives the body that was read already, then what else comes (a disconnect)."""
    told = False

    async def replay() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *_HEADERS]
        await send(message)

    return sending
