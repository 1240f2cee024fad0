"""The fetcher against a real server: manners, limits, redirects, and servers that mean harm."""

from __future__ import annotations

import gzip
import itertools
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from config.errors import SourceError
from config.settings import Fetch
from tasks.fetching.fetch import Fetcher, FetchRequest, next_try
from tasks.fetching.network import tls_context
from tasks.records import Outcome
from tests.web import Asked, FakeClock, Reply, Web, certificate, gzipped, page, redirect, serve

Open = Callable[..., Fetcher]


@pytest.fixture
def opened(clock: FakeClock) -> Iterator[Open]:
    """Makes fetchers that may speak to the local server, with settings by name, and closes them."""
    made: list[Fetcher] = []

    def make(**settings: object) -> Fetcher:
        values = {"allow_private": ("127.0.0.1",), "max_megabytes": 1, "timeout_seconds": 20, **settings}
        made.append(Fetcher(Fetch.model_validate(values), clock, jitter=lambda: 0.5))
        return made[-1]

    yield make
    for one in made:
        one.close()


def refusal(fetcher: Fetcher, url: str) -> SourceError:
    """The error that fetching ends with."""
    with pytest.raises(SourceError) as caught:
        fetcher.fetch(url)
    assert caught.value.cause and "\n" not in str(caught.value)
    return caught.value


def test_answer_comes_with_its_validators(web: Web, opened: Open) -> None:
    """Body, type and validators are handed on; the request says who asks, and carries no cookie."""
    web.route("/", page("hello", ETag='"1"', Last_Modified="Mon, 01 Jan 2024 00:00:00 GMT", Set_Cookie="a=b"))
    fetcher = opened()
    fetched = fetcher.fetch(web.url())
    fetcher.fetch(web.url())
    assert (fetched.status, fetched.body, fetched.content_type) == ("fetched", b"hello", "text/html; charset=utf-8")
    assert (fetched.etag, fetched.last_modified) == ('"1"', "Mon, 01 Jan 2024 00:00:00 GMT")
    assert web.asked[1].headers["user-agent"].startswith("nightwiki/")
    assert "cookie" not in web.asked[-1].headers


def test_any_validator_is_sent_back(web: Web, opened: Open) -> None:
    """A server's tag is its own affair, whatever letters it has."""
    web.route("/", page("x"))
    assert opened().fetch(web.url(), etag='"ü–1"').body == b"x"


def test_unchanged_answer_has_no_body(web: Web, opened: Open) -> None:
    """With known validators the server may say that nothing changed; the validators stay."""

    def reply(asked: Asked) -> Reply:
        return Reply(304) if asked.headers.get("if-none-match") == '"1"' else page("new", ETag='"2"')

    web.route("/", reply)
    fetched = opened().fetch(web.url(), etag='"1"', last_modified="Mon, 01 Jan 2024 00:00:00 GMT")
    assert (fetched.status, fetched.body, fetched.etag) == ("unchanged", b"", '"1"')
    assert fetched.last_modified == "Mon, 01 Jan 2024 00:00:00 GMT"


def test_validators_are_sent_only_where_they_belong(web: Web, opened: Open) -> None:
    """When a redirect leads elsewhere than last time, the new place is asked for its full answer."""
    web.route("/moving", redirect("/new"))
    web.route("/new", page("other"))
    fetched = opened().fetch(web.url("/moving"), etag='"1"', final_url=web.url("/old"))
    assert (fetched.status, fetched.final_url) == ("fetched", web.url("/new"))
    assert not any("if-none-match" in asked.headers for asked in web.asked)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (204, Outcome.NO_CONTENT), (206, Outcome.UNREADABLE), (304, Outcome.BLOCKED), (400, Outcome.REFUSED),
        (401, Outcome.REFUSED), (402, Outcome.PAYWALLED), (403, Outcome.BLOCKED), (404, Outcome.GONE),
        (408, Outcome.TIMED_OUT), (410, Outcome.GONE), (429, Outcome.BLOCKED), (451, Outcome.REFUSED),
        (500, Outcome.BLOCKED), (501, Outcome.BLOCKED), (503, Outcome.BLOCKED), (504, Outcome.TIMED_OUT),
        (522, Outcome.BLOCKED), (999, Outcome.BLOCKED),
    ],
)  # fmt: skip
def test_every_status_has_its_outcome(web: Web, opened: Open, status: int, outcome: Outcome) -> None:
    """What the server says becomes one outcome, with the status in its reason."""
    error = refusal(opened(), web.route("/", Reply(status)))
    assert error.outcome == outcome
    assert str(status) in error.cause


