"""The article of a web page, with its structure, by trafilatura; one parse of the page serves everything.

Hidden elements leave the tree first. A page of paragraphs is read the short way (`tasks.extraction.plain_article`). Of
trafilatura's metadata only the cheap half is used: its full search costs a third of the extraction itself, for
licences and tags that nobody reads here.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from contextlib import suppress
from copy import copy
from functools import cache
from typing import Any

from config.errors import SourceError
from tasks.extraction import hidden_html, html_marks, html_tree, plain_article, web_walls
from tasks.extraction.extracted import Extracted, table
from tasks.records import BlockKind, Outcome, Part

_SPACE = re.compile(
    r"[ \t\r\f\v\u00a0\u2000-\u200a\u202f\u205f\u3000]*\n\s*"
    r"|[ \t\r\f\v\u00a0\u2000-\u200a\u202f\u205f\u3000]+"
)
_BLOCKS = frozenset({"p", "head", "list", "table", "quote", "code", "div", "item", "row", "cell"})
_DEEPEST = 12
_BREAK = "\x1e"  # stands for a line break; line ends of the page's own text mean nothing
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
_LETTERS = re.compile(r"[\W_]+")
_LANGUAGE = re.compile(r"[A-Za-z]{2}(?=$|[-_])")


def extract(text: str, name: str = "", url: str = "") -> Extracted:
    """The article of an HTML page. Raises SourceError `needs_browser`, `no_content`, `paywalled` or `unreadable`."""
    import trafilatura

    _quieten()
    tree = html_tree.parse(text)
    if tree is None:
        raise SourceError(
            name, Outcome.NO_CONTENT, "the page holds no readable HTML", "Save the page again from a browser."
        )
    if "<sup" in text or "<math" in text or "<SUP" in text:
        html_marks.spell_out(tree)
    hidden = hidden_html.remove(tree, text)
    title, author, published, language = _metadata(tree, url)
    body = plain_article.body(copy(tree), text)
    if body is None:
        document: Any = trafilatura.bare_extraction(tree, url=url or None, include_comments=False)
        body = None if document is None else document.body
    parts = () if body is None else tuple(_parts(body, 0))
    wall = None if web_walls.long_enough(parts) else web_walls.judge(web_walls.look(tree), parts)
    if wall is not None:
        raise SourceError(name, wall.outcome, wall.reason, wall.next_step)
    return Extracted(
        "html",
        _without_repeats(parts),
        title=title,
        author=author,
        published=published,
        language=language,
        hidden_removed=hidden.removed,
        hidden_text=hidden.text,
    )


@cache
def _quieten() -> None:
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    logging.getLogger("htmldate").setLevel(logging.CRITICAL)


def _metadata(tree: Any, url: str) -> tuple[str, str, str, str]:
    """Title, author, date and language of a page, each '' when it does not say."""
    from htmldate import find_date
    from trafilatura.metadata import examine_meta, extract_title

    facts = examine_meta(tree)
    with suppress(Exception):  # strangers' JSON trips the library in many ways; the page itself is sound
        facts = _linked_data(tree, facts)
    title = _without_site(_words(facts.title or extract_title(tree) or ""), _words(facts.sitename or ""), tree)
    published = _address_date(tree, url) or _stated_date(tree)
    if not published:
        with suppress(Exception):  # as above
            published = find_date(tree, original_date=True, extensive_search=False, url=url or None) or ""
    root = tree.getroottree().getroot()
    language = _LANGUAGE.match(root.get("lang") or root.get("xml:lang") or "")
    author = facts.author if facts.author and len(facts.author) < 200 and "://" not in facts.author else ""
    return title, _words(author), published, language.group().lower() if language else ""


def _linked_data(tree: Any, facts: Any) -> Any:
    """What the page's JSON-LD adds to the facts, as trafilatura takes it. Only JSON that is broken is cleaned of
    blanks first: that takes most of the time, and a parser does not mind them.
    """
    from trafilatura.json_metadata import extract_json, extract_json_parse_error, normalize_json
    from trafilatura.metadata import JSON_MINIFY

    for script in _scripts()(tree):
        if not script.text:
            continue
        try:
            facts = extract_json(json.loads(normalize_json(script.text), strict=False), facts)
        except json.JSONDecodeError:
            stated = normalize_json(JSON_MINIFY.sub(r"\1", script.text))
            try:
                facts = extract_json(json.loads(stated, strict=False), facts)
            except json.JSONDecodeError:
                facts = extract_json_parse_error(stated, facts)
    return facts


@cache
def _scripts() -> Any:
    from lxml import etree

    return etree.XPath('.//script[@type="application/ld+json" or @type="application/settings+json"]')


def _without_site(title: str, site: str, tree: Any) -> str:
    """A page's title without the name of its site, which the page's own heading or its site name gives away."""
    for heading in tree.iterfind(".//h1"):
        words = _words("".join(heading.itertext()))
        if (
            len(words) > 7
            and title.startswith(words)
            and title[len(words) :][:2].strip() in ("|", "-", "–", "—", ":", "·")
        ):
            return words
    head, mark, tail = title.rpartition(" | ") if " | " in title else title.rpartition(" - ")
    name = _LETTERS.sub("", site.casefold())
    return head.strip() if mark and name and _LETTERS.sub("", tail.casefold()) in (name, f"{name}com") else title


def _address_date(tree: Any, url: str) -> str:
    """The day that a news page's address carries, or ''; where it has one, it is the most reliable."""
    stated = (meta.get("content") or "" for meta in tree.iterfind('.//meta[@property="og:url"]'))
    day = next((found for address in (url, *stated) if (found := _ADDRESS_DAY.search(address))), None)
    return "-".join(day.groups()) if day else ""


