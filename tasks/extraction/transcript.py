"""Transcripts of talks and videos: captions joined to paragraphs that read like prose.

Captions are cut by time, not by sense. They are joined and cut again at sentence ends where there is punctuation,
else at pauses and lengths. The time at which a paragraph begins stands beside its text, not in it: the readable
copy shows it, so that a reader finds the place in the video, and no quote carries it.
"""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tasks.extraction.extracted import Extracted
from tasks.records import BlockKind, Part

PARAGRAPH = 500  # characters after which a paragraph ends at the next sentence end
LONGEST = 900  # ... or at the next caption
PAUSE = 3.0  # seconds of silence that end a paragraph of some length
_TAG = re.compile(r"<[^>\n]{0,80}>|\{\\[^}\n]{0,40}\}")
_NOISE = re.compile(
    r"[\[(（【](?:[^\])）】\n]{0,30}(?:music|musik|musique|música|musica|applause|applaus|laugh|cheer|noise"
    r"|silence|inaudible|foreign|sound|笑|音楽|音乐|掌声|拍手)[^\])）】\n]{0,20}|__+)[\])）】]|[♪♫♬]+|>>+\s?",
    re.I,
)
_TIME = re.compile(
    r"\s*(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{1,3})\s*(?:-->|,)\s*(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{1,3})"
)
_NO_CAPTIONS = ("WEBVTT", "NOTE", "STYLE", "REGION")
_SPEAKER = re.compile(r"([^\W\d_][\w .'’()-]{0,60}):\s+")
_NAMED = 0.6  # share of the captions that name a speaker, from which on names are speakers
_END = re.compile(r"[.!?…。！？][\"'”’»)\]]*$")


@dataclass(frozen=True, slots=True)
class Snippet:
    """One caption: its words, and when it is shown (seconds)."""

    text: str
    start: float
    end: float
    turn: bool = False  # somebody else begins to speak


def is_transcript(text: str) -> bool:
    """Is this JSON a saved transcript: snippets with text and start, alone, beside a title, or in YouTube's form?"""
    head = text[:20_000]
    if not any(all(f'"{key}"' in head for key in keys) for keys in (("text", "start"), ("utf8", "tStartMs"))):
        return False
    try:
        _rows(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return False
    return True


def extract_json(text: str) -> Extracted:
    """A transcript saved as JSON: a list of snippets, or an object with `snippets`, `title`, `author`, `language`."""
    value = json.loads(text)
    rows = _rows(value)
    facts = value if isinstance(value, dict) else {}

    def fact(key: str) -> str:
        found = facts.get(key)
        return " ".join(found.split()) if isinstance(found, str) else ""

    language = fact("language_code") or fact("language")
    return Extracted(
        "transcript",
        paragraphs(rows),
        title=fact("title"),
        author=fact("author"),
        published=fact("published"),
        language=language[:2].lower() if re.fullmatch(r"[A-Za-z]{2}(?:[-_].*)?", language) else "",
    )


def _rows(value: object) -> list[Snippet]:
    """Snippets of a decoded JSON value; ValueError when it is something else."""
    rows = value
    if isinstance(value, dict):
        rows = next((value[key] for key in ("snippets", "transcript", "segments") if key in value), None)
        if rows is None and isinstance(value.get("events"), list):
            return list(_events(value["events"]))
    if not isinstance(rows, list):
        raise ValueError("no list of snippets")
    snippets = []
    for row in rows:
        if not isinstance(row, dict) or not isinstance(row.get("text"), str):
            raise ValueError("a snippet has no text")
        start, duration = row.get("start"), row.get("duration", 0)
        if not isinstance(start, int | float | str) or not isinstance(duration, int | float | str | None):
            raise ValueError("a snippet has no start")
        begin, length = float(start), float(duration or 0)
        if not (math.isfinite(begin) and math.isfinite(length)):
            raise ValueError("a snippet has no start")
        snippets.append(Snippet(row["text"], begin, begin + length))
    return snippets


def _events(events: list[Any]) -> Iterator[Snippet]:
    """Captions as YouTube sends them (json3): pieces of words, and times in milliseconds."""
    for event in events:
        pieces = [piece["utf8"] for piece in event.get("segs", ()) if "utf8" in piece]
        start = float(event.get("tStartMs", 0)) / 1000
        if "".join(pieces).strip():
            yield Snippet("".join(pieces), start, start + float(event.get("dDurationMs", 0)) / 1000)


def extract_captions(text: str) -> Extracted:
    """A WebVTT, SubRip or SubViewer file."""
    title = ""
    head = re.match(r"\ufeff?WEBVTT[ \t]*-?[ \t]*([^\n]*)", text)
    if head and head.group(1).strip() and "-->" not in head.group(1):
        title = head.group(1).strip()
    times: list[re.Match[str]] = []
    words: list[list[str]] = []
    for block in re.split(r"\n[ \t]*\n", text):
        lines = block.strip("\n").split("\n")
        if not any(map(_TIME.match, lines)) and lines[0].startswith(_NO_CAPTIONS):
            continue
        for number, line in enumerate(lines):
            time = _TIME.match(line)
            if time:
                times.append(time)
                words.append([])
            elif words and not _names_caption(lines, number):
                words[-1].append(line)  # also after an empty line: only a time begins another caption
    snippets = [
        Snippet("\n".join(lines), _seconds(time, 1), _seconds(time, 5))
        for time, lines in zip(times, words, strict=True)
    ]
    return Extracted("transcript", paragraphs(_by_turns(_unrolled(snippets))), title=title)


def _names_caption(lines: list[str], number: int) -> bool:
    """Whether a line is the number or name of the caption whose time follows."""
    follows = number + 1 < len(lines) and _TIME.match(lines[number + 1])
    return bool(follows) and (number == 0 or lines[number].strip().isdigit())


def extract_timedtext(text: str) -> Extracted:
    """A transcript as the video site sends it: XML with seconds (`<text start dur>`) or milliseconds (`<p t d>`)."""
    snippets = []
    text = re.sub(r"</?(?:s|br)\b[^>]{0,100}>", lambda tag: " " if "br" in tag[0] else "", text)
    for name, attributes, words in re.findall(r"<(text|p)\s([^>]{0,200})>([^<]{0,5000})</", text):
        start = re.search(r"\b(?:start|t)=\"([\d.]{1,15})\"", attributes)
        length = re.search(r"\b(?:dur|d)=\"([\d.]{1,15})\"", attributes)
        if start:
            unit = 1.0 if name == "text" else 0.001
            begin = float(start.group(1)) * unit
            snippets.append(
                Snippet(html.unescape(words), begin, begin + (float(length.group(1)) * unit if length else 0))
            )
    return Extracted("transcript", paragraphs(snippets))


def _seconds(match: re.Match[str], group: int) -> float:
    hours, minutes, seconds, fraction = (match.group(group + offset) or "0" for offset in range(4))
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds) + int(fraction.ljust(3, "0")) / 1000


