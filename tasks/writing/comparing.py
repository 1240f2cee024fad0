"""The contradictions that a model names in a source: both sentences found at their places, or the reason against."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tasks.contradictions.claims import Claim, Clash
from tasks.writing.clash import clash, refused
from tasks.writing.page import SourceFacts
from tasks.writing.passages import Passages
from tasks.writing.write import Found, whole_sentence


@dataclass(frozen=True, slots=True)
class Compared:
    """Contradictions that hold when both sentences are looked at, and the others with the reason."""

    clashes: tuple[Clash, ...]
    refused: tuple[str, ...]


def compare(
    named: Iterable[Found],
    source: Passages,
    page_id: str,
    subject: str,
    facts: Callable[[str], SourceFacts],
) -> Compared:
    """What holds of the contradictions that a model named between a page and a source."""
    held: dict[str, Clash] = {}
    dropped = []
    for found in named:
        said, reply = found.sentence, found.reply
        quote = whole_sentence(reply.words, found.passage.text)
        why = _unfounded(found, quote, source)
        if not why:
            scopes = (reply.scope_on_page, reply.scope_in_source)
            dates = (reply.date_on_page, reply.date_in_source)
            why = refused(said.citations[0].quote, quote, source.title, scopes, dates)
        if why:
            dropped.append(f"no contradiction: “{said.text}” and “{reply.words}” ({why})")
            continue
        cited = said.citations[0]
        before = facts(cited.source_id).published
        old = Claim(page_id, cited.source_id, cited.target, cited.anchor, cited.quote, before)
        now = facts(source.source_id).published
        new = Claim(page_id, source.source_id, source.target, found.passage.anchor, quote, now)
        one = clash(subject, old, new, " ".join(reply.reason.split()) or "the model says so")
        held.setdefault(one.id, one)
    return Compared(tuple(held.values()), tuple(dropped))


def _unfounded(found: Found, quote: str, source: Passages) -> str:
    """Why there are no two sentences of two sources to compare, or ''."""
    if not quote:
        return "the words do not stand in the passage"
    if not found.sentence.citations:
        return "the page's sentence has no source"
    return "both are of one source" if found.sentence.citations[0].source_id == source.source_id else ""
