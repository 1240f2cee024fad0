"""Formulas of Word files in one line, as `(a+b)/c` or `x^2`: a sentence without its formula says something else."""

from __future__ import annotations

from typing import Any

_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_DEEPEST = 40


def line(element: Any, depth: int = 0) -> str:
    """A formula, or a piece of one, as text."""
    if depth > _DEEPEST:
        return ""

    def part(name: str) -> str:
        found = element.find(f"{_M}{name}")
        return "" if found is None else line(found, depth + 1)

    match element.tag.removeprefix(_M):
        case "t":
            return element.text or ""
        case "f":
            return f"{_grouped(part('num'))}/{_grouped(part('den'))}"
        case "sSup":
            return f"{part('e')}^{_grouped(part('sup'))}"
        case "sSub":
            return f"{part('e')}_{_grouped(part('sub'))}"
        case "sSubSup":
            return f"{part('e')}_{_grouped(part('sub'))}^{_grouped(part('sup'))}"
        case "rad":
            return f"{part('deg')}√{_grouped(part('e'))}"
        case "d":
            return "(" + ", ".join(line(child, depth + 1) for child in element.iterfind(f"{_M}e")) + ")"
        case "nary":
            return f"{_sign(element)}_{_grouped(part('sub'))}^{_grouped(part('sup'))} {part('e')}"
    return "".join(line(child, depth + 1) for child in element)


def _sign(element: Any) -> str:
    """The sign of a sum, product or integral; Word leaves the integral's out."""
    found = element.find(f"{_M}naryPr/{_M}chr")
    return "∫" if found is None else found.get(f"{_M}val") or "∫"


def _grouped(text: str) -> str:
    return text if len(text) < 2 or text.isalnum() else f"({text})"
