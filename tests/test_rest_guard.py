"""Who may ask the REST, what may be sent, and how it behaves towards clients that stall, vanish or ask for too much."""

from __future__ import annotations

import gzip
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psutil
import pytest

from config.errors import NightwikiError
from serving import token
from serving.rest import server as http_server
from serving.rest.app import Limits
from serving.rest.guard import Rules, is_loopback, rules_for
from serving.rest.server import bind
from tests.rest_server import rest
from tests.test_cli import ROOT, say

SECRET = "a-token-of-sixteen-letters"


@pytest.fixture(scope="module")
def client(demo_night: Path) -> Iterator[httpx.Client]:
    with rest(demo_night) as asking:
        yield asking


@pytest.mark.parametrize(
    "host", [
        "evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "169.254.1.1", "",
        "127.0.0.1:80@evil.example", "127.0.0.1, evil.example", "localhost:http", "[::1", "0x7f000001",
    ],
)  # fmt: skip
def test_a_foreign_host_is_refused(client: httpx.Client, host: str) -> None:
    """A name bound anew to this machine (DNS rebinding) reaches nothing."""
    assert client.get("/health", headers={"Host": host}).status_code in (400, 421)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:4210", "127.0.0.1:1", "[::1]:4210", "localhost."])
def test_our_own_names_are_answered(client: httpx.Client, host: str) -> None:
    """However the port is written."""
    assert client.get("/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost.evil", "file://", "http://[", ""])
def test_pages_of_other_origins_may_not_ask(client: httpx.Client, origin: str) -> None:
    """Neither read nor write."""
    assert client.get("/health", headers={"Origin": origin}).status_code == 403
    refused = client.post("/candidates/pascaline/promote", json={}, headers={"Origin": origin})
    assert refused.status_code == 403
    assert client.get("/health", headers={"Origin": "http://localhost:3000"}).status_code == 200


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b'{"question": "x"}', "text/plain", 415),
        (b'{"question": "x"}', "application/x-www-form-urlencoded", 415),
        (b'{"question": "x"}', "", 415),
        (b"question=x", "application/json", 400),
        (b'{"question": "\xff\xfe"}', "application/json", 400),
        (b'{"question": "\\ud800"}', "application/json", 422),
        (b"", "application/json", 422),
        (b"null", "application/json", 422),
        (b"[]", "application/json", 422),
        (b"[" * 100_000, "application/json", 400),
        (b'{"question": "x", "k": NaN}', "application/json", 422),
        (b'{"question": "x", "k": Infinity}', "application/json", 422),
        (b'{"question": "x", "k": 1e400}', "application/json", 422),
        (b'{"question": "x", "k": 1000000000}', "application/json", 422),
        (b'{"question": "x", "k": -1}', "application/json", 422),
        (b'{"question": "x", "k": 2.5}', "application/json", 422),
        (b'{"question": "x", "unknown": 1}', "application/json", 422),
        (b'{"question": ["x"]}', "application/json", 422),
        (b'{"question": "x", "tag": [""]}', "application/json", 422),
        (b'{"question": "x", "k": 1, "question": "y"}', "application/json", 400),
        (b'{"\\ud800": 1, "\\ud800": 2}', "application/json", 400),
        (b'{"question": "x", "k": 1' + b"0" * 5_000 + b"}", "application/json", 400),
        (b'{"question": "' + b"x" * 30_000 + b'"}', "application/json", 422),
        (b'{"question": "' + b"x" * 1_000_000 + b'"}', "application/json", 413),
    ],
    ids=range(24),
)
def test_what_is_no_request_is_refused(client: httpx.Client, content: bytes, kind: str, status: int) -> None:
    """A problem that says why, never a fault of the server."""
    answer = client.post("/search", content=content, headers={"Content-Type": kind})
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert answer.json()["status"] == status


@pytest.mark.parametrize("budget", [0, -1, 10**9, 1.5, "many", None, True, 1])
def test_budgets_that_hold_nothing_or_everything_are_refused(client: httpx.Client, budget: object) -> None:
    """Also one too small for a single passage."""
    answer = client.post("/context/build", json={"goal": "early computers", "token_budget": budget})
    assert 400 <= answer.status_code < 500


def test_nothing_is_html(client: httpx.Client) -> None:
    """What a stranger put into a question or a page comes back as JSON that no browser takes for a page."""
    answer = client.get("/search?question=<script>alert(1)</script>")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert client.get("/docs").status_code == 404


