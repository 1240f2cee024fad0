"""A page out of the notes of all its sources: lead, key facts, sections, tables.

Everything is a function of the set of sources. A block holds sentences of one source (the list of key facts
aside), and its key is made of section, source and a running number: a corrected source changes its own blocks.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from tasks.compiling import choice, overlap, subjects, tagging
from tasks.compiling.analysis import Analysis, Sentence, Table
from tasks.compiling.confidence import MANY_WORDS, Evidence, judge
from tasks.compiling.page_words import PageWords, main_language, page_words
from tasks.compiling.vocabulary import STOP_WORDS
from tasks.contradictions.claims import Claim, Clash
from tasks.contradictions.find import Statement, find, named
from tasks.markdown import sentences
from tasks.markdown.escape import escape_inline, escape_paragraph
from tasks.records import BlockKind, Citation, PageProposal, ProposedBlock

_RESERVED = frozenset({"title", "lead", "facts"})  # keys of blocks that every page may have
_MARKED = frozenset({"html", "pdf"})  # media whose text carries reference marks
_MOST_FACTS = 6
_MOST_WORDS_IN_FACT = 30
_PARAGRAPH = 4  # sentences
_MOST_ON_PAGE = 150  # sentences of all sources together


_POINTS_BACK = re.compile(r"\b(?:it|he|she|they|them|him|his|her|its|their|this|these|those)\b")  # in lower case


@dataclass(frozen=True, slots=True)
class Use:
    """The notes on a source, and how the page uses them: whole (`main`), or the sections with these keys."""

    source_id: str
    target: str
    notes: Analysis
    main: bool
    sections: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence on its way to the page."""

    use: Use
    sentence: Sentence
    section: str
    words: frozenset[str] = field(compare=False)
    order: tuple[int, int] = (0, 0)


def label(source_id: str, anchor: str, quote: str) -> str:
    """The footnote label of a quotation: 'nw-' and 8 hex digits over source, place and words."""
    return "nw-" + hashlib.sha256("\x1f".join((source_id, anchor, quote)).encode()).hexdigest()[:8]


def assemble(
    key: str, keys: frozenset[str], uses: Sequence[Use], limit: int, rivals: Sequence[str] = ()
) -> PageProposal | None:
    """The page of a subject from its sources, or None when they hold nothing to quote."""
    ordered = sorted(uses, key=_rank)
    title, aliases = _names(key, ordered)
    quotes = _quotes(ordered, keys, limit)
    tables = [
        (use, table, _section(use, table.section, keys))
        for use in ordered
        for table in use.notes.tables
        if _wanted(use, table.section)
    ]
    if not quotes and not tables:
        return None
    joined = overlap.join(quotes)
    language = main_language(use.notes.language for use in ordered)
    page = _Page(page_words(language))
    body = page.write(title, ordered, joined, tables, keys)
    citing = {citation.source_id for block in body for citation in block.citations}
    verdict = judge(_evidence(ordered, joined, tables, citing, rivals))
    suspicious = any(use.notes.injection_suspected for use in ordered)
    mains = [use for use in ordered if use.main] or ordered
    return PageProposal(
        subject=key,
        page_id="",
        title=title,
        blocks=tuple(body),
        sources=tuple(use.source_id for use in ordered),
        aliases=aliases,
        tags=_tags(mains, keys),
        type=mains[0].notes.type if len(mains) == 1 else "topic",
        confidence=verdict.level,
        reasons=verdict.reasons,
        stage=("injection_suspected",) if suspicious else (),
        clashes=_clashes(key, joined.kept, keys),
        language=language,
    )


def _clashes(key: str, kept: Sequence[Quote], keys: frozenset[str]) -> tuple[Clash, ...]:
    """Where sources that are about the subject contradict each other; a single one is not compared with itself."""
    mains = [quote for quote in kept if quote.use.main]
    if len({quote.use.source_id for quote in mains}) < 2:
        return ()
    return find(key, [_statement(quote) for quote in mains], named(sorted(keys)))


def _statement(quote: Quote) -> Statement:
    notes, sentence = quote.use.notes, quote.sentence
    claim = Claim("", quote.use.source_id, quote.use.target, sentence.anchor, sentence.text, notes.published)
    at = quote.order[1]
    before, following = (
        notes.sentences[n].text
        if 0 <= n < len(notes.sentences) and notes.sentences[n].paragraph == sentence.paragraph
        else ""
        for n in (at - 1, at + 1)
    )
    return Statement(claim, before, following)


