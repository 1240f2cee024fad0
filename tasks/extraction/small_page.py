"""The blocks of a page of few words, such as a price list, a glossary or opening hours.

An extractor looks for an article. Of a page too small to hold one it takes all words as a single paragraph, or, where
they stand in a table or between `pre` tags alone, none at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tasks.extraction.extracted import one_line, table
from tasks.records import BlockKind, Part

SMALL = 3000  # characters of a page whose every block may be taken as it stands
_DEEPEST = 40
_BREAK = "\x1e"  # stands for a line break; line ends of the page's own text mean nothing
_LIKENESS = 0.7  # share of what an extractor found that must be here too, and the other way round
_PASSED_OVER = frozenset((
    "script", "style", "noscript", "template", "head", "title", "nav", "header", "footer", "aside", "button",
    "select", "option", "datalist", "input", "textarea", "svg", "iframe", "object", "embed", "canvas", "video",
    "audio", "map",
))  # fmt: skip
_HEADINGS = {f"h{level}": level for level in range(1, 7)} | {"summary": 4}
_STRUCTURED = frozenset({BlockKind.HEADING, BlockKind.LIST, BlockKind.TABLE, BlockKind.CODE})
_INLINE = frozenset((
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "img", "ins", "kbd", "label", "mark", "q", "rp", "rt", "ruby", "s", "samp", "small", "span", "strike", "strong",
    "sub", "sup", "time", "tt", "u", "var", "wbr",
))  # fmt: skip


def parts(tree: Any, found: tuple[Part, ...]) -> tuple[Part, ...]:
    """The blocks of a small page whose structure an extractor lost, or that it found nothing on; else `found`."""
    known = _size(found)
    if known > SMALL or sum(part.kind in _STRUCTURED for part in found) > 1:
        return found
    own = blocks(tree)
    size = _size(own)
    kinds = {part.kind for part in own if part.kind in _STRUCTURED}
    kept = {part.kind for part in found}
    if len(found) > 1:  # blocks were told apart, and headings with them: what else there is are those of other articles
        kept.add(BlockKind.HEADING)
    if size > SMALL or not kinds - kept:
        return found
    alike = size >= _LIKENESS * known and known >= _LIKENESS * size
    return own if alike or (not known and kinds - {BlockKind.HEADING, BlockKind.LIST}) else found


def blocks(tree: Any) -> tuple[Part, ...]:
    """All blocks of a parsed page, or of a piece of one, in order."""
    body = tree.find("body") if tree.tag == "html" else tree
    if body is None:
        return ()
    return tuple(_blocks(body, 0) if body.tag in ("body", "div", "span") else _block(body, 0))


def _size(found: tuple[Part, ...]) -> int:
    """Letters and digits, for marks of tables and lists are nobody's words."""
    return sum(character.isalnum() for part in found for character in part.text)


def _blocks(element: Any, depth: int) -> Iterator[Part]:
    """The blocks inside an element in order; running text between them becomes paragraphs."""
    words: list[str] = [element.text or ""]
    for child in element:
        if child.tag == "br":
            words.append(_BREAK)
        elif isinstance(child.tag, str) and child.tag not in _PASSED_OVER and not _is_inline(child):
            yield from _paragraph(words)
            words = []
            yield from _block(child, depth + 1)
        elif child.tag in _INLINE:
            words.append(_words(child))
        words.append(child.tail or "")
    yield from _paragraph(words)


def _is_inline(element: Any) -> bool:
    return element.tag in _INLINE and all(child.tag in _INLINE or child.tag == "br" for child in element)


def _block(element: Any, depth: int) -> Iterator[Part]:
    tag = element.tag
    if tag in _HEADINGS:
        if text := one_line(_words(element)):
            yield Part(BlockKind.HEADING, text, level=_HEADINGS[tag])
    elif tag == "table":
        yield from _table(element, depth)
    elif tag in ("ul", "ol", "menu") and not _is_menu(element):
        items = [one_line(_words(item)) for item in element if item.tag == "li"]
        marks = (f"{number}. " if tag == "ol" else "- " for number in range(1, len(items) + 1))
        if lines := [mark + item for mark, item in zip(marks, items, strict=True) if item]:
            yield Part(BlockKind.LIST, "\n".join(lines))
    elif tag == "dl":
        if lines := list(_defined(element)):
            yield Part(BlockKind.LIST, "\n".join(lines))
    elif tag == "pre":
        text = "".join(element.itertext()).strip("\n")
        if text.strip():
            yield Part(BlockKind.CODE if "\n" in text else BlockKind.PARAGRAPH, text)
    elif tag in ("ul", "ol", "menu"):
        return
    elif depth < _DEEPEST:
        kind = BlockKind.QUOTE if tag == "blockquote" else BlockKind.PARAGRAPH
        for part in _blocks(element, depth):
            yield Part(kind, part.text) if part.kind is BlockKind.PARAGRAPH else part
    elif text := one_line(_words(element)):
        yield Part(BlockKind.PARAGRAPH, text)


def _is_menu(element: Any) -> bool:
    """Whether a list only leads to other pages: all its words stand in links."""
    words = "".join(_words(element).split())
    return bool(words) and words == "".join("".join(map(_words, element.iter("a"))).split())


def _table(element: Any, depth: int) -> Iterator[Part]:
    """A table of data as such; of one that a page, or a mail, is laid out with what stands in its cells."""
    lines = [line for part in element for line in (part if part.tag in ("thead", "tbody", "tfoot") else (part,))]
    cells = [[cell for cell in line if cell.tag in ("td", "th")] for line in lines if line.tag == "tr"]
    rows = [[_words(cell) for cell in row] for row in cells]
    rows = [row for row in rows if any(map(str.strip, row))]
    if not rows:
        return
    if max(map(len, rows)) > 1 and not any(_is_layout(cell) for row in cells for cell in row):
        yield Part(BlockKind.TABLE, table(rows))
        return
    for row in cells:
        for cell in row:
            yield from _blocks(cell, depth)


def _is_layout(cell: Any) -> bool:
    """Whether a cell holds a page, or a piece of one, and no value."""
    return any(child.tag in _HEADINGS or child.tag == "table" for child in cell.iter()) or len(cell.findall(".//p")) > 1


def _defined(element: Any) -> Iterator[str]:
    """The entries of a glossary, each word with what is said of it."""
    term = ""
    for child in element.iter("dt", "dd"):
        words = one_line(_words(child))
        if child.tag == "dt":
            if term:
                yield f"- {term}"
            term = words
        elif words:
            yield f"- {term}: {words}" if term else f"- {words}"
            term = ""
    if term:
        yield f"- {term}"


def _words(element: Any) -> str:
    """All words inside an element; blocks in it and line breaks part them."""
    pieces = [element.text or ""]
    for child in element:
        if isinstance(child.tag, str) and child.tag not in _PASSED_OVER:
            edge = "" if child.tag in _INLINE else " "
            pieces += [edge, _words(child), edge]
        pieces.append(child.tail or "")
    return "".join(pieces)


def _paragraph(words: list[str]) -> Iterator[Part]:
    lines = [line for raw in "".join(words).split(_BREAK) if (line := one_line(raw))]
    if lines:
        yield Part(BlockKind.PARAGRAPH, "\n".join(lines))
