"""One source from bytes to what later steps need: sniff, extract, sanitise, judge, anchor, chunk, analyse.

All of it happens at one place so that it can run in a worker process and only finished results travel.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from config.errors import SourceError
from tasks.compiling.titles import sensible
from tasks.extraction.extracted import Extracted, first_heading
from tasks.extraction.sniff import Sniffed, sniff, suffix
from tasks.pages.slugs import slugify
from tasks.reading import chunks, evidence, quality, sanitise
from tasks.records import BlockKind, Chunk, Document, Outcome, Part

if TYPE_CHECKING:
    from config.settings import Settings

Analyse = Callable[[Document], tuple[bytes, tuple[str, ...]]]
"""A compiler's notes on a document as bytes, and its subject keys; a top-level function, so that it can be pickled."""

_IN_PLACE = {"pdf": frozenset({".pdf"}), "markdown": frozenset({".md", ".markdown"})}


@dataclass(frozen=True, slots=True)
class ReadJob:
    """One source to read."""

    source_id: str
    path: str  # absolute path of the bytes
    name: str  # vault path or address, for its type and for messages
    content_type: str = ""
    url: str = ""
    target: str = ""  # vault path that anchors belong to; '' means a readable copy
    evidence_folder: str = "evidence"
    evidence: str = ""  # vault path of the readable copy that exists already
    previous: str = ""  # absolute path of the former document as JSON
    fetched: str = ""  # time of reading, for the readable copy
    title: str = ""  # given beside the address by the person who listed it
    clip: bool = False  # a Web Clipper note
    file_name: str = ""  # under which a server would have its answer saved


@dataclass(frozen=True, slots=True)
class ReadResult:
    """What reading one source gave: a document with all that hangs on it, or an outcome with its reason."""

    source_id: str
    outcome: Outcome
    reason: str = ""
    next_step: str = ""
    document: Document | None = None
    chunks: tuple[Chunk, ...] = ()
    evidence_text: str = ""  # Markdown of the readable copy; '' when the source is cited in place
    analysis: bytes = b""
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """The settings that reading needs. A reading process gets these, for to load all settings takes it 0.1 seconds."""

    chunk_size: int
    chunk_overlap: int
    memory_megabytes: int


def limits_of(settings: Settings) -> Limits:
    """What of the settings concerns reading."""
    return Limits(settings.chunks.size, settings.chunks.overlap, settings.extract.memory_megabytes)


def read(job: ReadJob, settings: Settings, analyse: Analyse | None = None) -> ReadResult:
    """Reads one source in this process, without limits of time and memory. Never raises for what is in the source."""
    return read_within(job, limits_of(settings), analyse)


def read_within(job: ReadJob, limits: Limits, analyse: Analyse | None = None) -> ReadResult:
    """As `read`; the limit of memory is the caller's to enforce."""
    try:
        data = Path(job.path).read_bytes()
    except FileNotFoundError:
        return ReadResult(job.source_id, Outcome.GONE, "the file is no longer there")
    except OSError as error:
        return ReadResult(
            job.source_id, Outcome.UNREADABLE, f"the file cannot be opened ({error.strerror})", "Check its permissions."
        )
    except MemoryError:
        return too_large(job, limits.memory_megabytes)
    try:
        document = document_of(data, job)
        pieces = chunks.chunk(document, limits.chunk_size, limits.chunk_overlap)
        copy = evidence.render(document, job.fetched) if document.target != job.target else ""
        analysis, topics = analyse(document) if analyse else (b"", ())
    except SourceError as error:
        return ReadResult(job.source_id, Outcome(error.outcome), error.cause, error.next_step)
    except MemoryError:
        return too_large(job, limits.memory_megabytes)
    except RecursionError:
        return ReadResult(
            job.source_id,
            Outcome.UNREADABLE,
            "it is nested too deeply to be read",
            "Save it in another form and drop that here.",
        )
    except Exception as error:  # a stranger's file can trip a parser in any way; it must cost only itself
        return ReadResult(
            job.source_id,
            Outcome.UNREADABLE,
            f"it could not be read ({type(error).__name__}: {' '.join(str(error).split())[:120]})",
            "Open and save it again, or drop it in another form.",
        )
    return ReadResult(
        job.source_id,
        Outcome.OK,
        document=document,
        chunks=pieces,
        evidence_text=copy,
        analysis=analysis,
        topics=topics,
    )


def too_large(job: ReadJob, megabytes: int) -> ReadResult:
    """The result of a source that needs more memory than a reading process may have."""
    return ReadResult(
        job.source_id,
        Outcome.REFUSED,
        f"reading it needs more than {megabytes} MB of memory",
        "Split the file, or raise extract.memory_megabytes.",
    )


