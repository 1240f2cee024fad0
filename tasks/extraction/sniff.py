"""What a file really is, by its bytes: names and content types lie.

`sniff` unpacks gzip, cuts junk before a PDF's header and decodes text, so that an extractor gets what it can read.
What nightwiki cannot read is said with what to do about it.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import PurePosixPath

from config.errors import SourceError
from tasks.extraction import unread
from tasks.extraction.decode import decode
from tasks.records import Outcome

MAX_UNPACKED = 200 * 1024 * 1024
_OFFICE = {"word/document": "docx", "ppt/presentation": "pptx", "xl/workbook": "xlsx"}
_MAIN_PART = re.compile(r"^(word/document|ppt/presentation|xl/workbook)\d*\.xml$", re.IGNORECASE | re.MULTILINE)
_MARKDOWN_NAMES = frozenset({".md", ".markdown", ".mdown", ".mkd"})
_PLAIN_NAMES = frozenset({".txt", ".text", ".log", ".rst", ".org", ".tex", ".adoc"})
_PROGRAM_NAMES = frozenset((
    ".py", ".js", ".mjs", ".ts", ".tsx", ".jsx", ".css", ".scss", ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".java",
    ".kt", ".go", ".rs", ".rb", ".pl", ".lua", ".r", ".jl", ".swift", ".scala", ".sh", ".bash", ".zsh", ".bat",
    ".sql", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".properties", ".env", ".bib", ".diff", ".patch",
))  # fmt: skip
_HTML_NAMES = frozenset({".html", ".htm", ".xhtml", ".xht", ".asp", ".aspx", ".php"})
_MAIL_LINES = frozenset({"from", "to", "subject", "date", "received", "return-path", "message-id", "mime-version"})
_PDF = re.compile(rb"%PDF-\d")
_MARKUP_START = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_MARKUP = re.compile(r"<(?:html|head|body|article|main|p|div|h1|table|ul)\b[^>]*>", re.IGNORECASE)
_SRT = re.compile(r"\s*(?:\d+[ \t]*\n\s*)?\d{1,3}:\d\d:\d\d[,.]\d{1,3}(?:\s*-->\s*|,)\d{1,3}:\d\d:\d\d[,.]\d{1,3}")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_BLANK = "\ufeff \t\r\n"
_BINARY = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


@dataclass(frozen=True, slots=True)
class Sniffed:
    """A source's kind (the extractor's name), its bytes without wrapping, and its text when it is a text."""

    kind: str  # pdf html markdown text mail program notebook csv docx pptx xlsx vtt srt transcript timedtext
    data: bytes
    text: str = ""
    encoding: str = ""


def suffix(name: str) -> str:
    """The file name's suffix in lower case, also of an address; '' when it has none."""
    path = re.split(r"[?#]", name, maxsplit=1)[0] if _ADDRESS.match(name) else name
    return PurePosixPath(path).suffix.lower()


def sniff(data: bytes, name: str = "", content_type: str = "", file_name: str = "") -> Sniffed:
    """What `data` is. Raises SourceError: `unsupported`, `needs_password`, `unreadable`, `no_content`.

    `name` is a path or an address; `file_name` is what the server at an address calls its answer.
    """
    ending = suffix(file_name or name)
    media_type = content_type.partition(";")[0].strip().lower()
    data = _unpacked(data, name)
    if not data.strip(b"\x00 \t\r\n\xef\xbb\xbf"):
        fetched = _ADDRESS.match(name) is not None
        written = fetched or ending in _MARKDOWN_NAMES | _PLAIN_NAMES | _HTML_NAMES
        what = "the answer" if fetched else "the file"
        raise SourceError(
            name,
            Outcome.NO_CONTENT if written else Outcome.UNREADABLE,
            f"{what} is empty" if not data else f"{what} holds only blanks",
            "Check the address." if fetched else "" if written else "Copy or download it again.",
        )
    is_note = ending in _MARKDOWN_NAMES | _PLAIN_NAMES
    header = _PDF.search(data, 0, 1024)
    if header and (
        header.start() == 0
        or (not is_note and not re.search(rb"<(?:!doctype|html|head|body)", data[: header.start()], re.I))
    ):
        return Sniffed("pdf", data[header.start() :])
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return Sniffed(_zip_kind(data, name), data)
    if data.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        raise unread.legacy_office(data, name)
    if data.startswith(b"bplist00") and (page := _web_archive(data)):
        return Sniffed("html", data, page, "utf-8")
    unread.refuse_bytes(data, name, is_note)
    decoded = decode(data, content_type)
    if decoded is None or len(_BINARY.findall(decoded.text, 0, 20_000)) * 50 > min(len(decoded.text), 20_000):
        broken = ending in (".pdf", ".docx", ".pptx", ".xlsx")
        raise SourceError(
            name,
            Outcome.UNREADABLE if broken else Outcome.UNSUPPORTED,
            f"it is named {ending} but does not hold one"
            if broken
            else "it is neither text nor a kind of file that nightwiki reads",
            "Copy or download it again."
            if broken
            else "Save it as PDF, docx, HTML, Markdown or text, or add it to sources.ignore.",
        )
    kind, text = _text_kind(decoded.text, ending, media_type, name)
    return Sniffed(kind, data, text, decoded.encoding)


