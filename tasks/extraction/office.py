"""Word, PowerPoint and Excel files, with headings, lists and tables kept.

These are zip files of XML from strangers: sizes are added up before anything is unpacked, and XML that declares
entities is refused before a parser sees it.
"""

from __future__ import annotations

import io
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable

from config.errors import SourceError
from tasks.extraction.extracted import Extracted
from tasks.extraction.office_package import usual, without_dangling
from tasks.records import Outcome

MAX_PART = 100 * 1024 * 1024
MAX_TOTAL = 400 * 1024 * 1024
MAX_RATIO = 300
_AGAIN = "Open it in its program, save it again, and drop that here."


def extract(kind: str, data: bytes, name: str = "") -> Extracted:
    """The text of a docx, pptx or xlsx. Raises SourceError `refused` for bombs, `unreadable`, or `no_text`."""
    _check(data, name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read = _extractor(kind)
            data = usual(data, kind)
            try:
                found = read(data)
            except KeyError:  # a part that others refer to is not there; Word and Excel do without it
                found = read(without_dangling(data))
    except (SourceError, MemoryError):
        raise
    except Exception as error:  # the libraries meet damage with many kinds of errors
        raise SourceError(name, Outcome.UNREADABLE, "the office file is damaged", _AGAIN) from error
    if not found.parts:
        if found.notes:
            raise SourceError(name, Outcome.NO_TEXT, f"it holds no text to read: {'; '.join(found.notes)}", _AGAIN)
        pictures = b"media/image" in data
        raise SourceError(
            name,
            Outcome.NO_TEXT,
            "it holds only pictures, no text" if pictures else "it holds no text",
            "Save it as PDF and run text recognition (for example ocrmypdf)." if pictures else "",
        )
    return found


def _extractor(kind: str) -> Callable[[bytes], Extracted]:
    """The reader of one kind of file; its library is imported only when such a file comes."""
    if kind == "docx":
        from tasks.extraction.docx import extract_docx

        return extract_docx
    if kind == "pptx":
        from tasks.extraction.pptx import extract_pptx

        return extract_pptx
    from tasks.extraction.xlsx import extract_xlsx

    return extract_xlsx


def _begins(head: bytes) -> bool:
    """Whether a part's first element stands in its head, so that nothing can be declared behind it."""
    return re.search(rb"<[A-Za-z_]", re.sub(rb"<!--.*?(?:-->|$)", b"", head, flags=re.DOTALL)) is not None


def _check(data: bytes, name: str) -> None:
    """Refuses bombs and damage before anything is unpacked as a whole."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            total = 0
            for entry in archive.infolist():
                if entry.flag_bits & 1:
                    raise SourceError(
                        name,
                        Outcome.NEEDS_PASSWORD,
                        "the file is protected by a password",
                        "Save a copy without the password and drop that here.",
                    )
                total += entry.file_size
                packed = max(entry.compress_size, 1)
                if (
                    entry.file_size > MAX_PART
                    or total > MAX_TOTAL
                    or (entry.file_size > 10_000_000 and entry.file_size / packed > MAX_RATIO)
                ):
                    raise SourceError(
                        name,
                        Outcome.REFUSED,
                        "unpacked it would be far too large",
                        "If it is sound, save its parts as smaller files.",
                    )
                if entry.filename.endswith((".xml", ".rels")):
                    with archive.open(entry) as part:
                        head = part.read(4096)
                    wide = head.replace(b"\x00", b"")
                    if b"<!DOCTYPE" in wide or b"<!ENTITY" in wide or (len(head) == 4096 and not _begins(wide)):
                        raise SourceError(name, Outcome.REFUSED, "its XML declares entities, as attacks do", _AGAIN)
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, NotImplementedError, ValueError) as error:
        raise SourceError(
            name, Outcome.UNREADABLE, "the file is cut off or damaged", "Copy or download it again."
        ) from error
