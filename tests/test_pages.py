"""A page's file as a record."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from tasks.pages.pages import read_page, value_hash
from tasks.records import Owner, PageRecord, PropertyRecord

NOTE = '---\ntitle: "My: note"\ntags: [a, b]\naliases: N\nstatus: Draft\ncreated: 2024-05-06\n---\n# Heading\n\nText.\n'


def resolve(target: str) -> str:
    """Two names of one page."""
    return {"zuse": "pg-1", "people/zuse": "pg-1"}.get(target.lower(), "")


def page(text: str, **properties: object) -> PageRecord:
    """A page that the pipeline wrote, with the given properties as written."""
    read = read_page("wiki/a.md", text, None, resolve)
    known = tuple(PropertyRecord(key, value_hash(key, value, resolve)) for key, value in properties.items())
    return replace(
        read, adopted=False, properties=known, blocks=tuple(replace(b, owner=Owner.PIPELINE) for b in read.blocks)
    )


def test_a_person_s_note_is_read_and_all_theirs() -> None:
    """Attributes come from the properties; every block is the person's; the hash is the file's."""
    note = read_page("notes/My note.md", NOTE, None, resolve)
    assert (note.slug, note.title, note.tags, note.aliases, note.status) == (
        "My note",
        "My: note",
        ("a", "b"),
        ("N",),
        "draft",
    )
    assert note.adopted and note.created == "2024-05-06" and note.file_hash == hashlib.sha256(NOTE.encode()).hexdigest()
    assert len(note.blocks) == 2 and all(block.owner is Owner.PERSON for block in note.blocks)
    assert note.properties == () and note.markdown == NOTE


@pytest.mark.parametrize(
    ("text", "title"),
    [("# H `x` \n\ny", "H `x`"), ("text", "a"), ("---\ntitle:\n---\nx", "a"), ("---\nACME\n---\n# B", "B"), ("", "a")],
)
def test_every_note_has_a_title(text: str, title: str) -> None:
    """The property, else the first heading, else the file's name."""
    assert read_page("x/a.md", text, None, resolve).title == title


def test_an_unchanged_file_gives_the_record_back() -> None:
    """Nothing is computed for a file that stands as it stood, and a rename changes path and name only."""
    known = page(NOTE, title="My: note")
    assert read_page("wiki/a.md", NOTE, known, resolve) is known
    moved = read_page("wiki/deep/b.md", NOTE, known, resolve)
    assert (moved.path, moved.slug, moved.id) == ("wiki/deep/b.md", "b", known.id) and moved.blocks == known.blocks


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        (("tags: [a, b]", "tags:\n  - a\n  - '#b'"), True),
        (('"My: note"', "'My: note'"), True),
        (("Text.", "Other."), True),
        (("tags: [a, b]", "tags: [a]"), False),
        (("My: note", "Our: note"), False),
    ],
)
def test_a_property_is_claimed_by_another_value_only(change: tuple[str, str], kept: bool) -> None:
    """Another spelling of a value leaves it the pipeline's; another value makes it the person's for good."""
    known = page(NOTE, title="My: note", tags=["a", "b"])
    changed = read_page("wiki/a.md", NOTE.replace(*change), known, resolve)
    assert (changed.properties == known.properties) is kept
    back = read_page("wiki/a.md", NOTE, changed, resolve)
    assert (back.properties == known.properties) is kept


def test_a_link_in_a_property_that_was_retargeted_claims_nothing() -> None:
    """Obsidian rewrites links in properties when a note is renamed; that is nobody's edit."""
    text = '---\nsources:\n  - "[[zuse]]"\n---\nx'
    known = page(text, sources=["[[zuse]]"])
    assert read_page("wiki/a.md", text.replace("zuse", "people/zuse"), known, resolve).properties == known.properties
    assert read_page("wiki/a.md", text.replace("zuse", "z4"), known, resolve).properties != known.properties


def test_removed_properties_are_remembered() -> None:
    """A key that a person deleted is known as removed until they write it again."""
    known = page(NOTE, title="My: note", status="Draft")
    gone = read_page("wiki/a.md", NOTE.replace("status: Draft\n", ""), known, resolve)
    assert gone.removed_properties == ("status",) and gone.status == "active"
    again = read_page("wiki/a.md", NOTE, gone, resolve)
    assert again.removed_properties == ()


def test_broken_properties_claim_nothing() -> None:
    """While a line is broken the page keeps what was known of its properties, and its text stays readable."""
    known = page(NOTE, title="My: note")
    broken = read_page("wiki/a.md", NOTE.replace('"My: note"', "My: note"), known, resolve)
    assert broken.properties == known.properties and broken.removed_properties == ()
    assert broken.title == "My: note" and [b.id for b in broken.blocks] == [b.id for b in known.blocks]


def test_the_time_behind_a_date_is_kept() -> None:
    """The record keeps the full time while the property shows its day; another day is the person's word."""
    known = replace(page(NOTE), created="2024-05-06T10:00:00Z")
    assert read_page("wiki/a.md", NOTE + "x", known, resolve).created == "2024-05-06T10:00:00Z"
    assert read_page("wiki/a.md", NOTE.replace("05-06", "05-07"), known, resolve).created == "2024-05-07"


def test_bytes_that_are_no_text_keep_their_hash() -> None:
    """A file with bytes that are not UTF-8, read with surrogate escapes, has the hash of its bytes."""
    raw = b"# A\n\n\xff\xfe text\n"
    assert (
        read_page("a.md", raw.decode("utf-8", "surrogateescape"), None, resolve).file_hash
        == hashlib.sha256(raw).hexdigest()
    )