def _unpacked(data: bytes, name: str) -> bytes:
    """The bytes inside gzip, also inside gzip twice; other bytes as they are. Bounded against bombs."""
    for _ in range(2):
        if not data.startswith(b"\x1f\x8b"):
            return data
        unpacked = bytearray()
        rest = data
        while rest.startswith(b"\x1f\x8b"):  # a file may be several streams in a row, padded with zeros
            machine = zlib.decompressobj(wbits=31)
            try:
                unpacked += machine.decompress(rest, MAX_UNPACKED + 1 - len(unpacked))
            except zlib.error as error:
                raise _damaged_gzip(name) from error
            if len(unpacked) > MAX_UNPACKED:
                raise SourceError(
                    name,
                    Outcome.REFUSED,
                    "unpacked it is larger than 200 MB",
                    "Unpack it and drop the part that matters here.",
                )
            if not machine.eof and not _ended(machine):
                raise _damaged_gzip(name)
            rest = machine.unused_data.lstrip(b"\x00")
        data = bytes(unpacked)
    return data


def _ended(machine: zlib._Decompress) -> bool:
    """Whether all the data came and only the check behind it is cut off."""
    try:
        machine.decompress(b"\xff" * 8)  # such bits end no data, so that only the check can complain
    except zlib.error as error:
        return "check" in str(error)
    return False


def _damaged_gzip(name: str) -> SourceError:
    return SourceError(name, Outcome.UNREADABLE, "the gzip file is cut off or damaged", "Copy or download it again.")


