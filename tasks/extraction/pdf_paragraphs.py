"""From the lines of a PDF to paragraphs and headings.

A PDF knows only letters and places. Gaps, indents, sizes and unfinished lines say where a paragraph ends; words
that were cut at a line's end are joined; what stands at the head or foot of most pages is not text of the document.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from tasks.extraction.pdf_columns import untangled
from tasks.extraction.pdf_lines import Line
from tasks.records import BlockKind, Part

_PRESENTATION = re.compile(r"[\ufb00-\ufb06\ufb1d-\ufdff\ufe70-\ufefc]+")
_LEADERS = re.compile(r"(?:[.·…_]\s?){4,}\s*\(?[\divxlc]{0,6}\)?\s*$", re.IGNORECASE)
_PAGE_NUMBER = re.compile(
    r"\W*(?:(?:page|seite|p\.?|página|pagina|стр\.?|第)\s*)?(?:\d{1,4}|[ivxlc]{1,7})\s*(?:页|頁"
    r"|ページ)?(?:\s*(?:of|/|von|de|sur|из)\s*\d{1,4})?\W*",
    re.IGNORECASE,
)
_BULLET = re.compile(r"(?:[•‣▪■●○◦∙·–—*-]|\(?(?:\d{1,2}|[a-z])[.)])\s+\S")
_BULLET_MARK = re.compile(r"[•‣▪■●○◦∙·–—*-]\s")
_DIGITS = re.compile(r"\d+")
_LEADING_NUMBER = re.compile(
    r"^(?:(?:chapter|section|kapitel|abschnitt|appendix|part)\s+)?(?:[\dIVXivx]+(?:\.\d+)*\.?|[A-Z]\.)\s+"
)
_TERMINAL = re.compile(r"[.!?:;…。！？：；؟۔][\"'”’»)\]]*$")
_HYPHEN = re.compile(r"(\w*[^\W\d_])[-\u2010\u00ad]$")
_SPACELESS = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
_HANGUL = re.compile(r"[\uac00-\ud7af]")
EDGE = 2  # lines at the top and the foot of a page that may be running heads


def tidy(text: str) -> str:
    """Ligatures and presentation forms as the letters they stand for."""
    return (
        text if text.isascii() else _PRESENTATION.sub(lambda match: unicodedata.normalize("NFKC", match.group()), text)
    )


def without_running_heads(pages: Sequence[list[Line]]) -> list[list[Line]]:
    """Pages without the lines that stand at the head or foot of most of them, and without lone page numbers there."""
    edges = [_edges(lines) for lines in pages]
    filled = sum(1 for lines in pages if lines)
    counts: Counter[str] = Counter()
    for lines, indices in zip(pages, edges, strict=True):
        counts.update({_shape(lines[index].text) for index in indices})
    often = {shape for shape, count in counts.items() if filled >= 3 and count >= max(3, filled * 0.3)}
    kept = []
    for lines, indices in zip(pages, edges, strict=True):
        drop = {
            index
            for index in indices
            if len(lines) > EDGE
            and (
                _shape(lines[index].text) in often
                or (_PAGE_NUMBER.fullmatch(lines[index].text) and _stands_alone(lines, index, often))
            )
        }
        kept.append([line for index, line in enumerate(lines) if index not in drop])
    return kept


def _edges(lines: list[Line]) -> list[int]:
    """Indices of the topmost and lowest lines by place, and of the first and last in reading order."""
    order = sorted(range(len(lines)), key=lambda index: -lines[index].y)
    return sorted({*order[:EDGE], *order[-EDGE:], *range(len(lines))[:1], *range(len(lines))[-1:]})


def _stands_alone(lines: list[Line], index: int, often: set[str]) -> bool:
    """Whether nothing but running heads stands at a line's height: a number in a table's last row is no page number."""
    at = lines[index]
    return all(
        number == index or abs(line.y - at.y) > 0.5 * max(at.size, line.size) or _shape(line.text) in often
        for number, line in enumerate(lines)
    )


def _shape(text: str) -> str:
    return " ".join(_DIGITS.sub("#", text).casefold().split())


def body_size(pages: Sequence[list[Line]]) -> float:
    """The letter size that most of the text is set in, in points."""
    sizes: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            sizes[round(line.size * 2) / 2] += len(line.text)
    return max(sizes.items(), key=lambda item: (item[1], -item[0]))[0] if sizes else 0.0


def words_of(pages: Sequence[list[Line]]) -> frozenset[str]:
    """The words with a hyphen inside, to tell `well-known` cut at its hyphen from a word cut in two."""
    found: set[str] = set()
    for lines in pages:
        for line in lines:
            if "-" in line.text:
                found.update(word.casefold() for word in re.findall(r"\w+-\w+", line.text))
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Style:
    """How a document is set: body size (points) and font, sizes of headings (largest first), words with a hyphen."""

    size: float
    font: str
    headings: tuple[float, ...]
    hyphenated: frozenset[str]


def style_of(pages: Sequence[list[Line]]) -> Style:
    """The style of a whole document."""
    size = body_size(pages)
    fonts: Counter[str] = Counter()
    for lines in pages:
        for line in lines:
            fonts[line.font] += len(line.text)
    return Style(size, fonts.most_common(1)[0][0] if fonts else "", tuple(heading_sizes(pages, size)), words_of(pages))


def parts_of_page(lines: list[Line], page: int, style: Style, outline: Mapping[str, int]) -> list[Part]:
    """A page's parts, all with the anchor `page=N`. `outline`: key of a title to its level."""
    anchor = f"page={page}"
    lines = _evened(_whole(untangled([line for line in lines if not _LEADERS.search(line.text)])))
    usual = median(len(line.text) for line in lines) if lines else 0.0
    parts: list[Part] = []
    for group in _groups(lines, usual):
        text = tidy(_joined(group, style.hyphenated, usual)).strip()
        if not text or not any(character.isalnum() for character in text):
            continue
        level = _heading_level(text, group, style, outline)
        if level:
            parts.append(Part(BlockKind.HEADING, text, level=level, anchor=anchor))
        elif _BULLET.match(text) and not text[0].isalnum() and text[0] != "(":
            item = "- " + re.sub(r"^\W+\s+", "", text)
            if parts and parts[-1].kind is BlockKind.LIST:
                parts[-1] = Part(BlockKind.LIST, f"{parts[-1].text}\n{item}", anchor=anchor)
            else:
                parts.append(Part(BlockKind.LIST, item, anchor=anchor))
        else:
            parts.append(Part(BlockKind.PARAGRAPH, text, anchor=anchor))
    return parts


