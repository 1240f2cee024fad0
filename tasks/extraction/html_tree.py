"""A web page's text as an lxml tree, as trafilatura parses and mends it, at half the cost of its own loader."""

from __future__ import annotations

from functools import cache
from typing import Any

_CONTROLS = bytes({*range(32)} - {*b"\t\n\r"})
_NO_CHARACTERS = ("\ufffe", "\uffff")
_HEAD = 4096  # characters in which the first lines are mended


def parse(text: str) -> Any | None:
    """The page's root element, or None when it is no HTML at all. The parser drops comments."""
    from lxml import html
    from trafilatura.utils import is_dubious_html, repair_faulty_html

    for character in _NO_CHARACTERS:
        text = text.replace(character, "")
    beginning = text[:50].lower()
    end = text.find("\n", _HEAD)
    head, rest = (text[: end + 1], text[end + 1 :]) if end >= 0 else (text, "")
    content = (repair_faulty_html(head, beginning) + rest).encode("utf-8", "surrogatepass")
    content = content.translate(None, _CONTROLS)  # characters that XML forbids
    try:
        tree = html.fromstring(content, parser=_parser())
    except Exception:  # strangers' bytes trip the parser in many ways; it is no page then
        return None
    return None if is_dubious_html(beginning) and len(tree) < 2 else tree


@cache
def _parser() -> Any:
    from lxml import etree, html
    from trafilatura.utils import HTML_PARSER

    # elements of one class are made in C; by default each goes through Python to learn whether it is part of a form
    HTML_PARSER.set_element_class_lookup(
        etree.ElementDefaultClassLookup(
            element=html.HtmlElement,
            comment=html.HtmlComment,
            pi=html.HtmlProcessingInstruction,
            entity=html.HtmlEntity,
        )
    )
    return HTML_PARSER
