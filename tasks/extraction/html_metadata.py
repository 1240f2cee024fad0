"""What a web page states about itself: title, author, day of publication and language.

Of trafilatura's metadata only the cheap half is used: its full search costs a third of the extraction itself, for
licences and tags that nobody reads here.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tasks.extraction.extracted import one_line

_DAY = re.compile(r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")
_ADDRESS_DAY = re.compile(r"/((?:19|20)\d\d)[/-](0[1-9]|1[0-2])[/-](0[1-9]|[12]\d|3[01])(?=[/-])")
_PUBLISHED = re.compile(rf'"datePublished"\s*:\s*"({_DAY.pattern})')
_DATE_NAMES = frozenset(
    [
        "article:published_time",
        "article:published",
        "article.published",
        "datepublished",
        "date",
        "dc.date",
        "dc.date.issued",
        "dcterms.created",
        "dcterms.date",
        "parsely-pub-date",
        "pubdate",
        "publishdate",
        "publish-date",
        "sailthru.date",
        "og:published_time",
        "citation_publication_date",
        "citation_date",
        "cxenseparse:recs:publishtime",
    ]
)
_STRUCTURED = frozenset({"application/ld+json", "application/settings+json"})  # types of scripts that hold data
_LETTERS = re.compile(r"[\W_]+")
_LANGUAGE = re.compile(r"[A-Za-z]{2}(?=$|[-_])")


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a page states, each '' when it does not say."""

    title: str
    author: str
    published: str
    language: str


@dataclass(frozen=True, slots=True)
class _Told:
    """The elements in which a page tells about itself, found in one walk over it."""

    metas: list[Any]
    scripts: list[Any]  # of structured data
    headings: list[Any]  # of the first level


def _told(tree: Any) -> _Told:
    told = _Told([], [], [])
    for element in tree.iter("meta", "script", "h1"):
        if element.tag == "meta":
            told.metas.append(element)
        elif element.tag == "h1":
            told.headings.append(element)
        elif element.get("type") in _STRUCTURED and element.text:
            told.scripts.append(element)
    return told


def read(tree: Any, url: str) -> Metadata:
    """The metadata of a parsed page; the tree is not changed."""
    from htmldate import find_date
    from trafilatura.metadata import examine_meta, extract_title

    told = _told(tree)
    facts = examine_meta(tree)
    with suppress(Exception):  # strangers' JSON trips the library in many ways; the page itself is sound
        facts = _linked_data(told, facts)
    title = _without_site(one_line(facts.title or extract_title(tree) or ""), one_line(facts.sitename or ""), told)
    published = _address_date(told, url) or _stated_date(told)
    if not published:
        with suppress(Exception):  # as above
            published = find_date(tree, original_date=True, extensive_search=False, url=url or None) or ""
    root = tree.getroottree().getroot()
    language = _LANGUAGE.match(root.get("lang") or root.get("xml:lang") or "")
    author = facts.author if facts.author and len(facts.author) < 200 and "://" not in facts.author else ""
    return Metadata(title, one_line(author), published, language.group().lower() if language else "")


def _linked_data(told: _Told, facts: Any) -> Any:
    """What the page's JSON-LD adds to the facts, as trafilatura takes it. Only JSON that is broken is cleaned of
    blanks first: that takes most of the time, and a parser does not mind them.
    """
    from trafilatura.json_metadata import extract_json, extract_json_parse_error, normalize_json
    from trafilatura.metadata import JSON_MINIFY

    for script in told.scripts:
        try:
            facts = extract_json(json.loads(normalize_json(script.text), strict=False), facts)
        except json.JSONDecodeError:
            stated = normalize_json(JSON_MINIFY.sub(r"\1", script.text))
            try:
                facts = extract_json(json.loads(stated, strict=False), facts)
            except json.JSONDecodeError:
                facts = extract_json_parse_error(stated, facts)
    return facts


def _without_site(title: str, site: str, told: _Told) -> str:
    """A page's title without the name of its site, which the page's own heading or its site name gives away."""
    for heading in told.headings:
        words = one_line(heading.text_content())
        if (
            len(words) > 7
            and title.startswith(words)
            and title[len(words) :][:2].strip() in ("|", "-", "–", "—", ":", "·")
        ):
            return words
    head, mark, tail = title.rpartition(" | ") if " | " in title else title.rpartition(" - ")
    name = _LETTERS.sub("", site.casefold())
    return head.strip() if mark and name and _LETTERS.sub("", tail.casefold()) in (name, f"{name}com") else title


def _address_date(told: _Told, url: str) -> str:
    """The day that a news page's address carries, or ''; where it has one, it is the most reliable."""
    stated = (meta.get("content") or "" for meta in told.metas if meta.get("property") == "og:url")
    day = next((found for address in (url, *stated) if (found := _ADDRESS_DAY.search(address))), None)
    return "-".join(day.groups()) if day else ""


def _stated_date(told: _Told) -> str:
    """The day of publication that the page's own data state, or ''; a search of the text finds other stories' dates."""
    for script in told.scripts:
        stated = _PUBLISHED.search(script.text)
        if stated:
            return stated.group(1)
    for meta in told.metas:
        name = (meta.get("property") or meta.get("name") or meta.get("itemprop") or "").lower()
        if name in _DATE_NAMES:
            day = _DAY.match((meta.get("content") or "").strip())
            if day:
                return day.group()
    return ""
