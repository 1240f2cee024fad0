"""Which sources meet on which page, told from their topics alone: no notes of unconcerned sources are read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tasks.compiling.compile import KnownPage
from tasks.compiling.subjects import key_of


@dataclass(frozen=True, slots=True)
class Member:
    """A source that speaks of a subject: as its own subject (`main`), or in sections under these heading keys."""

    source_id: str
    main: bool
    sections: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Subject:
    """One page to be."""

    key: str
    keys: frozenset[str]  # all its names as keys
    members: tuple[Member, ...]
    page_id: str = ""
    rivals: tuple[str, ...] = ()  # titles or keys of what the subject could be instead


@dataclass(frozen=True, slots=True)
class Plan:
    subjects: tuple[Subject, ...]
    retired: tuple[str, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Claims:
    """All subjects there are."""

    groups: Mapping[str, tuple[str, ...]]  # group key -> its main keys
    names: Mapping[str, str]  # main key or alias key -> group, where only one claims it
    contested: Mapping[str, frozenset[str]]  # alias key -> the groups that claim it, where several do
    sources: Mapping[str, tuple[str, ...]]  # main key -> sources
    aliases: Mapping[str, frozenset[str]]  # group key -> alias keys that are its own


def plan(topics: Mapping[str, Sequence[str]], pages: Sequence[KnownPage], changed: Collection[str]) -> Plan:
    """The subjects that the changed sources concern, with all their sources and the page each has."""
    claims = _claims(topics, [_joined(page) for page in pages if not page.deleted and not page.adopted])
    members = _members(topics, claims)
    place = _pages_of(claims, pages)
    touched = _touched(topics, claims, members, place, pages, changed)
    adopted = {key_of(name): page.title for page in pages if page.adopted for name in (page.title, *page.aliases)}
    subjects: list[Subject] = []
    skipped: dict[str, str] = {}
    for group in sorted(touched):
        keys = frozenset(claims.groups[group]) | claims.aliases[group]
        page = place.get(group)
        if page is not None and page.deleted:
            gone = f"its page '{page.title}' was deleted by a person"
            skipped |= {member.source_id: gone for member in members[group] if member.main}
            continue
        rivals = [
            key for main in claims.groups[group] for key in sorted(claims.contested.get(main, frozenset()) - {group})
        ]
        if page is None:
            rivals += [f"your note '{adopted[key]}'" for key in claims.groups[group] if key in adopted]
        subjects.append(Subject(group, keys, members[group], page.id if page else "", tuple(dict.fromkeys(rivals))))
    used = {page.id for page in place.values()}
    retired = [
        page.id for page in pages if page.sources and page.id not in used and not page.adopted and not page.deleted
    ]
    return Plan(tuple(subjects), tuple(sorted(retired)), skipped)


def _joined(page: KnownPage) -> frozenset[str]:
    """The subjects of a page that took another page in; empty for all others."""
    if not any(key.startswith("=") for key in page.subjects):
        return frozenset()
    return frozenset(key.removeprefix("=") for key in page.subjects)


def _claims(topics: Mapping[str, Sequence[str]], together: Iterable[frozenset[str]] = ()) -> _Claims:
    """Main keys joined where exactly one subject gives another's key as its alias, and those that are `together`."""
    sources: dict[str, list[str]] = {}
    claimed: dict[str, set[str]] = {}
    for source in sorted(topics):
        main, *others = topics[source]
        sources.setdefault(main, []).append(source)
        for topic in others:
            if topic.startswith("=") and topic[1:] != main:
                claimed.setdefault(topic[1:], set()).add(main)
    parent = {main: main for main in sources}

    def root(key: str) -> str:
        while parent[key] != key:
            key = parent[key]
        return key

    for keys in together:
        first, *others = sorted({root(key) for key in keys if key in parent}) or [""]
        parent |= dict.fromkeys(others, first)
    open_aliases = sorted(alias for alias in claimed if alias in sources)
    joined = True
    while joined:
        joined = False
        for alias in open_aliases:
            roots = {root(main) for main in claimed[alias]}
            own = root(alias)
            if len(roots - {own}) == 1 and len(roots) == 1:
                parent[max(roots | {own})] = min(roots | {own})
                joined = True
    by_root: dict[str, list[str]] = {}
    for main in sorted(sources):
        by_root.setdefault(root(main), []).append(main)
    name_of = {
        base: min(mains, key=lambda main: (-len(sources[main]), len(main), main)) for base, mains in by_root.items()
    }
    groups = {name_of[base]: tuple(mains) for base, mains in by_root.items()}
    names = {main: name_of[root(main)] for main in sources}
    contested: dict[str, frozenset[str]] = {}
    own_aliases: dict[str, set[str]] = {group: set() for group in groups}
    for alias, mains in claimed.items():  # whoever else claims it: a page depends on its own sources
        for main in mains:
            own_aliases[names[main]].add(alias)
    for alias, mains in claimed.items():
        holders = frozenset(names[main] for main in mains)
        if alias in sources:
            if holders != {names[alias]}:
                contested[alias] = holders
        elif len(holders) == 1:
            (group,) = holders
            names[alias] = group
        else:
            contested[alias] = holders
    return _Claims(
        groups,
        names,
        contested,
        {main: tuple(found) for main, found in sources.items()},
        {group: frozenset(found) for group, found in own_aliases.items()},
    )


