"""The article of a page whose text is easily found, by trafilatura's main extractor alone.

trafilatura's whole sequence asks two other extractors for their opinion and measures the page for a second try. Where
the main one finds most of a page's paragraphs, or of all its text, that changes hardly a word and takes over
half of the time. Steps that cannot apply to a page are left out; a doubtful result is for the whole sequence.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from tasks.extraction.attribute_paths import translated

_SHORT_PARAGRAPH = 80  # characters
_PLAIN = 1000  # characters in paragraphs, from which they are taken for the text
_OF_PARAGRAPHS = 0.3  # of their text, the least that an article holds: the rest may be comments and other articles
_OF_TEXT = 0.5  # of all text, on pages with few paragraphs
_LEAST = 400  # characters of an article on such pages
_NO_ARTICLE = (  # trafilatura drops these sooner or later; gone before it begins, they are neither copied nor searched
    *("script", "style", "noscript", "template", "head", "link", "svg", "iframe", "object", "embed", "canvas", "map"),
    *("picture", "video", "audio", "nav", "footer", "button", "input", "select", "option", "label"),
)
_REPEATED = 50  # characters of a paragraph from which it is dropped where it stands twice in a row, as trafilatura does
_FORUM = "DiscussionForumPosting"


def written(tree: Any) -> int:
    """Characters of a page's text that stand in paragraphs of a few lines."""
    return sum(size for paragraph in tree.iter("p") if (size := len(paragraph.text_content())) > _SHORT_PARAGRAPH)


@dataclass(frozen=True, slots=True)
class Article:
    """What trafilatura's main extractor found on a page."""

    body: Any
    text: str
    doubtful: bool  # the page needs a closer look


def article(tree: Any, source: str) -> Article | None:
    """The article as the main extractor finds it; None when it is not the one to ask for a page of the text `source`.

    The tree is not changed.
    """
    from trafilatura.main_extractor import _extract, extract_content

    if _FORUM in source:
        return None
    _translate_paths()
    page = _copy(tree)
    size = written(tree)
    whole = 0 if size > _PLAIN else len(" ".join(page.text_content().split()))
    least = max(_LEAST, _OF_TEXT * whole) if whole else _OF_PARAGRAPHS * size
    # this is the first half of `extract_content`, which begins by copying the page, for the few that have little text
    found, text, _ = _extract(_cleaned(page), _options())
    if len(text) < _options().min_extracted_size:
        found, text = extract_content(_cleaned(_copy(tree)), _options())
    else:
        _finish(found)
    return Article(found, text, doubtful=len(text) < least or found.find(".//p") is None)


def _copy(tree: Any) -> Any:
    """The body of a page, for all of the head would go."""
    from lxml import etree

    body = tree.find("body")
    tree = copy(tree if body is None else body)
    etree.strip_elements(tree, *_NO_ARTICLE, with_tail=False)
    return tree


def _cleaned(tree: Any) -> Any:
    """The page without comments and other articles, in the elements that trafilatura's extractor knows."""
    from trafilatura.htmlprocessing import convert_tags, prune_unwanted_nodes, tree_cleaning
    from trafilatura.xpaths import RAW_TREE_PRUNE_XPATH, REMOVE_COMMENTS_AND_LISTS_XPATH

    tree = prune_unwanted_nodes(tree, [*RAW_TREE_PRUNE_XPATH, *REMOVE_COMMENTS_AND_LISTS_XPATH])
    return convert_tags(tree_cleaning(tree, _options()), _options())


def _finish(found: Any) -> None:
    """Takes out of a body what `extract_content` does: marks, boxes, and what says again what stands before it."""
    from lxml import etree

    before = ""
    for element in list(found):
        text = " ".join("".join(element.itertext()).split())
        if text == before and len(text) > _REPEATED:
            found.remove(element)
        else:
            before = text
    etree.strip_elements(found, "done")
    etree.strip_tags(found, "div")


@cache
def _translate_paths() -> None:
    """Has all of trafilatura find what it keeps and drops by a walk in place of XPaths: that is half of its time."""
    from trafilatura import xpaths

    namespaces = {"re": xpaths.REGEXP_NS}
    for paths in (
        xpaths.BODY_XPATH,
        xpaths.OVERALL_DISCARD_XPATH,
        xpaths.TEASER_DISCARD_XPATH,
        xpaths.DISCARD_IMAGE_ELEMENTS,
        xpaths.RAW_TREE_PRUNE_XPATH,
        xpaths.REMOVE_COMMENTS_AND_LISTS_XPATH,
    ):
        paths[:] = [translated(path, namespaces) for path in paths]
    baseline: Any = import_module("trafilatura.baseline")  # the package names a function so
    baseline.BASIC_CLEAN_XPATH = translated(baseline.BASIC_CLEAN_XPATH, namespaces)


@cache
def _options() -> Any:
    from trafilatura.settings import Extractor

    return Extractor(fast=True, comments=False)
