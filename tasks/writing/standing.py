"""What stands on a page: the shares of its live sources, as decided now, decided before, or quoted until a model reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from tasks.compiling.analysis import Analysis
from tasks.compiling.analysis import decode as decode_notes
from tasks.compiling.compile import CompileRequest, KnownPage, Material
from tasks.markdown import links
from tasks.writing.contribution import Contribution, Share, decode
from tasks.writing.page import SourceFacts, Stand
from tasks.writing.quoted import quoted


class Standing:
    """Who gives what to which page. Before `take` as it was, afterwards with what this run decided."""

    def __init__(self, request: CompileRequest, material: Material, quote: Iterable[str]) -> None:
        """`quote` are sources that are quoted on their own subject's page when nothing else stands for them."""
        self._request, self._material, self._quote = request, material, quote
        self._live = frozenset(request.topics)
        self._stored: dict[str, Contribution | None] = {}
        self._analyses: dict[str, Analysis] = {}
        self._now: Mapping[str, Contribution] = {}
        self._holders: dict[str, set[str]] = {}  # live sources by the subject keys of the pages they give to
        for source_id in self._live:
            self._hold(source_id, material.subjects.get(source_id, ()))

    def take(self, contributions: Mapping[str, Contribution]) -> None:
        """What this run decided takes the place of what was decided on these sources before."""
        self._now = contributions
        for source_id, one in contributions.items():
            self._hold(source_id, [share.subject for share in one.shares])

    def former(self, source_id: str) -> Contribution | None:
        """What was decided on a source before this run."""
        if source_id not in self._stored:
            self._stored[source_id] = decode(self._material.written(source_id)) if source_id in self._live else None
        return self._stored[source_id]

    def on(self, subject: str, page: KnownPage | None) -> tuple[Stand, ...]:
        """All live sources that give something to a page; `page` is None when there is none yet."""
        found: dict[str, Stand] = {}
        for source_id in sorted(self._holders.get(subject, set())):
            former = self.former(source_id)
            one = self._now.get(source_id) or former
            share = next((share for share in one.shares if share.subject == subject), None) if one else None
            if one is not None and share is not None:
                fresh = source_id in self._now and (former is None or share not in former.shares)
                facts = replace(self.facts(source_id), cut=one.cut)
                found[source_id] = Stand(facts, _cited_at(share, self.target(source_id)), fresh)
        unread = [one for one in (page.sources if page is not None else ()) if not self._is_decided(one)]
        failed = [one for one in self._quote if one in self._live and self._request.topics[one][0] == subject]
        for source_id in (*unread, *failed):
            if source_id in self._live and source_id not in found:
                notes = self._notes(source_id)
                title = page.title if page is not None else notes.title
                share = quoted(subject, title, self.target(source_id), notes)
                found[source_id] = Stand(self.facts(source_id), share)
        return tuple(found.values())

    def facts(self, source_id: str) -> SourceFacts:
        """What is known of a source beside its text."""
        if source_id not in self._live:
            return SourceFacts(source_id)
        notes = self._notes(source_id)
        return SourceFacts(
            source_id,
            notes.quality,
            notes.quality_reasons,
            notes.injection_suspected,
            notes.published,
            notes.language,
            link=links.anchor_link(self.target(source_id), ""),
        )

    def target(self, source_id: str) -> str:
        """Where citations of a source point now."""
        return self._request.notes(source_id).target

    def _is_decided(self, source_id: str) -> bool:
        return source_id in self._now or self.former(source_id) is not None

    def _notes(self, source_id: str) -> Analysis:
        if source_id not in self._analyses:
            self._analyses[source_id] = decode_notes(self._request.notes(source_id).analysis)
        return self._analyses[source_id]

    def _hold(self, source_id: str, names: Iterable[str]) -> None:
        for subject in names:
            self._holders.setdefault(subject, set()).add(source_id)


def _cited_at(share: Share, target: str) -> Share:
    """The share with its citations at the place where the source is now."""
    citations = [citation for block in share.blocks for line in block.lines for citation in line.citations]
    if all(citation.target == target for citation in citations):
        return share
    blocks = []
    for block in share.blocks:
        lines = tuple(
            replace(line, citations=tuple(replace(citation, target=target) for citation in line.citations))
            for line in block.lines
        )
        blocks.append(replace(block, lines=lines))
    return replace(share, blocks=tuple(blocks))
