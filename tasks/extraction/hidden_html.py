"""Elements of a web page that no reader sees, taken out before the article is.

What a style attribute, a plain rule of a style sheet or an attribute hides is found without laying the page out;
that costs under a millisecond for a news page. It is no browser: what only a script or a clever rule hides stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

_NOTHING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*(?:0(?:\.\d+)?|1)(?:px|pt"
    r"|em|rem|%)?\s*(?:!important\s*)?(?:;|$)"
    r"|(?:^|[;\s])opacity\s*:\s*0(?:\.0\d*)?\s*(?:!important\s*)?(?:;|$)|(?:text-indent|left|top|right"
    r"|margin-left)\s*:\s*-\d{4,}"
    r"|clip\s*:\s*rect\(\s*0(?:px)?[\s,]+0(?:px)?[\s,]+0(?:px)?[\s,]+0|clip-path\s*:\s*inset\(\s*(?:50"
    r"|100)%|transform\s*:\s*scale\(\s*0\s*\)"
    r"|(?:^|[;\s])color\s*:\s*transparent",
    re.IGNORECASE,
)
_WHITE = r"(?:#f{3}(?:f{3})?\b|white\b|rgba?\(\s*255\s*,\s*255\s*,\s*255)"
_WHITE_TEXT = re.compile(rf"(?:^|[;\s])color\s*:\s*{_WHITE}", re.IGNORECASE)
_BACKGROUND = re.compile(
    r"background(?:-color|-image)?\s*:\s*(?!\s*(?:#f{3}(?:f{3})?\b|white\b"
    r"|rgba?\(\s*255\s*,\s*255\s*,\s*255|none|transparent|inherit))",
    re.IGNORECASE,
)
_ZERO_BOX = re.compile(
    r"(?:^|[;\s])(?:max-)?(?:height|width)\s*:\s*[01](?:px|em|%)?\s*(?:!important\s*)?(?:;|$)", re.IGNORECASE
)
_CLIPPED = re.compile(r"overflow\s*:\s*hidden", re.IGNORECASE)
_SIMPLE = re.compile(r"\s*(?:([.#])([\w-]+))\s*$")
_HINT = re.compile(  # found, blanks aside, wherever `_NOTHING` is; it takes a tenth of its time
    r"visibility:(?:hidden|collapse)|font-size:[01](?:\.|p|e|r|%|!|;|$)|opacity:0(?:\.0|!|;|$)"
    r"|(?:text-indent|left|top|right):-\d{4}|clip:rect\(0|clip-path:inset\((?:50|100)%|transform:scale\(0\)"
    r"|color:transparent"
)
_SUSPECTS = "descendant::*/@style/.. | descendant::*/@hidden/.. | descendant::*/@aria-hidden/.."
MAX_HIDDEN_TEXT = 20_000


@dataclass(frozen=True, slots=True)
class Hidden:
    """How many pieces of text were taken out, and what they said."""

    removed: int
    text: str


def remove(tree: Any, source: str) -> Hidden:
    """Takes hidden elements out of `tree`, in place; `source` is the page's text, for its comments."""
    doomed = [element for element in _query(_SUSPECTS)(tree) if _is_hidden(element)]
    doomed += _by_rule(tree)
    removed, words = 0, []
    for comment in _comments(source):
        removed += 1
        if " " in comment.strip() and "<" not in comment:
            words.append(comment)
    for element in doomed:
        text = (
            " ".join("".join(element.itertext()).split()) if element.tag not in ("script", "style", "template") else ""
        )
        removed += bool(text)
        words.append(text)
        _drop(element)
    return Hidden(removed, "\n".join(filter(None, words))[:MAX_HIDDEN_TEXT])


def _drop(element: Any) -> None:
    """Takes an element out of its tree; the text behind it stays."""
    parent = element.getparent()
    if parent is None:
        return
    if element.tail:
        before = element.getprevious()
        if before is not None:
            before.tail = (before.tail or "") + element.tail
        else:
            parent.text = (parent.text or "") + element.tail
    parent.remove(element)


def _is_hidden(element: Any) -> bool:
    attributes = element.attrib
    if not attributes or element.tag in ("html", "body", "head"):
        return False
    if "hidden" in attributes and attributes["hidden"].lower() != "until-found":
        return True
    if attributes.get("aria-hidden", "").lower() == "true":
        return True
    style = attributes.get("style")
    if not style:
        return False
    if _shows_nothing(style):
        return True
    lowered = style.lower()
    if "overflow" in lowered and _CLIPPED.search(style) and _ZERO_BOX.search(style):
        return True
    return "color" in lowered and bool(_WHITE_TEXT.search(style)) and not _on_colour(element)


def _shows_nothing(style: str) -> bool:
    squeezed = "".join(style.lower().split())
    return "display:none" in squeezed or (_HINT.search(squeezed) is not None and _NOTHING.search(style) is not None)


def _on_colour(element: Any) -> bool:
    """Does the element, or one around it, set a background that white text can be read on?"""
    while element is not None:
        if _BACKGROUND.search(element.get("style") or "") or element.get("bgcolor") or element.get("background"):
            return True
        element = element.getparent()
    return False


def _by_rule(tree: Any) -> list[Any]:
    """Elements that a plain rule (`.class` or `#id` alone) of the page's style sheets hides, whatever the screen."""
    classes: set[str] = set()
    ids: set[str] = set()
    for style in tree.iter("style"):
        sheet = style.text or ""
        lowered = sheet.lower()
        if "none" not in lowered and "hidden" not in lowered and "font-size:0" not in lowered.replace(" ", ""):
            continue
        for selectors, body in _rules(sheet):
            lowered = body.lower()
            if "none" not in lowered and "hidden" not in lowered and "font-size" not in lowered:
                continue
            if not _shows_nothing(body):
                continue
            for selector in selectors.split(","):
                simple = _SIMPLE.match(selector)
                if simple:
                    (classes if simple.group(1) == "." else ids).add(simple.group(2))
    # a page repeats its classes, so that each value is looked at once; few of what a style sheet hides is on the page
    hiding = {value for value in _values(tree, "class") if not classes.isdisjoint(value.split())} if classes else set()
    if not hiding and not (ids and ids.intersection(_values(tree, "id"))):
        return []
    return [
        element
        for element in tree.iterdescendants("*")
        if element.tag != "body" and (element.get("class") in hiding or element.get("id") in ids)
    ]


def _values(tree: Any, attribute: str) -> set[str]:
    return set(_query(f"descendant::*/@{attribute}")(tree))


@cache
def _query(path: str) -> Any:
    from lxml import etree

    return etree.XPath(path, smart_strings=False)


def _rules(sheet: str) -> Iterator[tuple[str, str]]:
    """Selectors and body of each rule outside `@media` and its like; in one pass, for sheets may be broken."""
    depth = 0
    selectors = body = ""
    *closed, _unfinished = sheet.split("}")
    for piece in closed:
        deeper = piece.count("{")
        if not depth and deeper == 1:  # as nearly all are
            selectors, _, body = piece.partition("{")
            if "@" not in selectors:
                yield selectors, body
            continue
        if depth:
            body += piece
        else:
            selectors, _, body = piece.partition("{")
        depth += deeper
        if depth == 1 and "@" not in selectors:
            yield selectors, body
        depth = max(0, depth - 1)
        body += "}"


def _comments(source: str) -> Iterator[str]:
    """What stands in a page's comments; in one pass, for the last may never end."""
    begin = source.find("<!--")
    while begin >= 0:
        end = source.find("-->", begin + 4)
        if end < 0:
            return
        yield source[begin + 4 : end]
        begin = source.find("<!--", end + 3)
