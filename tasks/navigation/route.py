"""ROUTING.md: the user's table of branches, read and edited line by line.

The file belongs to the user: headings, order, free text and entries stay as they are. The only edits are a new line
below a branch's last entry, and the removal of a whole entry line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from tasks.markdown import links
from tasks.navigation.similarity import most_similar

_HEADING = re.compile(r"^ {0,3}##[ \t]+(?P<name>.+?)[ \t]*#*\s*$")
_ROW = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_BULLET = re.compile(r"\s*[-*+]\s+(?:\[.\]\s)?")
_BEGINS = re.compile(r"[-*+#>|<%$]|\d+[.)]|```|~~~|==|__")
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
    while number < len(lines) and _goes_on(lines[number]):
        number += 1
    if not lines[number - 1].endswith(("\n", "\r")):
        lines[number - 1] += ending
    lines.insert(number, line + ending)
    return "".join(lines)


def _goes_on(line: str) -> bool:
    """Whether a line still belongs to the entry above it: lines that hang on it, and its own text."""
    return bool(line.strip()) and (line[:1] in " \t" or not _BEGINS.match(line))


def remove(text: str, targets: Collection[str]) -> str:
    """Return the text without the entries whose link names one of `targets`; everything else byte for byte.

    An entry on which a person wrote more, or on which lines hang, becomes words.
    """
    gone = {entry.line for branch in parse(text) for entry in branch.entries if entry.target in targets}
    lines = rows(text)
    kept = []
    for number, line in enumerate(lines, start=1):
        if number not in gone:
            kept.append(line)
        elif carries(lines, number) or says_more(line, targets):
            kept.append(unlinked(line, targets))
    return "".join(kept)


def carries(lines: Sequence[str], number: int) -> bool:
    """Whether the line after that of a number, from 1, is indented deeper, so that it belongs to it."""
    if number >= len(lines) or not lines[number].strip():
        return False
    own, following = lines[number - 1], lines[number]
    return len(following) - len(following.lstrip()) > len(own) - len(own.lstrip())


def says_more(line: str, targets: Collection[str]) -> bool:
    """Whether an entry's line holds words or links beside the links to `targets`."""
    return any(char.isalnum() for char in _BULLET.sub("", _rewritten(line, targets, lambda link: ""), count=1))


def unlinked(line: str, targets: Collection[str]) -> str:
    """The line with its links to `targets` turned into what they show."""
    return _rewritten(line, targets, lambda link: (link.label or link.target).replace("\\|", "|"))


def _rewritten(line: str, targets: Collection[str], shown: Callable[[links.Link], str]) -> str:
    entry = line.lstrip()  # an indented one would else be code
    blank = line[: len(line) - len(entry)]
    for link in reversed(links.parse(entry)):
        if link.target in targets:
            entry = entry[: link.start] + shown(link) + entry[link.end :]
    return blank + entry


def best_branch(page_text: str, branches: Mapping[str, Sequence[str]]) -> str:
    """Return the branch whose pages' texts are most like `page_text`, or '' when none is alike at all."""
    return most_similar(page_text, {name: " ".join((name, *texts)) for name, texts in branches.items()})
