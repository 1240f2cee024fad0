"""Captions as programs and people really save them: without blank lines or numbers, rolling, in other forms."""

from __future__ import annotations

import json

import pytest

from tasks.extraction.sniff import sniff
from tasks.extraction.transcript import extract_captions, extract_json, extract_timedtext

OIL, UNTIL = "00:00:01,000 --> 00:00:05,000", "00:00:05,000 --> 00:00:07,000"
BOTH = "The lamp burned whale oil. Until 1860."


@pytest.mark.parametrize(
    "captions",
    [
        f"1\n{OIL}\nThe lamp burned whale oil.\n2\n{UNTIL}\nUntil 1860.\n",
        f"{OIL}\nThe lamp burned whale oil.\n\n{UNTIL}\nUntil 1860.\n",
        f"1\n{OIL}\nThe lamp burned\n\nwhale oil.\n\n2\n{UNTIL}\nUntil 1860.\n",
        f"1\n{OIL}\nThe lamp burned whale\n\n2\n00:00:04,000 --> 00:00:06,000\nburned whale oil. Until 1860.\n",
        "0:00:01.000,0:00:05.000\nThe lamp burned whale oil.\n\n0:00:05.000,0:00:07.000\nUntil 1860.\n",
    ],
    ids=["no blank lines", "no numbers", "blank line inside", "overlapping", "SubViewer"],
)
def test_sloppy_captions_lose_no_words(captions: str) -> None:
    """No time or number gets into the text, no word is lost, and none is said twice."""
    assert sniff(captions.encode(), "talk.srt").kind == "srt"
    assert [part.text for part in extract_captions(captions).parts] == [BOTH]


def test_names_and_notes_of_webvtt_are_no_words() -> None:
    """Cue names, notes, styles and regions go; a number that is said stays."""
    vtt = "WEBVTT\n\nNOTE not said\nat all\n\nSTYLE\n::cue {}\n\nintro\n00:01.000 --> 00:02.000\nIn\n1860\n\nend\n"
    assert [part.text for part in extract_captions(vtt + "00:02.000 --> 00:03.000\nit ended.").parts] == [
        "In 1860 it ended."
    ]


@pytest.mark.parametrize(
    "saved",
    [
        {"events": [{"tStartMs": 0, "segs": [{"utf8": "The lamp"}, {"utf8": " burned"}]}, {"segs": [{"utf8": "\n"}]}]},
        {"text": "The lamp burned", "segments": [{"start": 0.0, "end": 2.0, "text": " The lamp burned"}]},
    ],
    ids=["json3", "speech recognition"],
)
def test_other_forms_of_json(saved: dict[str, object]) -> None:
    """What download and recognition programs save is a transcript too."""
    text = json.dumps(saved)
    assert sniff(text.encode(), "talk.json").kind == "transcript"
    assert [part.text for part in extract_json(text).parts] == ["The lamp burned"]


def test_words_with_times_of_their_own() -> None:
    """The video site's newer XML marks each word."""
    xml = '<timedtext format="3"><body><p t="0" d="9"><s>the</s><s t="2"> lamp</s></p><p t="9">burned</p></body>'
    assert [part.text for part in extract_timedtext(xml).parts] == ["the lamp burned"]


@pytest.mark.parametrize("form", ["<v {0}>{1}</v>", "{0}: {1}"], ids=["voices", "names"])
def test_a_speaker_is_named_once_a_turn(form: str) -> None:
    """Programs for meetings name who speaks in every caption, in the middle of sentences."""
    said = (
        ("Ida Kern", "The lamp of Fanal"),
        ("Ida Kern", "was lit in 1851."),
        ("Bo", "Who lit it?"),
        ("Ida Kern", "Karl."),
    )
    cues = "".join(
        f"{number}\n00:00:0{number}.000 --> 00:00:0{number + 1}.000\n{form.format(*words)}\n\n"
        for number, words in enumerate(said)
    )
    assert [part.text for part in extract_captions(f"WEBVTT\n\n{cues}").parts] == [
        "Ida Kern: The lamp of Fanal was lit in 1851.",
        "Bo: Who lit it?",
        "Ida Kern: Karl.",
    ]
