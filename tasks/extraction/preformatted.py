"""Web pages that are a plain text between two tags, as standards, letters and the archives of mailing lists are.

An extractor takes such a text for one long quotation, and its paragraphs are lost.
"""

from __future__ import annotations

from typing import Any

from tasks.extraction import text
from tasks.records import Part

_MOST = 0.6  # share of a page's text that stands preformatted
_LEAST = 400  # characters of it


def parts(tree: Any) -> tuple[Part, ...]:
    """The paragraphs of such a page; none for other pages, and for those that show a program."""
    blocks = [block for block in tree.iter("pre") if block.find(".//code") is None]
    texts = ["".join(block.itertext()) for block in blocks]
    size = sum(map(len, texts))
    body = tree.find(".//body")
    whole = len((tree if body is None else body).text_content()) if size >= _LEAST else 0
    return text.extract("\n\n".join(texts)).parts if size >= _LEAST and size > _MOST * whole else ()
