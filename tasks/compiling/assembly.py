"""A page out of the notes of all its sources: what each brings to it, under which name, and how far it is trusted.

Everything is a function of the set of sources.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from tasks.compiling import overlap, subjects, tagging
from tasks.compiling.analysis import Table
from tasks.compiling.confidence import MANY_WORDS, Evidence, judge
from tasks.compiling.layout import Layout
from tasks.compiling.material import Quote, Use, section_of, wanted
from tasks.compiling.page_words import main_language, page_words
from tasks.contradictions.claims import Claim, Clash
from tasks.contradictions.find import Statement, find, named
from tasks.markdown import sentences
from tasks.records import PageProposal

_MOST_ON_PAGE = 150  # sentences of all sources together


def assemble(
    key: str, keys: frozenset[str], uses: Sequence[Use], limit: int, rivals: Sequence[str] = ()
) -> PageProposal | None:
    """The page of a subject from its sources, or None when they hold nothing to quote."""
    ordered = sorted(uses, key=_rank)
    title, aliases = _names(key, ordered)
    quotes = _quotes(ordered, keys, limit)
    tables = [
        (use, table, section_of(use, table.section, keys))
        for use in ordered
        for table in use.notes.tables
        if wanted(use, table.section)
    ]
    if not quotes and not tables:
        return None
    joined = overlap.join(quotes)
    language = main_language(use.notes.language for use in ordered)
    body = Layout(page_words(language)).write(title, ordered, joined, tables, keys)
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


def _quotes(ordered: Sequence[Use], keys: frozenset[str], limit: int) -> list[Quote]:
    """What each source brings, lead first; later sources of a crowded page bring less."""
    found: list[Quote] = []
    for number, use in enumerate(ordered):
        room = min(limit if number < 3 else max(5, limit // 3), _MOST_ON_PAGE - len(found))
        lead = set(use.notes.lead) if use.main else set()
        fitting = [
            (at, sentence)
            for at, sentence in enumerate(use.notes.sentences)
            if (use.main and sentence.chosen) or (not use.main and wanted(use, sentence.section))
        ]
        best = sorted(fitting, key=lambda item: (item[0] not in lead, -item[1].score, item[0]))[: max(room, 0)]
        for at, sentence in sorted(best, key=lambda item: item[0]):
            words = frozenset(sentences.words(sentence.text))
            found.append(Quote(use, sentence, section_of(use, sentence.section, keys), words, (number, at)))
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
