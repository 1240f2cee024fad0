"""The article of a page by trafilatura's whole sequence of extractors, for pages that are not plain."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from copy import copy
from functools import cache
from typing import Any

from tasks.extraction.plain_article import Article

_FARTHEST = 1000  # lines between a short one and the paragraph that it belongs to


def body(tree: Any, first: Article | None) -> Any | None:
    """The article's body as trafilatura gives it, or None when it finds none. The tree is not changed.

    `first` is what the first of its extractors found already.
    """
    from trafilatura.core import trafilatura_sequence  # within `bare_extraction`, which goes on to write its Markdown

    if first is not None and _stays(first, tree):
        return first.body
    _prepare_justext()
    with suppress(TypeError, ValueError):
        found, text, _, _ = trafilatura_sequence(copy(tree), _options())
        return found if text else None
    return None


def _stays(first: Article, tree: Any) -> bool:
    """Whether the others, asked as the sequence asks them, would leave the first one's answer as it is."""
    from lxml import etree
    from trafilatura.baseline import html2txt
    from trafilatura.core import ESCALATION_MAX_LENGTH, ESCALATION_PAGE_SHARE
    from trafilatura.external import SANITIZED_XPATH, _prefer_readability, try_readability
    from trafilatura.htmlprocessing import prune_unwanted_nodes
    from trafilatura.xpaths import RAW_TREE_PRUNE_XPATH, REMOVE_COMMENTS_AND_LISTS_XPATH

    size = len(first.text)
    if size < _options().min_extracted_size or first.body.xpath(SANITIZED_XPATH):
        return False
    page = prune_unwanted_nodes(copy(tree), [*RAW_TREE_PRUNE_XPATH, *REMOVE_COMMENTS_AND_LISTS_XPATH])
    if size < ESCALATION_MAX_LENGTH and size < ESCALATION_PAGE_SHARE * len(html2txt(page)):
        return False
    other = try_readability(page)
    text = " ".join(etree.tostring(other, method="text", encoding="unicode").split())
    return not _prefer_readability(first.body, other, text, size, len(text), _options())


@cache
def _options() -> Any:
    from trafilatura.settings import Extractor

    return Extractor(comments=False)


@cache
def _prepare_justext() -> None:
    """Has jusText, the last of the extractors, take the stop words of all languages as one set, once it needs them.

    Left alone it makes such a set of a tuple that trafilatura makes of 100 others: that takes it 0.2 seconds, and to
    find the set again some milliseconds a page. Its search among short lines is bounded.
    """
    from justext import core
    from trafilatura import external

    external.jt_stoplist_init = _stop_words  # type: ignore[assignment]  # a set serves as well as a tuple
    core.define_stoplist = frozenset  # of a set it is the set itself
    core._get_neighbour = _nearby(core._get_neighbour)


def _nearby(neighbour: Callable[..., str]) -> Callable[..., str]:
    """jusText's search for the next paragraph that says what a short line belongs to, as far as is reasonable.

    It begins anew at each line: a page of 20,000 would keep it for a minute.
    """

    def bounded(place: int, paragraphs: list[Any], ignore_neargood: bool, step: int, end: int) -> str:
        farthest = place + step * _FARTHEST
        return neighbour(place, paragraphs, ignore_neargood, step, (min if step > 0 else max)(end, farthest))

    return bounded


def _stop_words() -> frozenset[str]:
    from pkgutil import get_data

    from justext.utils import get_stoplists
    from trafilatura import external

    files = (get_data("justext", f"stoplists/{name}.txt") or b"" for name in get_stoplists())
    words = frozenset(b"\n".join(files).decode().lower().replace("\r", "").split("\n"))
    external.JT_STOPLIST = words  # type: ignore[assignment]  # it says None, and means a tuple
    return words