def _rank(use: Use) -> tuple[bool, bool, int, int, str]:
    """Best source first: about the subject, defining it, well extracted, rich; then by id."""
    notes = use.notes
    quality = 0 if notes.quality >= 0.8 else 1 if notes.quality >= 0.5 else 2
    return (not use.main, not notes.defines, quality, -min(notes.total, 40) // 8, use.source_id)


def _names(key: str, ordered: Sequence[Use]) -> tuple[str, tuple[str, ...]]:
    """Title and aliases: the title whose key the page has, the other titles and names as aliases."""
    mains = [use.notes for use in ordered if use.main]
    fitting = [notes.title for notes in mains if notes.subject == key] or [notes.title for notes in mains] or [key]
    counted = Counter(fitting)
    title = min(counted, key=lambda name: (-counted[name], len(name), name))
    others = [name for notes in mains for name in (notes.title, *notes.aliases, notes.short)]
    return title, subjects.fit_aliases(
        title, [name for name in others if subjects.key_of(name) != subjects.key_of(title) or name != title]
    )


def _wanted(use: Use, section: int) -> bool:
    return use.main or (section < len(use.notes.sections) and use.notes.sections[section].subject in use.sections)


def _section(use: Use, number: int, keys: frozenset[str]) -> str:
    """Key of the page's section for a section of a source; '' where it has none, or the page's own name."""
    section = use.notes.sections[number]
    if not use.main or section.subject in keys or section.key in ("overview", "details"):
        return ""
    return f"{section.key}-section" if section.key in _RESERVED else section.key


def _quotes(ordered: Sequence[Use], keys: frozenset[str], limit: int) -> list[Quote]:
    """What each source brings, lead first; later sources of a crowded page bring less."""
    found: list[Quote] = []
    for number, use in enumerate(ordered):
        room = min(limit if number < 3 else max(5, limit // 3), _MOST_ON_PAGE - len(found))
        lead = set(use.notes.lead) if use.main else set()
        fitting = [
            (at, sentence)
            for at, sentence in enumerate(use.notes.sentences)
            if (use.main and sentence.chosen) or (not use.main and _wanted(use, sentence.section))
        ]
        best = sorted(fitting, key=lambda item: (item[0] not in lead, -item[1].score, item[0]))[: max(room, 0)]
        for at, sentence in sorted(best, key=lambda item: item[0]):
            words = frozenset(sentences.words(sentence.text))
            found.append(Quote(use, sentence, _section(use, sentence.section, keys), words, (number, at)))
    return found


def _tags(mains: Sequence[Use], keys: frozenset[str]) -> tuple[str, ...]:
    """The tags that most sources rank highest, no two alike, none that only repeats the page's name."""
    points: Counter[str] = Counter()
    for use in mains:
        for place, tag in enumerate(use.notes.tags):
            points[tag] += 10 - place
    ranked = [tag for tag, _ in sorted(points.items(), key=lambda item: (-item[1], item[0]))]
    own = {word for key in keys for word in key.split("-")}
    other = [tag for tag in ranked if not own.intersection(tag.split("-"))] if len(mains) > 1 else ranked
    found: list[str] = []
    for tag in other if len(other) > 1 else ranked:
        if len(found) < 5 and not any(tagging.alike(tag, before) for before in found):
            found.append(tag)
    return tuple(found)


def _evidence(
    ordered: Sequence[Use],
    joined: overlap.Joined,
    tables: Sequence[tuple[Use, Table, str]],
    citing: set[str],
    rivals: Sequence[str],
) -> Evidence:
    weight = {use.source_id: 1 + sum(quote.use is use for quote in joined.kept) for use in ordered}
    whole = sum(weight.values())
    poor = [reason for use in ordered if use.notes.quality < 0.8 for reason in use.notes.quality_reasons]
    said = joined.kept
    cells = _length(cell for _, table, _ in tables for row in table.rows for cell in row)
    return Evidence(
        quality=sum(use.notes.quality * weight[use.source_id] for use in ordered) / whole,
        quality_reasons=tuple(dict.fromkeys(poor)),
        supported=sum(use.notes.supported * weight[use.source_id] for use in ordered) / whole,
        sentences=len({quote.sentence.text for quote in said}),
        words=_length({quote.sentence.text for quote in said}) + min(cells, MANY_WORDS),
        sources=max(1, len(citing | joined.agreeing)),
        agreed=joined.agreed,
        defines=any(use.notes.defines for use in ordered if use.main),
        ambiguous=tuple(rivals),
        injection=any(use.notes.injection_suspected for use in ordered),
    )


def _length(texts: Iterable[str]) -> int:
    """How many words the texts have, counted only until they are many."""
    found = 0
    for text in texts:
        if found < MANY_WORDS:
            found += sentences.length(text)
    return found


class _Page:
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
                    headings.setdefault(_section(use, number, keys), part.heading)
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
