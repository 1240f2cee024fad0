"""The index made anew from the pages that there are, with categories that stay from week to week.

A page stays in the category that it is in, under the name that the heading has, also one that a person gave it. What
stands above the marker is the user's, byte for byte.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from tasks.markdown import links, plain, sentences
from tasks.navigation import grouping, index_page
from tasks.navigation.clusters import SMALLEST, Space, name_of
from tasks.navigation.grouping import Bundle, Grouper
from tasks.navigation.index_page import MARKER, REST, Entry, Ours
from tasks.navigation.similarity import Groups
from tasks.pages.pages import stem_of
from tasks.pages.slugs import fold

_FIRST = re.compile(r"(?:[ \t]*(?:\n|\r\n?)|#{1,6}[ \t][^\n]*\n)*")
_ODD = re.compile(r"[ \t]*(?:[#>|<*+~`\[!\-$%=]|\d+[.)])|[ \t]{4}|\t")
_BLANK = re.compile(r"\n[ \t]*\r?\n|\Z")
_ROW = re.compile(r"[ \t]*[-*+][ \t]")
_ENDS = re.compile(r"\r\n|\n|\r")

Vectors = Callable[[], Mapping[str, bytes]]


def _no_vectors() -> Mapping[str, bytes]:
    return {}


def summary(markdown: str) -> str:
    """As `index_page.summary`, at a tenth of its cost for a page that begins with a plain paragraph."""
    start = plain.body_start(markdown)
    opening = _FIRST.match(markdown, start)
    at = opening.end() if opening else start
    if _ODD.match(markdown, at):
        return index_page.summary(markdown)
    end = _BLANK.search(markdown, at)
    paragraph = markdown[at : end.start() if end else len(markdown)]
    plainly = not any(_ODD.match(line) for line in paragraph.splitlines()) and "\n\n" not in paragraph
    return index_page.first_sentence(paragraph) if plainly else index_page.summary(markdown)


def sections(text: str) -> Mapping[str, tuple[str, ...]]:
    """The categories below the marker in their order, with the folded names of the pages listed in each."""
    tail = index_page.parted(text).tail
    found: dict[str, list[str]] = {}
    name = ""
    for row in _ENDS.split(tail):
        if heading := index_page.category(row):
            name = heading
            found.setdefault(name, [])
        elif name and _ROW.match(row):
            targets = [link.target for link in links.parse(row) if link.target and not link.external]
            found[name] += [fold(stem_of(target)) for target in targets[:1]]
    return {name: tuple(stems) for name, stems in found.items()}


def categories(
    text: str,
    entries: Sequence[Entry],
    former: Mapping[str, str],
    vectors: Vectors = _no_vectors,
    grouper: Grouper | None = None,
) -> Mapping[str, tuple[Entry, ...]]:
    """Each entry in exactly one category; `former` gives the present name of a renamed page by its folded old one.

    A page stays where the index has it. One that is new joins the category of one of its tags. What is then in none is
    put to the `grouper`. What that does not see, or without one all, makes a category with others of its tag, else
    joins the category whose pages are most like it, else makes one with pages that mean alike. What is left comes
    last. `vectors` gives the embeddings of pages by their names, as far as there are any. Raises ModelError when the
    grouper has no answer.
    """
    groups, listed = _standing(text, entries, former)
    placed = {entry.stem for members in groups.values() for entry in members}
    loose: list[Entry] = []
    for entry in sorted(entries, key=_order):
        if entry.stem in placed:
            continue
        name = next((one for tag in entry.tags if (one := index_page.heading(tag)) in groups), "")
        (groups[name] if name else loose).append(entry)
    last: list[Entry] = []
    if grouper is not None and (groups or len(loose) >= grouping.SMALLEST):
        bundles = _bundles(loose, entries, groups, vectors)
        gained, left = grouping.place(grouper, bundles, groups)
        for name, pages in gained.items():
            groups.setdefault(name, []).extend(pages)
        last += left
        seen = {entry.stem for bundle in bundles for entry in bundle.pages}
        loose = [entry for entry in loose if entry.stem not in seen]
    last += _by_words(loose, listed, entries, groups, vectors)
    made = {name: tuple(sorted(members, key=_order)) for name, members in groups.items()}
    return {**made, REST: tuple(sorted(last, key=_order))} if last else made


def _standing(
    text: str, entries: Sequence[Entry], former: Mapping[str, str]
) -> tuple[dict[str, list[Entry]], set[str]]:
    """The categories of the index with the pages that are still there, and the names of all pages that it lists."""
    by_stem = {fold(entry.stem): entry for entry in entries}
    groups: dict[str, list[Entry]] = {}
    listed: set[str] = set()
    placed: set[str] = set()
    for name, stems in sections(text).items():
        here = groups.setdefault(name, [])
        for stem in stems:
            entry = by_stem.get(stem) or by_stem.get(fold(former.get(stem, "")))
            if entry is None or entry.stem in placed:
                continue
            listed.add(entry.stem)
            if name != REST:
                placed.add(entry.stem)
                here.append(entry)
    return {name: members for name, members in groups.items() if members}, listed


def _bundles(
    loose: Sequence[Entry], entries: Sequence[Entry], groups: Collection[str], vectors: Vectors
) -> list[Bundle]:
    """Pages of a tag, pages that mean alike, and single ones, as many bundles as a grouper is asked about."""
    tagged = dict(index_page.categories(loose))
    rest = tagged.pop(REST, ())
    bundles = [Bundle(tuple(members), name) for name, members in tagged.items()]
    alike: set[str] = set()
    if len(rest) >= SMALLEST and (held := vectors()):
        by_stem = {entry.stem: entry for entry in rest}
        spread = _spread(entries)
        for stems in Space(held).groups([*by_stem]):
            members = tuple(by_stem[stem] for stem in stems)
            hint = name_of([_named(entry) for entry in members], spread, len(entries), {*groups, *tagged, REST})
            bundles.append(Bundle(members, hint))
            alike.update(stems)
    bundles.sort(key=lambda bundle: -len(bundle.pages))
    bundles += [Bundle((entry,)) for entry in rest if entry.stem not in alike]
    return bundles[: grouping.MOST_BUNDLES]


def _by_words(
    loose: Sequence[Entry],
    listed: Collection[str],
    entries: Sequence[Entry],
    groups: dict[str, list[Entry]],
    vectors: Vectors,
) -> list[Entry]:
    """Adds pages to the categories that their tags, words and embeddings say; returns those that are left."""
    for name, members in index_page.categories(loose).items():
        if name != REST:
            groups.setdefault(name, []).extend(members)
    known = {entry.stem for members in groups.values() for entry in members}
    like = Groups({name: " ".join((name, *map(_words, members))) for name, members in groups.items()})
    last: list[Entry] = []
    for entry in loose:
        if entry.stem in known:
            continue
        name = like.most_similar(_words(entry)) if entry.stem not in listed else ""
        (groups[name] if name else last).append(entry)
    return _clustered(last, entries, groups, vectors) if len(last) >= SMALLEST else last


def _clustered(
    last: Sequence[Entry], entries: Sequence[Entry], groups: dict[str, list[Entry]], vectors: Vectors
) -> list[Entry]:
    """Adds categories of pages that mean alike; returns what is left. Goes on until nothing more is found, so that the
    next time finds nothing new among the same pages."""
    held = vectors()
    left = list(last)
    if not held:
        return left
    space = Space(held)
    by_stem = {entry.stem: entry for entry in last}
    spread = _spread(entries)
    while True:
        named = 0
        for stems in space.groups([entry.stem for entry in left]):
            members = [by_stem[stem] for stem in stems]
            name = name_of([_named(entry) for entry in members], spread, len(entries), groups.keys() | {REST})
            if name:
                groups[name] = members
                named += 1
        known = {entry.stem for members in groups.values() for entry in members}
        left = [entry for entry in left if entry.stem not in known]
        if not named:
            return left


def with_categories(text: str, groups: Mapping[str, Sequence[Entry]], ours: Ours = index_page.shaped) -> str:
    """The index over these categories. A text without the marker gets it at its end, so that all of it is kept.

    What a person wrote below the marker moves above it, but for what they say of a page in its line and for a category
    that they made: these stay. `ours` tells what they did not write.
    """
    ending = index_page.ending_of(text)
    parts = index_page.parted(text)
    head = parts.head
    standing = sections(text)
    theirs_of = _edited(parts.tail, groups, ours)
    mine = frozenset(theirs_of.values())
    theirs = index_page.foreign(parts.tail, lambda row: row in mine or ours(row), standing.keys() - groups.keys())
    if theirs:
        head += ending.join((*theirs, "", ""))
    if not parts.marker:
        head = text + ("" if not text or text.endswith(("\n", "\r")) else ending) + (ending if text else "")
    moved = {index_page.category(row) for row in theirs}
    kept = [name for name in standing if name not in groups.keys() | moved and not ours(f"## {name}")]
    first = [name for name in standing if name in kept or (name in groups and name != REST)]
    rows = [MARKER]
    for name in dict.fromkeys((*first, *groups)):
        rows += ["", f"## {name}"]
        if members := groups.get(name, ()):
            rows += ["", *(theirs_of.get(entry.stem) or index_page.line(entry) for entry in members)]
    return head + ending.join(rows) + ending


def _edited(tail: str, groups: Mapping[str, Sequence[Entry]], ours: Ours) -> Mapping[str, str]:
    """By name of a page that is listed, the line in which a person says something else of it."""
    stems = {fold(entry.stem): entry.stem for members in groups.values() for entry in members}
    found = index_page.edited(tail, ours)
    return {stems[fold(name)]: row for name, row in found.items() if fold(name) in stems}


def _order(entry: Entry) -> tuple[str, str]:
    return entry.title.casefold(), entry.stem


def _named(entry: Entry) -> str:
    return " ".join((entry.title, *entry.tags))


def _spread(entries: Sequence[Entry]) -> Counter[str]:
    """How many entries have a word in their title or tags."""
    return Counter(word for entry in entries for word in set(sentences.words(_named(entry))))


def _words(entry: Entry) -> str:
    return " ".join((entry.title, *entry.tags, entry.summary))
