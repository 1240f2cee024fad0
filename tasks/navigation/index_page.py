"""index.md: a list of the pages below a marker; everything above the marker is the user's, byte for byte."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from tasks.markdown import blocks, links, plain, sentences
from tasks.navigation.similarity import most_similar
from tasks.pages.pages import stem_of
from tasks.records import BlockKind

MARKER = "<!-- nightwiki:scaffold -->"
REST = "More pages"
_SUMMARY = 160  # characters
_FIRST_LINE = re.compile(r"\n*(?:#{1,6} [^\n]*\n+)*([^\W\d_][^\n]*)\n\n")
"""A first paragraph of one line below headings, for which no parser is needed."""
_ENDING = re.compile(r"\r\n|\n|\r")
_ROW = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_ALONE = re.compile(rf" {{0,3}}({re.escape(MARKER)})[ \t]*(?:[\r\n]|\Z)")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_MADE = re.compile(  # a Markdown link leads to a page whose name allows no wikilink
    r"- (?:\[\[(?:(?!\]\](?!\])).)+\]\]|\[(?:[^\[\]\\]|\\.)+\]\([^\s()]+\.md\))(?: — .*)?[ \t]*\Z"
)
Ours = Callable[[str], bool]
"""Tells of a heading or a line in the shape of a page's line whether it was made, and not written by a person."""

_SMALLEST = 2  # pages that make a category worth a heading


@dataclass(frozen=True, slots=True)
class Entry:
    """What the index says of a page."""

    stem: str
    title: str
    summary: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Parts:
    """A text around its marker: what is the user's, and what is made below it. Without a marker all is the user's."""

    head: str
    marker: str
    tail: str


def parted(text: str) -> Parts:
    """The text around the last line that holds the marker and nothing else, outside of closed code fences.

    A marker that a person quotes, shows as code or has there once more is part of their text.
    """
    if MARKER not in text:
        return Parts(text, "", "")
    inside = fenced(_ENDING.split(text))
    at = 0
    found: re.Match[str] | None = None
    for number, row in enumerate(_ROW.findall(text)):
        alone = _ALONE.match(text, at)
        if alone and number not in inside:
            found = alone
        at += len(row)
    if found is None:
        return Parts(text, "", "")
    return Parts(text[: found.start(1)], MARKER, text[found.end(1) :])


def fenced(rows: Sequence[str]) -> frozenset[int]:
    """Numbers, from 0, of the rows of code fences that are closed."""
    inside: set[int] = set()
    fence, first = "", 0
    for number, row in enumerate(rows):
        mark = _FENCE.match(row)
        if mark and not fence:
            fence, first = mark[1], number
        elif mark and mark[1].startswith(fence) and not row.strip().strip(fence[0]):
            inside.update(range(first, number + 1))
            fence = ""
    return frozenset(inside)


def shaped(row: str) -> bool:
    """Whether a row looks like one that is made: a category's heading, or a page's line."""
    return row.startswith("## ") or _MADE.match(row) is not None


def category(row: str) -> str:
    """The name of the category that a row is the heading of; '' when it is none."""
    name = row[3:].strip() if row.startswith("## ") else ""
    return " ".join(name.rstrip("#").split()) or name


def foreign(tail: str, ours: Ours = shaped, lost: Collection[str] = ()) -> tuple[str, ...]:
    """What a person wrote below the marker, row by row: what is not `ours`, nor another marker.

    The heading of a category that is `lost` goes along with what is theirs in it.
    """
    rows = _ENDING.split(tail)
    inside = fenced(rows)
    found: list[str] = []
    apart, above = False, ""
    for number, row in enumerate(rows):
        heading = row.startswith("## ")
        if number not in inside and (heading or row.strip() in ("", MARKER) or ours(row)):
            apart = bool(found)
            above = row if heading and category(row) in lost else "" if heading else above
            continue
        found += [""] * apart + [above, ""] * bool(above) + [row]
        apart, above = False, ""
    return tuple(found)


def edited(tail: str, ours: Ours) -> Mapping[str, str]:
    """The lines of pages, by the name they lead to, in which a person has written what the index says of the page."""
    rows = _ENDING.split(tail)
    inside = fenced(rows)
    found: dict[str, str] = {}
    for number, row in enumerate(rows):
        if number not in inside and _MADE.match(row) and not ours(row):
            found.setdefault(target(row), row)
    return found


def summary(markdown: str) -> str:
    """The first sentence of a page's first paragraph, in plain words and not too long."""
    body = markdown[plain.body_start(markdown) :]
    usual = _FIRST_LINE.match(body)
    if usual:
        first = usual.group(1)
    else:
        first = next((block.text for block in blocks.split(body[:6000]) if block.kind is BlockKind.PARAGRAPH), "")
    return first_sentence(first)


def first_sentence(paragraph: str) -> str:
    """The first sentence of a paragraph in plain words, not too long."""
    said = sentences.split(plain.plain(paragraph))
    if not said or len(said[0]) <= _SUMMARY:
        return " ".join(said[0].split()) if said else ""
    return textwrap.shorten(said[0], _SUMMARY, placeholder=" …")