def _whole(lines: Iterable[Line]) -> list[Line]:
    """Pieces of one line, set one after the other at the same height, as one line."""
    found: list[Line] = []
    for line in lines:
        before = found[-1] if found else None
        if before is None or abs(before.y - line.y) > 0.15 * max(before.size, line.size) or line.x <= before.x:
            found.append(line)
            continue
        capital = len(before.text) == 1 and before.text.isupper() and line.text[0].islower() and not before.spaced
        text = before.text + ("" if capital else " ") + line.text
        found[-1] = replace(
            max(before, line, key=lambda piece: len(piece.text)), text=text, x=before.x, y=before.y, spaced=line.spaced
        )
    return found


def _evened(lines: list[Line]) -> list[Line]:
    """Lines where a raised or small piece does not make the whole line look small."""
    found = list(lines)
    for index in range(1, len(lines) - 1):
        before, line, after = lines[index - 1 : index + 2]
        alike = abs(before.size - after.size) < 0.05 * before.size
        regular = abs((before.y - line.y) - (line.y - after.y)) < 0.2 * before.size
        if alike and regular and line.size < 0.8 * before.size and len(line.text) > 0.6 * len(before.text):
            found[index] = replace(line, size=before.size, font=before.font, bold=before.bold)
    return found


def _groups(lines: list[Line], usual: float) -> list[list[Line]]:
    """Lines that belong to one paragraph, together. `usual`: the page's median length of a line."""
    leading = _common(
        [
            before.y - after.y
            for before, after in pairwise(lines)
            if 0.2 * after.size < before.y - after.y < 4 * max(after.size, 1)
        ]
    )
    groups: list[list[Line]] = []
    for line in lines:
        if groups and not _breaks(groups[-1], line, leading, usual):
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def _common(steps: list[float]) -> float:
    """The usual distance of two lines: the commonest, to half a point; of several the smallest."""
    if not steps:
        return 0.0
    counts = Counter(round(step * 2) / 2 for step in steps)
    most = max(counts.values())
    return min(step for step, count in counts.items() if count >= max(1, most * 0.5))


