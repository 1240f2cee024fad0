"""The entries of an RSS, Atom or JSON feed, from bytes that were already fetched: nothing is loaded from here.

feedparser reads what feeds look like in the wild. It takes a document type declaration out before it parses, so that
entities that unfold without end stay text; its own fetching is never reached, for it is given a stream.
"""

from __future__ import annotations

import calendar
import html
import io
import json
import re
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from config.errors import SourceError
from tasks.extraction.decode import decode
from tasks.records import Outcome
from tasks.sources.addresses import canonical, join, video_address, video_id

_ROOT = re.compile(rb"<(?:\w+:)?(?:rss|feed|rdf)\b", re.IGNORECASE)
_ENCODING = re.compile(r"^(\s*<\?xml[^>]*?)\s+encoding\s*=\s*[\"'][^\"']*[\"']")
_ALTERNATE = re.compile(r"<link\b[^<>]*\btype=[\"']application/(?:rss|atom)\+xml[^<>]*>", re.IGNORECASE)
_HREF = re.compile(r"\bhref=[\"']([^\"'>]+)", re.IGNORECASE)
_HEAD = 20_000
_JSON_FEED = re.compile(rb"\s*\{\s*\"version\"\s*:\s*\"https?:(?:\\?/){2}jsonfeed\.org\\?/version\\?/")


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """An entry of a feed: its address is canonical, `published` a time in UTC or ''."""

    title: str
    url: str
    published: str


def looks_like_feed(body: bytes) -> bool:
    """Whether bytes begin as RSS, RDF, Atom or JSON Feed, whatever type the server gave them."""
    head = body[:_HEAD]
    if _JSON_FEED.match(head):
        return True
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        head = head.decode("utf-16", "ignore").encode()
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    while head.startswith((b"<?", b"<!")):  # declarations and comments before the root element
        end = b"?>" if head.startswith(b"<?") else b"-->" if head.startswith(b"<!--") else b">"
        if head.startswith(b"<!") and end == b">" and b"[" in head.split(b">", 1)[0]:
            end = b"]>"
        head = head.partition(end)[2].lstrip()
    return _ROOT.match(head) is not None


def entries(body: bytes, url: str, content_type: str = "") -> tuple[FeedEntry, ...]:
    """The entries that have an address, newest first; undated ones keep their place. Raises SourceError unreadable."""
    body = _as_utf8(body, content_type)
    if (items := _json_items(body)) is not None:
        return _sorted(items, url)
    import feedparser

    headers = {"content-location": url, "content-type": "application/xml; charset=utf-8"}
    try:
        feed = feedparser.parse(
            io.BytesIO(body), response_headers=headers, resolve_relative_uris=False, sanitize_html=False
        )
    except Exception as error:  # strangers' bytes in a parser of many dialects
        raise _unreadable(url, f"the feed cannot be parsed ({type(error).__name__})") from None
    if not feed.get("version") and not feed["entries"]:
        raise _no_feed(body, url)
    return _sorted(feed["entries"], url)


def _as_utf8(body: bytes, content_type: str) -> bytes:
    """A feed in UTF-8, in whatever it was sent: as its server says, it says itself, or its letters tell."""
    with suppress(UnicodeDecodeError):
        if b"\x1b$" not in body:  # as seven-bit Japanese switches its alphabets
            body.decode("utf-8")
            return body
    decoded = decode(body, content_type)
    return _ENCODING.sub(r"\1", decoded.text, count=1).encode("utf-8", "replace") if decoded is not None else body


def _sorted(items: Iterable[Mapping[str, Any]], url: str) -> tuple[FeedEntry, ...]:
    """Parsed items as entries, each address once, newest first."""
    found: list[tuple[str, FeedEntry]] = []
    seen: set[str] = {url}
    latest = "9999"
    for entry in items:
        address = _address(entry, url)
        published = _published(entry)
        latest = published or latest
        if address and address not in seen:
            seen.add(address)
            found.append((latest, FeedEntry(_plain(str(entry.get("title") or "")), address, published)))
    found.sort(key=lambda pair: pair[0], reverse=True)
    return tuple(entry for _, entry in found)


def _address(entry: Mapping[str, Any], base: str) -> str:
    """The canonical address of an entry, or '' when it has none that can be read."""
    for value in (entry.get("feedburner_origlink"), entry.get("link")):
        if isinstance(value, str) and value.strip():
            try:
                address = canonical(join(base, value))
            except SourceError:
                continue
            video = video_id(address)
            return video_address(video) if video else address
    return ""


def _published(entry: Mapping[str, Any]) -> str:
    for name in ("published_parsed", "updated_parsed", "created_parsed"):
        parsed = entry.get(name)
        if parsed:
            try:
                moment = datetime.fromtimestamp(calendar.timegm(parsed), UTC)
            except (ValueError, OverflowError, OSError, TypeError):
                continue
            return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment.year >= 1000 else ""
    return ""


def _json_items(body: bytes) -> list[Mapping[str, Any]] | None:
    """The items of a JSON feed in feedparser's words, or None when it is none."""
    if not body.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return None
    try:
        feed = json.loads(body)
        if not str(feed.get("version", "")).startswith(("https://jsonfeed.org/", "http://jsonfeed.org/")):
            return None
        return [
            {
                "title": item.get("title"),
                "link": item.get("url") or item.get("external_url"),
                "published_parsed": _moment(item.get("date_published")),
            }
            for item in feed.get("items", ())
            if isinstance(item, dict)
        ]
    except (ValueError, AttributeError, TypeError, RecursionError):
        return None


def _moment(value: object) -> time.struct_time | None:
    """A time as JSON feeds write it, in UTC; None when it is none."""
    try:
        return datetime.fromisoformat(str(value)).utctimetuple()
    except (ValueError, OverflowError):
        return None


def _plain(title: str) -> str:
    """A title without markup, on one line."""
    text = html.unescape(re.sub(r"<[^<>]{0,500}>", " ", title))
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())[:300]


def _no_feed(body: bytes, url: str) -> SourceError:
    """Why these bytes are no feed; a web page that names its feed is asked for it."""
    head = body[:200_000].decode("utf-8", "replace")
    for tag in _ALTERNATE.finditer(head):
        if href := _HREF.search(tag[0]):
            feed = join(url, html.unescape(href[1]))
            return _unreadable(url, "this is a web page, not a feed", f"Its feed is {feed}: list that.")
    if re.search(r"<html\b", head, re.IGNORECASE):
        return _unreadable(url, "this is a web page, not a feed", "List it without kind: feed.")
    return _unreadable(url, "this is no RSS, Atom or JSON feed")


def _unreadable(url: str, cause: str, next_step: str = "Check the address in a feed reader.") -> SourceError:
    return SourceError(url, Outcome.UNREADABLE, cause, next_step)
