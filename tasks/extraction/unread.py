"""Kinds of files that nightwiki knows but does not read, each with what to do about it."""

from __future__ import annotations

import re

from config.errors import SourceError
from tasks.records import Outcome

OCR = "Run text recognition (for example ocrmypdf) and drop the resulting PDF or text file here."
TRANSCRIBE = "Transcribe it and drop the transcript (.vtt, .srt or .txt) here."

_SIGNATURES: tuple[tuple[bytes, str, str], ...] = (
    (b"\x89PNG\r\n", "a picture (PNG)", OCR),
    (b"\xff\xd8\xff", "a picture (JPEG)", OCR),
    (b"GIF8", "a picture (GIF)", OCR),
    (b"II*\x00", "a picture (TIFF)", OCR),
    (b"MM\x00*", "a picture (TIFF)", OCR),
    (b"BM", "a picture (BMP)", OCR),
    (b"8BPS", "a picture (Photoshop)", OCR),
    (b"ID3", "a sound file (MP3)", TRANSCRIBE),
    (b"\xff\xfb", "a sound file (MP3)", TRANSCRIBE),
    (b"\xff\xf3", "a sound file (MP3)", TRANSCRIBE),
    (b"\xff\xf1", "a sound file (AAC)", TRANSCRIBE),
    (b"OggS", "a sound file (Ogg)", TRANSCRIBE),
    (b"fLaC", "a sound file (FLAC)", TRANSCRIBE),
    (b"\x1aE\xdf\xa3", "a video (Matroska or WebM)", TRANSCRIBE),
    (b"\x00\x00\x01\xba", "a video (MPEG)", TRANSCRIBE),
    (b"7z\xbc\xaf\x27\x1c", "an archive (7z)", "Unpack it and drop the files here."),
    (b"Rar!", "an archive (RAR)", "Unpack it and drop the files here."),
    (b"\xfd7zXZ\x00", "an archive (xz)", "Unpack it and drop the files here."),
    (b"BZh", "an archive (bzip2)", "Unpack it and drop the files here."),
    (b"(\xb5/\xfd", "an archive (zstd)", "Unpack it and drop the files here."),
    (b"{\\rtf", "a rich text file (RTF)", "Save it as .docx or PDF and drop that here."),
    (b"%!PS", "a PostScript file", "Convert it to PDF (ps2pdf) and drop that here."),
    (b"AT&TFORM", "a DjVu file", "Convert it to PDF and drop that here."),
    (b"\x7fELF", "a program", "Remove it, or add it to sources.ignore."),
    (b"MZ", "a program", "Remove it, or add it to sources.ignore."),
    (b"SQLite format 3\x00", "a database (SQLite)", "Export what matters as text or CSV."),
    (b"PAR1", "a table (Parquet)", "Export what matters as CSV."),
)
_CONTAINERS = {  # brands of ISO media files that are pictures
    b"heic": "a picture (HEIC)",
    b"heix": "a picture (HEIC)",
    b"mif1": "a picture (HEIC)",
    b"avif": "a picture (AVIF)",
}
_SHORTCUT = re.compile(
    r"\[(?:InternetShortcut|\{[0-9A-F-]{36}\}).*?^URL=(\S+)"
    r"|\[Desktop Entry\].*?^URL=(\S+)|<\?xml.*?<plist.*?<key>URL</key>\s*<string>([^<\s]+)</string>",
    re.DOTALL | re.MULTILINE,
)
_TEXTS = (  # how texts begin that say something to programs only
    ("BEGIN:VCALENDAR", "a calendar", "Export what matters as text or CSV."),
    ("[Script Info]", "a file of subtitles (ASS)", "Convert it to .srt or .vtt and drop that here."),
    ("<tt ", "a file of subtitles (TTML)", "Convert it to .srt or .vtt and drop that here."),
    ("BEGIN:VCARD", "an address book", "Export what matters as text or CSV."),
    ("<opml", "a list of feeds (OPML)", "List the addresses in it in sources.yaml, under feeds."),
    ("<urlset", "a list of a site's pages (sitemap)", "List the addresses that matter in sources.yaml."),
    ("<sitemapindex", "a list of a site's pages (sitemap)", "List the addresses that matter in sources.yaml."),
)


