"""What a file is, by its bytes."""

from __future__ import annotations

import gzip
import io
import zipfile

import pytest

from config.errors import SourceError
from tasks.extraction.sniff import sniff
from tasks.records import Outcome

HTML = b"<!DOCTYPE html><html><head><title>T</title></head><body><p>Words.</p></body></html>"


def packed(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, "application/epub+zip" if name == "mimetype" else "<x/>")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "name", "kind"),
    [
        (b"%PDF-1.7\nx", "a.bin", "pdf"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n%PDF-1.4\nx", "a.pdf", "pdf"),
        (b"Notes on %PDF-1.4 files", "notes.md", "markdown"),
        (HTML, "report.pdf", "html"),
        (gzip.compress(HTML, mtime=0), "page", "html"),
        (packed("word/document.xml"), "x", "docx"),
        (packed("ppt/presentation.xml"), "x.docx", "pptx"),
        (packed("xl/workbook.xml"), "x", "xlsx"),
        ("Grüße".encode("utf-16"), "a.txt", "text"),
        ("plain words in sixteen bits".encode("utf-16-le"), "a.txt", "text"),
        (b"WEBVTT\n\n00:01.000 --> 00:02.000\nHi", "talk.md", "vtt"),
        (b"1\n00:00:01,000 --> 00:00:02,000\nHi", "talk.txt", "srt"),
        (b'{"snippets": [{"text": "hi", "start": 0, "duration": 1}]}', "talk.json", "transcript"),
        (b'[{"text": "hi", "start": 0, "duration": 1}]', "talk.txt", "transcript"),
        (b"a;b\n1;2\n", "t.csv", "csv"),
        (b"# Title\n\n<div>x</div>", "a.md", "markdown"),
        (b"BMW builds cars.", "a.txt", "text"),
        (b"MZ is the mark of programs.", "a", "text"),
    ],
)
def test_kind_by_content(data: bytes, name: str, kind: str) -> None:
    """The bytes decide, and the name only where they leave it open."""
    assert sniff(data, name).kind == kind


@pytest.mark.parametrize(
    ("data", "name", "outcome", "word"),
    [
        (b"", "a.pdf", Outcome.UNREADABLE, "empty"),
        (b"", "a.md", Outcome.NO_CONTENT, "empty"),
        (b"\x89PNG\r\n\x1a\n", "a.png", Outcome.UNSUPPORTED, "recognition"),
        (b"\xff\xd8\xff\xe0", "scan.pdf", Outcome.UNSUPPORTED, "recognition"),
        (b"\x00\x00\x00\x20ftypisom", "a.mp4", Outcome.UNSUPPORTED, "ranscribe"),
        (b"ID3\x04\x00", "a.mp3", Outcome.UNSUPPORTED, "ranscribe"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "WordDocument".encode("utf-16-le"),
            "a.doc",
            Outcome.UNSUPPORTED,
            "save it as .docx",
        ),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
            "a.docx",
            Outcome.NEEDS_PASSWORD,
            "password",
        ),
        (packed("mimetype", "x.xhtml"), "a.epub", Outcome.UNSUPPORTED, "Convert"),
        (packed("photo.png"), "a.zip", Outcome.UNSUPPORTED, "Unpack"),
        (b"PK\x03\x04junk", "a.docx", Outcome.UNREADABLE, "cut off"),
        (bytes(range(256)) * 8, "a.dat", Outcome.UNSUPPORTED, "neither text"),
        (bytes(range(256)) * 8, "a.pdf", Outcome.UNREADABLE, "named .pdf"),
        (b"just words", "a.pdf", Outcome.UNREADABLE, "named .pdf"),
        (b'<?xml version="1.0"?><rss version="2.0"></rss>', "feed", Outcome.UNSUPPORTED, "sources.yaml"),
        (b'{"a": 1}', "a.json", Outcome.UNSUPPORTED, "JSON"),
        (gzip.compress(b"x", mtime=0)[:-4] + b"\x00" * 2 + b"\xff", "a.gz", Outcome.OK, ""),
    ],
)
def test_what_cannot_be_read_says_why(data: bytes, name: str, outcome: Outcome, word: str) -> None:
    """A file of another kind ends in a named outcome with a cause and a next step that a person understands."""
    if outcome is Outcome.OK:
        assert sniff(data, name).text == "x"
        return
    with pytest.raises(SourceError) as caught:
        sniff(data, name)
    assert caught.value.outcome == outcome
    assert word in f"{caught.value.cause} {caught.value.next_step}"


def test_gzip_bomb_is_refused() -> None:
    """A small file that unpacks to more than 200 MB is not unpacked."""
    with pytest.raises(SourceError) as caught:
        sniff(gzip.compress(b"\x00" * (201 * 1024 * 1024)), "a.gz")
    assert caught.value.outcome == Outcome.REFUSED


@pytest.mark.parametrize(
    ("data", "content_type", "text"),
    [
        ("Łódź".encode("cp1250"), "text/html; charset=windows-1250", "Łódź"),
        ("Größe".encode(), "", "Größe"),
        (b"\xef\xbb\xbfabc", "", "abc"),
        (
            "日本語の文章です。これは試験です。".encode("shift_jis") * 5,
            "text/plain; charset=shift_jis",
            "日本語の文章です。これは試験です。" * 5,
        ),
        (
            "Привет, мир. Это русский текст о машинах.".encode("cp1251") * 5,
            "",
            "Привет, мир. Это русский текст о машинах." * 5,
        ),
        (
            "naïve café".encode("cp1252") + b" and many more plain English words",
            "",
            "naïve café and many more plain English words",
        ),
    ],
)
def test_encodings(data: bytes, content_type: str, text: str) -> None:
    """Marks and declarations come before guesses, and guesses are good."""
    assert sniff(data, "a.txt", content_type).text == text


@pytest.mark.parametrize("name", ["reply.static", "reply.txt", "reply"])
def test_json_is_data_whatever_its_file_is_called(name: str) -> None:
    """A program's data is no text to quote from, under any name."""
    with pytest.raises(SourceError, match="JSON"):
        sniff(b'{"context": {"a": [1, 2, {"b": "some words here"}]}}\n', name)


def test_a_note_that_begins_with_a_bracket_is_a_note() -> None:
    """Only a text that is JSON from end to end counts as data."""
    assert sniff(b"[A link](https://example.org) and words after it]\n", "note.txt").kind == "text"


@pytest.mark.parametrize("blanks", [" " * 5000, "\n" * 5000])
def test_blanks_before_a_text_hide_nothing(blanks: str) -> None:
    """A text that begins late is known for what it is."""
    assert sniff(f"{blanks}x".encode(), "a.txt").kind == "text"
    assert sniff(f"{blanks}<html><body>".encode(), "a").kind == "html"
