"""Word files: headings by their styles, lists with their levels, tables, quotes, foot- and endnotes, comments.

Deleted text of tracked changes is left out, and so is what the reader of the document cannot see.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

from tasks.extraction import office_math
from tasks.extraction.extracted import Extracted, table
from tasks.extraction.office_facts import facts, words
from tasks.extraction.office_symbols import spelt, symbol
from tasks.records import BlockKind, Part

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_RAISED = str.maketrans("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
_HEADING_STYLE = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|kop|заголовок|标题|標題|見出し|제목)\s*([1-9])", re.IGNORECASE
)


def extract_docx(data: bytes) -> Extracted:
    """The text of a Word file."""
    import docx

    document = docx.Document(io.BytesIO(data))
    styles = {style.style_id: (style.name or "") for style in document.styles if getattr(style, "style_id", None)}
    reader = _Word(document, styles)
    parts = tuple(reader.parts())
    title, author, published = facts(document.core_properties)
    return Extracted(
        "docx",
        parts,
        title=reader.title or title,
        author=author,
        published=published,
        hidden_removed=len(reader.hidden),
        hidden_text=" ".join(reader.hidden),
    )


class _Word:
    """Walks the body of a Word document in order."""

    def __init__(self, document: Any, styles: dict[str, str]) -> None:
        self._body = document.element.body
        self._styles = styles
        self._notes = self._footnotes(document)
        self._comments = self._said_beside(document)
        self._numbered = self._number_formats(document)
        self.title = ""
        self.hidden: list[str] = []

    def parts(self) -> Iterator[Part]:
        items: list[str] = []
        counters: dict[int, int] = {}
        for element in self._blocks(self._body):
            item = self._item(element, counters) if element.tag == f"{_W}p" else ""
            other = item and items and item[0] != " " and (item[0] == "-") != (items[0].lstrip()[0] == "-")
            if items and (other or not item):
                yield Part(BlockKind.LIST, "\n".join(items))
                items, counters = [], {}
                item = self._item(element, counters) if other else ""
            if item:
                items.append(item)
            else:
                yield from self._part(element)
        if items:
            yield Part(BlockKind.LIST, "\n".join(items))
        for note in self._notes:
            yield Part(BlockKind.FOOTNOTE, note)
        for comment in self._comments:
            yield Part(BlockKind.QUOTE, comment)

    def _blocks(self, element: Any) -> Iterator[Any]:
        """Paragraphs and tables, also inside content controls and tracked insertions."""
        for child in element:
            if child.tag in (f"{_W}p", f"{_W}tbl"):
                yield child
            elif _is_placeholder(child):
                continue
            elif child.tag in (f"{_W}sdt", f"{_W}sdtContent", f"{_W}ins", f"{_W}smartTag", f"{_W}customXml"):
                yield from self._blocks(child)

    def _part(self, element: Any) -> Iterator[Part]:
        if element.tag == f"{_W}tbl":
            rows: list[list[str]] = []
            for row in self._within(element, f"{_W}tr"):
                if row.find(f"{_W}trPr/{_W}del") is not None:
                    continue
                rows.append(list(self._cells(row, rows[-1] if rows else [])))
            rows = [row for row in rows if any(row)]
            if rows and max(len(row) for row in rows) > 1:
                yield Part(BlockKind.TABLE, table(rows))
            else:
                for row in rows:
                    yield Part(BlockKind.PARAGRAPH, row[0])
            return
        text = _lines(self._text(element))
        boxed = [Part(BlockKind.PARAGRAPH, box) for box in self._boxes(element)]
        if not text:
            yield from boxed
            return
        style = self._style(element)
        level = self._level(element, style)
        if style.lower() in ("title", "titel", "titre", "título"):
            self.title = self.title or words(text)
            yield Part(BlockKind.HEADING, words(text), level=1)
        elif level:
            yield Part(BlockKind.HEADING, words(text), level=min(level, 6))
        elif "quote" in style.lower():
            yield Part(BlockKind.QUOTE, text)
        else:
            yield Part(BlockKind.PARAGRAPH, text)
        yield from boxed

    def _within(self, element: Any, tag: str) -> Iterator[Any]:
        """The rows of a table or the cells of a row, also in content controls; not those of tables inside."""
        for child in element:
            if child.tag == tag:
                yield child
            elif child.tag in (f"{_W}sdt", f"{_W}sdtContent", f"{_W}ins", f"{_W}customXml"):
                yield from self._within(child, tag)

    def _cells(self, row: Any, above: list[str]) -> Iterator[str]:
        """The words of a row's cells; a cell over several columns leaves the others empty, so that columns stay.

        A cell over several rows is said in each: a row is read, and quoted, by itself.
        """
        column = 0
        for cell in self._within(row, f"{_W}tc"):
            merged = cell.find(f"{_W}tcPr/{_W}vMerge")
            if merged is not None and merged.get(f"{_W}val") != "restart" and column < len(above):
                yield above[column]
            else:
                paragraphs = (p for p in cell.iter(f"{_W}p") if not _in_box(p, cell))
                yield words(" ".join(self._text(p) for p in paragraphs))
            span = cell.find(f"{_W}tcPr/{_W}gridSpan")
            width = (span.get(f"{_W}val") or "1") if span is not None else "1"
            across = max(min(int(width), 60), 1) if width.isdigit() else 1
            yield from [""] * (across - 1)
            column += across

    def _boxes(self, paragraph: Any) -> Iterator[str]:
        """The words of the text boxes that hang on a paragraph; Word writes each twice, for old versions too."""
        for box in paragraph.iter(f"{_W}txbxContent"):
            if not any(parent.tag == _FALLBACK for parent in box.iterancestors()):
                for inner in box.iter(f"{_W}p"):
                    if text := _lines(self._text(inner)):
                        yield text

    def _style(self, paragraph: Any) -> str:
        found = paragraph.find(f"{_W}pPr/{_W}pStyle")
        return self._styles.get(found.get(f"{_W}val"), found.get(f"{_W}val") or "") if found is not None else ""

    def _level(self, paragraph: Any, style: str) -> int:
        named = _HEADING_STYLE.search(style)
        if named:
            return int(named.group(1))
        outline = paragraph.find(f"{_W}pPr/{_W}outlineLvl")
        value = outline.get(f"{_W}val") if outline is not None else None
        return int(value) + 1 if value and value.isdigit() and int(value) < 6 else 0

    def _item(self, paragraph: Any, counters: dict[int, int]) -> str:
        """A list item as a line, or '' when the paragraph is none."""
        style = self._style(paragraph)
        number = paragraph.find(f"{_W}pPr/{_W}numPr")
        listed = number is not None or style.lower().startswith(("list bullet", "list number", "list paragraph bullet"))
        if not listed or self._level(paragraph, style):
            return ""
        text = words(self._text(paragraph))
        if not text:
            return ""
        depth = number.find(f"{_W}ilvl") if number is not None else None
        level = min(int(depth.get(f"{_W}val") or 0), 8) if depth is not None else 0
        trailing = re.search(r"(\d)$", style)
        if depth is None and trailing and style.lower().startswith("list"):
            level = int(trailing.group(1)) - 1
        identity = number.find(f"{_W}numId") if number is not None else None
        key = (identity.get(f"{_W}val") if identity is not None else "", level)
        ordered = style.lower().startswith("list number") or key in self._numbered
        for deeper in [other for other in counters if other > level]:
            del counters[deeper]
        counters[level] = counters.get(level, 0) + 1
        return "    " * level + (f"{counters[level]}. " if ordered else "- ") + text

    def _text(self, paragraph: Any) -> str:
        """The words of a paragraph: insertions in, deletions and hidden runs out, breaks as blanks or line ends."""
        pieces: list[str] = []
        for run in paragraph.iter(f"{_W}r", f"{_M}oMath"):
            if run.tag == f"{_M}oMath":
                pieces.append(office_math.line(run))
                continue
            if _in_box(run, paragraph) or _is_left_out(run, paragraph) or _is_struck(run):
                continue
            text = "".join(self._piece(child) for child in run)
            if self._hides(run):
                if text.strip():
                    self.hidden.append(words(text))
                continue
            pieces.append(_raised(text) if _is_superscript(run) else text)
        return "".join(pieces)

    @staticmethod
    def _piece(child: Any) -> str:
        if child.tag == f"{_W}t":
            return spelt(child.text or "")
        if child.tag in (f"{_W}tab", f"{_W}ptab"):
            return " "
        if child.tag in (f"{_W}br", f"{_W}cr"):
            return "\n"
        if child.tag == f"{_W}noBreakHyphen":
            return "-"
        if child.tag == f"{_W}sym":
            return symbol(child.get(f"{_W}font") or "", child.get(f"{_W}char") or "")
        return ""

    @staticmethod
    def _hides(run: Any) -> bool:
        """Hidden by Word's own switch, or white, or of at most one point."""
        properties = run.find(f"{_W}rPr")
        if properties is None:
            return False
        vanish = properties.find(f"{_W}vanish")
        if vanish is not None and vanish.get(f"{_W}val") not in ("0", "false"):
            return True
        size = properties.find(f"{_W}sz")
        if size is not None and (size.get(f"{_W}val") or "99").isdigit() and int(size.get(f"{_W}val") or 99) <= 2:
            return True
        colour = properties.find(f"{_W}color")
        backed = properties.find(f"{_W}shd") is not None or properties.find(f"{_W}highlight") is not None
        paragraph = run.getparent()
        while paragraph is not None and not backed:
            backed = any(paragraph.find(f"{_W}{place}/{_W}shd") is not None for place in ("pPr", "tcPr", "tblPr"))
            paragraph = paragraph.getparent()
        return colour is not None and (colour.get(f"{_W}val") or "").upper() == "FFFFFF" and not backed

    def _footnotes(self, document: Any) -> list[str]:
        """The words of the foot- and endnotes, in order."""
        from docx.oxml import parse_xml

        notes: list[str] = []
        for relation in document.part.rels.values():
            if not relation.reltype.endswith(("/footnotes", "/endnotes")) or relation.is_external:
                continue
            root = parse_xml(relation.target_part.blob)
            for note in root:
                if note.get(f"{_W}type") in ("separator", "continuationSeparator", "continuationNotice"):
                    continue
                text = words(
                    " ".join("".join(node.text or "" for node in p.iter(f"{_W}t")) for p in note.iter(f"{_W}p"))
                )
                if text:
                    notes.append(text)
        return notes

    @staticmethod
    def _said_beside(document: Any) -> list[str]:
        """The comments in the margin, in order."""
        from docx.oxml import parse_xml

        return [
            text
            for relation in document.part.rels.values()
            if relation.reltype.endswith("/comments") and not relation.is_external
            for comment in parse_xml(relation.target_part.blob).iter(f"{_W}comment")
            if (
                text := words(
                    " ".join("".join(node.text or "" for node in p.iter(f"{_W}t")) for p in comment.iter(f"{_W}p"))
                )
            )
        ]

    @staticmethod
    def _number_formats(document: Any) -> set[tuple[str, int]]:
        """The lists (number id, level) that count, as against those that have bullets."""
        try:
            root = document.part.numbering_part.element
        except (KeyError, NotImplementedError, AttributeError):
            return set()
        counting: dict[str, set[int]] = {}
        for abstract in root.iter(f"{_W}abstractNum"):
            levels = set()
            for level in abstract.iter(f"{_W}lvl"):
                form = level.find(f"{_W}numFmt")
                if form is not None and form.get(f"{_W}val") not in ("bullet", "none"):
                    levels.add(int(level.get(f"{_W}ilvl") or 0))
            counting[abstract.get(f"{_W}abstractNumId") or ""] = levels
        found = set()
        for number in root.iter(f"{_W}num"):
            abstract_id = number.find(f"{_W}abstractNumId")
            if abstract_id is not None:
                found |= {
                    (number.get(f"{_W}numId") or "", level)
                    for level in counting.get(abstract_id.get(f"{_W}val") or "", set())
                }
        return found


