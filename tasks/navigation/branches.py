"""A table of branches made from the index, and what is wrong with one that a person keeps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tasks.markdown import links
from tasks.navigation import route
from tasks.navigation.index_page import REST, Entry
from tasks.pages import relink
from tasks.pages.pages import stem_of
from tasks.pages.slugs import fold
from tasks.records import Finding
from tasks.text_bytes import shown

FILE = "ROUTING.md"
DANGLING = "dangling-entry"


@dataclass(frozen=True, slots=True)
class Lost:
    """What a table holds that making it anew would lose."""

    branches: int
    entries: int
    lines: int  # of free text


def table(groups: Mapping[str, Sequence[Entry]]) -> str:
    """A new table: a branch for each category of the index; pages of none stay out, for they are always in scope."""
    parts = [
        f"## {name}\n\n" + "".join(f"- {links.wikilink(entry.stem, entry.title)}\n" for entry in members)
        for name, members in groups.items()
        if name != REST
    ]
    return "\n".join(parts)


def lost(text: str) -> Lost:
    """What of a table would be lost."""
    found = route.parse(text)
    used = {branch.line for branch in found} | {entry.line for branch in found for entry in branch.entries}
    free = [n for n, row in enumerate(route.rows(text), start=1) if row.strip() and n not in used]
    return Lost(len(found), sum(len(branch.entries) for branch in found), len(free))


def validate(text: str, index: links.LinkIndex, former: Mapping[str, str]) -> list[Finding]:
    """What is wrong with a table: entries without a page, pages listed twice in a branch, branches of one name.

    `former` are present names of pages by folded former ones.
    """
    found: list[Finding] = []
    names: set[str] = set()
    by_line = _links(text)
    for branch in route.parse(text):
        if fold(branch.name) in names:
            found.append(_finding("duplicate-branch", branch.line, f"[{branch.name}] stands twice", "Make one of them"))
        names.add(fold(branch.name))
        listed: set[str] = set()
        for entry in branch.entries:
            link = by_line[entry.line][0]
            problem = index.resolve(link, FILE)
            stem = fold(stem_of(entry.target))
            where = f"[{branch.name}] [[{entry.target}]]"
            if stem in listed:
                found.append(_finding("listed-twice", entry.line, f"{where} stands twice", "Keep one"))
            listed.add(stem)
            if problem.problem == "dead-page" and stem in former:
                found.append(_finding("renamed-entry", entry.line, f"{where} is called {former[stem]} now",
                                      f"Write [[{former[stem]}]]"))
            elif problem.problem == "dead-page":
                found.append(_finding(DANGLING, entry.line, f"{where} has no page", "nightwiki routing clean"))
            elif problem.problem:
                found.append(_finding(problem.problem, entry.line, f"{where} names no page", "Name a page's file"))
    return found


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A table after cleaning: its text, the targets of the entries that went, and of those that lead elsewhere now."""

    text: str
    removed: tuple[str, ...] = ()
    renamed: tuple[str, ...] = ()


def clean(text: str, index: links.LinkIndex, former: Mapping[str, str]) -> Cleaned:
    """The table without entries whose page is gone, those of renamed pages by the new name; all else byte for byte.

    An entry stays when its line links to a page that is there, or when lines hang on it; one on which a person wrote
    more becomes words.
    """
    rows = route.rows(text)
    by_line = _links(text)
    gone: dict[int, str] = {}
    renamed: dict[int, str] = {}
    words: set[int] = set()  # of the lines that go those on which a person wrote more
    for branch in route.parse(text):
        for entry in branch.entries:
            found = by_line[entry.line]
            problems = {link: "" if link.external else index.resolve(link, FILE).problem for link in found}
            lost = [link for link, problem in problems.items() if problem in ("dead-page", "alias-only")]
            moves = {name: former[name] for link in lost if (name := fold(link.target)) in former}
            if set(problems.values()) == {"dead-page"} and not moves and not route.carries(rows, entry.line):
                dead = {link.target for link in found}
                if route.says_more(rows[entry.line - 1], dead):
                    rows[entry.line - 1] = route.unlinked(row := rows[entry.line - 1], dead)
                    words.add(entry.line)
                    if rows[entry.line - 1] == row:
                        continue
                gone[entry.line] = entry.target
            elif (row := relink.led(rows[entry.line - 1], moves)) != rows[entry.line - 1]:
                renamed[entry.line] = entry.target
                rows[entry.line - 1] = row
    kept = [row for number, row in enumerate(rows, start=1) if number not in gone or number in words]
    moved = tuple(shown(target) for target in renamed.values())
    if not gone:
        return Cleaned("".join(kept), renamed=moved)
    rest = clean("".join(kept), index, former)  # an entry may have stayed for lines below it that are gone now
    return Cleaned(rest.text, (*(shown(target) for target in gone.values()), *rest.removed), (*moved, *rest.renamed))


def _links(text: str) -> Mapping[int, list[links.Link]]:
    found: dict[int, list[links.Link]] = defaultdict(list)
    for link in links.parse(text):
        if link.target:
            found[link.line].append(link)
    return found


def _finding(check: str, line: int, message: str, fix: str) -> Finding:
    return Finding(check, "warning", FILE, line, shown(message), shown(fix))
