"""The text of a PDF, page by page, with the headings that its outline or its letter sizes give away.

Every part is cited by its page (`page=3`), which Obsidian opens at that page.
"""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator, Mapping
from typing import Any

from config.errors import SourceError
from tasks.compiling.titles import sensible
from tasks.extraction import pdf_paragraphs
from tasks.extraction.extracted import Extracted
from tasks.extraction.pdf_annotations import Annotations
from tasks.extraction.pdf_columns import once
from tasks.extraction.pdf_lines import Line, PageText, read_page
from tasks.records import Outcome, Part

MAX_PAGES = 3000
MAX_OUTLINE = 5000
_SHELL = 1500  # characters that a page may have which says no more than where to look
_WAIT = re.compile(
    r"please wait|bitte warten|veuillez (?:patienter|attendre)|espere|attendere|aguarde|even geduld", re.I
)
_DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?")
_OCR = "Run text recognition (for example ocrmypdf) and drop the result here."


def extract(data: bytes, name: str = "") -> Extracted:
    """Paragraphs and headings of a PDF. Raises SourceError `needs_password`, `no_text` or `unreadable`."""
    logging.getLogger("pypdf").setLevel(logging.CRITICAL + 1)
    reader, notes = _open(data, name)
    written = Annotations()
    texts, failed, total = _pages(reader, name, written)
    _refuse_shells(reader, name, texts)
    if total > MAX_PAGES:
        notes.append(f"the first {MAX_PAGES} of {total} pages were read")
    without = [
        number
        for number, text in enumerate(texts, 1)
        if not text.lines and number not in failed and number not in written.parts
    ]
    letters = sum(character.isalnum() for text in texts for line in text.lines for character in line.text)
    letters += sum(map(str.isalnum, "".join(part.text for parts in written.parts.values() for part in parts)))
    if not letters or (letters < 4 * len(texts) and letters < 40 and without):
        if failed and len(failed) == len(texts):
            raise SourceError(
                name,
                Outcome.UNREADABLE,
                "none of its pages can be read; the PDF is damaged",
                "Download or export it again.",
            )
        raise SourceError(name, Outcome.NO_TEXT, "it has no text, only pictures of pages (a scan)", _OCR)
    if without:
        notes.append(f"pages without text: {_numbers(without)}")
    if failed:
        notes.append(f"pages that could not be read: {_numbers(failed)}")
    pages = pdf_paragraphs.without_running_heads([once(text.lines) for text in texts])
    parts = tuple(_parts(pages, _outline(reader, len(texts)), written.parts))
    if not parts:
        raise SourceError(name, Outcome.NO_TEXT, "it has no text beside page numbers and running heads", _OCR)
    title, author, published = _metadata(reader)
    return Extracted(
        "pdf",
        parts,
        title=title or _printed_title(pages) or _only_chapter(reader),
        author=author,
        published=published,
        notes=tuple(notes),
        hidden_removed=sum(text.hidden for text in texts) + written.hidden,
        hidden_text=" ".join(filter(None, (written.hidden_text, *(text.hidden_text for text in texts))))[:20_000],
    )


def _open(data: bytes, name: str) -> tuple[Any, list[str]]:
    """A reader whose pages can be touched, and notes on its encryption."""
    import pypdf
    from pypdf.errors import DependencyError

    notes = []
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted:
            if not reader.decrypt(""):
                raise SourceError(
                    name,
                    Outcome.NEEDS_PASSWORD,
                    "the PDF is protected by a password",
                    "Save a copy without the password and drop that here.",
                )
            notes.append("encrypted: owner-only")
        if not len(reader.pages):
            raise SourceError(name, Outcome.UNREADABLE, "the PDF has no pages", "Download or export it again.")
    except (SourceError, MemoryError):
        raise
    except (NotImplementedError, DependencyError) as error:
        raise SourceError(
            name,
            Outcome.NEEDS_PASSWORD,
            "the PDF is encrypted in a way that cannot be opened",
            "Save a copy without encryption and drop that here.",
        ) from error
    except Exception as error:  # pypdf meets damage with a dozen kinds of errors
        raise SourceError(
            name, Outcome.UNREADABLE, "the PDF is cut off or damaged", "Download or export it again."
        ) from error
    return reader, notes


def _pages(reader: Any, name: str, written: Annotations) -> tuple[list[PageText], list[int], int]:
    """The text of each page, the numbers of pages that cannot be read, and how many pages there are.

    What was written onto the pages is gathered on the way.
    """
    from pypdf.errors import FileNotDecryptedError

    total = len(reader.pages)
    texts: list[PageText] = []
    failed: list[int] = []
    for number in range(1, min(total, MAX_PAGES) + 1):
        try:
            page = reader.pages[number - 1]
            written.gather(page, number)
            texts.append(read_page(page))
        except FileNotDecryptedError as error:
            raise SourceError(
                name,
                Outcome.NEEDS_PASSWORD,
                "the PDF is protected by a password",
                "Save a copy without the password and drop that here.",
            ) from error
        except MemoryError:
            raise
        except Exception:  # as above; the other pages are worth having
            texts.append(PageText())
            failed.append(number)
    return texts, failed, total


