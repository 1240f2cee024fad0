"""Which decisions of one night meet on one page: by page, by the draft they point at, by title and alias.

Sources are decided on at the same time and do not see each other's decisions; what they make is brought together here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tasks.compiling.compile import KnownPage
from tasks.compiling.subjects import key_of
from tasks.writing.decide import Judged
from tasks.writing.find import Finder


@dataclass(frozen=True, slots=True)
class Member:
    """A source's decision that leads onto a page."""

    source_id: str
    judged: Judged
    rivals: tuple[str, ...] = ()  # what the subject could be instead


@dataclass(frozen=True, slots=True)
class Group:
    """One page, and the sources that write onto it this night, by id."""

    subject: str
    title: str
    page: KnownPage | None
    members: tuple[Member, ...]


def resolve(judged: Mapping[str, Sequence[Judged]], finder: Finder) -> tuple[Group, ...]:
    """The pages that the decisions lead onto, by subject; `judged` are decisions by source, skips among them."""
    nodes = {
        f"{source_id}/{one.topic.key}": Member(source_id, one)
        for source_id in sorted(judged)
        for one in judged[source_id]
        if one.decision.action != "skip"
    }
    roots = {name: _root(name, nodes) for name in nodes}
    pages: dict[str, KnownPage] = {}
    rivals: dict[str, list[str]] = {name: [] for name in nodes}
    for name in sorted(set(roots.values())):
        one = nodes[name].judged
        offered = one.offer.page if one.offer is not None else None
        if offered is not None and not offered.adopted:
            pages[name] = offered
            continue
        if offered is not None:
            rivals[name].append(f"your note '{offered.title}'")
        met = finder.by_name([key_of(one.decision.title)])
        if met is not None:
            pages[name] = met
            if one.decision.action == "create":
                rivals[name].append(f"the page '{met.title}', which the model took for something else")
    heads = _joined({name: nodes[name] for name in sorted(set(roots.values())) if name not in pages})
    groups: dict[str, list[str]] = {}
    for name in sorted(nodes):
        root = roots[name]
        place = f"page {pages[root].id}" if root in pages else f"new {heads[root]}"
        groups.setdefault(place, []).append(name)
    found = []
    for place in sorted(groups):
        names = groups[place]
        first = roots[names[0]]
        page = pages.get(first)
        head = nodes[first if page is not None else heads[first]].judged.decision
        title = page.title if page is not None else head.title
        subject = page.subjects[0] if page is not None and page.subjects else key_of(title)
        doubts = tuple(dict.fromkeys(rival for name in names for rival in rivals[roots[name]]))
        members = _one_each([Member(nodes[name].source_id, nodes[name].judged, doubts) for name in names])
        found.append(Group(subject, title, page, members))
    return tuple(sorted(found, key=lambda group: group.subject))


def _root(name: str, nodes: Mapping[str, Member]) -> str:
    """The decision that a decision leans on, through drafts it points at; of a ring the first by name."""
    seen: list[str] = []
    while True:
        if name in seen:
            return min(seen[seen.index(name) :])
        seen.append(name)
        one = nodes[name].judged
        points = one.decision.action != "create" and one.offer is not None and one.offer.draft is not None
        following = one.offer.draft.name if points and one.offer is not None and one.offer.draft is not None else ""
        if following not in nodes:
            return name
        name = following


def _joined(creates: Mapping[str, Member]) -> dict[str, str]:
    """For each new page the one it is the same as: the same title, or one's title the only other's alias."""
    titles: dict[str, str] = {}
    head: dict[str, str] = {}
    for name, member in creates.items():
        key = key_of(member.judged.decision.title)
        head[name] = titles.setdefault(key, name)
    claimed: dict[str, set[str]] = {}
    for name, member in creates.items():
        for alias in member.judged.decision.aliases:
            claimed.setdefault(key_of(alias), set()).add(head[name])
    for alias, holders in sorted(claimed.items()):
        others = holders - {titles.get(alias, "")}
        if alias in titles and len(others) == 1:
            one, other = sorted((head[titles[alias]], head[min(others)]))
            head = {name: one if root == other else root for name, root in head.items()}
    return head


def _one_each(members: Sequence[Member]) -> tuple[Member, ...]:
    """One decision a source, its claims of several subjects together."""
    by_source: dict[str, list[Member]] = {}
    for member in members:
        by_source.setdefault(member.source_id, []).append(member)
    found = []
    for source_id, own in sorted(by_source.items()):
        first = own[0]
        topic = first.judged.topic
        for other in own[1:]:
            more = other.judged.topic
            claims = {(claim.passage.number, claim.words): claim for claim in (*topic.claims, *more.claims)}
            names = tuple(dict.fromkeys((*topic.aliases, more.title, *more.aliases)))
            ordered = tuple(claims[place] for place in sorted(claims))
            topic = type(topic)(topic.key, topic.title, names, topic.kind, ordered)
        found.append(Member(source_id, Judged(topic, first.judged.decision, first.judged.offer), first.rivals))
    return tuple(found)
