"""The lines of a PDF page with where they stand and how large they are, without what is invisible.

pypdf's plain mode keeps columns in reading order and right-to-left script readable (its layout mode interleaves the
one and mirrors the other: measured). The places, which say where paragraphs end, come from its visitors in the same
pass.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

TINY = 1.5  # points: nobody reads smaller letters
MOST_BOXES = 2000
COLUMN = 18  # characters of a line of prose, against a table's cell
_FILLS = frozenset({b"f", b"F", b"f*", b"B", b"B*", b"b", b"b*"})
_PATH_ENDS = _FILLS | {b"n", b"S", b"s"}
_SHOWS = frozenset({b"Tj", b"TJ", b"'", b'"'})
_ONE = rb"(?:1(?:\.0*)?|0?\.9[789]\d*)\s+"
_ZERO = rb"0?(?:0|\.0+)\s+"
_HIDING = re.compile(
    rb"(?:^|[^\d.\s])\s*"
    + _ONE
    + rb"(?:g|scn?)\b|"
    + _ONE * 3
    + rb"(?:rg|scn?)\b|(?:^|\s)"
    + _ZERO * 4
    + rb"k\b|\b[37]\s+Tr\b"
)
_GREY, _RGB, _CMYK, _ANY = b"g", b"rg", b"k", frozenset({b"sc", b"scn"})


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a page. `y` grows upwards, in points; `spaced`: the line itself ends with a blank."""

    text: str
    x: float
    y: float
    size: float
    bold: bool
    font: str
    spaced: bool


@dataclass(frozen=True, slots=True)
class _Run:
    text: str
    x: float
    y: float
    size: float
    font: str


@dataclass(frozen=True, slots=True)
class PageText:
    """A page's lines in reading order, and how many hidden pieces were left out."""

    lines: list[Line] = field(default_factory=list)
    hidden: int = 0
    hidden_text: str = ""


def read_page(page: Any) -> PageText:
    """The visible lines of a pypdf page. Raises what pypdf raises on damaged pages."""
    runs: list[_Run] = []
    outside: list[str] = []
    box = _box(page)

    def see(text: str, cm: list[float], tm: list[float], font: Any, size: float) -> None:
        if text:
            x = tm[4] * cm[0] + tm[5] * cm[2] + cm[4]
            y = tm[4] * cm[1] + tm[5] * cm[3] + cm[5]
            letters = abs(float(size or 0)) * _scale(tm) * _scale(cm)
            if box is not None and _misses(box, x, y, letters, text):
                outside.append(text)
                text = "\n" * text.count("\n")
            if text:
                runs.append(_Run(text, x, y, letters, _font(font)))

    text = ""
    if not _may_hide(page):
        text = page.extract_text(visitor_text=see)
        if all(run.size >= TINY for run in runs if run.text.strip()):
            return PageText(_lines(runs), len(outside), " ".join(" ".join(outside).split()))
        runs.clear()
        outside.clear()
    # Following every drawing operation costs half as much again, so only pages that need it pay.
    eye = _Eye()
    visible = page.extract_text(visitor_operand_before=eye.look, visitor_text=see)
    beyond = " ".join(" ".join(outside).split())
    if not eye.hidden:
        return PageText(_lines(runs), len(outside), beyond)
    unseen = _difference(text or page.extract_text(), visible)
    return PageText(_lines(runs), eye.hidden + len(outside), f"{unseen} {beyond}".strip())


def _box(page: Any) -> tuple[float, float, float, float] | None:
    """The part of a page that is shown: left, bottom, right, top. None with forms, whose places pypdf does not tell."""
    try:
        resources = page["/Resources"].get_object() if "/Resources" in page else {}
        forms = resources["/XObject"].get_object() if "/XObject" in resources else {}
        if any(forms[name].get_object().get("/Subtype") == "/Form" for name in forms):
            return None
        media, crop = page.mediabox, page.cropbox
        left, bottom = max(media.left, crop.left), max(media.bottom, crop.bottom)
        right, top = min(media.right, crop.right), min(media.top, crop.top)
    except (KeyError, TypeError, AttributeError, ValueError, ArithmeticError):
        return None
    return (float(left), float(bottom), float(right), float(top)) if left < right and bottom < top else None