def test_elsewhere_a_token_is_needed(demo_night: Path) -> None:
    """Without it, or with another, nothing is told."""
    limits = Limits(rules=rules_for("0.0.0.0", ["wiki.example"], SECRET))
    with rest(demo_night, limits=limits) as client:
        assert client.get("/health").status_code == 401
        assert client.get("/health", headers={"Authorization": "Bearer another-token-here"}).status_code == 401
        assert client.get("/health", headers={"Authorization": SECRET}).status_code == 401
        allowed = {"Authorization": f"Bearer {SECRET}"}
        assert client.get("/health", headers=allowed).status_code == 200
        assert client.get("/health", headers=allowed | {"Host": "wiki.example"}).status_code == 200
        assert client.get("/health", headers=allowed | {"Host": "10.1.2.3:4210"}).status_code == 200
        assert client.get("/health", headers=allowed | {"Host": "evil.example"}).status_code == 421


def test_the_token_is_found_and_kept_to_oneself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the environment, else from a file that its owner alone may read; never printed."""
    environ = {"XDG_CONFIG_HOME": str(tmp_path)}
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    assert token.find_token(environ) == ""
    path = token.make_token(environ)
    assert path.stat().st_mode & 0o777 == 0o600
    assert token.find_token(environ) == path.read_text().strip()
    path.chmod(0o644)
    with pytest.raises(NightwikiError, match="chmod 600"):
        token.find_token(environ)
    assert token.find_token(environ | {"NIGHTWIKI_TOKEN": SECRET}) == SECRET
    with pytest.raises(NightwikiError, match="at least 16") as short:
        token.find_token({"NIGHTWIKI_TOKEN": "short"})
    assert "short" not in str(short.value)


def test_listening_elsewhere_without_a_token_is_refused(demo_night: Path, tmp_path: Path,
                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    """One line that says how to make one; `--new-token` does not show it."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.delenv("NIGHTWIKI_TOKEN", raising=False)
    code, _, err = say("serve", "-w", demo_night, "--host", "0.0.0.0", "--port", "0")
    assert (code, err.count("\n")) == (1, 1)
    assert "--new-token" in err
    code, out, err = say("serve", "--new-token")
    assert code == 0
    assert token.find_token() not in out + err


@pytest.mark.parametrize(
    ("host", "ours"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("127.8.9.1", True), ("0.0.0.0", False), ("::", False)],
)
def test_what_counts_as_loopback(host: str, ours: bool) -> None:
    """Listening everywhere is not listening to oneself."""
    assert is_loopback(host) is ours


def test_two_servers_on_one_port(demo_night: Path) -> None:
    """The second says so in one line."""
    taken = bind("127.0.0.1", 0)
    port = taken.getsockname()[1]
    code, _, err = say("serve", "-w", demo_night, "--port", str(port))
    taken.close()
    line = f"nightwiki: 127.0.0.1:{port}: another program listens there. Choose another with --port\n"
    assert (code, err) == (1, line)


def _dial(client: httpx.Client) -> socket.socket:
    place = urlsplit(str(client.base_url))
    return socket.create_connection((place.hostname, place.port), timeout=30)


