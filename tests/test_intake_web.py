"""Servers as they are: odd success codes, packings that are none, messages that a person can read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from config.errors import SourceError
from config.settings import Fetch
from tasks.extraction.sniff import sniff
from tasks.fetching.fetch import Fetcher
from tasks.reading.read_source import ReadJob, document_of
from tasks.records import BlockKind, Outcome
from tests.web import FakeClock, Reply, Web, page, redirect


@pytest.fixture
def fetcher(clock: FakeClock) -> Iterator[Fetcher]:
    settings = Fetch(allow_private=("127.0.0.1",), retries=0)
    with Fetcher(settings, clock) as one:
        yield one


@pytest.mark.parametrize("encoding", ["none", "utf-8", "binary", "aws-chunked"])
def test_packings_that_are_none_are_passed_over(web: Web, fetcher: Fetcher, encoding: str) -> None:
    """Servers write other things into Content-Encoding, and browsers show the page."""
    web.route("/", page("hello", Content_Encoding=encoding))
    assert fetcher.fetch(web.url()).body == b"hello"


def test_an_answer_that_a_proxy_changed_is_an_answer(web: Web, fetcher: Fetcher) -> None:
    """Status 203 brings the whole page."""
    web.route("/", Reply(203, b"hello", {"Content-Type": "text/plain"}))
    assert fetcher.fetch(web.url()).body == b"hello"


@pytest.mark.parametrize(
    "target", ["gopher://example.org/", "javascript:alert(1)", "http://[bad/", "http://a:b@x.org/"]
)
def test_a_redirect_astray_says_what_to_do(web: Web, fetcher: Fetcher, target: str) -> None:
    """Every refusal has a next step."""
    web.route("/", redirect(target))
    with pytest.raises(SourceError) as caught:
        fetcher.fetch(web.url())
    assert caught.value.next_step.startswith("Check the address.")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n", "illegal chunk header"),
        (b"\x00\xff garbage\r\n\r\n", "illegal status line"),
        (b"", "Server disconnected without sending a response"),
    ],
    ids=["chunks", "garbage", "nothing"],
)
def test_broken_connections_are_told_in_words(web: Web, fetcher: Fetcher, answer: bytes, words: str) -> None:
    """No bytes of the library's own notation, and one full stop."""
    web.route("/", Reply(raw=lambda: iter([answer])))
    with pytest.raises(SourceError) as caught:
        fetcher.fetch(web.url())
    assert caught.value.cause == f"the connection broke: {words}"


def test_an_empty_answer_is_about_the_address() -> None:
    """Nobody can copy the file again, for there is none."""
    with pytest.raises(SourceError) as caught:
        sniff(b"", "https://example.org/page", "text/html")
    assert (caught.value.outcome, caught.value.cause) == (Outcome.NO_CONTENT, "the answer is empty")
    assert caught.value.next_step == "Check the address."


def test_a_version_in_robots_does_not_hide_our_name(web: Web, fetcher: Fetcher) -> None:
    """A rule for `nightwiki/0.1` is a rule for us."""
    web.route("/robots.txt", Reply(200, b"User-agent: nightwiki/0.1 # them\nDisallow: /a\n"))
    with pytest.raises(SourceError) as caught:
        fetcher.fetch(web.url("/a"))
    assert caught.value.outcome == Outcome.REFUSED


def test_unchanged_said_to_one_who_has_nothing_is_passing(web: Web, fetcher: Fetcher) -> None:
    """A cache that is confused today may be right tomorrow."""
    web.route("/", Reply(304))
    with pytest.raises(SourceError) as caught:
        fetcher.fetch(web.url())
    assert caught.value.outcome == Outcome.BLOCKED


@pytest.mark.parametrize(
    ("disposition", "name"),
    [
        ('attachment; filename="lamp costs.csv"', "lamp costs.csv"),
        ("attachment; filename=x.csv; filename*=UTF-8''%C3%96l%20kosten.csv", "Öl kosten.csv"),
        ('inline; FileName="C:\\lamps\\costs.csv"', "costs.csv"),
        ("attachment; filename=../../etc/costs.csv", "costs.csv"),
        ('attachment; filename="Ölkosten.csv"', "Ölkosten.csv"),
        ("attachment", ""),
        ("attachment; filename=", ""),
        ("filename*=no-such-set''%ff; x", ""),
    ],
)
def test_a_download_has_the_name_its_server_gives(web: Web, fetcher: Fetcher, disposition: str, name: str) -> None:
    """An address such as `/get?id=7` says neither what is there nor what it is called."""
    reply = Reply(
        200, b"Lamp;Cost\nFanal;40\nNess;42\n", {"Content-Disposition": disposition.encode().decode("latin-1")}
    )
    fetched = fetcher.fetch(web.route("/get", reply))
    assert fetched.file_name == name or not name
    if name:
        job = ReadJob("a" * 12, "", fetched.final_url, "application/octet-stream", file_name=fetched.file_name)
        document = document_of(fetched.body, job)
        assert (document.parts[0].kind, document.title) == (BlockKind.TABLE, name.removesuffix(".csv"))
