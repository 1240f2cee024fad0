"""What a search gives back, in the fields that terminal, REST and MCP share."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Degraded:
    """A part of search that is not at its best, why, and what to do."""

    what: str  # embeddings | index | snapshot
    reason: str
    next_step: str


@dataclass(frozen=True, slots=True)
class HitCitation:
    """The words of a source behind an excerpt."""

    source: str  # source id
    location: str  # vault path of the source or its readable copy
    place: str  # anchor in it
    quote: str


@dataclass(frozen=True, slots=True)
class TermEvidence:
    """One term of the question: its weight in this wiki, and what it gave this hit (0: not in it)."""

    term: str
    idf: float
    score: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a hit stands where it stands. Ranks count from 1; 0: not in that list."""

    configuration: str
    keyword_rank: int
    keyword_score: float
    vector_rank: int
    vector_similarity: float
    keyword_weight: (
        float  # what a full keyword score would add to this page, against vector_weight a deviation
    )
    vector_weight: float
    keyword_part: float  # what both added to the score under `fused`
    vector_part: float
    coverage: float  # share of the question's idf mass on the page
    pinned: bool
    terms: tuple[TermEvidence, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A page, or a piece of evidence (`type` 'chunk', `id` of its source), and the passage that answers best."""

    wiki: str
    id: str
    slug: str
    title: str
    path: str
    rank: int
    score: float
    status: str
    confidence: str
    type: str
    tags: tuple[str, ...]
    branch: str
    updated: str
    heading_path: tuple[str, ...]
    excerpt: str
    start: int  # characters from the start of the page's text: excerpt == text[start:end]
    end: int
    page_hash: str
    citations: tuple[HitCitation, ...]
    explain: Explanation | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer to one question."""

    question: str
    snapshot: str  # of several wikis: joined with a comma
    gap: bool  # the wiki's words do not cover the question
    degraded: tuple[Degraded, ...]
    hits: tuple[Hit, ...]
    branches: tuple[str, ...] = ()  # that routing narrowed the question to; empty: the whole wiki

    def to_json(self) -> dict[str, Any]:
        """As a JSON object with `schema_version`; a hit has `explain` only when it was asked for, the whole `branches`
        only when the question was narrowed to them."""
        told: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "question": self.question, "snapshot": self.snapshot}
        told |= {"gap": self.gap, "degraded": [asdict(one) for one in self.degraded]}
        if self.branches:
            told["branches"] = list(self.branches)
        return told | {"hits": [_hit(hit) for hit in self.hits]}


def _hit(hit: Hit) -> dict[str, Any]:
    """Field by field, which takes a tenth of what `asdict` does."""
    told = {name: getattr(hit, name) for name in _HIT if name != "explain"}
    told["citations"] = [{name: getattr(one, name) for name in _CITATION} for one in hit.citations]
    if hit.explain is not None:
        told["explain"] = asdict(hit.explain)
    return told


_HIT = tuple(one.name for one in fields(Hit))
_CITATION = tuple(one.name for one in fields(HitCitation))