def _zip_kind(data: bytes, name: str) -> str:
    """docx, pptx or xlsx by what the zip file holds."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
            media = archive.read("mimetype")[:80].decode("ascii", "replace") if "mimetype" in names else ""
    except (
        zipfile.BadZipFile,
        OSError,
        ValueError,
        RuntimeError,
        NotImplementedError,
        EOFError,
        zlib.error,
        KeyError,
    ) as error:
        raise SourceError(
            name, Outcome.UNREADABLE, "the file is cut off or damaged", "Copy or download it again."
        ) from error
    if main := _MAIN_PART.search("\n".join(names).replace("\\", "/")):
        return _OFFICE[main[1].lower()]
    if "xl/workbook.bin" in names:
        raise SourceError(
            name, Outcome.UNSUPPORTED, "it is a binary Excel file (xlsb)", "Save it as .xlsx and drop that here."
        )
    if any(part.endswith(".iwa") or part in ("Index.zip", "index.apxl") for part in names):
        raise SourceError(
            name,
            Outcome.UNSUPPORTED,
            "it is a file of Pages, Numbers or Keynote",
            "Export it as PDF and drop that here.",
        )
    if "opendocument" in media:
        raise SourceError(
            name,
            Outcome.UNSUPPORTED,
            "it is an OpenDocument file",
            "Save it as .docx, .pptx, .xlsx or PDF and drop that here.",
        )
    if "epub" in media:
        raise SourceError(
            name, Outcome.UNSUPPORTED, "it is an e-book (EPUB)", "Convert it to PDF or HTML and drop that here."
        )
    raise SourceError(name, Outcome.UNSUPPORTED, "it is an archive (zip)", "Unpack it and drop the files here.")


def _is_json(text: str) -> bool:
    """Whether the whole of a text is one JSON object or array, whatever its file is called."""
    if text.rstrip()[-1:] not in ("}", "]"):
        return False
    try:
        return isinstance(json.loads(text.lstrip("\ufeff")), dict | list)
    except (ValueError, RecursionError):
        return False


def _text_kind(text: str, ending: str, media_type: str, name: str) -> tuple[str, str]:
    """Kind of a decoded text, and the text an extractor shall read (of a saved mail-like page its HTML part)."""
    start = text[:4096].lstrip(_BLANK) or text.lstrip(_BLANK)[:4096]
    unread.refuse_text(start, name)
    if start.startswith("WEBVTT"):
        return "vtt", text
    if _SRT.match(text):
        return "srt", text
    if start[:1] in ("[", "{"):
        from tasks.extraction.transcript import is_transcript

        if is_transcript(text):
            return "transcript", text
        if start[0] == "{" and (ending == ".ipynb" or '"nbformat"' in text) and _is_json(text):
            return "notebook", text
        if ending == ".json" or media_type.endswith("json") or _is_json(text):
            raise SourceError(
                name,
                Outcome.UNSUPPORTED,
                "it is data (JSON), not a text to read",
                "Export what matters as Markdown, text or CSV.",
            )
    if _MARKUP_START.match(start):
        return "html", text
    if ending in _MARKDOWN_NAMES or media_type == "text/markdown":
        return "markdown", text
    if _is_mail(start, ending, media_type):
        return "mail", text
    if start.startswith(("MIME-Version:", "From: <Saved by")) or (
        "multipart/related" in start[:2000] and "Content-Type:" in start
    ):
        page = _archived_page(text)
        if page:
            return "html", page
    if start.startswith(("<?xml", "<rss", "<feed")):
        if re.search(r"<(?:rss|feed|rdf:RDF)\b", start):
            raise SourceError(
                name, Outcome.UNSUPPORTED, "it is a news feed", "List its address in sources.yaml under feeds."
            )
        if re.search(r"<(?:transcript|timedtext)\b[^>]*>\s*(?:<body>\s*)?<(?:text|p)\s", start):
            return "timedtext", text
        if "<svg" in start:
            raise SourceError(name, Outcome.UNSUPPORTED, "it is a picture (SVG)", unread.OCR)
        if "<html" not in start:
            raise SourceError(
                name,
                Outcome.UNSUPPORTED,
                "it is data (XML), not a text to read",
                "Export what matters as HTML, Markdown or text.",
            )
        return "html", text
    if start.startswith("<svg"):
        raise SourceError(name, Outcome.UNSUPPORTED, "it is a picture (SVG)", unread.OCR)
    looks_html = media_type in ("text/html", "application/xhtml+xml") or ending in _HTML_NAMES
    if (looks_html and "<" in text) or (
        ending not in _PLAIN_NAMES and start.startswith("<") and len(_MARKUP.findall(text[:20_000])) >= 3
    ):
        return "html", text
    if ending in (".csv", ".tsv", ".tab") or media_type in ("text/csv", "text/tab-separated-values"):
        return "csv", text
    if ending in (".pdf", ".docx", ".pptx", ".xlsx"):
        raise SourceError(
            name, Outcome.UNREADABLE, f"it is named {ending} but holds something else", "Copy or download it again."
        )
    return ("program" if ending in _PROGRAM_NAMES else "text"), text


def _is_mail(start: str, ending: str, media_type: str) -> bool:
    """Whether a text is a mail: by its name or type, else by lines that only the transport of mails writes."""
    head = start.partition("\n\n")[0]
    named = {line.partition(":")[0].lower() for line in head.split("\n") if line[:1].isalpha()}
    if ending in (".eml", ".mbox") or media_type == "message/rfc822":
        return not named.isdisjoint(_MAIL_LINES)
    carried = not named.isdisjoint({"received", "return-path", "delivered-to", "message-id"})
    return ending not in _PLAIN_NAMES and carried and {"from", "date"} <= named


def _web_archive(data: bytes) -> str:
    """The page in a file as Safari saves it (webarchive), or ''."""
    import plistlib

    try:
        main = plistlib.loads(data)["WebMainResource"]
        payload, label = bytes(main["WebResourceData"]), str(main.get("WebResourceTextEncodingName", ""))
    except Exception:  # strangers' bytes in a parser of a binary form
        return ""
    decoded = decode(payload, f"text/html; charset={label}") if b"<" in payload else None
    return decoded.text if decoded is not None else ""


def _archived_page(text: str) -> str:
    """The first HTML part of a page saved as MHTML, or ''."""
    import email
    import email.policy

    message = email.message_from_string(text, policy=email.policy.compat32)
    for part in message.walk():
        if part.get_content_type() == "text/html":
            payload = part.get_payload(decode=True)
            if isinstance(payload, bytes):
                decoded = decode(payload, f"text/html; charset={part.get_content_charset() or ''}")
                return decoded.text if decoded else ""
    return ""