def _misses(box: tuple[float, float, float, float], x: float, y: float, size: float, text: str) -> bool:
    """Whether a piece of text, upright or turned, lies outside the shown part as a whole."""
    left, bottom, right, top = box
    reach = size * (len(text) + 1)
    return bool(text.strip()) and (
        x > right + size
        or x + reach < left
        or y > top + size
        or y + size < bottom - (reach if x + reach > right else 0)
    )


def _may_hide(page: Any) -> bool:
    """Does the page, or a form on it, set white or invisible letters anywhere?"""
    contents = page.get_contents()
    if contents is not None and _HIDING.search(contents.get_data()):
        return True
    try:
        forms = page["/Resources"]["/XObject"].get_object()
        return any(
            _HIDING.search(form.get_data())
            for name in forms
            if (form := forms[name].get_object()).get("/Subtype") == "/Form"
        )
    except (KeyError, TypeError, AttributeError):
        return False


def _difference(whole: str, visible: str) -> str:
    """The words of a page that are not among its visible ones, at most 20,000 characters."""
    left = Counter(visible.split())
    words = []
    for word in whole.split():
        if left[word]:
            left[word] -= 1
        else:
            words.append(word)
    return " ".join(words)[:20_000]


def _scale(matrix: list[float]) -> float:
    return math.hypot(matrix[2], matrix[3]) or math.hypot(matrix[0], matrix[1])


def _font(font: Any) -> str:
    try:
        return str(font["/BaseFont"]).rpartition("+")[2].lower() if font else ""
    except (KeyError, TypeError):
        return ""


def _is_bold(font: str) -> bool:
    return any(mark in font for mark in ("bold", "black", "heavy", "demi", "cmbx", "sfbx", "-bd", "medi"))


def _lines(runs: list[_Run]) -> list[Line]:
    """Text runs joined to lines at the line ends that pypdf found."""
    lines: list[Line] = []
    pieces: list[_Run] = []

    def close() -> None:
        raw = "".join(piece.text for piece in pieces)
        words = " ".join(raw.split())
        if words:
            solid = [piece for piece in pieces if piece.text.strip()]
            letters: Counter[tuple[float, str]] = Counter()
            for piece in solid:
                letters[piece.size, piece.font] += len(piece.text.strip())
            size, font = letters.most_common(1)[0][0]
            lines.append(Line(words, solid[0].x, solid[0].y, size, _is_bold(font), font, raw[-1:].isspace()))
        pieces.clear()

    for run in runs:
        for number, piece in enumerate(run.text.split("\n")):
            if number:
                close()
            if piece:
                if pieces and _far(pieces[-1], piece, run):
                    close()
                pieces.append(_Run(piece, run.x, run.y, run.size, run.font))
    close()
    return lines


def _far(before: _Run, text: str, run: _Run) -> bool:
    """Whether a piece stands so far to the right, at the same height, that it may belong to another column."""
    parted = before.text[-1:].isspace() or text[:1].isspace()
    gap = run.x - before.x - 0.5 * before.size * len(before.text)
    prose = max(len(before.text), len(text)) >= COLUMN
    return prose and parted and gap > 2 * before.size and abs(run.y - before.y) <= 0.15 * before.size


