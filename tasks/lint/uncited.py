"""Sentences of ours without a citation."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tasks.compiling.confidence import stands
from tasks.lint.desk import Desk, OwnBlock
from tasks.lint.model import WARNING, Check, Issue
from tasks.markdown import plain, sentences
from tasks.records import BlockKind, PageRecord

_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])[ \t]+", re.M)
_REFERENCES = re.compile(r"((?:\[\^[^\]\s]+\])+)")
_LABEL = re.compile(r"\[\^([^\]\s]+)\]")
_LINKS = re.compile(r"!?\[\[[^\[\]]+\]\]|!?\[[^\[\]]*\]\([^()\s]*\)")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_PERHAPS = re.compile(
    r"""^(?!\[\^|[#|>`<])[^\n]*(?:[.!?。！？]["'”’)]*(?:\ +[^\s\[]|(?<=[。！？])[^\s\[])|[^\]\s]\s*$)""", re.M | re.X
)
_SAYS = 3
"""Words from which a piece of text says something."""


def _find(desk: Desk) -> Iterator[Issue]:
    for page in desk.pages:
        if page.adopted or not page.citations or not _PERHAPS.search(page.markdown, desk.properties(page).start):
            continue  # a line that ends in a reference, with no full stop before it, is cited
        quotes = {citation.label: citation.quote for citation in page.citations}
        for own in desk.own_blocks(page):
            if own.block.kind in (BlockKind.PARAGRAPH, BlockKind.LIST):
                yield from _of_block(page, own, quotes)


def _of_block(page: PageRecord, own: OwnBlock, quotes: dict[str, str]) -> Iterator[Issue]:
    text = own.block.text
    items = _ITEM.split(text) if own.block.kind is BlockKind.LIST else [text]
    at = 0
    for item in items:
        at = text.find(item, at)
        for sentence in _uncited(item, quotes):
            line = page.markdown.count("\n", 0, own.start + at) + 1
            short = sentence if len(sentence) <= 80 else sentence[:79] + "…"
            yield CHECK.issue(page.path, line, f"'{short}' has no citation", "nightwiki ingest --force")
        at += len(item)


def _uncited(item: str, quotes: dict[str, str]) -> Iterator[str]:
    pieces = _REFERENCES.split(item)
    for number in range(0, len(pieces), 2):
        said = sentences.split(plain.plain(_LINKS.sub(_words, pieces[number])))
        bare = not _LETTERS.search(_LINKS.sub("", pieces[number]))
        labels = _LABEL.findall(pieces[number + 1]) if number + 1 < len(pieces) else ()
        for place, sentence in enumerate(said):
            if bare or len(sentences.words(sentence)) < _SAYS or (labels and place == len(said) - 1):
                continue
            if not any(stands(sentence, quotes.get(label, "")) >= 0.9 for label in labels):
                yield sentence


def _words(match: re.Match[str]) -> str:
    return plain.plain(match[0])


CHECK = Check("uncited", WARNING, "Every sentence that the pipeline wrote names its source.", _find)
