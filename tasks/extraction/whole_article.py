"""The article of a page by trafilatura's whole sequence of extractors, for pages that are not plain."""

from __future__ import annotations

from functools import cache
from typing import Any


def body(tree: Any, url: str) -> Any | None:
    """The article's body as trafilatura gives it, or None when it finds none. The tree is not changed."""
    import trafilatura

    _load_stop_words()
    document: Any = trafilatura.bare_extraction(tree, url=url or None, include_comments=False)
    return None if document is None else document.body


@cache
def _load_stop_words() -> None:
    """Gives jusText, the last of the extractors, its stop words of all languages as one set of lower-case words.

    Left alone it makes such a set of a tuple that trafilatura makes of 100 others: that takes it 0.2 seconds, and to
    find the set again some milliseconds a page.
    """
    from pkgutil import get_data

    from justext import core
    from justext.utils import get_stoplists
    from trafilatura import external

    files = (get_data("justext", f"stoplists/{name}.txt") or b"" for name in get_stoplists())
    words = b"\n".join(files).decode().lower().replace("\r", "").split("\n")
    external.JT_STOPLIST = frozenset(words)  # type: ignore[assignment]  # it says None, and means a tuple
    core.define_stoplist = frozenset  # of a set it is the set itself
