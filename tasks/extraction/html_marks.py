"""What a page says by the place of a sign: raised digits, marks of notes, formulas; as letters, before all else.

An extractor drops formulas and lowers every digit: 10⁵ would be cited as 105, and "the energy is" without what it is.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

_RAISED = str.maketrans("0123456789+-\u2212=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
_RAISABLE = re.compile(r"[0-9+\-\u2212=()n]{1,12}")
_NOTE = re.compile(r"\[[\w.*†‡ ]{1,24}\]")
_NOTE_CLASSES = ("reference", "footnote", "noteref", "fnref")
_FORMULAS = ("mwe-math-element", "katex-display", "katex")  # classes around a formula that is there more than once
_STYLE = re.compile(r"^\{\\(?:display|text)style\s*(.*)\}$", re.DOTALL)
_DEEPEST = 40
_SENTENCE = 40  # characters, at least
_SENTENCE_ENDS = frozenset('.!?…"”»)。！？')
_ITEMS = frozenset({"li", "dd", "dt"})
_INLINE = frozenset({"a", "abbr", "b", "br", "code", "em", "i", "img", "small", "span", "strong", "sub", "sup", "time"})


def spell_out(tree: Any) -> None:
    """Replaces raised digits and formulas of a parsed page by text, and takes out the marks of its notes."""
    for sup in list(tree.iter("sup")):
        words = "".join(sup.itertext()).strip()
        if _is_note(sup, words):
            _replace(sup, "")
        elif _RAISABLE.fullmatch(words):
            _replace(sup, words.translate(_RAISED))
    for math in list(tree.iter("math")):
        whole = _whole(math)
        if whole.getparent() is not None:
            _replace(whole, _tex(math) or _line(math, 0))


def strike_out(tree: Any) -> None:
    """Takes out words that are struck through, as former prices and corrected mistakes are: nobody says them."""
    for struck in list(tree.iter("del", "s", "strike")):
        if struck.getparent() is not None:
            _replace(struck, "")


def part_blocks(tree: Any) -> None:
    """Puts a blank where nothing but the edge of a block stands between two words, for such edges are lost later.

    Blocks in a list's item, which would be glued, become pieces of running text.
    """
    for block in tree.iter("div", "p"):
        before, parent = block.getprevious(), block.getparent()
        if before is not None:
            if before.tail and not before.tail[-1].isspace():
                before.tail += " "
        elif parent is not None and parent.text and not parent.text[-1].isspace():
            parent.text += " "
        if not block.tail or not block.tail[0].isspace():
            block.tail = " " + (block.tail or "")
        if parent is not None and parent.tag in _ITEMS and all(child.tag in _INLINE for child in block):
            block.tag = "span"
        elif block.tag == "div" and _is_paragraph(block, before):
            block.tag = "p"


def _is_paragraph(box: Any, before: Any | None) -> bool:
    """Whether a box beside a paragraph is another one: an extractor that finds paragraphs passes over boxes."""
    behind = box.getnext()
    if not ((before is not None and before.tag == "p") or (behind is not None and behind.tag == "p")):
        return False
    if any(child.tag not in _INLINE for child in box):
        return False
    text = " ".join(box.text_content().split())
    linked = sum(len(link.text_content()) for link in box.iter("a"))
    return len(text) >= _SENTENCE and linked < 0.3 * len(text) and text[-1] in _SENTENCE_ENDS


def part_cells(tree: Any) -> None:
    """Makes boxes of tables that a page is laid out with, and running text of lists in cells, which would be lost."""
    if next(tree.iter("td"), None) is None:  # most pages have no table, and to ask that takes no time
        return
    for table in _layouts()(tree):
        for element in list(table.iter("table", "tbody", "thead", "tr", "td", "th")):
            if next(element.iterancestors("table"), element) is table or element is table:
                element.tag = "div"
    for cell in _listed_cells()(tree):
        for item in cell.iter("li"):
            if item.getnext() is not None:
                item.tail = "; "
        for element in list(cell.iter("ul", "ol", "li")):
            element.tag = "span"


@cache
def _layouts() -> Any:
    """Finds the tables that pages of the nineties were laid out with: they hold an article in a cell."""
    from lxml import etree

    article = "count(descendant::p) > 1 or count(descendant::br) > 3 or descendant::h2 or descendant::h3"
    cell = f"td[string-length(.) > 800][{article}]"
    return etree.XPath(f"//table[tr/{cell} or */tr/{cell}]")


@cache
def _listed_cells() -> Any:
    """Finds the cells of a data table that hold a list; cells with paragraphs or headings are there for layout."""
    from lxml import etree

    return etree.XPath(
        "//li/ancestor::td[1][not(descendant::p or descendant::table or descendant::h2 or descendant::h3)]"
    )


def _is_note(sup: Any, words: str) -> bool:
    """Whether a raised piece leads to a note, and so is no part of the sentence."""
    if _NOTE.fullmatch(words) or any(name in (sup.get("class") or "") for name in _NOTE_CLASSES):
        return True
    return len(words) <= 4 and any((link.get("href") or "").startswith("#") for link in sup.iter("a"))


def _whole(math: Any) -> Any:
    """The element around a formula and the picture, or the letters, that show it once more."""
    whole = math
    for parent in math.iterancestors():
        if parent.tag in ("body", "p", "td", "li"):
            break
        if parent.tag == "mjx-container" or any(name in (parent.get("class") or "").split() for name in _FORMULAS):
            whole = parent
    return whole


def _tex(math: Any) -> str:
    """The formula in TeX, if the page gives it beside the elements."""
    notes = (node for node in math.iter("annotation") if "tex" in (node.get("encoding") or ""))
    text = math.get("alttext") or next(("".join(node.itertext()) for node in notes), "")
    return " ".join(_STYLE.sub(r"\1", text.strip()).split())


def _line(node: Any, depth: int) -> str:
    """A formula's elements in one line: `x^2`, `(a+b)/2`."""
    if depth > _DEEPEST or not isinstance(node.tag, str) or node.tag in ("annotation", "annotation-xml"):
        return ""
    pieces = [_line(child, depth + 1) for child in node]
    grouped = [piece if len(piece) < 2 or piece.isalnum() else f"({piece})" for piece in pieces]
    match node.tag, len(pieces):
        case "mfrac", 2:
            return f"{grouped[0]}/{grouped[1]}"
        case (("msup" | "mover"), 2):
            return f"{grouped[0]}^{grouped[1]}"
        case (("msub" | "munder"), 2):
            return f"{grouped[0]}_{grouped[1]}"
        case (("msubsup" | "munderover"), 3):
            return f"{grouped[0]}_{grouped[1]}^{grouped[2]}"
        case "msqrt", _:
            inside = "".join(pieces)
            return f"√{inside}" if len(inside) < 2 else f"√({inside})"
    return " ".join((node.text or "").split()) + "".join(pieces)


def _replace(element: Any, text: str) -> None:
    """Puts text in an element's place; the page's root stays."""
    parent, before = element.getparent(), element.getprevious()
    if parent is None:
        return
    words = text + (element.tail or "")
    if before is not None:
        before.tail = (before.tail or "") + words
    else:
        parent.text = (parent.text or "") + words
    parent.remove(element)