def test_headers_that_never_end_are_not_waited_for(demo_night: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that sends a byte now and then is hung up on, the first time and after a good request."""
    monkeypatch.setattr(http_server, "HEADER_SECONDS", 0.5)
    with rest(demo_night) as client:
        for first in (b"", b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"):
            with _dial(client) as slow:
                slow.sendall(first)
                if first:
                    read = slow.recv(65536)
                    assert read.startswith(b"HTTP/1.1 200")
                    while not read.endswith(b"}"):
                        read += slow.recv(65536)
                slow.sendall(b"GET /health HTTP/1.1\r\nHost: local")
                assert slow.recv(65536) == b""
        assert client.get("/health").status_code == 200


def test_a_body_that_never_ends_is_not_waited_for(demo_night: Path) -> None:
    """It is answered with 408."""
    limits = Limits(rules=Rules(body_seconds=0.5))
    with rest(demo_night, limits=limits) as client, _dial(client) as slow:
        slow.sendall(b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
        slow.sendall(b'Content-Length: 90\r\n\r\n{"que')
        assert slow.recv(65536).startswith(b"HTTP/1.1 408")


def test_a_body_in_pieces_is_measured_too(client: httpx.Client) -> None:
    """Without Content-Length the limit holds all the same."""
    pieces = (b"x" * 65536 for _ in range(8))
    answer = client.post("/search", content=pieces, headers={"Content-Type": "application/json"})
    assert answer.status_code == 413


def test_readers_of_streams_that_vanish_leave_nothing_behind(demo_night: Path) -> None:
    """A hundred clients hang up in the middle; the next is answered, and no stream is counted as open."""
    with rest(demo_night, limits=Limits(streams=4)) as client:
        for number in range(100):
            with _dial(client) as gone:
                gone.sendall(
                    f"GET /query?question=machine+{number} HTTP/1.1\r\nHost: localhost\r\n"
                    "Accept: text/event-stream\r\n\r\n".encode()
                )
                if number % 2:
                    gone.recv(10)
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            answer = client.get("/query?question=who+built+the+Z3", headers={"Accept": "text/event-stream"})
            if answer.status_code == 200:
                break
        assert answer.text.split("\n\n")[-2].startswith("event: done")


def test_sigterm_ends_the_server_with_streams_open(demo_night: Path) -> None:
    """Exit code 0, soon, and nothing left running."""
    command = [sys.executable, "-m", "serving.cli", "serve", "--port", "0", "-w", str(demo_night)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ})
    assert process.stdout is not None
    url = urlsplit(process.stdout.readline().decode().partition(" on ")[2].split()[0])
    with socket.create_connection((url.hostname, url.port)) as one, socket.create_connection((url.hostname, url.port)):
        one.sendall(b"GET /query?question=Z3 HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
        one.recv(10)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, b"Stopped.\n", b"")
    assert not psutil.pid_exists(process.pid)


def test_a_compressed_body_is_refused_by_name(client: httpx.Client) -> None:
    """Nothing is unpacked, so nothing can swell; the answer says what to send."""
    packed = gzip.compress(b'{"question": "z3"}')
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    told = client.post("/query", content=packed, headers=headers)
    assert (told.status_code, told.json()["detail"]) == (415, "the body is compressed")


@pytest.mark.parametrize("day", ["2026-13-45", "2026-02-30", "0000", "2026-00", "2026-01-01T25:00"])
def test_a_day_that_there_is_not_is_refused(client: httpx.Client, day: str) -> None:
    """A filter that can let nothing through is a mistake, and not an empty answer."""
    told = client.get("/search", params={"question": "z3", "updated_after": day})
    assert (told.status_code, "is no day or time" in told.json()["detail"]) == (422, True)


def test_head_answers_as_get_does_without_the_body(client: httpx.Client) -> None:
    """The same status and length, also of an error."""
    for path in ("/health", "/pages/zuse-z3", "/search?question=z3", "/pages/no-such-page", "/search"):
        whole, head = client.get(path), client.head(path)
        assert (head.status_code, head.content) == (whole.status_code, b"")
        assert head.headers["content-length"] == whole.headers["content-length"]


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/search", "GET, HEAD, OPTIONS, POST"),
        ("/pages/zuse-z3", "GET, HEAD, OPTIONS"),
        ("/candidates/pascaline/promote", "OPTIONS, POST"),
        ("/mcp", "OPTIONS, POST"),
    ],
)
def test_every_method_of_a_path_is_told(client: httpx.Client, path: str, methods: str) -> None:
    """To who asks for them, and to who uses another; nothing is said of other origins."""
    refused, asked = client.put(path), client.options(path)
    assert (refused.status_code, refused.headers["allow"]) == (405, methods)
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json()["next_step"] in ("Use GET", "Use POST", "Use GET or POST")
    assert (asked.status_code, asked.headers["allow"], asked.content) == (204, methods, b"")
    assert not [name for name in asked.headers if name.startswith("access-control")]


def test_a_stream_on_which_nothing_can_come_is_not_opened(client: httpx.Client) -> None:
    """Reading the agents' address is refused at once; their clients do without."""
    assert client.get("/mcp", headers={"Accept": "text/event-stream"}, timeout=10).status_code == 405


@pytest.mark.parametrize(
    "query",
    ["/search?question=a&question=b", "/search?question=z3&k=1&k=2", "/search?question=z3&wiki=", "/pages?tag=",
     "/candidates/pascaline?page=1", "/changes?since=2026&since=2027"],
)  # fmt: skip
def test_what_can_mean_two_things_or_nothing_is_refused(client: httpx.Client, query: str) -> None:
    """A value that stands twice, an empty condition, an unknown name."""
    answer = client.get(query)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")


def test_an_unknown_path_is_named(client: httpx.Client) -> None:
    """With where the known ones are."""
    told = client.get("/no/such/path").json()
    assert (told["detail"], told["next_step"]) == ("there is no /no/such/path", "See /openapi.json")
