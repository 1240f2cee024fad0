"""Which pages a subject may belong to: by its names, by search, and among what this night is about to write."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tasks.compiling.compile import KnownPage
from tasks.compiling.subjects import key_of
from tasks.search import tokens
from tasks.writing.analyse import Topic

MOST = 6
"""Pages offered for one subject."""

Search = Callable[[str], Sequence[str]]
"""Ids of published pages for a question, best first."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A page that this night may make: the subject of one source."""

    source_id: str
    topic: Topic

    @property
    def name(self) -> str:
        """Unique among this night's drafts."""
        return f"{self.source_id}/{self.topic.key}"


@dataclass(frozen=True, slots=True)
class Offer:
    """A page or draft that a subject may belong to."""

    title: str
    aliases: tuple[str, ...]
    opening: str
    page: KnownPage | None = None
    draft: Draft | None = None

    @property
    def name(self) -> str:
        """Unique among all offers."""
        return self.page.id if self.page is not None else self.draft.name if self.draft is not None else ""


class Finder:
    """Finds candidates for subjects; the answer depends on the set of pages and drafts alone."""

    def __init__(
        self,
        pages: Iterable[KnownPage],
        drafts: Iterable[Draft],
        search: Search,
        opening: Callable[[str], str],
    ) -> None:
        self._pages = {page.id: page for page in sorted(pages, key=lambda page: page.id)}
        self._drafts = {draft.name: draft for draft in sorted(drafts, key=lambda draft: draft.name)}
        self._search, self._opening = search, opening
        self._named: dict[str, list[str]] = {}
        for page in self._pages.values():
            for key in dict.fromkeys([*page.subjects, *map(key_of, (page.title, *page.aliases))]):
                self._named.setdefault(key, []).append(page.id)
        for draft in self._drafts.values():
            for key in dict.fromkeys([draft.topic.key, *map(key_of, draft.topic.aliases)]):
                self._named.setdefault(key, []).append(draft.name)
        self._words = _Words({name: _text(draft.topic) for name, draft in self._drafts.items()})

    def offers(self, source_id: str, topic: Topic) -> tuple[Offer, ...]:
        """At most `MOST` pages and drafts of other sources that may be about the same thing, best first."""
        keys = [topic.key, *map(key_of, topic.aliases)]
        named = [name for key in keys for name in self._named.get(key, ())]
        question = " ".join((topic.title, *topic.aliases))
        searched = [page for page in self._search(question) if page in self._pages] if self._pages else []
        near = [name for name in self._words.near(_text(topic)) if self._drafts[name].source_id != source_id]
        points: dict[str, float] = defaultdict(float)
        for ranking, weight in ((named, 3.0), (searched, 1.0), (near, 1.0)):
            for rank, name in enumerate(dict.fromkeys(ranking), start=1):
                points[name] += weight / (60 + rank)
        own = f"{source_id}/"
        best = sorted((name for name in points if not name.startswith(own)), key=lambda name: (-points[name], name))
        return tuple(self._offer(name) for name in best[:MOST])

    def by_name(self, keys: Iterable[str]) -> KnownPage | None:
        """The published page that one of these keys names, a person's own notes aside."""
        for key in keys:
            for name in self._named.get(key, ()):
                page = self._pages.get(name)
                if page is not None and not page.adopted:
                    return page
        return None

    def _offer(self, name: str) -> Offer:
        if name in self._pages:
            page = self._pages[name]
            return Offer(page.title, page.aliases, self._opening(page.id), page=page)
        draft = self._drafts[name]
        opening = " ".join(claim.words for claim in draft.topic.claims[:2])[:300]
        return Offer(draft.topic.title, draft.topic.aliases, opening, draft=draft)


def _text(topic: Topic) -> str:
    return " ".join((topic.title, *topic.aliases, *(claim.words for claim in topic.claims[:3])))


class _Words:
    """Texts by the rare words they share; no more than a tenth of the texts may hold a word that counts."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._holders: dict[str, list[str]] = {}
        for name, text in texts.items():
            for term in set(tokens.terms(text)):
                self._holders.setdefault(term, []).append(name)
        self._common = max(8, len(texts) // 10)

    def near(self, text: str, most: int = MOST) -> list[str]:
        points: dict[str, float] = defaultdict(float)
        for term in sorted(set(tokens.terms(text))):
            holders = self._holders.get(term, ())
            if len(holders) <= self._common:
                for name in holders:
                    points[name] += 1.0 / len(holders)
        found = sorted(points, key=lambda name: (-points[name], name))
        return [name for name in found if points[name] >= 0.4][: most + 1]