def _lines(text: str) -> str:
    """A text with single blanks; its line breaks stay."""
    return "\n".join(line for raw in text.split("\n") if (line := words(raw)))


def _in_box(element: Any, host: Any) -> bool:
    """Whether an element stands in a text box inside `host`, which is read by itself."""
    for parent in element.iterancestors():
        if parent is host:
            return False
        if parent.tag == f"{_W}txbxContent":
            return True
    return False


def _is_placeholder(element: Any) -> bool:
    """Whether a field to fill in was left empty, so that it shows Word's own invitation to write."""
    shows = element.find(f"{_W}sdtPr/{_W}showingPlcHdr") if element.tag == f"{_W}sdt" else None
    return shows is not None and shows.get(f"{_W}val") not in ("0", "false")


def _is_left_out(run: Any, paragraph: Any) -> bool:
    """Whether a tracked change took the run elsewhere, or out, or nobody wrote it."""
    for parent in run.iterancestors():
        if parent is paragraph:
            return False
        if parent.tag in (f"{_W}moveFrom", f"{_W}del") or _is_placeholder(parent):
            return True
    return False


def _is_struck(run: Any) -> bool:
    """Whether the words are struck through, so that nobody says them."""
    marks = (run.find(f"{_W}rPr/{_W}{name}") for name in ("strike", "dstrike"))
    return any(mark is not None and mark.get(f"{_W}val") not in ("0", "false") for mark in marks)


def _is_superscript(run: Any) -> bool:
    raised = run.find(f"{_W}rPr/{_W}vertAlign")
    return raised is not None and raised.get(f"{_W}val") == "superscript"


def _raised(text: str) -> str:
    """Raised digits as such, for 10⁵ is another number than 105; other words as they are."""
    small = text.translate(_RAISED)
    return small if all(letter not in text for letter in small.strip()) else text