class _Eye:
    """Follows the drawing of a page and blanks out text that nobody sees: white on nothing, invisible, or tiny.

    White letters on something painted are a design, and invisible letters over a picture are a scan's recognised text.
    """

    def __init__(self) -> None:
        self.hidden = 0
        self._white = False
        self._mode = 0
        self._size = 12.0
        self._stack: list[tuple[bool, int, float]] = []
        self._boxes: list[tuple[float, float, float, float]] = []
        self._pictures: list[tuple[float, float, float, float]] = []
        self._path: list[tuple[float, float]] = []

    def look(self, operator: bytes, operands: Any, cm: list[float], tm: list[float]) -> None:
        """Called by pypdf before each drawing operation."""
        # A malformed operation draws nothing, and pypdf judges it itself.
        with suppress(TypeError, ValueError, IndexError, OverflowError):
            self._look(operator, operands, cm, tm)

    def _look(self, operator: bytes, operands: Any, cm: list[float], tm: list[float]) -> None:
        if operator in _SHOWS:
            self._show(operator, operands, cm, tm)
        elif operator == b"Tf":
            self._size = abs(float(operands[1]))
        elif operator == b"Tr":
            self._mode = int(operands[0])
        elif operator == _GREY:
            self._white = float(operands[0]) > 0.97
        elif operator == _RGB:
            self._white = all(float(value) > 0.97 for value in operands[:3])
        elif operator == _CMYK:
            self._white = all(float(value) < 0.03 for value in operands[:4])
        elif operator in _ANY:
            values = [float(value) for value in operands if isinstance(value, int | float)]
            self._white = len(values) in (1, 3) and len(values) == len(operands) and min(values) > 0.97
        elif operator == b"cs":
            self._white = False
        elif operator == b"q":
            self._stack.append((self._white, self._mode, self._size))
        elif operator == b"Q":
            if self._stack:
                self._white, self._mode, self._size = self._stack.pop()
        elif operator == b"re":
            x, y, width, height = (float(value) for value in operands[:4])
            self._path += [_point(cm, x, y), _point(cm, x + width, y + height)]
        elif operator in (b"m", b"l"):
            self._path.append(_point(cm, float(operands[0]), float(operands[1])))
        elif operator == b"c":
            self._path.append(_point(cm, float(operands[4]), float(operands[5])))
        elif operator in _PATH_ENDS:
            if operator in _FILLS and not self._white:
                self._paint(self._boxes)
            self._path = []
        elif operator in (b"Do", b"INLINE IMAGE", b"BI"):
            self._path = [_point(cm, 0, 0), _point(cm, 1, 1)]
            self._paint(self._pictures)
            self._path = []
        elif operator == b"sh":
            self._boxes.append((-math.inf, -math.inf, math.inf, math.inf))

    def _paint(self, boxes: list[tuple[float, float, float, float]]) -> None:
        if self._path and len(boxes) < MOST_BOXES:
            xs, ys = [x for x, _ in self._path], [y for _, y in self._path]
            boxes.append((min(xs) - 2, min(ys) - 2, max(xs) + 2, max(ys) + 2))

    def _show(self, operator: bytes, operands: Any, cm: list[float], tm: list[float]) -> None:
        tiny = self._size * _scale(tm) * _scale(cm) < TINY
        if not (self._white or tiny or self._mode in (3, 7)):
            return
        x = tm[4] * cm[0] + tm[5] * cm[2] + cm[4]
        y = tm[4] * cm[1] + tm[5] * cm[3] + cm[5]
        if not tiny:
            behind = self._pictures if self._mode in (3, 7) else self._boxes + self._pictures
            if any(left <= x <= right and bottom <= y <= top for left, bottom, right, top in behind):
                return
        index = 2 if operator == b'"' else 0
        text = operands[index]
        pieces = text if operator == b"TJ" else [text]
        if any(isinstance(piece, str | bytes) and piece.strip() for piece in pieces):
            self.hidden += 1
        operands[index] = [] if operator == b"TJ" else type(text)()


def _point(cm: list[float], x: float, y: float) -> tuple[float, float]:
    return x * cm[0] + y * cm[2] + cm[4], x * cm[1] + y * cm[3] + cm[5]