def _unrolled(snippets: list[Snippet]) -> list[Snippet]:
    """Captions that roll: each repeats the line before and adds one; only what is new is kept."""
    unrolled: list[Snippet] = []
    shown: list[str] = []
    for snippet in snippets:
        lines = [line for raw in snippet.text.split("\n") if (line := _plain(raw))]
        new = lines
        for overlap in range(min(len(shown), len(lines)), 0, -1):
            if shown[-overlap:] == lines[:overlap]:
                new = lines[overlap:]
                break
        text = " ".join(new)
        if unrolled and snippet.start < unrolled[-1].end:
            text = _without_start(text, unrolled[-1].text)
        if text:
            unrolled.append(Snippet(text, snippet.start, snippet.end))
        shown = lines or shown
    return unrolled


def _by_turns(snippets: list[Snippet]) -> list[Snippet]:
    """Captions of a meeting, which name who speaks in each, so that a name stands where somebody else begins."""
    named = [_SPEAKER.match(snippet.text) for snippet in snippets]
    if sum(map(bool, named)) < _NAMED * len(snippets):
        return snippets
    turns: list[Snippet] = []
    speaker = ""
    for snippet, name in zip(snippets, named, strict=True):
        same = name is None or name[1] == speaker
        words = snippet.text[name.end() :] if name is not None and same else snippet.text
        speaker = name[1] if name is not None else speaker
        turns.append(Snippet(words, snippet.start, snippet.end, not same))
    return turns


def _without_start(text: str, before: str) -> str:
    """The words of a caption that is shown while another still is, without those it repeats from the other's end."""
    words, shown = text.split(), before.split()
    for overlap in range(min(len(words), len(shown)), 1, -1):
        if shown[-overlap:] == words[:overlap]:
            return " ".join(words[overlap:])
    return text


def _plain(text: str) -> str:
    voice = re.sub(r"<v(?:\.[^\s>]+)?\s+([^>]+)>", r"\1: ", text)
    return " ".join(_NOISE.sub(" ", html.unescape(_TAG.sub("", voice))).split())


def paragraphs(snippets: list[Snippet]) -> tuple[Part, ...]:
    """Snippets joined to paragraphs, each with the time it begins at."""
    parts: list[Part] = []
    words: list[str] = []
    length, begin, end = 0, 0.0, 0.0
    texts = [(snippet, _plain(snippet.text)) for snippet in snippets]
    full = " ".join(text for _, text in texts)
    punctuated = len(re.findall(r"[.!?。！？]", full)) * 400 > len(full)

    def close() -> None:
        if words:
            parts.append(Part(BlockKind.PARAGRAPH, " ".join(words), time=_clock(begin)))
            words.clear()

    for snippet, text in texts:
        if not text:
            continue
        ended = bool(words and _END.search(words[-1]))
        pause = snippet.start - end > PAUSE and (length > PARAGRAPH / 3 or ended)
        if words and (snippet.turn or pause or length > LONGEST or (length > PARAGRAPH and (ended or not punctuated))):
            close()
        if not words:
            begin, length = snippet.start, 0
        words.append(text)
        length += len(text) + 1
        end = max(snippet.end, snippet.start)
    close()
    return tuple(parts)


def _clock(seconds: float) -> str:
    whole = max(0, int(seconds))
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
