"""A document as sections, sentences and tables: what a compiler that quotes can choose from."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace

from tasks.compiling import choice, subjects
from tasks.compiling.analysis import Section, Table
from tasks.markdown import sentences
from tasks.records import BlockKind, Document, Part

_ITEM = re.compile(r"^\s*(?:[-*+•‣◦▪–]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?", re.M)
_NUMBER = re.compile(r"^(?:\d+(?:\.\d+)*\.?|[IVX]+\.|[A-Z]\.)\s+(?=\S)")
_ENUMERATION = re.compile(r"^(?:\(?\d{1,2}[.)]|\(?[a-zA-Z]\)|[•▪◦‣–-])\s+(?=[^\W\d])")
_CELL = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
ABSTRACT = re.compile(
    r"^(?:abstract|summary|executive summary|tl;?dr|zusammenfassung|kurzfassung|résumé|resumen|аннотация|"
    r"摘要|要旨|概要)$",
    re.I,
)
"""Headings of what a text says in short."""

_SCHOLARLY = re.compile(r"^\W*(?:abstract|references|keywords|doi:|arxiv:)", re.I)
_ENDS = tuple(".!?…。！？؟۔।:;")
_CLOSERS = "\"'”’»›)]」』）》"
_ENOUGH = 7  # words of a sentence that are counted
_LONG = 400  # characters that surely hold so many
_FEW_SECTIONS = 20
_MOST_SECTIONS = 40
_MOST_SENTENCES = 12_000  # of a book; what follows is searched as chunks but not quoted
_MOST_LETTERS = 500_000  # of one part


class Outline:
    """A document as sections, sentences and tables."""

    def __init__(self, document: Document, title: str) -> None:
        self.sections: list[Section] = [Section("", "", 1)]
        self.drafts: list[choice.Draft] = []
        self.tables: list[Table] = []
        self.places: dict[int, str] = {}
        self.scholarly = False
        self._title_key = subjects.key_of(title)
        self._strict = document.media in {"html", "pdf"}
        self._most_tables = 12 if document.media in {"xlsx", "csv"} else 4
        self._seen: set[str] = set()
        self._known = sentences.abbreviations(
            [title, *(part.text for part in document.parts if part.kind == BlockKind.PARAGRAPH)]
        ) | frozenset(word.rstrip(".").lower() for word in title.split()[:-1] if word.endswith("."))
        texts = [sentences.plain(part.text) for part in document.parts]
        self._requests = choice.requests_in("\n".join(texts))
        self._skip = 0  # level of the heading of end matter that is being left out
        levels = [part.level for part in document.parts if part.kind == BlockKind.HEADING]
        self._deepest = _depth(levels)
        for number, part in enumerate(document.parts):
            self._add(part, texts[number], number)
        prose = [draft for draft in self.drafts if not draft.item]
        if sum(draft.leans for draft in prose) > 0.6 * len(prose):  # no capitals: captions, or a careless writer
            self.drafts = [
                replace(draft, leans=not draft.item and sentences.leans_back(draft.text)) for draft in self.drafts
            ]
            prose = [draft for draft in self.drafts if not draft.item]
        ended = sum(_ended(draft.text) for draft in prose)
        if self._strict and ended >= 0.6 * len(prose):  # what is left without an end is captions and links
            self.drafts = [draft for draft in self.drafts if draft.item or _ended(draft.text)]

    def _add(self, part: Part, text: str, number: int) -> None:
        if part.kind == BlockKind.HEADING:
            self._head(text, part.level or 2)
            return
        if self._skip or len(self.drafts) >= _MOST_SENTENCES:
            return
        if part.kind in (BlockKind.PARAGRAPH, BlockKind.QUOTE):
            if number < 12 and _SCHOLARLY.match(text):
                self.scholarly = True
            inside = False  # a quotation that an earlier sentence of the paragraph opened
            for piece in sentences.split(text[:_MOST_LETTERS], self._known):
                self._sentence(piece, part, number, item=False, inside=inside)
                straight = piece.count('"') % 2 == 1
                curly = "“" in piece or "”" in piece
                inside = piece.rfind("“") > piece.rfind("”") if curly else inside ^ straight
        elif part.kind == BlockKind.LIST:
            for item in _ITEM.split(part.text):
                line = sentences.plain(item)
                for piece in sentences.split(line) if len(line) > 250 else [line]:
                    self._sentence(piece, part, number, item=True)
        elif part.kind == BlockKind.TABLE and len(self.tables) < self._most_tables:
            table = _table(part, len(self.sections) - 1)
            if table is not None:
                self.tables.append(table)

    def _head(self, heading: str, level: int) -> None:
        if self._skip and level > self._skip:
            return
        self._skip = 0
        if choice.is_end_matter(heading):
            self._skip = level
            self.scholarly = self.scholarly or heading.lower().startswith(("references", "bibliography"))
            return
        bare = _NUMBER.sub("", heading).strip(" :") or heading
        if ABSTRACT.match(bare):
            self.scholarly = self.scholarly or bare.lower() == "abstract"
        if bare.isupper() and len(bare) > 5 and not sentences.CJK.search(bare):
            bare = bare.capitalize() if " " in bare else bare.title()
        key = subjects.key_of(bare) if bare else ""
        if not key or key == self._title_key or len(bare) > 120:
            if len(self.sections) > 1 and key == self._title_key:
                self.sections.append(Section("", "", 1))
            return
        if len(key) > 60:  # it becomes part of block keys
            key = f"{key[:48]}-{hashlib.sha256(key.encode()).hexdigest()[:8]}"
        if level > self._deepest or len(self.sections) > 3 * _MOST_SECTIONS or choice.is_furniture(bare):
            return
        self.sections.append(Section(key, bare, level, subjects.heading_subject(bare)))

    def _sentence(self, text: str, part: Part, number: int, item: bool, inside: bool = False) -> None:
        enumerated = _ENUMERATION.match(text)
        text = text[enumerated.end() :] if enumerated else text
        words = sentences.words(text)
        size = _length(text, words)
        if size < (2 if item else 3) or choice.is_furniture(text, self._requests):
            return
        if self._strict and size < (3 if item else _ENOUGH) and not _ended(text):
            return
        folded = text.casefold()
        if folded in self._seen or len(text) > 1500:
            return
        self._seen.add(folded)
        self.places.setdefault(number, part.text)
        self.drafts.append(
            choice.Draft(
                text,
                part.anchor,
                len(self.sections) - 1,
                number,
                item,
                not item and (inside or text[:1].islower() or sentences.leans_back(text)),
                tuple(words),
            )
        )


def _ended(text: str) -> bool:
    """Whether a sentence closes with a mark, quotation marks and brackets behind it apart."""
    return text.rstrip(_CLOSERS).endswith(_ENDS)


def _length(text: str, words: Sequence[str]) -> int:
    """Length of a sentence in words, or `_ENOUGH` when its content words alone tell that there are as many."""
    enough = _ENOUGH if text.isascii() else 2 * _ENOUGH  # characters without blanks make two content words for one
    if len(text) >= _LONG or len(words) >= enough:
        return _ENOUGH
    return sentences.length(text)


def _depth(levels: Sequence[int]) -> int:
    """The deepest level of headings that still gives a page of few sections, and more than two where there are more."""
    for depth in (3, 2, 1):
        here = sum(level <= depth for level in levels)
        if here <= _FEW_SECTIONS or (depth > 1 and sum(level < depth for level in levels) < 3):
            return depth
    return 1


def _table(part: Part, section: int, most_rows: int = 25, most_columns: int = 8) -> Table | None:
    """A Markdown table as plain cells, or nothing when it only lays out the page."""
    rows: list[tuple[str, ...]] = []
    for line in part.text.splitlines():
        if not line.strip() or _RULE.match(line):
            continue
        cells = [sentences.plain(cell.replace("\\|", "|")) for cell in _CELL.split(line.strip().strip("|"))]
        rows.append(tuple(cells[:most_columns]))
    rows = [row for at, row in enumerate(rows) if any(row) and (at == 0 or row != rows[0])]
    if len(rows) < 2 or max(len(row) for row in rows) < 2:
        return None
    width = max(len(row) for row in rows)
    cells = [cell for row in rows for cell in row]
    if sum(1 for cell in cells if cell) < 0.4 * len(rows) * width or max(map(len, cells)) > 400:
        return None
    even = tuple(row + ("",) * (width - len(row)) for row in rows)
    shown = even if len(even) <= most_rows + 2 else even[:most_rows]
    return Table(shown, part.anchor, section, len(even) - len(shown))
