"""The share of a source that no model has read: its notes' sentences, word for word.

It stands for what a page said of that source before, until a model gets to it.
"""

from __future__ import annotations

from itertools import groupby

from tasks.compiling.analysis import Analysis, Sentence
from tasks.compiling.material import label
from tasks.markdown.sentences import unmarked
from tasks.pages.slugs import slugify
from tasks.records import Citation
from tasks.writing.contribution import Line, OwnBlock, Share

_PARAGRAPH = 4  # sentences
_MARKED = frozenset({"html", "pdf"})  # media whose text carries reference marks


def quoted(subject: str, title: str, target: str, notes: Analysis, reason: str = "") -> Share:
    """The share of a source on the page of a subject, quoted from its notes."""
    lead = set(notes.lead)
    chosen = [(at, sentence) for at, sentence in enumerate(notes.sentences) if sentence.chosen]
    blocks: list[OwnBlock] = []
    opening = [_line(notes, target, sentence) for at, sentence in chosen if at in lead]
    if opening:
        blocks.append(OwnBlock(f"lead:{notes.source_id}:0", "", "paragraph", tuple(opening)))
    rest = [sentence for at, sentence in chosen if at not in lead]
    for section, found in groupby(rest, key=lambda sentence: sentence.section):
        heading = notes.sections[section].heading
        for item, group in groupby(found, key=lambda sentence: sentence.item):
            listed = list(group)
            size = len(listed) if item else _PARAGRAPH
            for start in range(0, len(listed), size):
                lines = tuple(_line(notes, target, sentence) for sentence in listed[start : start + size])
                key = _key(blocks, heading, notes.source_id)
                blocks.append(OwnBlock(key, heading, "list" if item else "paragraph", lines))
    return Share(
        subject,
        title,
        "create" if notes.subject == subject else "update",
        reason,
        notes.aliases,
        notes.type,
        notes.tags,
        blocks=tuple(blocks),
    )


def _key(blocks: list[OwnBlock], heading: str, source_id: str) -> str:
    start = slugify(heading)[:60] if heading else "overview"
    number = sum(block.key.startswith(f"{start}:{source_id}:") for block in blocks)
    return f"{start}:{source_id}:{number}"


def _line(notes: Analysis, target: str, sentence: Sentence) -> Line:
    mark = label(notes.source_id, sentence.anchor, sentence.text)
    citation = Citation(notes.source_id, target or notes.target, sentence.anchor, sentence.text, mark)
    return Line(unmarked(sentence.text) if notes.media in _MARKED else sentence.text, (citation,))
