"""Text as old programs, mails and terminals leave it: encodings without a mark, odd line ends, words cut in two."""

from __future__ import annotations

import pytest

from tasks.extraction.decode import decode
from tasks.extraction.extracted import Extracted
from tasks.extraction.text import extract
from tasks.records import BlockKind

GERMAN = "Der Leuchtturm wurde 1831 erbaut. Er ist größer als die übrigen, sagt Gefreiter Müßig; ein Wächter."
SWEDISH = "Fyren byggdes år 1831. Den står på en kal klippa, åtta sjömil från närmaste ö, målad i vita ränder."
TURKISH = (
    "Fener 1831 yılında inşa edildi. Çıplak bir kayanın üzerinde duruyor, en yakın adadan sekiz mil uzakta, ığdır."
)
POLISH = "Wieża ma 28 metrów wysokości i jest pomalowana w czarno-białe pasy. Źródło, ściana, żółć, mgła, księżyc."
CZECH = "Maják byl postaven v roce 1831. Stojí na holé skále, osm mil od nejbližšího ostrova. Věž je vysoká, říká."
DANISH = "Fyret blev bygget i 1831. Det står på en nøgen klippe, otte sømil fra den nærmeste ø. Tårnet er malet."
FRENCH = (
    "Le phare a été construit en 1831. Il se dresse sur un rocher nu, à huit milles de l'île la plus proche, où naît."
)
JAPANESE = "灯台は1831年に建てられました。岩の上に立ち、最も近い島から八マイル離れています。"


@pytest.mark.parametrize(
    ("text", "encodings"),
    [
        (GERMAN, "cp1252 cp850 cp437 mac_roman iso8859_15"),
        (SWEDISH, "cp1252 cp850 mac_roman"),
        (TURKISH, "cp1254"),
        (POLISH, "cp1250 iso8859_2 cp852"),
        (CZECH, "cp1250 iso8859_2 cp852"),
        (DANISH, "cp1252 cp850 mac_roman"),
        (FRENCH, "cp1252 cp850 mac_roman"),
        (JAPANESE, "cp932 euc_jp iso2022_jp utf-16"),
    ],
    ids=["German", "Swedish", "Turkish", "Polish", "Czech", "Danish", "French", "Japanese"],
)
def test_old_encodings_are_told_by_their_letters(text: str, encodings: str) -> None:
    """Whatever system saved it, the same words come out."""
    for encoding in encodings.split():
        decoded = decode(text.encode(encoding))
        assert decoded is not None and decoded.text == text, encoding


@pytest.mark.parametrize("other", ["cp1252", "cp850"])
def test_lines_of_two_programs_are_both_read(other: str) -> None:
    """A file that one program wrote in UTF-8 and another went on with has no mangled half."""
    decoded = decode(GERMAN.encode() + b"\n\n" + FRENCH.encode(other) + b"\n" + SWEDISH.encode())
    assert decoded is not None and decoded.text == f"{GERMAN}\n\n{FRENCH}\n{SWEDISH}"


@pytest.mark.parametrize("end", ["\n\n", "\r\n\r\n", "\x85\x85", "\u2029", "\u2028\u2028", "\f"])
def test_every_kind_of_line_end_parts_paragraphs(end: str) -> None:
    """No two paragraphs run into one, and no words are glued together."""
    decoded = decode(f"The tower is tall.{end}The lamp is bright.".encode())
    assert decoded is not None
    assert _texts(extract(decoded.text)) == ["The tower is tall.", "The lamp is bright."]


@pytest.mark.parametrize(
    ("wrapped", "joined"),
    [
        ("The keeper of the light-\nhouse lit the lighthouse.", "The keeper of the lighthouse lit the lighthouse."),
        ("The well-\nknown tower is of gran\u00ad\nite and stands in a bay that is cold all year.", None),
        (
            "The pre-\nand postwar years were spent in another tower.",
            "The pre- and postwar years were spent in another tower.",
        ),
        ("灯台は岩の上に立ち、最も近い島\nから離れています。", "灯台は岩の上に立ち、最も近い島から離れています。"),
    ],
    ids=["hyphen", "compound and soft hyphen", "suspended hyphen", "Japanese"],
)
def test_wrapped_words_become_whole(wrapped: str, joined: str | None) -> None:
    """A word that a line's end cut is one word again; nothing is made up where the text does not tell."""
    expected = joined or "The well-known tower is of granite and stands in a bay that is cold all year."
    assert _texts(extract(wrapped)) == [expected]


def test_a_first_paragraph_is_no_title() -> None:
    """Japanese sentences are short in characters and still sentences, which can be cited."""
    found = extract(f"{JAPANESE}\n\n灯台守の家族が半年ごとに交代で暮らしました。")
    assert found.title == "" and {part.kind for part in found.parts} == {BlockKind.PARAGRAPH}


def test_colours_of_a_terminal_are_no_words() -> None:
    """A log that was saved with its colours reads as it looked."""
    assert _texts(extract("\x1b[1;31mError:\x1b[0m the lamp went out at \x1b[4m21:40\x1b[m")) == [
        "Error: the lamp went out at 21:40"
    ]


def _texts(found: Extracted) -> list[str]:
    return [part.text for part in found.parts]
