"""The page that a web page sends its readers on to, by `<meta http-equiv="refresh">` as servers without settings do.

Such a page holds no more than "you are being redirected"; what was asked for lies where it leads. One that waits longer
is a page to be read, which moves on when its reader has gone.
"""

from __future__ import annotations

import html
import re

_HEAD_BYTES = 65_536
_LONGEST = 10.0  # seconds before it moves on
_HIDDEN = re.compile(
    rb"<!--.*?(?:-->|$)|<(script|style|noscript|template|textarea|xmp)\b.*?(?:</\1\s*>|$)", re.I | re.S
)
_META = re.compile(rb"""<meta\b((?:[^>"']|"[^"]*"|'[^']*')*)>""", re.IGNORECASE)
_VALUE = re.compile(r"""([^\s"'=<>/]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_REFRESH = re.compile(r"""\s*(\d*(?:\.\d*)?)\s*(?:[;,]|\s)\s*(?:url\s*=\s*)?(?:"([^"]*)|'([^']*)|(.*))""", re.I | re.S)


def leads_to(body: bytes, content_type: str, header: str = "") -> str:
    """The reference, as it stands there, that a page leads on to within seconds; '' when it is to be read itself.

    `header` is what the server said in a header of that name.
    """
    if onward := _reference(header):
        return onward
    media = content_type.partition(";")[0].strip().lower()
    if media not in ("", "text/html", "application/xhtml+xml"):
        return ""
    head = body[:_HEAD_BYTES]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        head = head.decode("utf-16", "replace").encode()
    if b"refresh" not in head.lower():
        return ""
    for meta in _META.finditer(_HIDDEN.sub(b"", head)):
        named = {name.lower(): "".join(values) for name, *values in _VALUE.findall(_text(meta[1]))}
        if named.get("http-equiv", "").strip().lower() != "refresh":
            continue
        return _reference(html.unescape(named.get("content", "")))
    return ""


def _reference(content: str) -> str:
    """Where `5; url=page.html` leads; '' for a page that stays, or waits for long."""
    told = _REFRESH.match(content)
    soon = told is not None and told[1].strip(".") != "" and float(told[1]) <= _LONGEST
    return next(filter(None, told.groups()[1:]), "").strip() if told is not None and soon else ""


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")
