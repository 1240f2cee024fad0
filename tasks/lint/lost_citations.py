"""Citations whose words no longer stand where they point to."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Iterator

from tasks.compiling.confidence import stands
from tasks.lint.desk import Desk
from tasks.lint.model import ERROR, Check, Issue
from tasks.markdown import links
from tasks.records import Citation, PageRecord

_ESCAPED = re.compile(r"\\([^\w\s])")
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$", re.M)


def _find(desk: Desk) -> Iterator[Issue]:
    by_target: dict[str, list[tuple[PageRecord, Citation]]] = defaultdict(list)
    for page in desk.pages:
        for citation in page.citations:
            by_target[citation.target].append((page, citation))
    found: list[tuple[str, int, Issue]] = []
    for target, cited in by_target.items():
        for page, citation, why in _lost(desk, target, cited):
            line = _line(page.markdown, citation.label)
            short = citation.quote if len(citation.quote) <= 60 else citation.quote[:59] + "…"
            issue = CHECK.issue(page.path, line, f'"{short}" {why}', "Read the source again: nightwiki sources retry")
            found.append((page.path, line, issue))
    yield from (issue for _, _, issue in sorted(found, key=lambda one: one[:2]))


def _lost(
    desk: Desk, target: str, cited: list[tuple[PageRecord, Citation]]
) -> Iterator[tuple[PageRecord, Citation, str]]:
    if not target.lower().endswith(".md"):
        yield from _lost_of_document(desk, target, cited)
        return
    text = desk.material.read(target)
    if text is None:
        yield from ((page, citation, f"cites {target}, which is gone") for page, citation in cited)
        return
    flat = " ".join(text.split())
    for page, citation in cited:
        if " ".join(citation.quote.split()) not in flat and not _stands(citation, text):
            yield page, citation, f"does not stand in {target} any more"


def _lost_of_document(
    desk: Desk, target: str, cited: list[tuple[PageRecord, Citation]]
) -> Iterator[tuple[PageRecord, Citation, str]]:
    for page, citation in cited:
        document = desk.material.document(citation.source_id)
        if document is None:
            continue
        place = " ".join(part.text for part in document.parts if part.anchor == citation.anchor)
        if citation.quote not in place and not _all_words(citation.quote, place):
            yield page, citation, f"does not stand in {target} any more"


def _stands(citation: Citation, text: str) -> bool:
    """Whether the words stand at the cited paragraph or below the cited heading, marks of Markdown aside."""
    if citation.anchor.startswith("^"):
        match = re.search(rf"{re.escape(citation.anchor)}[ \t]*\r?$", text, re.M)
        if match is None:
            return False
        before = [found.end() for found in re.finditer(r"(?<!\S)\^p\d+[ \t]*\r?$", text, re.M)]
        start = max((end for end in before if end < match.end()), default=0)
        return _all_words(citation.quote, text[start : match.start()])
    headings = list(_HEADING.finditer(text))
    key = links.heading_key(citation.anchor.rpartition("#")[2])
    ends = [*(heading.start() for heading in headings[1:]), len(text)]
    for heading, end in zip(headings, ends, strict=False):
        if links.heading_key(heading[1]) == key and _all_words(citation.quote, text[heading.start() : end]):
            return True
    return not key and _all_words(citation.quote, text)


def _all_words(quote: str, place: str) -> bool:
    return stands(quote, html.unescape(_ESCAPED.sub(r"\1", place))) == 1.0


def _line(markdown: str, label: str) -> int:
    at = markdown.find(f"\n[^{label}]:")
    return markdown.count("\n", 0, at + 1) + 1 if at >= 0 else 0


CHECK = Check("lost-citation", ERROR, "The words that a citation quotes stand where it points to.", _find)
