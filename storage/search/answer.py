"""One question, answered from one opened snapshot: both rankings, joined, and the passages that answer."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from config.errors import StateError
from storage.search.hits import chunk_hits, explanation, page_hit
from storage.search.index_files import SearchIndex
from storage.search.nearness import Nearness, ask, nearness
from storage.search.opened import Opened, Question
from tasks.embedding.model import Model
from tasks.markdown.plain import plain
from tasks.search import tokens
from tasks.search.bm25 import Match, Scorer, idf, most_possible
from tasks.search.fusion import DEPTH, Candidates, Fused, Ranking, fuse
from tasks.search.gap import GAP, is_gap
from tasks.search.passages import PageBlocks, Wanted, by_meaning, by_words, term_hash
from tasks.search.ranking import top_matching
from tasks.search.result import Degraded, Hit, SearchResult
from tasks.search.scope import MOST_BRANCHES
from tasks.search.spelling import corrected

MOST_TERMS = 1_000
"""Terms of a question that are looked up; a pasted book is not read to its end."""
PIECES_AT_GAP = 3
MOST_PIECES = 200
"""Pieces that are looked through for those of the sources that a filter lets through."""

_LONGEST_NAME = 6
_MOST_NAME_WORDS = 40


@dataclass(frozen=True, slots=True)
class Ranked:
    """The pages of a snapshot in the order in which they answer, and the evidence for it."""

    keyword: Ranking
    vector: Ranking
    near: Nearness
    candidates: Candidates
    fused: Fused
    matches: Sequence[Match]  # of the question's words, misspelt ones as they were meant, and of the names it uses
    covered: float  # share of the question's idf mass on the best page by words
    gap: bool  # the wiki's words do not cover the question
    branches: tuple[str, ...]  # that the question was narrowed to
    degraded: tuple[Degraded, ...]


def ranked(opened: Opened, model: Model | None, question: Question) -> Ranked:
    """Every page that words or meaning find. Never raises for what a person may type."""
    index = opened.index
    degraded = list(opened.degraded)
    asked = ask(model, index, question, degraded)
    asked_terms = [*question_terms(question), *_alias_terms(question.text, index)]
    written = opened.pages.match(asked_terms)
    terms, matches = _spelt(asked_terms, written, opened.pages)
    scores = opened.pages.scores(terms, matches)
    coverage = opened.pages.coverage(matches)
    mask = opened.mask(question.filters)
    depth = max(DEPTH, question.k)
    keyword = top_matching(scores, depth, mask)
    as_written = coverage if matches is written else opened.pages.coverage(written)
    covered = float(as_written[keyword.docs[0]]) if keyword.docs else 0.0
    gap = is_gap(written, keyword.docs, opened.pages.corpus_size)  # a corrected word may be another: it fills no gap
    branches = () if gap else _branches(opened, question, keyword, coverage, covered)
    if branches:
        scope = opened.narrowing.mask(branches)
        mask = scope if mask is None else mask & scope
        keyword = top_matching(scores, depth, mask)

    near = nearness(asked, model, opened, branches, degraded)
    vector = top_matching(near.z, depth, None if mask is None else mask[near.docs], near.docs)
    candidates = _candidates(scores, coverage, matches, keyword, vector, near)
    fused = fuse(question.configuration, keyword, vector, candidates)
    return Ranked(keyword, vector, near, candidates, fused, matches, covered, gap, branches, tuple(degraded))


def answer(wiki: str, opened: Opened, model: Model | None, question: Question) -> SearchResult:
    """The hits for one question. Never raises for what a person may type."""
    found = ranked(opened, model, question)
    hits = _page_hits(wiki, opened, model, question, found) if question.layer != "chunks" else []
    degraded = list(found.degraded)
    if question.layer != "pages" or found.gap:
        pieces, better = pieces_beside(wiki, opened, question, found, degraded)
        hits = _offered(hits, pieces, question, better)
    return SearchResult(question.text, opened.snapshot.id, found.gap, tuple(degraded), tuple(hits), found.branches)


def question_terms(question: Question) -> list[str]:
    """The terms of a question that are looked up."""
    return tokens.terms(question.text[: MOST_TERMS * 20])[:MOST_TERMS]


def pieces_beside(
    wiki: str, opened: Opened, question: Question, found: Ranked, degraded: list[Degraded]
) -> tuple[list[Hit], int]:
    """Pieces of evidence that answer, and how many of them, up to a few, say more than any page; trouble is added."""
    words = question_terms(question)
    written = opened.chunks.match(words)
    spelt, matches = _spelt(words, written, opened.chunks)
    cited = opened.cited(question.filters)
    ranking = top_matching(opened.chunks.scores(spelt, matches), question.k if cited is None else MOST_PIECES)
    if cited is not None:
        ranking = _of_sources(opened, ranking, cited, question.k)
    saying = opened.chunks.coverage(written)[list(ranking.docs)]
    better = min(PIECES_AT_GAP, int(np.count_nonzero(saying > found.covered)))
    try:
        return chunk_hits(wiki, opened, ranking), better
    except StateError as error:
        degraded.append(Degraded("snapshot", f"{error.subject}: {error.cause}", error.next_step))
        return [], better


def _of_sources(opened: Opened, ranking: Ranking, sources: Collection[str], count: int) -> Ranking:
    """The first pieces of a ranking that come from these sources."""
    texts = opened.index.pieces
    kept = [place for place, doc in enumerate(ranking.docs) if json.loads(texts.text(doc))["source"] in sources][:count]
    return Ranking(tuple(ranking.docs[n] for n in kept), tuple(ranking.scores[n] for n in kept))


def places_for_pieces(k: int, pages: int, better: int) -> int:
    """At a gap, how many of `k` places pieces of evidence may take beside so many pages."""
    return max(min(better, k // 2), k - pages)


def _spelt(
    terms: Sequence[str], matches: tuple[Match, ...], scorer: Scorer
) -> tuple[Sequence[str], tuple[Match, ...]]:
    """The terms with unknown ones taken for the known ones that were meant, and their matches."""
    meant = corrected([match.term for match in matches if not len(match.docs)], scorer.postings)
    if not meant:
        return terms, matches
    spelt = [meant.get(term, term) for term in terms]
    return spelt, scorer.match(spelt)


def _branches(
    opened: Opened, question: Question, keyword: Ranking, coverage: NDArray[np.float64], covered: float
) -> tuple[str, ...]:
    """The branches the question is narrowed to; none for the whole wiki, or where a filter names branches already."""
    if question.chooser is None or question.filters.branch or len(opened.narrowing.names) <= MOST_BRANCHES:
        return ()
    chosen = question.chooser.choose(question.text, covered, opened.narrowing.evidence(keyword, coverage))
    known = tuple(name for name in dict.fromkeys(chosen) if name in opened.narrowing.names)[:MOST_BRANCHES]
    inside = opened.narrowing.mask(known)
    best = next((doc for doc in keyword.docs if inside[doc]), None)
    return known if best is not None and coverage[best] >= GAP else ()  # never into a gap that the whole has not


def _candidates(
    scores: NDArray[np.float64],
    coverage: NDArray[np.float64],
    matches: Sequence[Match],
    keyword: Ranking,
    vector: Ranking,
    near: Nearness,
) -> Candidates:
    docs = np.array(sorted({*keyword.docs, *vector.docs}), np.int32)
    most = most_possible(matches)
    known = max((match.weight for match in matches if len(match.docs)), default=0.0)
    share = scores[docs] / most * (known / idf(len(scores), 0)) if most else np.zeros(len(docs))
    return Candidates(docs, share, coverage[docs], near.of(docs))


# --- names -----------------------------------------------------------------------------------------------------------


def _alias_terms(text: str, index: SearchIndex) -> list[str]:
    """Terms of the titles of pages that the question calls by an alias, on word boundaries."""
    if not len(index.alias_hashes):
        return []
    words = tokens.name_words(text[:2000])[:_MOST_NAME_WORDS]
    names = [
        " ".join(words[start : start + length])
        for length in range(min(_LONGEST_NAME, len(words)), 0, -1)
        for start in range(len(words) - length + 1)
    ]
    likely = np.isin(np.array([term_hash(name) for name in names], np.uint32), index.alias_hashes)
    found: list[str] = []
    for place in np.flatnonzero(likely).tolist():
        docs, _ = index.facets.of_term(f"alias:{names[place]}")
        for doc in docs[:2].tolist():  # an alias that many pages share says little
            title = str(json.loads(index.hits.text(doc))["title"])
            found.extend(term for term in tokens.terms(title) if term not in found)
    return found


# --- hits ------------------------------------------------------------------------------------------------------------


def _page_hits(wiki: str, opened: Opened, model: Model | None, question: Question, evidence: Ranked) -> list[Hit]:
    index, ranking = opened.index, evidence.fused.ranking
    docs = ranking.docs[: question.k]
    texts = [index.texts.text(doc) for doc in docs]
    pages = [index.page_blocks(doc) for doc in docs]
    wanted = Wanted.of({match.term: match.weight for match in evidence.matches})
    if question.passages_by_meaning and model is not None and evidence.vector.docs:
        passages = by_meaning(texts, pages, wanted, _block_similarity(model, question.text, texts, pages))
    else:
        passages = by_words(texts, pages, wanted)
    hits = [
        page_hit(wiki, index, doc, rank, score, passage, text)
        for rank, (doc, score, passage, text) in enumerate(
            zip(docs, ranking.scores, passages, texts, strict=False), 1
        )
    ]
    if not question.explain:
        return hits
    cosine = evidence.near.cosine(evidence.candidates.docs)
    return [
        replace(
            hit,
            explain=explanation(
                doc,
                hit.rank,
                evidence.keyword,
                evidence.vector,
                cosine,
                evidence.fused,
                evidence.candidates,
                evidence.matches,
            ),
        )
        for doc, hit in zip(docs, hits, strict=True)
    ]


def _block_similarity(
    model: Model, question: str, texts: Sequence[str], pages: Sequence[PageBlocks]
) -> NDArray[np.float32]:
    """Cosine of the question and every block of the pages, which are embedded for it."""
    blocks = [
        plain(text[row["start"] : row["end"]])
        for page, text in zip(pages, texts, strict=True)
        for row in page.blocks
    ]
    asked = model.ask(question).result()
    return np.asarray(model.embedder().embed(blocks) @ asked if blocks else np.zeros(0, np.float32))


def _offered(hits: list[Hit], pieces: list[Hit], question: Question, better: int) -> list[Hit]:
    """Pages first, evidence behind it in the places left free; `better` pieces get a place at a gap in any case."""
    if question.layer == "pages":
        pieces = pieces[: places_for_pieces(question.k, len(hits), better)]
        hits = hits[: question.k - len(pieces)]
    elif question.layer == "both":
        mixed = [hit for pair in zip(hits, pieces, strict=False) for hit in pair]
        shorter = min(len(hits), len(pieces))
        return _ranked([*mixed, *hits[shorter:], *pieces[shorter:]][: question.k])
    return _ranked([*hits, *pieces][: question.k])


def _ranked(hits: list[Hit]) -> list[Hit]:
    return [replace(hit, rank=rank) for rank, hit in enumerate(hits, 1)]
