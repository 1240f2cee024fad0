"""About how many tokens a page's head and its passages take in a pack, told while passages are chosen.

Only the finished pack is counted to the last sign. Until then what is the same on every page is counted once, and a
page's own words are counted in the pieces in which the finished pack will hold them, so that each is counted once.
"""

from __future__ import annotations

from functools import lru_cache

from tasks.packs.pack import (
    Form,
    PackedBlock,
    PackedPage,
    block_json,
    citation_json,
    compact,
    page_json,
    page_markdown,
    quoted,
)
from tasks.packs.sections import Section
from tasks.packs.token_count import TokenCounter

_BLANK = PackedPage("", "", "", "", 0.75, "", "", "", "", (), (), ())


def head_size(page: PackedPage, form: Form, name_wiki: bool, count: TokenCounter) -> int:
    """Tokens of a page's section beside its passages."""
    if form == "markdown":
        return count(page_markdown(page, name_wiki, set()))
    texts = (page.slug, page.source, page.id, page.title, page.wiki, page.confidence, page.status)
    return _frame(count) + count(compact([*texts, *page.tags]))


def section_size(section: Section, form: Form, count: TokenCounter) -> int:
    """Tokens that passages add to a page's section: their text, their places and their citations."""
    if form == "markdown":
        notes = "".join(f"[^{one.label}]: {one.location}#{one.place}\n" for one in section.citations)
        return count(f"{quoted(section.excerpt)}\n\n{notes}")
    size = _text_size(section.excerpt, count)
    for block in section.blocks:
        size += _block_frame(count) + _digits(block.start) + _digits(block.end)
    return size + (count(compact([citation_json(one) for one in section.citations])) if section.citations else 0)


def _text_size(text: str, count: TokenCounter) -> int:
    """What a text adds to JSON, counted as the pieces that `count_tokens` makes of the whole."""
    return count(f'":{compact(text)},"source') - _between(count) if text else 0


def _digits(number: int) -> int:
    """Tokens of a number: three digits are one."""
    return (len(str(number)) + 2) // 3


@lru_cache(maxsize=8)
def _between(count: TokenCounter) -> int:
    return count('":"","source')


@lru_cache(maxsize=8)
def _frame(count: TokenCounter) -> int:
    """Tokens of a page of which nothing is said, its empty texts left out."""
    return count(compact(page_json(_BLANK))) - count(compact([""] * 7))


@lru_cache(maxsize=8)
def _block_frame(count: TokenCounter) -> int:
    return count(compact([block_json(PackedBlock(1, 1))])) - 2
