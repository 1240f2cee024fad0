"""Files that people drop beside their texts: lists for programs, shortcuts, programs, notebooks."""

from __future__ import annotations

import io
import json
import plistlib
import zipfile

import pytest

from config.errors import SourceError
from tasks.extraction.extracted import Extracted
from tasks.extraction.sniff import sniff
from tasks.extraction.text import extract_notebook
from tasks.reading.read_source import ReadJob, document_of
from tasks.records import BlockKind, Outcome

SHORTCUT = {"URL": "https://lamps.example/fanal"}


def packed(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("talks.ics", b"BEGIN:VCALENDAR\r\nSUMMARY:Lamps\r\n", "calendar"),
        ("talk.ass", b"[Script Info]\nTitle: x\n", "Convert it to .srt"),
        ("talk.ttml", b"<?xml version='1.0'?><tt xmlns='http://www.w3.org/ns/ttml'><body/></tt>", "Convert it to .srt"),
        ("ida.vcf", b"BEGIN:VCARD\nFN:Ida\n", "address book"),
        ("feeds.opml", b"<?xml version='1.0'?>\n<!-- mine -->\n<opml><body/></opml>", "sources.yaml, under feeds"),
        ("map.xml", b"<urlset><url><loc>https://lamps.example/</loc></url></urlset>", "sitemap"),
        ("lamp.webloc", plistlib.dumps(SHORTCUT), "List https://lamps.example/fanal"),
        ("lamp.webloc", plistlib.dumps(SHORTCUT, fmt=plistlib.FMT_BINARY), "List https://lamps.example/fanal"),
        ("lamp.desktop", b"[Desktop Entry]\nType=Link\nURL=https://lamps.example/fanal\n", "List https://lamps"),
        ("other.plist", plistlib.dumps({"a": 1}, fmt=plistlib.FMT_BINARY), "neither text"),
        ("lamps.pages", packed("Index/Document.iwa"), "Export it as PDF"),
    ],
)
def test_what_is_for_programs_is_told(name: str, data: bytes, words: str) -> None:
    """Each is named for what it is, with what to do about it."""
    with pytest.raises(SourceError) as caught:
        sniff(data, name)
    assert caught.value.outcome == Outcome.UNSUPPORTED
    assert words in f"{caught.value.cause}. {caught.value.next_step}"


@pytest.mark.parametrize("name", ["lamp.py", "lamp.sql", "lamp.yaml"])
def test_a_program_keeps_its_lines(name: str) -> None:
    """Joined to a paragraph it would be nonsense."""
    document = document_of(b"def lit():\n    return 1\n", ReadJob("a" * 12, "", f"raw_sources/{name}"))
    assert [(part.kind, part.text) for part in document.parts] == [(BlockKind.CODE, "def lit():\n    return 1")]


def test_a_notebook_is_its_words_and_programs() -> None:
    """What the programs wrote is left out."""
    cells = [
        {"cell_type": "markdown", "source": ["# Lamps\n", "\n", "Fanal was **lit** in 1851."]},
        {"cell_type": "code", "source": "lit = 1851\n", "outputs": [{"text": "1851"}]},
        {"cell_type": "raw", "source": "x"},
    ]
    data = json.dumps({"cells": cells, "nbformat": 4}).encode()
    sniffed = sniff(data, "lamps.ipynb")
    found: Extracted = extract_notebook(sniffed.text)
    assert (sniffed.kind, found.title) == ("notebook", "Lamps")
    assert [part.text for part in found.parts] == ["Lamps", "Fanal was lit in 1851.", "lit = 1851"]


@pytest.mark.parametrize("encoding", ["utf-8", "windows-1251"])
def test_a_page_as_safari_saves_it_is_read(encoding: str) -> None:
    """Its file holds the page beside pictures and styles."""
    html = "<html><head><title>Маяк</title></head><body><p>Маяк был построен на скале в заливе.</p></body></html>"
    main = {"WebResourceData": html.encode(encoding), "WebResourceTextEncodingName": encoding}
    data = plistlib.dumps({"WebMainResource": main}, fmt=plistlib.FMT_BINARY)
    document = document_of(data, ReadJob("a" * 12, "", "raw_sources/lamp.webarchive"))
    assert (document.title, document.parts[0].text) == ("Маяк", "Маяк был построен на скале в заливе.")
