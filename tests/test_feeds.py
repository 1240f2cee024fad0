"""Feeds as they are found: every dialect, broken ones, and ones made to do harm."""

from __future__ import annotations

import time

import pytest

from config.errors import SourceError
from tasks.records import Outcome
from tasks.sources.feeds import FeedEntry, entries, looks_like_feed

URL = "https://ex.org/blog/feed.xml"
Z3 = FeedEntry("The Z3", "https://ex.org/blog/z3", "1941-05-12T00:00:00Z")

RSS2 = b"""<?xml version="1.0"?><rss version="2.0"><channel><title>x</title>
<item><title>The &lt;b&gt;Z3&lt;/b&gt;</title><link>z3?utm_source=rss#top</link>
<pubDate>Mon, 12 May 1941 00:00:00 GMT</pubDate></item>
</channel></rss>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://ex.org/blog/"><title>x</title>
<entry><title>The Z3</title><link rel="self" href="https://no.org/"/><link rel="alternate" href="z3"/>
<updated>1941-05-12T01:00:00+01:00</updated></entry></feed>"""
RDF = b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><channel/><item rdf:about="x"><title>The Z3</title>
<link>https://EX.org:443/blog/z3</link><dc:date>1941-05-12</dc:date></item></rdf:RDF>"""
RSS091 = b"""<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://no.org/rss-0.91.dtd">
<rss version="0.91"><channel><item><title>The Z3</title><link>https://ex.org/blog/z3</link>
<pubDate>12 May 1941</pubDate></item></channel></rss>"""


@pytest.mark.parametrize("body", [RSS2, ATOM, RDF, RSS091], ids=["rss 2.0", "atom", "rdf", "rss 0.91"])
def test_every_dialect_gives_the_same_entry(body: bytes) -> None:
    """Relative links, time zones, markup in titles and tracking come out as one form."""
    assert entries(body, URL) == (Z3,)
    assert looks_like_feed(body)


def rss(*items: str) -> bytes:
    """A feed of these items."""
    return f"<rss version='2.0'><channel>{''.join(items)}</channel></rss>".encode()


def test_entries_are_newest_first_and_undated_ones_keep_their_place() -> None:
    """A feed in any order gives its newest entries first; entries without a date stay below their neighbour."""
    body = rss(
        "<item><link>https://ex.org/new</link><pubDate>Mon, 05 Jan 2026 00:00:00 GMT</pubDate></item>",
        "<item><link>https://ex.org/undated</link></item>",
        "<item><link>https://ex.org/old</link><pubDate>Mon, 05 Jan 2015 00:00:00 GMT</pubDate></item>",
        "<item><link>https://ex.org/newest</link><pubDate>Mon, 05 Oct 2026 00:00:00 GMT</pubDate></item>",
    )
    assert [entry.url.rsplit("/", 1)[1] for entry in entries(body, URL)] == ["newest", "new", "undated", "old"]


def test_entries_without_a_web_address_are_left_out() -> None:
    """Podcasts without a page, scripts, files and repeats are no sources."""
    links = ["javascript:x", "file:///etc/hosts", "mailto:a@b", "https://ex.org/a", "https://ex.org/a#b", URL, ""]
    body = rss(*(f"<item><title>t</title><link>{link}</link></item>" for link in links))
    assert [entry.url for entry in entries(body, URL)] == ["https://ex.org/a"]


def test_videos_of_a_channel_are_canonical() -> None:
    """A video in a feed is the same source as the video in a list."""
    body = rss("<item><link>https://www.youtube.com/shorts/GJLlxj_dtq8?feature=share</link></item>")
    assert entries(body, URL)[0].url == "https://www.youtube.com/watch?v=GJLlxj_dtq8"


@pytest.mark.parametrize("body", [b"", b"\0\1\2", b"not a feed", b"{}", b"<a><b></a>"], ids=repr)
def test_junk_is_unreadable(body: bytes) -> None:
    """What is no feed is said to be none."""
    with pytest.raises(SourceError) as caught:
        entries(body, URL)
    assert caught.value.outcome == Outcome.UNREADABLE
    assert not looks_like_feed(body)


def test_web_page_names_its_feed() -> None:
    """A page listed as a feed is answered with the address of its feed."""
    body = b'<html><head><link rel="alternate" type="application/rss+xml" href="/rss?a=1&amp;b=2"></head></html>'
    with pytest.raises(SourceError, match=r"https://ex\.org/rss\?a=1&b=2"):
        entries(body, URL)


def test_empty_feed_is_a_feed() -> None:
    """A feed with nothing in it is fine, and so is one that is cut off."""
    assert entries(rss(), URL) == ()
    assert entries(RSS2[:-20], URL) == (Z3,)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "iso-8859-1"])
