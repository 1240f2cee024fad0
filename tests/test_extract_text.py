"""Plain text, separated tables and transcripts."""

from __future__ import annotations

import json

import pytest

from tasks.extraction import transcript as extract_transcript
from tasks.extraction.text import extract, extract_csv
from tasks.records import BlockKind


def test_wrapped_lines_and_lists() -> None:
    """Wrapped lines are joined, lists keep their lines, a lone first line is the title."""
    found = extract(
        "My Title\n\nA paragraph that is wrapped over\ntwo lines of the file, as mail does it.\n\n* "
        "one\n* two\n  more\n"
    )
    assert found.title == "My Title"
    assert [(part.kind, part.text) for part in found.parts] == [
        (BlockKind.HEADING, "My Title"),
        (BlockKind.PARAGRAPH, "A paragraph that is wrapped over two lines of the file, as mail does it."),
        (BlockKind.LIST, "- one\n- two more"),
    ]


def test_one_line_is_one_paragraph_where_lines_are_long() -> None:
    """A text with a paragraph on each line keeps them apart."""
    line = "This is a long paragraph that stands on one single line of the file. " * 3
    assert len(extract("\n".join([line] * 4)).parts) == 4


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_separated_tables(mark: str) -> None:
    """A table is a table, whatever separates it; pipes are escaped."""
    found = extract_csv(f'name{mark}year\nZ3|V3{mark}1941\n"a{mark}b"{mark}2\n')
    assert (
        found.parts[0].text
        == f"| name | year |\n| --- | --- |\n| Z3\\|V3 | 1941 |\n| a{mark if mark != chr(9) else ' '}b | 2 |"
    )


def test_long_tables_are_cut_and_say_so() -> None:
    """Rows past the limit are left out, with a note of how many there are."""
    found = extract_csv("a,b\n" + "1,2\n" * 5000)
    assert found.notes == ("the table has 5000 rows; the first 1000 were read",)
    assert found.parts[0].text.count("\n") == 1001


def test_saved_transcript() -> None:
    """Snippets become paragraphs that end at sentences; times stand beside the words, noise is left out."""
    texts = ["the z3 was", "[Music]", "a computer."] * 60
    rows = [{"text": text, "start": 2.0 * n, "duration": 2.0} for n, text in enumerate(texts)]
    saved = json.dumps({"video_id": "x", "title": "Talk", "author": "Chan", "language": "en", "snippets": rows})
    found = extract_transcript.extract_json(saved)
    assert (found.title, found.author, found.language) == ("Talk", "Chan", "en")
    assert len(found.parts) > 1
    assert all(part.text.endswith("computer.") and "Music" not in part.text for part in found.parts)
    assert found.parts[0].time == "0:00"
    assert extract_transcript.extract_json(json.dumps(rows)).parts == found.parts


def test_rolling_captions_are_collapsed() -> None:
    """Captions that repeat the line before give each line once."""
    vtt = (
        "WEBVTT\n\n00:00:01.000 --> 00:00:03.000\nhello and <00:00:02.000><c> welcome</c>\n\n"
        "00:00:03.000 --> 00:00:03.010\nhello and welcome\n\n00:00:03.010 --> 00:00:05.000\nhello and "
        "welcome\nto the show\n\n"
        "00:00:05.000 --> 00:00:07.000\nto the show\nabout computers &amp; people.\n"
    )
    assert [part.text for part in extract_transcript.extract_captions(vtt).parts] == [
        "hello and welcome to the show about computers & people."
    ]


def test_pauses_part_speech_without_punctuation() -> None:
    """Without punctuation, paragraphs end at pauses and at a length."""
    rows = [
        {"text": "words without any end", "start": 3.0 * n + (60 if n > 20 else 0), "duration": 3} for n in range(40)
    ]
    found = extract_transcript.extract_json(json.dumps(rows))
    assert any(part.time == "2:03" for part in found.parts)


def test_subrip_and_speakers() -> None:
    """SubRip is read as WebVTT is, and voices are named."""
    found = extract_transcript.extract_captions(
        "1\n00:00:01,000 --> 00:00:02,000\n<v Ada>Hello.\n\n2\n01:00:00,000 --> 01:00:02,000\nBye.\n"
    )
    assert [(part.time, part.text) for part in found.parts] == [("0:01", "Ada: Hello."), ("1:00:00", "Bye.")]


def test_timed_text_of_the_video_site() -> None:
    """A transcript in the video site's own XML is read."""
    xml = '<transcript><text start="0" dur="1.5">Hey &amp;#39;all</text>'
    xml += '<text start="61.5" dur="2">the end.</text></transcript>'
    assert [part.text for part in extract_transcript.extract_timedtext(xml).parts] == ["Hey 'all the end."]