def _breaks(group: list[Line], line: Line, leading: float, usual: float) -> bool:
    """Does a new paragraph begin with `line`?"""
    before = group[-1]
    step = before.y - line.y
    unfinished = not _ended(group)
    short = len(before.text) < usual * 0.7
    largest = max(line.size, before.size)
    if abs(line.size - before.size) > 0.12 * largest and min(len(line.text), len(before.text)) >= 4:
        return True
    if _BULLET.match(line.text):
        return True
    if line.bold != before.bold and (short or (line.bold and len(line.text) < usual * 0.9)):
        return True
    if step < -before.size:  # up again: the next column
        return not (unfinished and _continues(line))
    if leading and step > max(leading * 1.3, leading + 0.25 * line.size):
        return step > leading * 2.5 or not (unfinished and _continues(line) and not short)
    if leading and step > leading * 1.08 and len(group) == 1 and short and unfinished and not _continues(line):
        return True  # a heading set in the text's own size
    if line.x - before.x > 0.7 * max(line.size, 1) and not unfinished and len(group) > 1:
        return True  # an indent
    return not unfinished and len(before.text) < usual * 0.6


def _ended(group: list[Line]) -> bool:
    return bool(_TERMINAL.search(group[-1].text))


def _continues(line: Line) -> bool:
    first = line.text[:1]
    return bool(first) and (first.islower() or first in ",;)" or unicodedata.category(first) == "Lo")


def _joined(group: list[Line], hyphenated: frozenset[str], usual: float) -> str:
    """The lines of a paragraph as running text."""
    text = group[0].text
    for before, line in pairwise(group):
        cut = _HYPHEN.search(text)
        first = re.match(r"\w+", line.text)
        if cut and first and first.group()[0].islower():
            compound = f"{cut.group(1)}-{first.group()}".casefold()
            text = text + line.text if compound in hyphenated else text[:-1] + line.text
        elif _spaceless(text, line.text) or (
            _HANGUL.match(text[-1:])
            and _HANGUL.match(line.text)
            and not before.spaced
            and len(before.text) > 0.7 * usual
        ):
            text += line.text
        else:
            text += " " + line.text
    return text


def _spaceless(before: str, after: str) -> bool:
    return bool(_SPACELESS.match(before[-1:]) and _SPACELESS.match(after[:1]))


def outline_key(title: str) -> str:
    """A title as compared between outline and page: without leading number, case and blanks."""
    return re.sub(r"\W+", "", _LEADING_NUMBER.sub("", tidy(title).strip()).casefold())


def _heading_level(text: str, group: list[Line], style: Style, outline: Mapping[str, int]) -> int:
    """1 to 6 for a heading, 0 for running text."""
    letters = sum(character.isalpha() for character in text)
    if len(text) > 180 or len(group) > 3 or letters < 2 or _BULLET_MARK.match(text):
        return 0
    level = outline.get(outline_key(text), 0)
    if level:
        return min(level, 6)
    if letters < 3 or letters * 2 < len(text) or text.endswith((",", ";")):
        return 0
    size = round(group[0].size * 2) / 2
    if size in style.headings:
        return min(style.headings.index(size) + 1, 6)
    stands_out = group[0].bold or (group[0].font != style.font and text[0].isupper())
    if (
        stands_out
        and len(text) < 100
        and len(group) <= 2
        and size >= style.size - 0.6
        and not text.endswith((".", ":", "!"))
    ):
        return min(len(style.headings) + 1, 6)
    return 0


def heading_sizes(pages: Sequence[list[Line]], body: float) -> list[float]:
    """Sizes clearly larger than the body's that short lines are set in, largest first; at most four."""
    counts: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            if line.size > 1.12 * body and len(line.text) < 150:
                counts[round(line.size * 2) / 2] += 1
    return sorted(counts, reverse=True)[:4]