def test_encodings(encoding: str) -> None:
    """The title survives whatever bytes it came in."""
    named = "utf-8" if "utf-8" in encoding else encoding
    body = f"<?xml version='1.0' encoding='{named}'?><rss version='2.0'><channel><item><title>Plankalkül</title>"
    body += "<link>https://ex.org/p</link></item></channel></rss>"
    assert entries(body.encode(encoding), URL)[0].title == "Plankalkül"
    assert looks_like_feed(body.encode(encoding))


def test_entities_that_unfold_without_end_cost_nothing() -> None:
    """Neither a nest of entities nor one huge entity often used nor a foreign file is unfolded."""
    nest = "".join(f"<!ENTITY e{n} '{f'&e{n - 1};' * 10}'>" for n in range(1, 12))
    for declared in (f"<!ENTITY e0 'aaaaaaaaaa'>{nest}", "<!ENTITY e11 SYSTEM 'file:///etc/hosts'>"):
        body = f"<?xml version='1.0'?><!DOCTYPE rss [{declared}]>".encode()
        body += rss("<item><title>&e11;</title><link>https://ex.org/a</link></item>")
        started = time.process_time()
        found = entries(body, URL)
        assert time.process_time() - started < 1
        assert all(len(entry.title) <= 300 and "localhost" not in entry.title for entry in found)


def test_telling_a_feed_is_quick() -> None:
    """Bytes made to confuse are judged at once."""
    for junk in (b"<!--a-->" * 5000, b"<!DOCTYPE [" * 5000, b"<?a" * 9000, b"<link " * 60_000):
        started = time.process_time()
        assert not looks_like_feed(junk)
        with pytest.raises(SourceError):
            entries(junk, URL)
        assert time.process_time() - started < 2
    assert looks_like_feed(b"<!--a--><?xml-stylesheet a?><!DOCTYPE rss [<!ENTITY a 'b'>]>\n<rss>")


def test_ten_thousand_entries() -> None:
    """A long feed is read in seconds."""
    item = "<item><title>t {0}</title><link>/p/{0}</link><description>&lt;p&gt;text {0}&lt;/p&gt;</description></item>"
    started = time.process_time()
    assert len(entries(rss(*(item.format(number) for number in range(10_000))), URL)) == 10_000
    assert time.process_time() - started < 12


def test_json_feeds_are_read() -> None:
    """Addresses, titles and dates as in other feeds; other JSON is no feed."""
    dated = '"date_published": "2024-01-02T00:00:00+02:00"'
    items = f'{{"url": "/a", "title": "A"}}, {{"external_url": "https://x.org/b", {dated}}}'
    body = f'{{"version": "https://jsonfeed.org/version/1.1", "title": "t", "items": [{items}, 5, {{}}]}}'.encode()
    assert looks_like_feed(body) and not looks_like_feed(b'{"version": "1"}')
    assert [(one.url, one.published) for one in entries(body, "https://ex.org/feed.json")] == [
        ("https://ex.org/a", ""),
        ("https://x.org/b", "2024-01-01T22:00:00Z"),
    ]


def test_a_feed_in_sixteen_bits_is_read() -> None:
    """Its mark says so, even where its declaration does not."""
    body = '<?xml version="1.0"?><rss version="2.0"><channel><item><link>https://ex.org/ü</link></item></channel></rss>'
    assert [one.url for one in entries(body.encode("utf-16"), "https://ex.org/f")] == ["https://ex.org/%C3%BC"]


@pytest.mark.parametrize(
    ("encoding", "told", "content_type"),
    [
        ("koi8-r", "", "text/xml; charset=koi8-r"),
        ("cp1251", " encoding='windows-1251'", "text/xml"),
        ("cp1251", " encoding='windows-1251'", "text/xml; charset=utf-8"),
        ("cp1251", "", ""),
        ("utf-16", " encoding='utf-16'", "text/xml"),
        ("utf-8", " encoding='iso-8859-1'", "text/xml"),
        ("iso2022_jp", " encoding='iso-2022-jp'", "text/xml"),
    ],
)
def test_titles_in_any_encoding(encoding: str, told: str, content_type: str) -> None:
    """The server, the feed, or its letters say how it is written; where they differ, what makes sense counts."""
    title = "Маяк был построен на скале в заливе"
    feed = f"<?xml version='1.0'{told}?><rss version='2.0'><channel><item><title>{title}</title><link>https://a.org/1</link>"
    (entry,) = entries(f"{feed}</item></channel></rss>".encode(encoding), "https://a.org/", content_type)
    assert entry.title == title
