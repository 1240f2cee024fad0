"""Mails saved as files: their subject, writer, day and text, and what of them cannot be read."""

from __future__ import annotations

from email.message import EmailMessage

import pytest

from config.errors import SourceError
from tasks.reading.read_source import ReadJob, document_of
from tasks.records import BlockKind, Document, Outcome

LAMP = "The lamp of Fanal burns forty litres of oil a month."


def read(data: bytes | EmailMessage, name: str = "letter.eml") -> Document:
    return document_of(bytes(data), ReadJob("a" * 12, "", name))


def letter(text: str, subject: str = "Re: Oil for the lamp") -> EmailMessage:
    message = EmailMessage()
    message["From"] = "Jörg Müller <joerg@lamps.example>"
    message["Subject"] = subject
    message["Date"] = "Tue, 3 Mar 2026 23:00:00 -0800"
    message.set_content(text)
    return message


def test_a_mail_is_its_text_with_its_facts() -> None:
    """The subject is the title, without the marks of an answer; its lines of transport are not read."""
    found = read(b"Received: from a by b\r\n" + bytes(letter(f"Dear Ada,\n\n{LAMP}\n\nJörg\n", "AW: Re: Öl")))
    assert (found.title, found.author, found.published) == ("Öl", "Jörg Müller", "2026-03-03")
    assert [part.text for part in found.parts] == ["Dear Ada,", LAMP, "Jörg"]


def test_what_is_answered_to_is_a_quotation() -> None:
    """Words of another mail are not its writer's."""
    found = read(
        letter(f"{LAMP}\n\n> How much oil does the lamp of Fanal that stands on the rock\n> burn?\n>> Ask Jörg.\n")
    )
    assert [(part.kind, part.text) for part in found.parts] == [
        (BlockKind.PARAGRAPH, LAMP),
        (BlockKind.QUOTE, "How much oil does the lamp of Fanal that stands on the rock burn? Ask Jörg."),
    ]


def test_attachments_are_named_and_not_read() -> None:
    """The page and the list of sources say what is attached."""
    message = letter(LAMP)
    message.add_attachment(b"%PDF-1.4 bill", "application", "pdf", filename="Ölrechnung März.pdf")
    message.add_attachment(letter("Other words.", "The bill"))
    found = read(message)
    assert found.parts[-1].text == "- 📎 Ölrechnung März.pdf\n- 📎 The bill"
    assert found.notes == ("attached to it and not read: Ölrechnung März.pdf, The bill",)


@pytest.mark.parametrize(
    ("plain", "taken"),
    [
        (f"{LAMP} Typed.", "Typed."),
        (f"See https://lamps.example/{'x' * 90}", "Shown."),
        ("Shown in a browser.", "Shown."),
    ],
    ids=["as good", "addresses", "less"],
)
def test_the_version_with_the_words_is_read(plain: str, taken: str) -> None:
    """Of two versions the plain one is read, unless it says less."""
    message = letter(plain)
    message.add_alternative(f"<html><body><p>{LAMP}</p><p>{LAMP} Shown.</p></body></html>", subtype="html")
    assert read(message).parts[-1].text.endswith(taken)


def test_a_newsletter_laid_out_with_a_table_has_paragraphs() -> None:
    """What stands in the cell of a layout is read as a page."""
    message = letter("")
    row = f"<tr><td><h1>Lamps</h1><p>{LAMP}</p><p>Its keeper climbs two hundred steps.</p></td></tr>"
    message.set_content(f"<html><body><table width=600>{row}</table></body></html>", subtype="html")
    assert [part.text for part in read(message).parts] == ["Lamps", LAMP, "Its keeper climbs two hundred steps."]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"Content-Type: text/plain; charset=iso-8859-1\n\nDer W\xe4rter hei\xdft Karl.", "Der Wärter heißt Karl."),
        (b"Content-Type: text/plain; charset=no-such\n\nDer Turm ist hoch.", "Der Turm ist hoch."),
        (b"Content-Type: text/plain; format=flowed\n\nThe lamp \nwas lit \nagain.", "The lamp was lit again."),
        (b"Date: some day\nContent-Transfer-Encoding: base64\n\nVGhlIGxhbXAu", "The lamp."),
    ],
    ids=["charset", "unknown charset", "flowed", "base64"],
)
def test_bodies_are_decoded(data: bytes, text: str) -> None:
    """What the transport did to a text is undone."""
    found = read(b"From: a@b.example\nSubject: =?utf-8?b?broken\n" + data)
    assert (found.parts[0].text, found.author) == (text, "a@b.example")


@pytest.mark.parametrize(
    ("data", "outcome"),
    [
        (b"From a@b Mon\nFrom: a@b\n\nOne.\n\nFrom c@d Mon\nFrom: c@d\n\nTwo.\n", Outcome.UNSUPPORTED),
        (b"From: a@b\nContent-Type: multipart/encrypted; boundary=q\n\n--q\n\nx\n--q--\n", Outcome.NEEDS_PASSWORD),
        (b"From: a@b\nContent-Type: application/pkcs7-mime\n\nMIIB", Outcome.NEEDS_PASSWORD),
        (b"From: a@b\n\n-----BEGIN PGP MESSAGE-----\n\nhQEMA\n", Outcome.NEEDS_PASSWORD),
        (b"From: a@b\nContent-Type: image/png; name=lamp.png\n\nxx", Outcome.NO_CONTENT),
    ],
    ids=["box of mails", "PGP/MIME", "S/MIME", "PGP", "only a picture"],
)
def test_mails_that_cannot_be_read(data: bytes, outcome: Outcome) -> None:
    """A box of mails, an encrypted mail and one without text are told, with what to do."""
    with pytest.raises(SourceError) as caught:
        read(data)
    assert (caught.value.outcome, bool(caught.value.next_step)) == (outcome, True)


@pytest.mark.parametrize("name", ["one.mbox", "letter", "https://lamps.example/letter"])
def test_a_mail_by_another_name(name: str) -> None:
    """A box of one mail is that mail, and a mail is known by its lines of transport."""
    lines = b"From a@b Mon\n" if name.endswith("mbox") else b"Received: from a by b\n"
    assert read(lines + bytes(letter(LAMP)), name).title == "Oil for the lamp"


@pytest.mark.parametrize("name", ["story.txt", "story.md", "story.eml"])
def test_a_text_that_is_no_mail(name: str) -> None:
    """Words with colons are no lines of a mail."""
    found = read(b"Once: upon a time there was a lamp.\n\n" + LAMP.encode(), name)
    assert [part.text for part in found.parts][-1] == LAMP


def test_parts_without_end() -> None:
    """Parts inside parts inside parts cost no more than a few levels, and what lies deeper is named."""
    inside = b"".join(b"Content-Type: multipart/mixed; boundary=q%d\n\n--q%d\n" % (n, n) for n in range(200))
    with pytest.raises(SourceError) as caught:
        read(b"From: a@b\n" + inside + b"\nThe lamp.")
    assert caught.value.outcome in (Outcome.NO_CONTENT, Outcome.UNREADABLE)
