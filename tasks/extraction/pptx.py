"""PowerPoint files: slide titles as headings, bullets as lists, tables, the numbers of charts, and the speaker's notes
as quotes.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

from tasks.extraction.extracted import Extracted, table
from tasks.extraction.office_facts import facts, words
from tasks.records import BlockKind, Part

MOST_SERIES, MOST_POINTS = 30, 500  # of a chart
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"


def extract_pptx(data: bytes) -> Extracted:
    """The text of a PowerPoint file, slide by slide."""
    import pptx

    deck = pptx.Presentation(io.BytesIO(data))
    parts: list[Part] = []
    left_out: list[str] = []
    for number, slide in enumerate(deck.slides, 1):
        if slide.element.get("show") in ("0", "false"):
            left_out.append(f"slide {number} is hidden and was not read")
            continue
        title_shape = slide.shapes.title
        title = words(title_shape.text_frame.text) if title_shape is not None and title_shape.has_text_frame else ""
        body = list(_shapes(slide.shapes, title_shape.shape_id if title_shape is not None else None, 0))
        notes = (
            words(slide.notes_slide.notes_text_frame.text)
            if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None
            else ""
        )
        if title or body or notes:
            parts.append(Part(BlockKind.HEADING, title or f"Slide {number}", level=2))
            parts += body
            if notes:
                parts.append(Part(BlockKind.QUOTE, notes))
    title, author, published = facts(deck.core_properties)
    first = next(
        (part.text for part in parts if part.kind is BlockKind.HEADING and not part.text.startswith("Slide ")), ""
    )
    generic = title.lower() in (
        "powerpoint presentation",
        "powerpoint-präsentation",
        "présentation powerpoint",
        "presentation",
    )
    return Extracted(
        "pptx",
        tuple(parts),
        title=first if generic or not title else title,
        author=author,
        published=published,
        notes=tuple(left_out),
    )


def _shapes(shapes: Any, title_id: int | None, depth: int) -> Iterator[Part]:
    """The text of a slide's shapes from top to bottom, groups included."""
    for shape in sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0)):
        if title_id is not None and shape.shape_id == title_id:
            continue
        if hasattr(shape, "shapes") and depth < 8:
            yield from _shapes(shape.shapes, None, depth + 1)
        elif getattr(shape, "has_table", False):
            rows = [[words(cell.text) for cell in row.cells] for row in shape.table.rows]
            if any(any(row) for row in rows):
                yield Part(BlockKind.TABLE, table(rows))
        elif getattr(shape, "has_chart", False):
            yield from _whole(_chart, shape)
        elif getattr(shape, "has_text_frame", False):
            yield from _frame(shape)
        else:
            yield from _whole(_diagram, shape)


def _whole(read: Callable[[Any], Iterator[Part]], shape: Any) -> list[Part]:
    """What is read of a drawing; a broken one costs only itself."""
    try:
        return list(read(shape))
    except Exception:  # programs write charts in more ways than the library knows
        return []


def _chart(shape: Any) -> Iterator[Part]:
    """The numbers that a chart draws, as a table; its title stands before it."""
    chart = shape.chart
    if chart.has_title and (title := words(chart.chart_title.text_frame.text)):
        yield Part(BlockKind.PARAGRAPH, title)
    series = [one for plot in chart.plots for one in plot.series][:MOST_SERIES]
    labels = [words(str(label)) for label in (chart.plots[0].categories if series else ())][:MOST_POINTS]
    rows = [["", *(words(one.name) for one in series)]]
    for number, label in enumerate(labels):
        values = (one.values[number] if number < len(one.values) else None for one in series)
        rows.append([label, *("" if value is None else f"{value:.15g}" for value in values)])
    if len(rows) > 1:
        yield Part(BlockKind.TABLE, table(rows))


def _diagram(shape: Any) -> Iterator[Part]:
    """The words in a diagram (SmartArt), in the order they were written."""
    for relations in shape.element.iter(f"{_DIAGRAM}relIds"):
        from pptx.oxml import parse_xml

        root = parse_xml(shape.part.related_part(relations.get(f"{_RELATION}dm")).blob)
        points = (
            words("".join(node.text or "" for node in point.iter(f"{_A}t"))) for point in root.iter(f"{_DIAGRAM}pt")
        )
        if lines := [f"- {text}" for text in points if text]:
            yield Part(BlockKind.LIST, "\n".join(lines))


def _frame(shape: Any) -> Iterator[Part]:
    """One text box: a single paragraph is one, several are the bullets they look like."""
    if shape.is_placeholder and shape.placeholder_format.type in _furniture():
        return
    lines = [(paragraph.level or 0, words(paragraph.text)) for paragraph in shape.text_frame.paragraphs]
    lines = [(level, text) for level, text in lines if text]
    if len(lines) == 1:
        yield Part(BlockKind.PARAGRAPH, lines[0][1])
    elif lines:
        lowest = min(level for level, _ in lines)
        yield Part(BlockKind.LIST, "\n".join("    " * (level - lowest) + f"- {text}" for level, text in lines))


def _furniture() -> tuple[Any, ...]:
    from pptx.enum.shapes import PP_PLACEHOLDER

    return (PP_PLACEHOLDER.SLIDE_NUMBER, PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.HEADER)