def document_of(data: bytes, job: ReadJob) -> Document:
    """The document in `data`: cleaned, judged and anchored. Raises SourceError with the outcome."""
    sniffed = sniff(data, job.name, job.content_type, job.file_name)
    extracted = _extract(sniffed, job)
    parts, removed, smuggled = _clean(extracted.parts)
    if not parts:
        raise SourceError(job.name, Outcome.NO_CONTENT, "no text was found in it", "")
    prose = "\n".join(part.text for part in parts if part.kind is not BlockKind.CODE)
    judged = quality.judge("\n".join(part.text for part in parts if part.kind not in (BlockKind.CODE, BlockKind.TABLE)))
    document = Document(
        source_id=job.source_id,
        title=_title(extracted, parts, job),
        parts=parts,
        media=extracted.media,
        url=job.url,
        author=sanitise.clean(extracted.author)[0],
        published=_day(extracted.published),
        language=extracted.language,
        quality=judged.score,
        quality_reasons=judged.reasons,
        notes=extracted.notes,
        hidden_removed=extracted.hidden_removed + removed,
        injection_suspected=bool(sanitise.orders(prose) or sanitise.orders(extracted.hidden_text) or smuggled),
        location="" if job.url and job.name == job.url else job.name,
    )
    if job.target and PurePosixPath(job.target).suffix.lower() in _IN_PLACE.get(document.media, ()):
        return replace(document, target=job.target)
    target = job.evidence or f"{job.evidence_folder}/{slugify(document.title)[:80].strip('-')}-{job.source_id[:6]}.md"
    return evidence.anchor(replace(document, target=target), _previous(job))


def _extract(sniffed: Sniffed, job: ReadJob) -> Extracted:
    """The extractor for a kind, run; each is imported when it is first needed."""
    named = suffix(job.name)
    match sniffed.kind:
        case "html":
            from tasks.extraction import html as extract_html

            try:
                return extract_html.extract(sniffed.text, job.name, job.url)
            except SourceError as error:
                if named in (".pdf", ".docx", ".pptx", ".xlsx"):
                    raise SourceError(
                        job.name,
                        Outcome.UNREADABLE,
                        f"it is named {named} but holds a web page without an article",
                        "Download the file again.",
                    ) from error
                raise
        case "markdown":
            from tasks.extraction import markdown as extract_markdown

            return extract_markdown.extract(sniffed.text, job.clip)
        case "pdf":
            from tasks.extraction import pdf as extract_pdf

            return extract_pdf.extract(sniffed.data, job.name)
        case "docx" | "pptx" | "xlsx":
            from tasks.extraction import office as extract_office

            return extract_office.extract(sniffed.kind, sniffed.data, job.name)
        case "vtt" | "srt" | "transcript" | "timedtext":
            from tasks.extraction import transcript as transcripts

            readers = {"transcript": transcripts.extract_json, "timedtext": transcripts.extract_timedtext}
            found = readers.get(sniffed.kind, transcripts.extract_captions)(sniffed.text)
            if not found.parts:
                raise SourceError(job.name, Outcome.NO_TRANSCRIPT, "the transcript holds no words")
            return found
        case "mail":
            from tasks.extraction import mail as extract_mail

            return extract_mail.extract(sniffed.data, sniffed.text, job.name)
        case "csv" | "program" | "notebook":
            from tasks.extraction import text as extract_text

            others = {"csv": extract_text.extract_csv, "notebook": extract_text.extract_notebook}
            return others.get(sniffed.kind, extract_text.extract_program)(sniffed.text)
        case _:
            from tasks.extraction import text as extract_text

            return extract_text.extract(sniffed.text)


def _clean(parts: tuple[Part, ...]) -> tuple[tuple[Part, ...], int, str]:
    """Parts without invisible characters, how many pieces were taken out, and what they spelt."""
    kept: list[Part] = []
    removed, smuggled = 0, ""
    for part in parts:
        text, count = sanitise.clean(part.text)
        if count:
            removed += count
            smuggled = smuggled or sanitise.smuggled(part.text)
        if text.strip():
            kept.append(part if text is part.text or text == part.text else replace(part, text=text))
    return tuple(kept), removed, smuggled


def _day(published: str) -> str:
    """A date of publication, or '' when there is no such day: a property of that form would not be read back."""
    try:
        date.fromisoformat(published[:10])
    except ValueError:
        return ""
    return published


def _previous(job: ReadJob) -> Document | None:
    """The former document, when it is there and can be read; else all numbers start anew."""
    if not job.previous:
        return None
    try:
        return evidence.decode_document(Path(job.previous).read_bytes())
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _title(extracted: Extracted, parts: tuple[Part, ...], job: ReadJob) -> str:
    """The source's own title, else the one given beside its address, its first heading, or its file name."""
    named_by_file = extracted.media == "pdf" or (extracted.media == "markdown" and not job.clip)
    for candidate in (extracted.title, job.title, "" if named_by_file else first_heading(parts)):
        title = sensible(sanitise.clean(candidate)[0])
        if title:
            return title
    return _stem(job.file_name or job.name)


def _stem(name: str) -> str:
    """The file name without suffix, or the last speaking piece of an address; underscores and hyphens become blanks."""
    if "://" in name:
        split = urlsplit(name)
        pieces = [piece for piece in unquote(split.path).split("/") if re.search(r"[^\W\d_]{2}", piece)]
        name = pieces[-1] if pieces else split.netloc
        name = re.sub(r"\.(?:html?|php|aspx?|pdf)$", "", name)
    else:
        name = re.sub(r"\.gz$", "", PurePosixPath(name).name, flags=re.IGNORECASE)
        name = re.sub(r"\.[A-Za-z0-9]{1,5}$", "", name) or name
    words = " ".join(name.replace("_", " ").split()) if " " in name else " ".join(re.split(r"[_\-\s]+", name))
    return words.strip() or name
