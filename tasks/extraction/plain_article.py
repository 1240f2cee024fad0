"""The article of a page whose text is easily found, by trafilatura's main extractor alone.

trafilatura's whole sequence asks two other extractors for their opinion and measures the page for a second try. Where
the main one finds most of a page's paragraphs, or of all its text, that changes hardly a word and takes over
half of the time. Steps that cannot apply to a page are left out; a doubtful result is for the whole sequence.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

_SHORT_PARAGRAPH = 80  # characters
_PLAIN = 1000  # characters in paragraphs, from which they are taken for the text
_OF_PARAGRAPHS = 0.3  # of their text, the least that an article holds: the rest may be comments and other articles
_OF_TEXT = 0.5  # of all text, on pages with few paragraphs
_LEAST = 400  # characters of an article on such pages
_NO_ARTICLE = (  # trafilatura drops these sooner or later; gone before it begins, they are neither copied nor searched
    *("script", "style", "noscript", "template", "head", "link", "svg", "iframe", "object", "embed", "canvas", "map"),
    *("picture", "video", "audio", "nav", "footer", "button", "input", "select", "option", "label"),
)
_COMMENTS = re.compile(  # names of elements that hold what readers say; each name begins a line
    r"\n(?:[Cc]omment|comol|disqus_thread|dsq-comments)|(?:article|post)-comments"
)
_APPENDED = ("mvp-post-add", "nfinite", "elementor-share")  # ... that hold further articles and buttons
_FORUM = "DiscussionForumPosting"


def written(tree: Any) -> int:
    """Characters of a page's text that stand in paragraphs of a few lines."""
    return sum(size for paragraph in tree.iter("p") if (size := len(paragraph.text_content())) > _SHORT_PARAGRAPH)


def body(tree: Any, source: str) -> Any | None:
    """The article's body as trafilatura gives it, or None when the page, of the text `source`, needs a closer look.

    The tree is used up.
    """
    from lxml import etree
    from trafilatura.htmlprocessing import convert_tags, prune_unwanted_nodes, tree_cleaning
    from trafilatura.main_extractor import extract_content
    from trafilatura.xpaths import RAW_TREE_PRUNE_XPATH, REMOVE_COMMENTS_AND_LISTS_XPATH

    if _FORUM in source:
        return None
    _ask_of_attributes()
    size = written(tree)
    etree.strip_elements(tree, *_NO_ARTICLE, with_tail=False)
    whole = 0 if size > _PLAIN else len(" ".join(tree.text_content().split()))
    least = max(_LEAST, _OF_TEXT * whole) if whole else _OF_PARAGRAPHS * size
    names = "\n".join(["", *_names()(tree)])
    if any(name in names for name in _APPENDED):
        tree = prune_unwanted_nodes(tree, RAW_TREE_PRUNE_XPATH)
    if _COMMENTS.search(names):
        tree = prune_unwanted_nodes(tree, REMOVE_COMMENTS_AND_LISTS_XPATH)
    cleaned = convert_tags(tree_cleaning(tree, _options()), _options())
    found, text = extract_content(cleaned, _options())
    return found if len(text) >= least and found.find(".//p") is not None else None


@cache
def _ask_of_attributes() -> None:
    """Has trafilatura's paths pass over elements without attributes, for attributes are all that these paths ask of.

    The same elements are found in two thirds of the time: each question costs a call from libxml2 into Python.
    """
    from lxml import etree
    from trafilatura import xpaths

    for paths in (
        xpaths.BODY_XPATH,
        xpaths.OVERALL_DISCARD_XPATH,
        xpaths.TEASER_DISCARD_XPATH,
        xpaths.DISCARD_IMAGE_ELEMENTS,
        xpaths.RAW_TREE_PRUNE_XPATH,
        xpaths.REMOVE_COMMENTS_AND_LISTS_XPATH,
    ):
        paths[:] = [
            etree.XPath(path.path.replace(".//*[", ".//*[@*][", 1), namespaces={"re": xpaths.REGEXP_NS})
            for path in paths
        ]


@cache
def _options() -> Any:
    from trafilatura.settings import Extractor

    return Extractor(fast=True, comments=False)


@cache
def _names() -> Any:
    from lxml import etree

    return etree.XPath("//@id | //@class", smart_strings=False)
