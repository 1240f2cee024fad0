"""Hits as they are shown: the row of the page, the passage that answers best, its citations, and why it stands
there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from storage.search.index_files import SearchIndex
from storage.search.opened import Opened
from tasks.search.bm25 import Match
from tasks.search.fusion import Candidates, Fused, Ranking, parts
from tasks.search.passages import Passage
from tasks.search.ranking import holds
from tasks.search.result import Explanation, Hit, HitCitation, TermEvidence

LONGEST_EXCERPT = 700
"""Characters; a longer block is cut at a word's end."""

_REFERENCE = re.compile(r"\[\^([^\]\s]+)\]")


def page_hit(
    wiki: str, index: SearchIndex, doc: int, rank: int, score: float, passage: Passage, text: str
) -> Hit:
    """The hit of one page with the passage found in its text."""
    row: dict[str, Any] = json.loads(index.hits.text(doc))
    end = passage.end
    if end - passage.start > LONGEST_EXCERPT:
        end = _cut(text, passage.start, passage.start + LONGEST_EXCERPT)
    excerpt = text[passage.start : end]
    return Hit(
        wiki=wiki,
        id=row["id"],
        slug=row["slug"],
        title=row["title"],
        path=row["path"],
        rank=rank,
        score=score,
        status=row["status"],
        confidence=row["confidence"],
        type=row["type"],
        tags=tuple(row["tags"] or ()),
        branch=row["branch"],
        updated=row["updated"],
        heading_path=passage.heading_path,
        excerpt=excerpt,
        start=passage.start,
        end=end,
        page_hash=row["file_hash"],
        citations=citations_in(index, doc, excerpt),
    )


def citations_in(index: SearchIndex, doc: int, excerpt: str) -> tuple[HitCitation, ...]:
    """The citations of a page that the footnotes in an excerpt of it refer to."""
    labels = set(_REFERENCE.findall(excerpt))
    if not labels:
        return ()
    return tuple(
        HitCitation(one["source_id"], one["target"], one["anchor"], one["quote"])
        for one in json.loads(index.citations.text(doc))
        if one["label"] in labels
    )


def _cut(text: str, start: int, limit: int) -> int:
    """The last word's end before `limit`."""
    end = max(text.rfind(" ", start, limit), text.rfind("\n", start, limit))
    return end if end > start else limit


def chunk_hits(wiki: str, opened: Opened, ranking: Ranking) -> list[Hit]:
    """Pieces of evidence; one source may answer several times."""
    pieces: list[dict[str, Any]] = [json.loads(opened.index.pieces.text(number)) for number in ranking.docs]
    names = _source_names(opened, frozenset(piece["source"] for piece in pieces))
    hits = []
    for rank, (piece, score) in enumerate(zip(pieces, ranking.scores, strict=True), 1):
        title, location = names.get(piece["source"], ("", ""))
        text: str = piece["text"]
        hits.append(
            Hit(
                wiki=wiki,
                id=piece["source"],
                slug="",
                title=title,
                path=location,
                rank=rank,
                score=score,
                status="",
                confidence="",
                type="chunk",
                tags=(),
                branch="",
                updated="",
                heading_path=tuple(piece["title_path"] or ()),
                excerpt=text,
                start=0,
                end=len(text),
                page_hash="",
                citations=(HitCitation(piece["source"], location, piece["anchor"], text),),
            )
        )
    return hits


def _source_names(opened: Opened, ids: frozenset[str]) -> dict[str, tuple[str, str]]:
    """Title and readable place of each source, from the snapshot's own table."""
    some = getattr(opened.snapshot, "some", None)
    if some is None or not ids:
        return {}
    rows = some("sources", ids, ("id", "title", "location", "evidence")).to_pylist()
    return {row["id"]: (row["title"], row["evidence"] or row["location"]) for row in rows}


def explanation(
    doc: int,
    rank: int,
    keyword: Ranking,
    vector: Ranking,
    similarity: NDArray[np.float64],
    fused: Fused,
    candidates: Candidates,
    matches: Sequence[Match],
) -> Explanation:
    """Why a page stands where it stands. `similarity` is the cosine of each candidate, NaN without embedding."""
    place = int(np.searchsorted(candidates.docs, doc))
    in_keyword = keyword.docs.index(doc) + 1 if doc in keyword.docs else 0
    in_vector = vector.docs.index(doc) + 1 if doc in vector.docs else 0
    keyword_part, vector_part = (float(part[place]) for part in parts(candidates))
    keyword_weight, vector_weight = fused.weights(candidates, place)
    return Explanation(
        configuration=fused.configuration,
        keyword_rank=in_keyword,
        keyword_score=keyword.scores[in_keyword - 1] if in_keyword else 0.0,
        vector_rank=in_vector,
        vector_similarity=0.0 if np.isnan(similarity[place]) else float(similarity[place]),
        keyword_weight=keyword_weight,
        vector_weight=vector_weight,
        keyword_part=keyword_part,
        vector_part=vector_part,
        coverage=float(candidates.coverage[place]),
        pinned=rank <= fused.pinned,
        terms=tuple(TermEvidence(match.term, match.weight, _given(match, doc)) for match in matches),
    )


def _given(match: Match, doc: int) -> float:
    return float(match.parts[np.searchsorted(match.docs, doc)]) * match.times if holds(match, doc) else 0.0
