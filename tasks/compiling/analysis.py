"""A compiler's notes on one source, small enough to keep for every source and read back years later.

Compiling a page needs the notes of all its sources, never their documents: what it may quote is in here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

from tasks.compiling.subjects import key_of

FORM = 1  # raised when the notes of an older form cannot be read


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the source under one heading; the first one of a source may have none."""

    key: str  # slug of the heading, empty before the first heading
    heading: str
    level: int = 2
    subject: str = ""  # subject key of the heading where it could name a subject of its own


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence the page may quote, as it stands in the source apart from white space and markup."""

    text: str
    anchor: str
    section: int  # index into `Analysis.sections`
    paragraph: int  # number of the part it stands in
    score: float  # how central it is, 0 and up
    item: bool = False  # an item of a list
    leans: bool = False  # opens with a word that needs the sentence before
    chosen: bool = True  # for the source's own page; the others only serve pages that one section speaks of


@dataclass(frozen=True, slots=True)
class Table:
    """A table worth keeping: plain cells, the first row is its head."""

    rows: tuple[tuple[str, ...], ...]
    anchor: str
    section: int
    left_out: int = 0  # further rows that only the source has


@dataclass(frozen=True, slots=True)
class Analysis:
    """What one source says and is about."""

    source_id: str
    title: str
    subject: str  # subject key of the title
    aliases: tuple[str, ...]  # other names of the subject, as written
    type: str
    media: str
    target: str
    language: str
    sections: tuple[Section, ...]
    sentences: tuple[Sentence, ...]  # in the order of the source
    tables: tuple[Table, ...]
    lead: tuple[int, ...]  # indexes of the sentences that say what the subject is
    defines: bool  # the lead is a definition, not just the beginning
    tags: tuple[str, ...]
    total: int  # sentences the source has
    supported: float  # share of sentences whose content words stand at their place
    quality: float
    quality_reasons: tuple[str, ...]
    injection_suspected: bool
    short: str = ""  # a designation that links may use, but that joins no sources
    published: str = ""
    url: str = ""

    @property
    def topics(self) -> tuple[str, ...]:
        """Subject keys: the own one first, then '=' with an alias's, '#' with that of a filled section's heading."""
        filled = {sentence.section for sentence in self.sentences} | {table.section for table in self.tables}
        aliases = [f"={key_of(alias)}" for alias in self.aliases]
        heads = [f"#{part.subject}" for at, part in enumerate(self.sections) if part.subject and at in filled]
        return tuple(dict.fromkeys([self.subject, *aliases, *heads]))


_ROW = {kind: attrgetter(*(field.name for field in fields(kind))) for kind in (Section, Sentence, Table)}


def encode(analysis: Analysis) -> bytes:
    """The notes as JSON bytes, always the same for the same notes."""
    values = {field.name: getattr(analysis, field.name) for field in fields(analysis)}
    for name in ("sections", "sentences", "tables"):
        values[name] = [_ROW[type(item)](item) for item in values[name]]
    return json.dumps({"form": FORM, **values}, ensure_ascii=False, separators=(",", ":")).encode()


def decode(data: bytes | Analysis) -> Analysis:
    """Notes from JSON bytes; `ValueError` when they are of another form. Notes are returned as they are."""
    if isinstance(data, Analysis):
        return data
    values: dict[str, Any] = json.loads(data)
    if values.pop("form", None) != FORM:
        raise ValueError("notes of another form")
    for name in ("aliases", "lead", "tags", "quality_reasons"):
        values[name] = tuple(values[name])
    values["sections"] = tuple(Section(*item) for item in values["sections"])
    values["sentences"] = tuple(Sentence(*item) for item in values["sentences"])
    values["tables"] = tuple(
        Table(tuple(tuple(row) for row in rows), anchor, section, left_out)
        for rows, anchor, section, left_out in values["tables"]
    )
    return Analysis(**values)