def test_bot_wall_needs_a_browser(web: Web, opened: Open) -> None:
    """A challenge page is told from a plain refusal."""
    web.route("/", Reply(403, b"Just a moment", {"cf-mitigated": "challenge"}))
    assert refusal(opened(), web.url()).outcome == Outcome.NEEDS_BROWSER


def test_passing_failures_are_tried_again_with_growing_pauses(web: Web, opened: Open, clock: FakeClock) -> None:
    """Two failures and an answer: the answer counts."""
    web.route("/", Reply(503), Reply(500), page("at last"))
    assert opened(host_pause_seconds=0).fetch(web.url()).body == b"at last"
    assert clock.slept == [1.0, 2.0]


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_honoured(web: Web, opened: Open, clock: FakeClock, form: str) -> None:
    """The server's own wish, in either form, comes before our pauses."""
    when = datetime.fromtimestamp(clock.now() + 17, UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
    web.route("/", Reply(429, b"", {"Retry-After": "17" if form == "seconds" else when}), page("ok"))
    assert opened(host_pause_seconds=0).fetch(web.url()).body == b"ok"
    assert clock.slept == [17.0]


@pytest.mark.parametrize("asked", ["3600", "999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_long_retry_after_ends_the_host_for_this_run(web: Web, opened: Open, clock: FakeClock, asked: str) -> None:
    """Nobody waits for an hour: the host is left alone and its addresses are due another night."""
    web.route("/", Reply(503, b"", {"Retry-After": asked}))
    fetcher = opened()
    assert refusal(fetcher, web.url()).outcome == Outcome.BLOCKED
    assert "left alone" in refusal(fetcher, web.url("/other")).cause
    assert web.paths() == ["/"] and sum(clock.slept) < 5


@pytest.mark.parametrize("asked", ["-5", "soon", "0", "²", "1e9"])
def test_senseless_retry_after_is_passed_over(web: Web, opened: Open, clock: FakeClock, asked: str) -> None:
    """What is no time is no wish."""
    web.route("/", Reply(503, b"", {"Retry-After": asked.encode().decode("latin-1")}), page("ok"))
    assert opened(host_pause_seconds=0).fetch(web.url()).body == b"ok"
    assert clock.slept == [1.0]


def test_host_is_paused_between_requests(web: Web, opened: Open, clock: FakeClock) -> None:
    """Three addresses of one host take two pauses, redirects included."""
    for path in ("/a", "/b"):
        web.route(path, page("x"))
    web.route("/r", redirect("/a"))
    fetcher = opened(host_pause_seconds=5)
    fetcher.fetch(web.url("/b"))
    fetcher.fetch(web.url("/r"))
    assert clock.slept == [5.0, 5.0]


# --- redirects -------------------------------------------------------------------------------------------------------


def test_redirects_are_followed_to_their_end(web: Web, opened: Open) -> None:
    """Relative, absolute and permanent redirects lead to one answer, whose address is told."""
    web.route("/a", redirect("b?x=1", 301))
    web.route("/b", redirect(web.url("/ü"), 308))
    web.route("/%C3%BC", page("end"))
    assert opened().fetch(web.url("/a")).final_url == web.url("/%C3%BC")


@pytest.mark.parametrize(
    ("target", "outcome"),
    [
        ("http://169.254.169.254/latest/meta-data", Outcome.REFUSED),
        ("http://10.0.0.5/", Outcome.REFUSED),
        ("http://[::1]/", Outcome.REFUSED),
        ("http://2130706434/", Outcome.REFUSED),
        ("//0/", Outcome.REFUSED),
        ("file:///etc/hosts", Outcome.REFUSED),
        ("http://user:secret@ex.org/", Outcome.REFUSED),
        ("gopher://ex.org/", Outcome.UNSUPPORTED),
        ("http://ex.org\\@10.0.0.5/", Outcome.UNSUPPORTED),
        ("", Outcome.UNREADABLE),
    ],
)
def test_redirects_to_closed_places_are_refused(web: Web, opened: Open, target: str, outcome: Outcome) -> None:
    """Each hop is checked as the first one was."""
    error = refusal(opened(robots=False, retries=0), web.route("/", redirect(target)))
    assert error.outcome == outcome
    assert error.subject == web.url() and "secret" not in str(error)


def test_endless_redirects_end(web: Web, opened: Open) -> None:
    """Circles, and chains that never come to an end, are given up."""
    web.route("/circle", redirect("/circle2"))
    web.route("/circle2", redirect("/circle"))
    web.route("/cookie", redirect("/cookie", **{"Set-Cookie": "seen=1"}))
    numbers = itertools.count()
    web.route("/chain", lambda asked: redirect(f"/chain?{next(numbers)}"))
    assert refusal(opened(), web.url("/circle")).outcome == Outcome.BLOCKED
    assert refusal(opened(), web.url("/cookie")).outcome == Outcome.NEEDS_BROWSER
    assert refusal(opened(max_redirects=3), web.url("/chain")).outcome == Outcome.REFUSED
    assert next(numbers) == 4


def test_certificates_are_checked_and_https_is_not_left(
    web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unknown authority is a reason to stop, one that the system knows is fine, and https never leads to http."""
    authority = certificate(tmp_path)
    settings = Fetch(allow_private=("127.0.0.1",), robots=False)
    with serve(authority) as secure:
        secure.route("/", page("hello"))
        secure.route("/down", redirect(web.url("/")))
        with Fetcher(settings, FakeClock()) as fetcher:
            error = refusal(fetcher, secure.url())
        assert error.outcome == Outcome.BLOCKED and "certificate" in error.cause
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
        tls_context.cache_clear()
        with Fetcher(settings, FakeClock()) as fetcher:
            assert fetcher.fetch(secure.url()).body == b"hello"
            error = refusal(fetcher, secure.url("/down"))
        tls_context.cache_clear()
    assert error.outcome == Outcome.REFUSED and "unprotected" in error.cause
    assert web.asked == []


# --- robots.txt ------------------------------------------------------------------------------------------------------


def test_robots_rules_are_obeyed(web: Web, opened: Open, clock: FakeClock) -> None:
    """A forbidden page is not asked for, an allowed one at the pace the site wishes; robots.txt is read once."""
    web.route("/robots.txt", Reply(200, b"User-agent: *\nDisallow: /private\nCrawl-delay: 7\n"))
    web.route("/open", page("x"))
    fetcher = opened()
    assert refusal(fetcher, web.url("/private/a")).outcome == Outcome.REFUSED
    fetcher.fetch(web.url("/open"))
    fetcher.fetch(web.url("/open"))
    assert [one.path for one in web.asked] == ["/robots.txt", "/open", "/open"]
    assert clock.slept == [7.0]


def test_robots_rules_for_us_by_name(web: Web, opened: Open) -> None:
    """A rule for nightwiki beats the one for everybody."""
    web.route("/robots.txt", Reply(200, b"User-agent: *\nDisallow:\n\nUser-agent: NightWiki\nDisallow: /\n"))
    assert refusal(opened(), web.route("/", page("x"))).outcome == Outcome.REFUSED


@pytest.mark.parametrize(
    ("status", "outcome"), [(404, "ok"), (403, "ok"), (503, Outcome.BLOCKED), (429, Outcome.BLOCKED)]
)
def test_absent_robots_allow_and_unreachable_ones_defer(web: Web, opened: Open, status: int, outcome: str) -> None:
    """By RFC 9309 no file allows everything, and a server in trouble nothing for now."""
    web.route("/robots.txt", Reply(status))
    web.route("/", page("x"))
    if outcome == "ok":
        assert opened().fetch(web.url()).body == b"x"
    else:
        assert refusal(opened(), web.url()).outcome == outcome
        assert web.paths() == []


def test_robots_can_be_switched_off(web: Web, opened: Open) -> None:
    """By setting for all, by request for a feed that the person subscribed to."""
    web.route("/robots.txt", Reply(200, b"User-agent: *\nDisallow: /\n"))
    web.route("/", page("x"))
    assert opened().fetch(web.url(), robots=False).body == b"x"
    assert opened(robots=False).fetch(web.url()).body == b"x"


def test_robots_made_to_hurt_cost_little(web: Web, opened: Open) -> None:
    """A file without end is cut, and patterns full of stars are not tried out."""
    rules = (
        b"User-agent: *\n" + b"Disallow: /" + b"a*" * 900 + b"b$\n" + b"Disallow: /x*y*z*a*b*c*d*e*f*g*h$\n" * 20_000
    )
    web.route("/robots.txt", Reply(200, rules))
    path = "/" + "a" * 3000
    web.route(path, page("x"))
    started = time.process_time()
    refusal(opened(), web.url(path))
    assert time.process_time() - started < 5


# --- limits, and servers that mean harm ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, b"x" * 1_100_000),
        Reply(200, b"", {"Content-Length": "5000000"}),
        gzipped(b"\0" * 50_000_000),
        Reply(200, zlib.compress(b"\0" * 50_000_000), {"Content-Encoding": "deflate"}),
        Reply(200, b"", raw=lambda: iter([b"HTTP/1.1 200 OK\r\n\r\n", *[b"x" * 65_536] * 40])),
    ],
    ids=["body", "announced", "gzip bomb", "deflate bomb", "without length"],
)
def test_large_answers_are_refused(web: Web, opened: Open, reply: Reply) -> None:
    """Neither on the wire nor unpacked does an answer grow past the limit."""
    error = refusal(opened(), web.route("/", reply))
    assert error.outcome == Outcome.REFUSED
    assert "1 MB" in error.cause and "max_megabytes" in error.next_step


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (gzip.compress(b"hel", mtime=0) + gzip.compress(b"lo", mtime=0) + b"\0\0", "gzip"),
        (zlib.compress(b"hello"), "deflate"),
        (zlib.compress(b"hello", wbits=-15), "deflate"),
        (gzip.compress(b"hello", mtime=0), "X-GZIP"),
        (b"hello", "identity"),
    ],
    ids=["gzip in pieces", "deflate", "bare deflate", "old name", "identity"],
)
def test_compressed_answers_are_unpacked(web: Web, opened: Open, body: bytes, encoding: str) -> None:
    """All forms that servers send come out as the same bytes."""
    web.route("/", Reply(200, body, {"Content-Encoding": encoding}))
    assert opened().fetch(web.url()).body == b"hello"


@pytest.mark.parametrize(
    ("body", "encoding", "outcome"),
    [
        (gzip.compress(b"hello" * 1000, mtime=0)[:-12], "gzip", Outcome.BLOCKED),
        (b"<html>plain", "gzip", Outcome.UNREADABLE),
        (b"hello", "br", Outcome.UNREADABLE),
        (b"hello", "gzip, gzip", Outcome.UNREADABLE),
    ],
    ids=["cut", "not packed", "unasked", "twice"],
)
def test_damaged_compression(web: Web, opened: Open, body: bytes, encoding: str, outcome: Outcome) -> None:
    """Half an answer is never taken for a whole one."""
    assert refusal(opened(), web.route("/", Reply(200, body, {"Content-Encoding": encoding}))).outcome == outcome


def wire(*pieces: bytes) -> Reply:
    """Exact bytes as the server's whole answer; then it hangs up."""
    return Reply(raw=lambda: iter(pieces))


@pytest.mark.parametrize(
    "reply",
    [
        wire(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
        wire(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n"),
        wire(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello"),
        wire(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"),
        wire(b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: %s\r\n" % (n, b"y" * 1000) for n in range(300)) + b"\r\n"),
        wire(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 500_000 + b"\r\n\r\n"),
        wire(b"SSH-2.0-OpenSSH_9.6\r\n"),
        wire(b""),
    ],
    ids=[
        "chunks cut",
        "chunk lies",
        "length lies",
        "two lengths",
        "many headers",
        "huge header",
        "not http",
        "silence",
    ],
)
def test_broken_answers_are_tried_again_then_blocked(web: Web, opened: Open, reply: Reply) -> None:
    """An answer that is cut short or no HTTP is never stored."""
    assert refusal(opened(retries=1), web.route("/", reply)).outcome == Outcome.BLOCKED
    assert web.paths() == ["/", "/"]


def test_more_bytes_than_announced_are_not_read(web: Web, opened: Open) -> None:
    """What follows the announced length is no part of this answer, nor of the next one."""
    web.route("/", wire(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\n\r\nevil"))
    web.route("/next", page("next"))
    fetcher = opened()
    assert fetcher.fetch(web.url()).body == b"hello"
    assert fetcher.fetch(web.url("/next")).body == b"next"


def trickle(first: bytes, piece: bytes) -> Iterator[bytes]:
    """A byte now and then, for longer than any test."""
    yield first
    for _ in range(100):
        time.sleep(0.03)
        yield piece


@pytest.mark.parametrize("place", ["headers", "body", "chunks", "informational"])
def test_trickling_server_gains_no_time(web: Web, opened: Open, place: str) -> None:
    """The time for a request is one limit over all of it, however lively the connection."""
    first, piece = {
        "headers": (b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n"),
        "body": (b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b"x"),
        "chunks": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        "informational": (b"HTTP/1.1 102 Processing\r\n\r\n", b"HTTP/1.1 102 Processing\r\n\r\n"),
    }[place]
    web.route("/", Reply(raw=lambda: trickle(first, piece)))
    # A fetcher that waited for the end of the trickle would find the answer cut short instead.
    assert refusal(opened(timeout_seconds=0.25, retries=0, robots=False), web.url()).outcome == Outcome.TIMED_OUT


def test_host_that_is_not_there_is_asked_once_a_run(opened: Open, clock: FakeClock) -> None:
    """Of many addresses on a dead host only the first pays for finding out."""
    fetcher = opened(retries=1)
    assert refusal(fetcher, "http://127.0.0.1:1/a").outcome == Outcome.BLOCKED
    slept = sum(clock.slept)
    assert "left alone" in refusal(fetcher, "http://127.0.0.1:1/b").cause
    assert sum(clock.slept) == slept


@pytest.mark.parametrize(
    ("url", "outcome"),
    [
        ("file:///etc/hosts", Outcome.REFUSED),
        ("http://localhost:1/", Outcome.REFUSED),
        ("https://www.youtube.com/@museum", Outcome.UNSUPPORTED),
        ("http://", Outcome.UNSUPPORTED),
        ("nonsense", Outcome.UNSUPPORTED),
    ],
)
def test_addresses_that_are_not_fetched(opened: Open, url: str, outcome: Outcome) -> None:
    """Other schemes, the own machine by name, channels and nonsense never reach the network."""
    assert refusal(opened(allow_private=()), url).outcome == outcome


def test_proxy_is_used_only_when_named(web: Web, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Proxies of the environment count only when asked for, and private addresses are refused before any proxy."""
    web.route("/page", page("through the proxy"))
    monkeypatch.setenv("http_proxy", web.address)
    monkeypatch.setenv("no_proxy", "")
    for proxy in (web.address, "environment"):
        fetcher = opened(proxy=proxy, robots=False, allow_private=())
        assert fetcher.fetch("http://8.8.8.8/page").body == b"through the proxy"
        assert refusal(fetcher, "http://10.0.0.5/page").outcome == Outcome.REFUSED
        assert refusal(fetcher, "http://localhost/page").outcome == Outcome.REFUSED
    assert web.paths() == ["http://8.8.8.8/page"] * 2
    assert opened(robots=False, retries=0).fetch(web.url("/page")).body and web.paths()[-1] == "/page"


def test_server_in_trouble_is_left_alone(web: Web, opened: Open) -> None:
    """After three addresses in a row that failed in every try, the host is not asked for the others."""
    web.route("/good", page("x"))
    for number in range(9):
        web.route(f"/{number}", Reply(500))
    fetcher = opened(retries=0)
    for path in ("/0", "/1", "/good", "/2", "/3", "/4"):
        if path == "/good":
            fetcher.fetch(web.url(path))
        else:
            refusal(fetcher, web.url(path))
    assert "left alone" in refusal(fetcher, web.url("/5")).cause
    assert web.paths()[-1] == "/4"


# --- many at once ----------------------------------------------------------------------------------------------------


def test_many_addresses_in_the_order_of_their_host(web: Web, opened: Open) -> None:
    """One host is asked in the order given; a failure costs its own address only."""
    for number in range(12):
        web.route(f"/{number}", page(str(number)) if number != 5 else Reply(404))
    requests = [FetchRequest(web.url(f"/{number}")) for number in range(12)] + [FetchRequest("file:///etc/hosts")]
    results = list(opened().fetch_many(requests))
    ours = [one for one in results if one.request.url.startswith("http")]
    assert [one.request for one in ours] == requests[:12]
    assert [one.error.outcome for one in results if one.error].count(Outcome.GONE) == 1
    assert web.paths() == [f"/{number}" for number in range(12)]


def test_hosts_are_asked_side_by_side(web: Web, clock: FakeClock) -> None:
    """No host waits for another: here each answers only once three are asking."""
    port = web.address.rsplit(":", 1)[1]
    together = threading.Barrier(3)

    def reply(asked: Asked) -> Reply:
        together.wait(timeout=10)
        return page("x")

    web.route("/", reply)
    settings = Fetch(allow_private=("127.0.0.1",), robots=False, retries=0)
    with Fetcher(settings, clock, resolve=lambda host, port: ("127.0.0.1",)) as fetcher:
        results = list(fetcher.fetch_many(FetchRequest(f"http://h{number}.example:{port}/") for number in range(6)))
    assert [one.fetched.body for one in results if one.fetched] == [b"x"] * 6


def test_stopping_early_asks_no_further(web: Web, opened: Open) -> None:
    """Whoever closes the iterator is not kept waiting for the rest."""
    for number in range(200):
        web.route(f"/{number}", page("x"))
    results = opened().fetch_many([FetchRequest(web.url(f"/{number}")) for number in range(200)], workers=2)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert len(web.paths()) < 50


def test_next_try_grows_to_a_week() -> None:
    """A source that keeps failing is asked less and less often, but never given up."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    hours = [(next_try(now, failures) - now).total_seconds() / 3600 for failures in (0, 1, 2, 5, 9, 1000)]
    assert hours == [1, 1, 2, 16, 168, 168]
    assert (next_try(now, 1, 7200) - now).total_seconds() == 7200
