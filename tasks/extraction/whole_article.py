"""The article of a page by trafilatura's whole sequence of extractors, for pages that are not plain."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from functools import cache
from typing import Any


def body(tree: Any) -> Any | None:
    """The article's body as trafilatura gives it, or None when it finds none. The tree is not changed."""
    from trafilatura.core import trafilatura_sequence  # within `bare_extraction`, which goes on to write its Markdown

    _prepare_justext()
    with suppress(TypeError, ValueError):
        found, text, _, _ = trafilatura_sequence(copy(tree), _options())
        return found if text else None
    return None


@cache
def _options() -> Any:
    from trafilatura.settings import Extractor

    return Extractor(comments=False)


@cache
def _prepare_justext() -> None:
    """Has jusText, the last of the extractors, take the stop words of all languages as one set, once it needs them.

    Left alone it makes such a set of a tuple that trafilatura makes of 100 others: that takes it 0.2 seconds, and to
    find the set again some milliseconds a page.
    """
    from justext import core
    from trafilatura import external

    external.jt_stoplist_init = _stop_words  # type: ignore[assignment]  # a set serves as well as a tuple
    core.define_stoplist = frozenset  # of a set it is the set itself


def _stop_words() -> frozenset[str]:
    from pkgutil import get_data

    from justext.utils import get_stoplists
    from trafilatura import external

    files = (get_data("justext", f"stoplists/{name}.txt") or b"" for name in get_stoplists())
    words = frozenset(b"\n".join(files).decode().lower().replace("\r", "").split("\n"))
    external.JT_STOPLIST = words  # type: ignore[assignment]  # it says None, and means a tuple
    return words