def line(entry: Entry) -> str:
    """Return the page's line in the index."""
    summary = " ".join(entry.summary.split())
    return f"- {links.wikilink(entry.stem, entry.title)}" + (f" — {summary}" if summary else "")


def create(name: str, entries: Sequence[Entry], grouped: bool = True) -> str:
    """Return a new index over `entries`, each in exactly one category; all in the last one unless `grouped`."""
    groups = categories(entries) if grouped else {REST: sorted(entries, key=lambda entry: entry.title.casefold())}
    return f"# {name}\n\n{MARKER}\n{_body(groups)}"


def categories(entries: Sequence[Entry]) -> Mapping[str, tuple[Entry, ...]]:
    """Group pages by shared tags: the tag that covers most of the rest first, ties by name, leftovers last."""
    rest = sorted(entries, key=lambda entry: (entry.title.casefold(), entry.stem))
    groups: dict[str, tuple[Entry, ...]] = {}
    while rest:
        counts = Counter(tag for entry in rest for tag in entry.tags)
        tag, size = min(counts.items(), key=lambda item: (-item[1], item[0]), default=("", 0))
        if size < _SMALLEST:
            break
        groups[heading(tag)] = tuple(entry for entry in rest if tag in entry.tags)
        rest = [entry for entry in rest if tag not in entry.tags]
    if rest:
        groups[REST] = tuple(rest)
    return groups


def heading(tag: str) -> str:
    """Return a tag as the heading of its category."""
    words = tag.replace("-", " ").replace("/", " / ")
    return words[:1].upper() + words[1:]


def _body(groups: Mapping[str, Sequence[Entry]]) -> str:
    return "".join(f"\n## {name}\n\n" + "".join(line(e) + "\n" for e in members) for name, members in groups.items())


def ending_of(text: str) -> str:
    """How the lines of a text end: as its first one does."""
    found = _ENDING.search(text)
    return found.group() if found else "\n"


def add(text: str, entries: Sequence[Entry], guess: bool = True) -> str:
    """Return the index with each new page under the category that fits it best; the rest of the file is left alone.

    That is the category of one of its tags, else with `guess` the one whose lines are most like it, else the last.
    A file without the marker gets it at its end, so that all of the user's text stays above it.
    """
    ending = ending_of(text)
    if not parted(text).marker:
        text = text + ("" if not text or text.endswith(("\n", "\r")) else ending) + ending + MARKER + ending
    parts = parted(text)
    tail = parts.tail
    for entry in entries:
        tail = _add_one(tail, entry, ending, guess)
    return parts.head + parts.marker + tail


def _add_one(tail: str, entry: Entry, ending: str, guess: bool) -> str:
    lines = tail.split(ending)
    sections: dict[str, list[int]] = {}
    for number, content in enumerate(lines):
        if content.startswith("## "):
            sections[content[3:].strip()] = [number]
        elif sections and content.startswith("- "):
            next(reversed(sections.values())).append(number)
    tagged = (heading(tag) for tag in entry.tags)
    name = next((tag for tag in tagged if tag in sections), "")
    if guess and not name:
        said = {
            name: " ".join((name, *(lines[n] for n in numbers[1:])))
            for name, numbers in sections.items()
            if name != REST
        }
        name = most_similar(" ".join((entry.title, *entry.tags, entry.summary)), said)
    if name:
        lines.insert(sections[name][-1] + (1 if len(sections[name]) > 1 else 2), line(entry))
    elif REST in sections:
        lines.insert(sections[REST][-1] + (1 if len(sections[REST]) > 1 else 2), line(entry))
    else:
        while lines and not lines[-1]:
            lines.pop()
        lines += ["", f"## {REST}", "", line(entry), ""]
    return ending.join(lines)


def drop(text: str, stems: Sequence[str], ours: Ours = shaped) -> str:
    """Return the index without the generated lines of pages that are gone; what a person wrote stays.

    A line in which they said something else of the page becomes words.
    """
    parts = parted(text)
    kept = []
    for row in _ROW.findall(parts.tail):
        line = row.rstrip("\r\n")
        named = "](" in row or any(stem in row for stem in stems)
        if not (named and _MADE.match(line) and target(row) in stems):
            kept.append(row)
        elif not ours(line):
            link = links.parse(row)[0]
            kept.append(f"- {(link.label or link.target)}{row[link.end :]}")
    return parts.head + parts.marker + "".join(kept)


def rename(text: str, names: Mapping[str, str]) -> str:
    """Return the index with its generated lines leading to the present names of pages, by former name."""
    parts = parted(text)
    rows = _ROW.findall(parts.tail)
    for number, row in enumerate(rows):
        link = next(iter(links.parse(row)), None)
        name = target(row) if link is not None and row.startswith("- [") else ""
        if link is not None and link.start == 2 and name in names:
            rows[number] = f"- {links.wikilink(names[name], link.label or name)}{row[link.end :]}"
    return parts.head + parts.marker + "".join(rows)


def target(row: str) -> str:
    """The name of the page that a row of the index leads to first; '' for none."""
    found = links.parse(row)
    return stem_of(found[0].target) if found and not found[0].external else ""