def legacy_office(data: bytes, name: str) -> SourceError:
    """The error for OLE files: encrypted new office files, and the office files of before 2007."""

    def holds(stream: str) -> bool:
        return stream.encode("utf-16-le") in data

    if holds("EncryptedPackage"):
        return SourceError(
            name,
            Outcome.NEEDS_PASSWORD,
            "the office file is protected by a password",
            "Save a copy without the password and drop that here.",
        )
    for stream, what, target in (
        ("WordDocument", "Word", ".docx"),
        ("PowerPoint Document", "PowerPoint", ".pptx"),
        ("Workbook", "Excel", ".xlsx"),
        ("Book", "Excel", ".xlsx"),
    ):
        if holds(stream):
            return SourceError(
                name,
                Outcome.UNSUPPORTED,
                f"it is an old {what} file, of before 2007",
                f"Convert it: open it and save it as {target}, and drop that here.",
            )
    return SourceError(
        name,
        Outcome.UNSUPPORTED,
        "it is an old Microsoft file (mail, installer or other)",
        "Save it as PDF, docx or text and drop that here.",
    )


def refuse_bytes(data: bytes, name: str, is_note: bool) -> None:
    """Raises `unsupported` for kinds that nightwiki knows but does not read."""
    if data.startswith(b"bplist00") and (address := _in_property_list(data)):
        raise _shortcut(address, name)
    if data[4:8] == b"ftyp":
        what = _CONTAINERS.get(data[8:12], "a video or sound file (MP4)")
        raise SourceError(name, Outcome.UNSUPPORTED, f"it is {what}", OCR if "picture" in what else TRANSCRIBE)
    if data[:4] == b"RIFF" and data[8:12] in (b"WEBP", b"WAVE", b"AVI "):
        what = {b"WEBP": "a picture (WebP)", b"WAVE": "a sound file (WAV)", b"AVI ": "a video (AVI)"}[data[8:12]]
        raise SourceError(name, Outcome.UNSUPPORTED, f"it is {what}", OCR if "picture" in what else TRANSCRIBE)
    if data[257:262] == b"ustar":
        raise SourceError(name, Outcome.UNSUPPORTED, "it is an archive (tar)", "Unpack it and drop the files here.")
    for signature, what, next_step in _SIGNATURES:
        if data.startswith(signature) and not (is_note and signature.isascii() and signature.isalnum()):
            if len(signature) == 2 and signature.isascii() and b"\x00" not in data[:64]:
                continue  # a text that happens to begin with these two letters
            raise SourceError(name, Outcome.UNSUPPORTED, f"it is {what}", next_step)


def refuse_text(start: str, name: str) -> None:
    """Raises `unsupported` for a text whose beginning tells that it is no text to read."""
    if shortcut := _SHORTCUT.match(start):
        raise _shortcut(next(filter(None, shortcut.groups())), name)
    plain = re.sub(r"<\?xml[^>]*\?>\s*|<!--.*?-->\s*", "", start, flags=re.DOTALL)
    for beginning, what, next_step in _TEXTS:
        if plain.startswith(beginning):
            raise SourceError(name, Outcome.UNSUPPORTED, f"it is {what}", next_step)


def _in_property_list(data: bytes) -> str:
    """The address in a shortcut as Apple's programs write it; '' in other property lists."""
    import plistlib

    try:
        return str(plistlib.loads(data)["URL"])
    except Exception:  # strangers' bytes in a parser of a binary form
        return ""


def _shortcut(address: str, name: str) -> SourceError:
    shown = "".join(filter(str.isprintable, address))[:500]
    step = f"List {shown} in sources.yaml."
    return SourceError(name, Outcome.UNSUPPORTED, "it is a shortcut to a web address", step)
