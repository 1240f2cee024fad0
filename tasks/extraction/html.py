"""The article of a web page, with its structure, by trafilatura; one parse of the page serves everything.

Hidden elements leave the tree first. A page of paragraphs is read the short way (`tasks.extraction.plain_article`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from config.errors import SourceError
from tasks.extraction import (
    hidden_html,
    html_marks,
    html_metadata,
    html_tree,
    plain_article,
    preformatted,
    small_page,
    web_walls,
    whole_article,
)
from tasks.extraction.extracted import Extracted, one_line, table
from tasks.records import BlockKind, Outcome, Part

_BLOCKS = frozenset({"p", "head", "list", "table", "quote", "code", "div", "item", "row", "cell"})
_DEEPEST = 12
_BREAK = "\x1e"  # stands for a line break; line ends of the page's own text mean nothing


def extract(text: str, name: str = "", url: str = "") -> Extracted:
    """The article of an HTML page. Raises SourceError `needs_browser`, `no_content`, `paywalled` or `unreadable`."""
    try:
        return _extract(html_tree.parse(text), text, name, url)
    except RecursionError:  # programs that go down a page by calls can go no deeper
        found = _extract(html_tree.parse(text, patient=False), text, name, url)
        return replace(found, notes=("it is nested so deeply that only its beginning was read",))
    except ValueError:  # an element has a name that the parser gave it, and of which it makes no copy
        return _extract(html_tree.parse(text, plain=True), text, name, url)


def _extract(tree: Any | None, text: str, name: str, url: str) -> Extracted:
    _quieten()
    if tree is None:
        raise SourceError(
            name, Outcome.NO_CONTENT, "the page holds no readable HTML", "Save the page again from a browser."
        )
    # elements are found in the tree sooner than their names in the text
    html_marks.spell_out(tree)
    html_marks.strike_out(tree)
    html_marks.part_blocks(tree)
    html_marks.part_cells(tree)
    hidden = hidden_html.remove(tree, text)
    stated = html_metadata.read(tree, url)
    parts = preformatted.parts(tree)
    if not parts:
        found = plain_article.article(tree, text)
        body = whole_article.body(tree, found) if found is None or found.doubtful else found.body
        parts = () if body is None else tuple(_parts(body, 0))
        if not web_walls.long_enough(parts):
            parts = small_page.parts(tree, parts)
    wall = None if web_walls.long_enough(parts) else web_walls.judge(tree, parts, url)
    if wall is not None:
        raise SourceError(name, wall.outcome, wall.reason, wall.next_step)
    return Extracted(
        "html",
        _without_repeats(parts),
        title=stated.title,
        author=stated.author,
        published=stated.published,
        language=stated.language,
        hidden_removed=hidden.removed,
        hidden_text=hidden.text,
    )


@cache
def _quieten() -> None:
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    logging.getLogger("htmldate").setLevel(logging.CRITICAL)


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
    return "\n".join(line for raw in "".join(pieces).split(_BREAK) if (line := one_line(raw)))


def _parts(body: Any, depth: int) -> Iterator[Part]:
    """The blocks of an extracted body in order; loose text between blocks becomes paragraphs."""
    if body.text and body.text.strip():
        yield Part(BlockKind.PARAGRAPH, one_line(body.text))
    for element in body:
        yield from _part(element, depth)
        if element.tail and element.tail.strip():
            yield Part(BlockKind.PARAGRAPH, one_line(element.tail))


def _part(element: Any, depth: int) -> Iterator[Part]:
    tag = element.tag
    if tag == "head":
        text = one_line(_text(element))
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
        words = one_line(_item_text(item))
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
    rows = [[one_line(_text(cell)) for cell in row if cell.tag == "cell"] for row in element.iter("row")]
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