def _members(topics: Mapping[str, Sequence[str]], claims: _Claims) -> dict[str, tuple[Member, ...]]:
    """Per group its sources: those it is the subject of, and those that give it a section."""
    sections: dict[str, dict[str, set[str]]] = {group: {} for group in claims.groups}
    for source, found in topics.items():
        own = claims.names[found[0]]
        for topic in found[1:]:
            if topic.startswith("#"):
                group = claims.names.get(topic[1:])
                if group is not None and group != own:
                    sections[group].setdefault(source, set()).add(topic[1:])
    return {
        group: (
            *(Member(source, True) for source in sorted(source for main in mains for source in claims.sources[main])),
            *(Member(source, False, frozenset(sections[group][source])) for source in sorted(sections[group])),
        )
        for group, mains in claims.groups.items()
    }


def _pages_of(claims: _Claims, pages: Sequence[KnownPage]) -> dict[str, KnownPage]:
    """The page of each group: by subject key, else the page whose source it was (a corrected title), each page once."""
    place: dict[str, KnownPage] = {}
    own = sorted((page for page in pages if not page.adopted), key=lambda page: (page.deleted, page.id))
    left: list[KnownPage] = []
    for page in own:
        wanted = [claims.names[key] for key in page.subjects if key in claims.names]
        direct = next((group for group in wanted if group not in place), None)
        if direct is not None:
            place[direct] = page
        elif not wanted:
            left.append(page)
    group_of = {source: claims.names[main] for main, found in claims.sources.items() for source in found}
    for page in left:
        for source in page.sources:
            group = group_of.get(source)
            if group is not None and group not in place:
                place[group] = page
                break
    return place


def _touched(
    topics: Mapping[str, Sequence[str]],
    claims: _Claims,
    members: Mapping[str, tuple[Member, ...]],
    place: Mapping[str, KnownPage],
    pages: Iterable[KnownPage],
    changed: Collection[str],
) -> set[str]:
    """Groups whose page may come out otherwise than before."""
    news = frozenset(changed)
    touched: set[str] = set()
    for group, found in members.items():
        here = {member.source_id for member in found}
        page = place.get(group)
        if not news.isdisjoint(here) or (page is not None and not page.deleted and here != set(page.sources)):
            touched.add(group)
    near = {topic.lstrip("=#") for source in news & topics.keys() for topic in topics[source]}
    for page in pages:
        if not news.isdisjoint(page.sources):
            near |= {*page.subjects, *map(key_of, page.aliases)}
            near |= {topics[source][0] for source in page.sources if source in topics}
    for key in near:
        for group in (claims.names.get(key), *claims.contested.get(key, ())):
            if group is not None:
                touched.add(group)
    return touched
