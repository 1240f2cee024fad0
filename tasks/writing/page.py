"""A page out of the shares of its sources: what each wrote, minus what another supersedes or has said already.

A function of the set of shares alone. Each block holds sentences of one source under a key of its own, so that merging
changes nothing else when one source is corrected.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from tasks.compiling.confidence import Evidence, judge
from tasks.compiling.overlap import figures
from tasks.compiling.page_words import main_language
from tasks.contradictions.claims import Clash
from tasks.markdown import sentences
from tasks.markdown.escape import escape_inline, escape_paragraph
from tasks.pages.slugs import slugify
from tasks.records import BlockKind, PageProposal, ProposedBlock
from tasks.writing.contribution import Line, OwnBlock, Share

_SAME = 0.8  # share of words in common from which two sentences say the same


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """What is known of a source beside its text."""

    source_id: str
    quality: float = 1.0
    quality_reasons: tuple[str, ...] = ()
    injection_suspected: bool = False
    published: str = ""
    language: str = ""  # as `Document.language`
    cut: str = ""  # what of it was not read, in words
    link: str = ""  # to it, as Markdown


@dataclass(frozen=True, slots=True)
class Stand:
    """A source and what it gives to the page; `fresh` when that was decided in this run."""

    facts: SourceFacts
    share: Share
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class Placed:
    """A block as it stands on the page: without sentences that were superseded or that another source said before."""

    source_id: str
    block: OwnBlock


@dataclass(frozen=True, slots=True)
class Sheet:
    """The page's content in its order."""

    placed: tuple[Placed, ...]
    agreed: int = 0  # sentences that a second source says too


def ordered(stands: Sequence[Stand]) -> list[Stand]:
    """The stands in the order in which they speak: whoever made the page first, then by id."""
    return sorted(stands, key=lambda stand: (stand.share.action != "create", stand.facts.source_id))


def lay_out(stands: Sequence[Stand]) -> Sheet:
    """The blocks of all shares, section by section in order of first appearance, the lead first."""
    speaking = ordered(stands)
    gone = {(old.block, old.sentence) for stand in speaking for old in stand.share.superseded}
    sections: dict[str, list[Placed]] = {"": []}
    said: list[tuple[str, Line, frozenset[str]]] = []
    agreed = 0
    for stand in speaking:
        source = stand.facts.source_id
        for block in stand.share.blocks:
            kept = []
            for line in block.lines:
                if (block.key, line.text) in gone:
                    continue
                words = frozenset(sentences.words(line.text))
                twice = False
                for other, before, known in said:
                    if other != source and _same(line, words, before, known):
                        agreed += 1
                        twice = True
                        break
                    twice = twice or before.text == line.text  # a refrain of one source
                if twice:
                    continue
                said.append((source, line, words))
                kept.append(line)
            if kept:
                key = slugify(block.section) if block.section else ""
                sections.setdefault(key, []).append(Placed(source, replace(block, lines=tuple(kept))))
    return Sheet(tuple(placed for found in sections.values() for placed in found), agreed)


def _same(one: Line, words: frozenset[str], other: Line, known: frozenset[str]) -> bool:
    if figures(one.text) != figures(other.text) or not words or not known:
        return False
    return len(words & known) / len(words | known) >= _SAME


def propose(
    subject: str, page_id: str, stands: Sequence[Stand], rivals: Collection[str] = (), held: Sequence[str] = ()
) -> PageProposal | None:
    """The proposal for a page, or None when its sources give it nothing. `held` are further reasons for a person to
    look first."""
    speaking = ordered(stands)
    sheet = lay_out(speaking)
    if not sheet.placed:
        return None
    first = speaking[0].share
    blocks = _blocks(first.title, sheet)
    blocks += [
        ProposedBlock(f"cut:{stand.facts.source_id}", BlockKind.PARAGRAPH, _cut(stand.facts))
        for stand in speaking
        if stand.facts.cut
    ]
    lines = [line for placed in sheet.placed for line in placed.block.lines]
    fresh = [stand for stand in speaking if stand.fresh]
    citing = {citation.source_id for line in lines for citation in line.citations}
    clashes = tuple(clash for stand in speaking for clash in stand.share.clashes if _stands(clash, sheet))
    verdict = judge(_evidence(speaking, sheet, lines, citing, rivals))
    doubts = (f"the model doubts: {stand.share.doubt}" for stand in speaking if stand.share.doubt)
    reasons = [*verdict.reasons, *doubts]
    stage = [*held]
    if any(stand.facts.injection_suspected for stand in speaking):
        stage.append("injection_suspected")
    for stand in fresh:
        stage += _doubtful(stand.share)
    titles = [stand.share.title for stand in speaking]
    aliases = [name for stand in speaking for name in (stand.share.title, *stand.share.aliases)]
    return PageProposal(
        subject=subject,
        page_id=page_id,
        title=first.title,
        blocks=tuple(blocks),
        sources=tuple(stand.facts.source_id for stand in speaking),
        aliases=tuple(dict.fromkeys(name for name in aliases if name.casefold() != titles[0].casefold()))[:8],
        tags=tuple(dict.fromkeys(tag for stand in speaking for tag in stand.share.tags))[:5],
        type=next((stand.share.type for stand in speaking if stand.share.type), "topic"),
        confidence=verdict.level,
        reasons=tuple(dict.fromkeys(reasons)),
        stage=tuple(dict.fromkeys(stage)),
        clashes=clashes,
        language=main_language(stand.facts.language for stand in speaking),
    )


