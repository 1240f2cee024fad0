"""The blocks of a page, in the order in which it is read: lead, key facts, sections, tables.

A block holds sentences of one source (the list of key facts aside), and its key is made of section, source and a
running number: a corrected source changes its own blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from tasks.compiling import choice, overlap
from tasks.compiling.analysis import Table
from tasks.compiling.material import Quote, Use, label, section_of
from tasks.compiling.page_words import PageWords
from tasks.compiling.vocabulary import STOP_WORDS
from tasks.markdown import sentences
from tasks.markdown.escape import escape_inline, escape_paragraph
from tasks.records import BlockKind, Citation, ProposedBlock

_MARKED = frozenset({"html", "pdf"})  # media whose text carries reference marks
_MOST_FACTS = 6
_MOST_WORDS_IN_FACT = 30
_PARAGRAPH = 4  # sentences
_POINTS_BACK = re.compile(r"\b(?:it|he|she|they|them|him|his|her|its|their|this|these|those)\b")  # in lower case


class Layout:
    """Blocks in the order of the page."""

    def __init__(self, words: PageWords) -> None:
        self._words = words
        self._blocks: list[ProposedBlock] = []

    def write(
        self,
        title: str,
        ordered: Sequence[Use],
        joined: overlap.Joined,
        tables: Sequence[tuple[Use, Table, str]],
        keys: frozenset[str],
    ) -> list[ProposedBlock]:
        """All blocks: title, lead, key facts, then the sections of the sources with their tables."""
        self._blocks.append(ProposedBlock("title", BlockKind.HEADING, f"# {escape_inline(title)}", level=1))
        lead = _lead(ordered, joined.kept)
        if lead:
            self._paragraph(f"lead:{lead[0].use.source_id}:0", lead)
        rest = _without(joined.kept, lead)
        facts = _facts(rest, keys)
        if facts:
            self._heading("facts", self._words.facts)
            self._list("facts", facts)
            rest = _without(rest, facts)
        headings = {"": ""}
        for use in ordered:
            for number, part in enumerate(use.notes.sections):
                if use.main:
                    headings.setdefault(section_of(use, number, keys), part.heading)
        filled = {quote.section for quote in rest} | {section for _, _, section in tables}
        headings[""] = self._words.overview if filled - {""} else self._words.details
        for section, heading in headings.items():
            if section in filled:
                self._section(section, heading, ordered, rest, tables)
        return self._blocks

    def _section(
        self,
        section: str,
        heading: str,
        ordered: Sequence[Use],
        rest: Sequence[Quote],
        tables: Sequence[tuple[Use, Table, str]],
    ) -> None:
        only_table = not any(quote.section == section for quote in rest) and len(self._blocks) == 1
        if section or not only_table:
            self._heading(section or "overview", heading)
        for use in ordered:
            here = [quote for quote in rest if quote.use is use and quote.section == section]
            for number, group in enumerate(_groups(here)):
                key = f"{section or 'overview'}:{use.source_id}:{number}"
                if group[0].sentence.item:
                    self._list(key, group)
                else:
                    self._paragraph(key, group)
            own = [table for owner, table, place in tables if owner is use and place == section]
            for number, table in enumerate(own):
                self._table(f"{section or 'overview'}:{use.source_id}:t{number}", use, table)

    def _heading(self, key: str, text: str) -> None:
        self._blocks.append(ProposedBlock(f"h:{key}", BlockKind.HEADING, f"## {escape_inline(text)}", level=2))

    def _paragraph(self, key: str, quotes: Sequence[Quote]) -> None:
        cited = [_cited(quote) for quote in quotes]
        text = sentences.gap(quotes[0].sentence.text).join(text for text, _ in cited)
        self._blocks.append(ProposedBlock(key, BlockKind.PARAGRAPH, text, tuple(citation for _, citation in cited)))

    def _list(self, key: str, quotes: Sequence[Quote]) -> None:
        cited = [_cited(quote) for quote in quotes]
        before = self._blocks[-1]
        mark = (
            "*" if before.kind == BlockKind.LIST and before.text.startswith("-") else "-"
        )  # else two lists become one
        text = "\n".join(f"{mark} {text}" for text, _ in cited)
        self._blocks.append(ProposedBlock(key, BlockKind.LIST, text, tuple(citation for _, citation in cited)))

    def _table(self, key: str, use: Use, table: Table) -> None:
        quote = ", ".join(cell for cell in table.rows[0] if cell)
        citation = Citation(use.source_id, use.target, table.anchor, quote, label(use.source_id, table.anchor, quote))
        rows = [[_cell(cell) for cell in row] for row in table.rows]
        last = max(at for at, cell in enumerate(rows[0]) if cell or at == 0)
        rows[0][last] += f"[^{citation.label}]"
        if table.left_out:
            rows.append([self._words.rows_left_out(table.left_out), *("" for _ in rows[0][1:])])
        lines = [f"| {' | '.join(row)} |" for row in rows]
        lines.insert(1, f"|{' --- |' * len(rows[0])}")
        self._blocks.append(ProposedBlock(key, BlockKind.TABLE, "\n".join(lines), (citation,)))


def _without(quotes: Sequence[Quote], taken: Sequence[Quote]) -> list[Quote]:
    """The quotes that are not among those `taken`."""
    gone = {quote.order for quote in taken}
    return [quote for quote in quotes if quote.order not in gone]


def _cell(text: str) -> str:
    return escape_inline(text).replace("|", "\\|")


def _cited(quote: Quote) -> tuple[str, Citation]:
    """The sentence as Markdown with its footnote reference, and the citation."""
    text, use = quote.sentence.text, quote.use
    citation = Citation(
        use.source_id,
        use.target,
        quote.sentence.anchor,
        text,
        label(use.source_id, quote.sentence.anchor, text),
    )
    shown = sentences.unmarked(text) if use.notes.media in _MARKED else text
    return f"{escape_paragraph(shown)}[^{citation.label}]", citation


def _lead(ordered: Sequence[Use], kept: Sequence[Quote]) -> list[Quote]:
    """The lead of the first source that has one; a definition goes before a mere beginning."""
    for defining in (True, False):
        for use in ordered:
            if use.main and use.notes.lead and (use.notes.defines or not defining):
                wanted = {use.notes.sentences[at].text for at in use.notes.lead}
                found = [quote for quote in kept if quote.use is use and quote.sentence.text in wanted]
                if found:
                    return found
    return []


def _facts(rest: Sequence[Quote], keys: frozenset[str]) -> list[Quote]:
    """Sentences with figures or dates that can stand alone, taken where what is left still reads well."""
    prose = [quote for quote in rest if not quote.sentence.item]
    if len(prose) < 6:
        return []
    names = {sentences.stem(word) for key in keys for word in key.split("-") if word not in STOP_WORDS}
    needed = {before.order for before, quote in pairwise(prose) if before.use is quote.use and _needs_more(quote)}
    fitting = [quote for quote in prose if quote.order not in needed and _is_fact(quote, names)]
    fitting.sort(key=lambda quote: (-len(overlap.figures(quote.sentence.text)), -quote.sentence.score, quote.order))
    found: list[Quote] = []
    for quote in fitting:
        left = [
            other
            for other in prose
            if other.use is quote.use and other.section == quote.section and other is not quote and other not in found
        ]
        whole = not quote.section or len(left) > 1 or (len(left) == 1 and sentences.length(left[0].sentence.text) > 11)
        if whole and len(found) < min(_MOST_FACTS, len(prose) // 3):  # no section is left with a stub
            found.append(quote)
    return sorted(found, key=lambda quote: quote.order) if len(found) > 1 else []


def _is_fact(quote: Quote, names: set[str]) -> bool:
    text = quote.sentence.text
    return (
        bool(overlap.figures(text))
        and not quote.sentence.leans
        and choice.is_prose(text)
        and sentences.length(text) <= _MOST_WORDS_IN_FACT
        and not text.startswith(('"', "“", "'", "‘", "«", "„"))
        and (_POINTS_BACK.search(text.lower()) is None or not quote.words.isdisjoint(names))
    )


def _needs_more(quote: Quote) -> bool:
    """Whether a sentence reads as the next one of another: it opens with a pronoun, or soon comes to one."""
    opening = quote.sentence.text.lower().split(None, 5)[:5]
    return quote.sentence.leans or _POINTS_BACK.search(" ".join(opening)) is not None


def _groups(quotes: Sequence[Quote]) -> Iterable[list[Quote]]:
    """Paragraphs of two to four sentences, cut where the source cuts if possible; items of a list together."""
    group: list[Quote] = []
    for quote in quotes:
        if group:
            before = group[-1].sentence
            other = quote.sentence.item != before.item
            moved = quote.sentence.paragraph != before.paragraph
            full = len(group) >= (12 if before.item else _PARAGRAPH) or (
                moved and len(group) >= 2 and not quote.sentence.leans
            )
            if other or (full and not (before.item and not moved)):
                yield group
                group = []
        group.append(quote)
    if group:
        yield group
