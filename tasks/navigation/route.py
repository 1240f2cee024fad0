"""ROUTING.md: the user's table of branches, read and edited line by line.

The file belongs to the user: headings, order, free text and entries stay as they are. The only edits are a new line
below a branch's last entry, and the removal of a whole entry line.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from tasks.markdown import links
from tasks.navigation.similarity import most_similar

_HEADING = re.compile(r"^ {0,3}##[ \t]+(?P<name>.+?)[ \t]*#*\s*$")
_ROW = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_ENTRY = re.compile(r"^\s*[-*+]\s")


@dataclass(frozen=True, slots=True)
class Entry:
    """One page listed under a branch."""

    target: str  # as written in the link, without heading or label
    line: int  # from 1


@dataclass(frozen=True, slots=True)
class Branch:
    """A `## Heading` of the table with the pages listed below it."""

    name: str
    line: int
    entries: tuple[Entry, ...]


def parse(text: str) -> tuple[Branch, ...]:
    """Return the branches in their order; links inside code and text outside of branches are ignored."""
    lines = rows(text)
    targets = {link.line: link.target for link in reversed(links.parse(text)) if link.target}
    fenced = _fenced(lines)
    branches: list[Branch] = []
    for number, line in enumerate(lines, start=1):
        if number in fenced:
            continue
        heading = _HEADING.match(line)
        if heading:
            branches.append(Branch(heading["name"], number, ()))
        elif branches and _ENTRY.match(line) and number in targets:
            last = branches[-1]
            branches[-1] = Branch(last.name, last.line, (*last.entries, Entry(targets[number], number)))
    return tuple(branches)


def rows(text: str) -> list[str]:
    """The lines with their endings, cut where links count lines; other separators of Unicode are part of a line."""
    return [row for row in _ROW.findall(text) if row]


def _fenced(lines: Sequence[str]) -> frozenset[int]:
    """Line numbers inside code fences, where a `## heading` is text."""
    inside: set[int] = set()
    fence = ""
    for number, line in enumerate(lines, start=1):
        mark = re.match(r" {0,3}(```+|~~~+)", line)
        if fence:
            inside.add(number)
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif mark:
            inside.add(number)
            fence = mark[1]
    return frozenset(inside)


def place(text: str, branch: str, line: str) -> str:
    """Return the text with `line` added below the last entry of `branch`; unchanged when there is no such branch."""
    found = next((b for b in parse(text) if b.name == branch), None)
    if found is None:
        return text
    return _insert_after(text, found.entries[-1].line if found.entries else found.line, line)


def _insert_after(text: str, number: int, line: str) -> str:
    lines = rows(text)
    ending = "\r\n" if "\r\n" in text else "\n"
    if not lines[number - 1].endswith(("\n", "\r")):
        lines[number - 1] += ending
    lines.insert(number, line + ending)
    return "".join(lines)


def remove(text: str, targets: Collection[str]) -> str:
    """Return the text without the entry lines whose link names one of `targets`; everything else byte for byte."""
    gone = {entry.line for branch in parse(text) for entry in branch.entries if entry.target in targets}
    return "".join(line for number, line in enumerate(rows(text), start=1) if number not in gone)


def best_branch(page_text: str, branches: Mapping[str, Sequence[str]]) -> str:
    """Return the branch whose pages' texts are most like `page_text`, or '' when none is alike at all."""
    return most_similar(page_text, {name: " ".join((name, *texts)) for name, texts in branches.items()})
