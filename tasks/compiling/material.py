"""What a page is made of: the notes on its sources and how it uses them, and sentences on their way to it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from tasks.compiling.analysis import Analysis, Sentence

_RESERVED = frozenset({"title", "lead", "facts"})  # keys of blocks that every page may have


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


def wanted(use: Use, section: int) -> bool:
    """Whether the page takes sentences and tables of a section of a source."""
    return use.main or (section < len(use.notes.sections) and use.notes.sections[section].subject in use.sections)


def section_of(use: Use, number: int, keys: frozenset[str]) -> str:
    """Key of the page's section for a section of a source; '' where it has none, or the page's own name."""
    section = use.notes.sections[number]
    if not use.main or section.subject in keys or section.key in ("overview", "details"):
        return ""
    return f"{section.key}-section" if section.key in _RESERVED else section.key