def _doubtful(share: Share) -> list[str]:
    """Why a person should look at what a source gives before it is published."""
    found = []
    if share.action == "flag":
        found.append(f"flagged by the model: {share.doubt or share.reason or 'no reason given'}")
    open_lines = [line for block in share.blocks for line in block.lines if not line.covered]
    if open_lines:
        found.append(
            f"{len(open_lines)} marked sentence{'s are' if len(open_lines) > 1 else ' is'} not fully covered by the "
            f"cited words: {open_lines[0].reason}"
        )
    return found


def _evidence(
    speaking: Sequence[Stand],
    sheet: Sheet,
    lines: Sequence[Line],
    citing: Collection[str],
    rivals: Collection[str],
) -> Evidence:
    facts = [stand.facts for stand in speaking]
    weight = {one.source_id: 1 + sum(line.citations[0].source_id == one.source_id for line in lines) for one in facts}
    poor = [reason for one in facts if one.quality < 0.8 for reason in one.quality_reasons]
    return Evidence(
        quality=sum(one.quality * weight[one.source_id] for one in facts) / sum(weight.values()),
        quality_reasons=tuple(dict.fromkeys(poor)),
        supported=sum(line.covered for line in lines) / len(lines) if lines else 1.0,
        sentences=len(lines),
        words=sum(sentences.length(line.text) for line in lines),
        sources=max(1, len(citing)),
        agreed=sheet.agreed,
        defines=any(not placed.block.section for placed in sheet.placed),
        ambiguous=tuple(rivals),
        injection=any(one.injection_suspected for one in facts),
    )


def _stands(clash: Clash, sheet: Sheet) -> bool:
    """Whether the page still relies on the sentence that a contradiction is about."""
    return any(
        citation.source_id == clash.old.source_id and citation.quote == clash.old.quote
        for placed in sheet.placed
        for line in placed.block.lines
        for citation in line.citations
    )


def _cut(facts: SourceFacts) -> str:
    return f"*{escape_inline(facts.cut)}*" + (f" {facts.link}" if facts.link else "")


# --- Markdown --------------------------------------------------------------------------------------------------------


def _blocks(title: str, sheet: Sheet) -> list[ProposedBlock]:
    found = [ProposedBlock("title", BlockKind.HEADING, f"# {escape_inline(title)}", level=1)]
    open_section = ""
    for placed in sheet.placed:
        key = slugify(placed.block.section) if placed.block.section else ""
        if key != open_section:
            open_section = key
            text = f"## {escape_inline(placed.block.section)}"
            found.append(ProposedBlock(f"h:{key}", BlockKind.HEADING, text, level=2))
        found.append(_block(placed.block, found[-1]))
    return found


def _block(block: OwnBlock, before: ProposedBlock) -> ProposedBlock:
    citations = tuple(citation for line in block.lines for citation in line.citations)
    texts = [markdown(line) for line in block.lines]
    if block.kind == "list":
        mark = "*" if before.kind == BlockKind.LIST and before.text.startswith("-") else "-"
        return ProposedBlock(block.key, BlockKind.LIST, "\n".join(f"{mark} {text}" for text in texts), citations)
    text = sentences.gap(block.lines[0].text).join(texts)
    return ProposedBlock(block.key, BlockKind.PARAGRAPH, text, citations)


def markdown(line: Line) -> str:
    """A sentence with its footnote references; one that its citations do not cover is marked."""
    text = escape_paragraph(line.text)
    text = text if line.covered else f"=={text}=="
    return text + "".join(f"[^{citation.label}]" for citation in line.citations)
