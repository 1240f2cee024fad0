"""A real web server on a free loopback port, for tests: scripted routes, and a record of what was asked."""

from __future__ import annotations

import gzip
import ipaddress
import ssl
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Reply:
    """What the server says: a whole answer, or, with `raw`, exact bytes piece by piece on the wire."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: Callable[[], Iterator[bytes]] | None = None


@dataclass(frozen=True)
class Asked:
    """A request that the server got; header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes = b""


Route = Reply | Callable[[Asked], Reply]


def page(text: str, **headers: str) -> Reply:
    """An HTML page; keyword names become headers, `_` being `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(200, text.encode(), {"Content-Type": "text/html; charset=utf-8", **named})


def redirect(target: str, status: int = 302, **headers: str) -> Reply:
    """A redirect to `target`."""
    return Reply(status, b"", {"Location": target, **headers})


def gzipped(body: bytes, content_type: str = "text/html") -> Reply:
    """A compressed answer."""
    return Reply(200, gzip.compress(body), {"Content-Type": content_type, "Content-Encoding": "gzip"})


class Web:
    """The server as a test sees it. A route given as a list is answered item by item; the last one stays."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.asked: list[Asked] = []
        self._routes: dict[str, list[Route]] = {}
        self._served: defaultdict[str, int] = defaultdict(int)
        self._lock = threading.Lock()

    def url(self, path: str = "/") -> str:
        """The full address of a path."""
        return f"{self.address}{path}"

    def route(self, path: str, *replies: Route) -> str:
        """Answer a path (without its query) so; returns its full address."""
        self._routes[path] = list(replies)
        return self.url(path)

    def paths(self) -> list[str]:
        """The paths asked for so far, robots.txt left out."""
        return [one.path for one in self.asked if one.path != "/robots.txt"]

    def answer(self, asked: Asked) -> Reply:
        """The next reply for a request; 404 where nothing was scripted."""
        with self._lock:
            self.asked.append(asked)
            replies = self._routes.get(urlsplit(asked.path).path, [Reply(404)])
            path = urlsplit(asked.path).path
            reply = replies[min(self._served[path], len(replies) - 1)]
            self._served[path] += 1
        return reply(asked) if callable(reply) else reply


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    web: Web

    def do_GET(self) -> None:
        """Answer as scripted."""
        length = int(self.headers.get("Content-Length") or 0)
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.web.answer(Asked(self.command, self.path, headers, self.rfile.read(length)))
        try:
            if reply.raw is not None:
                self.close_connection = True
                for piece in reply.raw():
                    self.wfile.write(piece)
                    self.wfile.flush()
                return
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            if "Content-Length" not in reply.headers and reply.status not in (204, 304):
                self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)
        except OSError:  # the client had enough
            self.close_connection = True

    do_POST = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test's output clean."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is part of the tests."""


@contextmanager
def serve(authority: Path | None = None) -> Iterator[Web]:
    """A running server, with https when it is given a certificate; it stops when the block ends."""
    handler = type("Handler", (_Handler,), {})
    server = _Server(("127.0.0.1", 0), handler)
    if authority is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(authority)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    web = Web(f"http{'s' if authority else ''}://127.0.0.1:{server.server_address[1]}")
    handler.web = web  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield web
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def certificate(folder: Path) -> Path:
    """A file with a fresh certificate for 127.0.0.1 that no system knows, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "nightwiki tests")])
    now = datetime.now(UTC)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(address, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    file = folder / "authority.pem"
    file.write_bytes(signed.public_bytes(serialization.Encoding.PEM) + secret)
    return file


class FakeClock:
    """A clock that stands still but for sleeping, and remembers how long it slept."""

    def __init__(self, start: float = 1_800_000_000.0) -> None:
        self.time = start
        self.slept: list[float] = []

    def now(self) -> float:
        """Seconds since 1970."""
        return self.time

    def sleep(self, seconds: float) -> None:
        """Let time pass at once."""
        if seconds > 0:
            self.slept.append(seconds)
            self.time += seconds