def _refuse_shells(reader: Any, name: str, texts: list[PageText]) -> None:
    """Raises `unsupported` for files whose only page says that their contents are elsewhere."""
    if len(texts) > 2 or sum(len(line.text) for text in texts for line in text.lines) > _SHELL:
        return
    try:
        root = reader.trailer["/Root"]
        portfolio, form = "/Collection" in root, "/XFA" in root.get("/AcroForm", {})
    except Exception:  # a broken catalogue says nothing of that kind
        return
    if portfolio:
        step = "Take its files out in a PDF program and drop them here."
        raise SourceError(name, Outcome.UNSUPPORTED, "it is a portfolio, which holds other files", step)
    if form and any(_WAIT.match(line.text) for text in texts for line in text.lines[:3]):
        step = "Open it there, print it as PDF, and drop that here."
        raise SourceError(name, Outcome.UNSUPPORTED, "it is a form that only Adobe's programs show (XFA)", step)


def _parts(
    pages: list[list[Line]], outline: Mapping[int, Mapping[str, int]], written: Mapping[int, list[Part]]
) -> Iterator[Part]:
    style = pdf_paragraphs.style_of(pages)
    for number, lines in enumerate(pages, 1):
        yield from pdf_paragraphs.parts_of_page(lines, number, style, outline.get(number, {}))
        yield from written.get(number, ())


def _outline(reader: Any, pages: int) -> dict[int, dict[str, int]]:
    """Outline titles by page, each with its depth from 1. Empty when the outline is absent or broken."""
    found: dict[int, dict[str, int]] = {}
    try:
        pending: list[tuple[Any, int]] = [(reader.outline, 1)]
    except Exception:  # a broken outline costs only headings
        return found
    seen = 0
    while pending and seen < MAX_OUTLINE:
        items, depth = pending.pop()
        for item in items:
            seen += 1
            if isinstance(item, list):
                pending.append((item, depth + 1))
                continue
            try:
                page = reader.get_destination_page_number(item)
                key = pdf_paragraphs.outline_key(str(item.title))
            except Exception:  # as above
                continue
            if key and page is not None and 0 <= page < pages:
                found.setdefault(page + 1, {}).setdefault(key, depth)
    return found


def _metadata(reader: Any) -> tuple[str, str, str]:
    """Title, author and date that the file gives for itself, where they can be believed."""

    def value(key: str) -> str:
        try:
            entry = (reader.metadata or {}).get(key)
            text = entry.get_object() if entry is not None and hasattr(entry, "get_object") else entry
        except Exception:  # broken metadata costs only itself
            return ""
        return " ".join(text.replace("\x00", "").split()) if isinstance(text, str) else ""

    date = _DATE.match(value("/CreationDate"))
    published = ""
    if date and "1980" < date.group(1) < "2100":
        month, day = date.group(2) or "01", date.group(3) or "01"
        published = f"{date.group(1)}-{month}-{day}" if "01" <= month <= "12" and "01" <= day <= "31" else ""
    author = value("/Author")
    generic = re.fullmatch(
        r"(?:admin(?:istrator)?|user|unknown|owner|root|author|\W*|.*@.*\\.*)", author, re.IGNORECASE
    )
    return sensible(value("/Title")), "" if generic or len(author) > 200 else author, published


def _printed_title(pages: list[list[Line]]) -> str:
    """The largest lines of the first page with text, if they stand out; else ''."""
    first = next((lines for lines in pages if lines), [])
    body = pdf_paragraphs.body_size(pages)
    large = max((line.size for line in first if any(character.isalpha() for character in line.text)), default=0.0)
    if large < 1.12 * body:
        if first and first[0].bold and not (len(first) > 1 and first[1].bold) and len(first[0].text) < 120:
            return sensible(pdf_paragraphs.tidy(first[0].text))
        return ""
    lines: list[str] = []
    for line in first:
        if line.size > 0.97 * large:
            lines.append(line.text)
        elif lines:
            break
    title = sensible(pdf_paragraphs.tidy(" ".join(lines)))
    return title if len(title) < 180 else ""


def _only_chapter(reader: Any) -> str:
    """The title of an outline that has a single entry at its top, as an extract of a longer work has; else ''."""
    try:
        entries = [item for item in reader.outline if not isinstance(item, list)]
        return sensible(str(entries[0].title)) if len(entries) == 1 else ""
    except Exception:  # as above
        return ""


def _numbers(numbers: list[int]) -> str:
    """Page numbers in words: `3, 4`, long runs as `5-90`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)
