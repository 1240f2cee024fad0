"""A web page's text as an lxml tree, as trafilatura parses and mends it, at half the cost of its own loader."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

_CONTROLS = bytes({*range(32)} - {*b"\t\n\r"})
_NO_CHARACTERS = (b"\xef\xbf\xbe", b"\xef\xbf\xbf")  # U+FFFE and U+FFFF
_TOO_DEEP = "ERR_RESOURCE_LIMIT"  # as pages are whose writer never closed a tag
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
_TAG = re.compile(r"<[a-z][a-z0-9]*[\s>/]", re.IGNORECASE)
_LONG = 20_000  # characters of a tag from which its attributes are counted
_ATTRIBUTES = 1000  # of one element that are kept: all programs here look for one among them from the first on
_ATTRIBUTE = r"""[\s/]++[^\s=>"'/]++(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"']++))?+"""
_CROWDED = re.compile(rf"([a-z][a-z0-9-]*+(?:{_ATTRIBUTE}){{{_ATTRIBUTES}}})(?:{_ATTRIBUTE})++", re.IGNORECASE)
_HEAD = 4096  # characters in which the first lines are mended


def parse(text: str, patient: bool = True, plain: bool = False) -> Any | None:
    """The page's root element, or None when it is no HTML at all. The parser drops comments.

    Unless it is `patient`, what is nested deeper than 256 elements is lost, with all behind it. With `plain` names,
    and where a page announces names of its own, as Word does, elements by such a name become running text.
    """
    from lxml import html
    from trafilatura.utils import is_dubious_html, repair_faulty_html

    if _has_long_piece(text):
        text = _with_few_attributes(text)
    beginning = text[:50].lower()
    end = text.find("\n", _HEAD)
    head, rest = (text[: end + 1], text[end + 1 :]) if end >= 0 else (text, "")
    content = (repair_faulty_html(head, beginning) + rest).encode("utf-8", "surrogatepass")
    content = content.translate(None, _CONTROLS)  # characters that XML forbids
    if b"\xef" in content:  # hardly a page has any, and one byte is found in no time
        for character in _NO_CHARACTERS:
            content = content.replace(character, b"")
    try:
        tree = html.fromstring(content, parser=_parser())
        problem = _parser().error_log.last_error
        if patient and problem is not None and problem.type_name == _TOO_DEEP:
            tree = html.fromstring(content, parser=_patient_parser())
    except Exception:  # strangers' bytes trip the parser in many ways; it is no page then
        return None
    if plain or "xmlns:" in text[:_HEAD]:
        for element in tree.iter():
            if isinstance(element.tag, str) and not _NAME.fullmatch(element.tag):
                element.tag = "span"
    return None if is_dubious_html(beginning) and len(tree) < 2 and not _TAG.search(text) else tree


def _has_long_piece(text: str) -> bool:
    """Whether so much stands without a `<` in it; only one `<` in each stretch of that length is looked for."""
    place, last = 0, len(text) - _LONG
    while place < last:
        found = text.rfind("<", place + 1, place + _LONG + 1)
        if found < 0:
            return True
        place = found
    return False


def _with_few_attributes(text: str) -> str:
    """The page without the attributes of an element that come after a thousand others."""
    pieces = text.split("<")
    for place, piece in enumerate(pieces):
        if len(piece) > _LONG and (crowded := _CROWDED.match(piece)):
            pieces[place] = crowded[1] + piece[crowded.end() :]
    return "<".join(pieces)


@cache
def _parser() -> Any:
    from trafilatura.utils import HTML_PARSER

    return _made_in_c(HTML_PARSER)


@cache
def _patient_parser() -> Any:
    """A parser for pages up to eight times as deep."""
    from lxml import html

    return _made_in_c(html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True))


def _made_in_c(parser: Any) -> Any:
    """The parser, made to give elements of one class: by default each goes through Python to learn whether it is part
    of a form.
    """
    from lxml import etree, html

    parser.set_element_class_lookup(
        etree.ElementDefaultClassLookup(
            element=html.HtmlElement,
            comment=html.HtmlComment,
            pi=html.HtmlProcessingInstruction,
            entity=html.HtmlEntity,
        )
    )
    return parser
