"""The compiler that needs no model: it reads a document into notes, and quotes whole sentences onto pages.

`analyse` runs once for each source, in the reading processes. `ExtractiveCompiler` runs on the notes of all sources
that speak of a subject, and gives the same page whatever the order in which they came.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from tasks.compiling import choice, language, subjects, tagging
from tasks.compiling.analysis import Analysis, Section, Sentence, decode, encode
from tasks.compiling.assembly import assemble
from tasks.compiling.compile import Compilation, CompileRequest, SourceNotes
from tasks.compiling.confidence import supported_share
from tasks.compiling.grouping import Subject, plan
from tasks.compiling.material import Use
from tasks.compiling.outline import ABSTRACT, Outline
from tasks.many import Many, here
from tasks.markdown import sentences
from tasks.records import BlockKind, Document, PageProposal, Part

_IS = re.compile(
    r"\b(?:is|was|are|were|refers? to|means|denotes|ist|war|sind|waren|bezeichnet|est|était|sont|désigne|es|"
    r"era|fue|son|è|é|foi|is een|был[аио]?|является|представляет)\b|"
    r"[—–]\s(?:это\s)?|是|指|为|為|とは|は|이란|[은는]\s|\bهو\b|\bهي\b|\bكان"
)
_MOST_EXTRAS = 60


def analyse_document(document: Document, limit: int = 30) -> tuple[bytes, tuple[str, ...]]:
    """The encoded notes on a document and its topics, for the reading processes."""
    notes = analyse(document, limit)
    return encode(notes), notes.topics


def analyse(document: Document, limit: int = 30) -> Analysis:
    """Notes on a document: what it is about, and at most `limit` sentences for its page."""
    title = _title(document)
    name, held = _name(title, document.parts)
    outline = Outline(document, name)
    drafts = outline.drafts
    score = choice.scores(drafts, name)
    lead, defines = _lead(drafts, outline.sections, (name, *held))
    wanted = choice.budget(len(drafts), limit)
    taken = choice.choose(drafts, score, lead, wanted)
    kept = sorted(taken | _extras(drafts, score, outline.sections, taken))
    place = {at: number for number, at in enumerate(kept)}
    opening = [drafts[at].text for at in lead] or [draft.text for draft in drafts[:2]]
    names = (*held, *subjects.text_aliases(name, opening))
    return Analysis(
        source_id=document.source_id,
        title=name,
        subject=subjects.key_of(name),
        aliases=subjects.fit_aliases(name, names),
        type=_type(document, outline, defines, name),
        media=document.media,
        target=document.target,
        language=document.language or language.guess([draft.text for draft in drafts[:6]]),
        sections=tuple(outline.sections),
        sentences=tuple(
            Sentence(
                draft.text,
                draft.anchor,
                draft.section,
                draft.paragraph,
                round(score[at], 3),
                draft.item,
                draft.leans,
                at in taken,
            )
            for at, draft in ((at, drafts[at]) for at in kept)
        ),
        tables=tuple(outline.tables),
        lead=tuple(place[at] for at in lead if at in place),
        defines=defines,
        tags=tagging.tags_of([draft.text for draft in drafts[:150]] or [name], name, own=defines),
        total=len(drafts),
        supported=supported_share([(drafts[at].text, outline.places[drafts[at].paragraph]) for at in sorted(taken)]),
        quality=document.quality,
        quality_reasons=document.quality_reasons,
        injection_suspected=document.injection_suspected,
        short=subjects.short_name(name, [draft.text for draft in drafts[:200]]),
        published=document.published,
        url=document.url,
    )


@dataclass(frozen=True, slots=True)
class ExtractiveCompiler:
    """Writes pages of quoted sentences; `sentences` is the most that one source adds to a page."""

    sentences: int = 30
    many: Many = here  # carries out the writing of each page

    def compile(self, request: CompileRequest) -> Compilation:
        """The pages that the changed sources concern, each from the notes of all its live sources."""
        if not request.changed:
            return Compilation()
        groups = plan(request.topics, request.pages, request.changed)
        skipped = dict(groups.skipped)
        work = [
            _Work(subject, tuple(request.notes(member.source_id) for member in subject.members))
            for subject in groups.subjects
        ]
        proposals = []
        for subject, proposal in zip(groups.subjects, self.many(_page, self.sentences, work), strict=True):
            if proposal is None:
                mains = (member.source_id for member in subject.members if member.main)
                skipped |= dict.fromkeys(mains, "it holds no sentence or table to quote")
            else:
                proposals.append(proposal)
        return Compilation(tuple(proposals), groups.retired, skipped, told=request.changed)


@dataclass(frozen=True, slots=True)
class _Work:
    """A subject, and the notes on its members in their order."""

    subject: Subject
    notes: tuple[SourceNotes, ...]


def _page(limit: int, work: _Work) -> PageProposal | None:
    """The proposal for one subject, or None when its sources hold nothing to quote."""
    subject = work.subject
    uses = []
    for member, notes in zip(subject.members, work.notes, strict=True):
        held = decode(notes.analysis)
        uses.append(Use(notes.source_id, notes.target or held.target, held, member.main, member.sections))
    proposal = assemble(subject.key, subject.keys, uses, limit, subject.rivals)
    return None if proposal is None else replace(proposal, page_id=subject.page_id)


def _title(document: Document) -> str:
    given = " ".join(document.title.split())
    if document.media == "html":  # the part of 'Headline - section - site' that the page also shows as its heading
        heads = (sentences.plain(part.text) for part in document.parts if part.kind == BlockKind.HEADING)
        given = next((head for head in heads if len(head) > 8 and given.startswith(f"{head} ")), given)
    title = subjects.clean_title(given, document.url, document.media)
    if title:
        return title[:200]
    for part in document.parts:
        if part.kind == BlockKind.HEADING:
            title = subjects.clean_title(part.text, document.url, document.media)
            if title:
                return title[:200]
    place = unquote(urlsplit(document.url).path) if document.url else document.target
    stem = re.sub(r"[-_]+", " ", PurePosixPath(place or "").stem)
    title = subjects.clean_title(stem)
    if title:
        return title[:1].upper() + title[1:200]
    for part in document.parts:
        words = sentences.plain(part.text).split()
        if part.kind == BlockKind.PARAGRAPH and words:
            return " ".join(words[:8])[:80].rstrip(" .,;:")
    return f"Source {document.source_id}"


def _name(title: str, parts: Sequence[Part]) -> tuple[str, tuple[str, ...]]:
    """Title and the names it holds; of a name and its abbreviation the one that the text uses more goes first."""
    name, held = subjects.title_aliases(title)
    if len(held) == 1 and (subjects.stands_for(held[0], name) or subjects.stands_for(name, held[0])):
        text = " ".join(part.text for part in parts[:60])
        if text.count(held[0]) > text.count(name):
            return held[0], (name,)
    return name, held


def _lead(drafts: Sequence[choice.Draft], sections: Sequence[Section], names: Sequence[str]) -> tuple[list[int], bool]:
    """The sentences that say what the subject is, and whether they define it or only come first."""
    prose = [at for at, draft in enumerate(drafts) if not draft.item][:60]
    for at in prose[:15]:
        if not drafts[at].leans and _defines(drafts[at].text, names):
            return _follow(drafts, at), True
    abstract = [at for at in prose if ABSTRACT.match(sections[drafts[at].section].heading)]
    first = next((at for at in abstract or prose if not drafts[at].leans and len(drafts[at].text) >= 25), None)
    if first is None and prose and drafts[prose[0]].section == 0:
        first = prose[0]
    return ([] if first is None else _follow(drafts, first)), False


def _defines(text: str, names: Sequence[str]) -> bool:
    low = text.casefold()
    for name in names:
        at = low.find(name.casefold())
        if 0 <= at <= 25:
            after = text[at + len(name) :]
            after = re.sub(r"^[\"”’'*]*\s*[(（][^()（）]*[)）]", "", after)
            found = _IS.search(after)
            limit = 60 if after.lstrip().startswith((",", "，", "、", "or ")) else 6
            if found is not None and found.start() <= limit:
                return True
    return False


def _follow(drafts: Sequence[choice.Draft], first: int) -> list[int]:
    """The sentence and up to two that follow in its paragraph, while the lead stays short."""
    found, size = [first], sentences.length(drafts[first].text)
    for at in range(first + 1, min(first + 3, len(drafts))):
        size += sentences.length(drafts[at].text)
        if drafts[at].section != drafts[first].section or drafts[at].item or size > 75:
            break
        if drafts[at].paragraph != drafts[first].paragraph and len(found) > 1:
            break
        found.append(at)
    return found


def _extras(
    drafts: Sequence[choice.Draft], score: Sequence[float], sections: Sequence[Section], taken: frozenset[int]
) -> frozenset[int]:
    """Further sentences under headings that may name another source's subject, so that its page can quote them."""
    found: set[int] = set()
    for number, section in enumerate(sections):
        if not section.subject or len(found) >= _MOST_EXTRAS:
            continue
        here = [at for at, draft in enumerate(drafts) if draft.section == number] if len(drafts) < 2000 else []
        found |= set(sorted(here, key=lambda at: (-score[at], at))[:6]) - taken
    return frozenset(found)


def _type(document: Document, outline: Outline, defines: bool, title: str) -> str:
    media = document.media
    if media == "transcript":
        return "video"
    if media == "pptx":
        return "slides"
    if media in {"xlsx", "csv"} or (outline.tables and len(outline.drafts) < 3):
        return "table"
    if defines and len(title.split()) <= 5:
        return "topic"
    if media == "pdf":
        return "paper" if outline.scholarly else "document"
    if media == "html":
        return "article"
    return "document" if media == "docx" else "note"