def _stated_date(tree: Any) -> str:
    """The day of publication that the page's own data state, or ''; a search of the text finds other stories' dates."""
    for script in tree.iterfind('.//script[@type="application/ld+json"]'):
        stated = _PUBLISHED.search(script.text or "")
        if stated:
            return stated.group(1)
    for meta in tree.iterfind(".//meta[@content]"):
        name = (meta.get("property") or meta.get("name") or meta.get("itemprop") or "").lower()
        if name in _DATE_NAMES:
            day = _DAY.match(meta.get("content").strip())
            if day:
                return day.group()
    return ""


def _words(text: str) -> str:
    return " ".join(text.split())


def _text(element: Any) -> str:
    """The words of an element in one line; line breaks stay as line ends."""
    pieces: list[str] = []
    for node in element.iter():
        if node.tag == "lb":
            pieces.append(_BREAK)
        elif node is not element and node.tag in _BLOCKS and pieces:
            pieces.append(" ")
        if node.text and node.tag != "lb":
            pieces.append(node.text)
        if node is not element and node.tail:
            pieces.append(node.tail)
    return "\n".join(line for raw in "".join(pieces).split(_BREAK) if (line := _words(raw)))


def _parts(body: Any, depth: int) -> Iterator[Part]:
    """The blocks of an extracted body in order; loose text between blocks becomes paragraphs."""
    if body.text and body.text.strip():
        yield Part(BlockKind.PARAGRAPH, _words(body.text))
    for element in body:
        yield from _part(element, depth)
        if element.tail and element.tail.strip():
            yield Part(BlockKind.PARAGRAPH, _words(element.tail))


def _part(element: Any, depth: int) -> Iterator[Part]:
    tag = element.tag
    if tag == "head":
        text = _words(_text(element))
        level = element.get("rend") or "h2"
        if text:
            yield Part(
                BlockKind.HEADING, text, level=int(level[1]) if level[1:2] in "123456" and len(level) == 2 else 2
            )
    elif tag == "list":
        lines = list(_list(element, 0))
        if lines:
            yield Part(BlockKind.LIST, "\n".join(lines))
    elif tag == "table":
        yield from _table(element, depth)
    elif tag == "quote":
        text = _text_blocks(element)
        if text:
            yield Part(BlockKind.QUOTE, text)
    elif tag == "code":
        text = "".join(element.itertext()).strip("\n")
        if text.strip():
            yield Part(BlockKind.CODE if "\n" in text else BlockKind.PARAGRAPH, text)
    elif tag == "div" and depth < _DEEPEST and any(child.tag in _BLOCKS for child in element):
        yield from _parts(element, depth + 1)
    elif isinstance(tag, str) and tag != "graphic":
        text = _text(element)
        if text:
            yield Part(BlockKind.PARAGRAPH, text)


def _text_blocks(element: Any) -> str:
    """The text of a quotation, its paragraphs on lines of their own."""
    if not any(child.tag in _BLOCKS for child in element):
        return _text(element)
    return "\n".join(part.text for part in _parts(element, _DEEPEST))


def _list(element: Any, level: int) -> Iterator[str]:
    """The items of a list, nested ones indented by four spaces a level."""
    number = 0
    ordered = element.get("rend") == "ol"
    for item in element:
        if item.tag != "item":
            continue
        number += 1
        nested = [child for child in item if child.tag == "list"]
        words = _words(_item_text(item))
        if words:
            yield "    " * level + (f"{number}. " if ordered else "- ") + words
        if level < _DEEPEST:
            for child in nested:
                yield from _list(child, level + 1 if words else level)


def _item_text(item: Any) -> str:
    pieces = [item.text or ""]
    for child in item:
        if child.tag != "list":
            pieces.append(" " + _text(child) if child.tag in _BLOCKS or child.tag == "lb" else _text(child))
        pieces.append((" " if child.tag == "list" else "") + (child.tail or ""))
    return "".join(pieces)


def _table(element: Any, depth: int) -> Iterator[Part]:
    rows = [[_words(_text(cell)) for cell in row if cell.tag == "cell"] for row in element.iter("row")]
    rows = [row for row in rows if any(row)]
    if not rows:
        return
    if max(len(row) for row in rows) == 1:  # a table for layout
        for row in rows:
            yield Part(BlockKind.PARAGRAPH, row[0])
        return
    yield Part(BlockKind.TABLE, table(rows))


def _without_repeats(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Parts without the very same block twice in a row, and without headings that nothing follows at the end."""
    kept: list[Part] = []
    for part in parts:
        if not kept or (part.kind, part.text) != (kept[-1].kind, kept[-1].text):
            kept.append(part)
    while len(kept) > 1 and kept[-1].kind is BlockKind.HEADING:
        kept.pop()
    return tuple(kept)
