"""All passages of the best pages, scored: what context packs and answers choose from.

Ranks pages exactly as `search` does, from the same opened snapshot, and then scores every block of these pages by
the words of the question, where `search` keeps only the best one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from storage.search.answer import MOST_TERMS, Ranked, pieces_beside, places_for_pieces, question_terms, ranked
from storage.search.hits import page_hit
from storage.search.index_files import SearchIndex
from storage.search.opened import Opened, Question
from tasks.embedding.model import Model
from tasks.search import tokens
from tasks.search.found import Found, FoundBlock, FoundPage, Labelled
from tasks.search.fusion import parts
from tasks.search.gap import ASKING
from tasks.search.passages import PageBlocks, Wanted, best_passage, block_worth
from tasks.search.result import Hit

MOST_UNKNOWN = 12
LONGEST_UNKNOWN = 40  # characters; what is longer is no word
SAMPLE = 5
_WORD = re.compile(r"[^\W_]+(?:[-_.'’+/][^\W_]+)*")

SCALE = 5.0
"""Evidence at which a page counts as relevant by 1 - 1/e: a clear match by meaning, or most of the words."""


def passages(wiki: str, opened: Opened, model: Model | None, question: Question, exclude: Collection[str]) -> Found:
    """The best `question.k` pages of one snapshot with all their blocks; `exclude` are ids or slugs left out."""
    index = opened.index
    best = ranked(opened, model, replace(question, k=question.k + len(exclude)))
    ranking = best.fused.ranking
    degraded = list(best.degraded)
    places = _not_excluded(index, ranking.docs, question.k, exclude)
    pieces: Sequence[Hit] = ()
    if best.gap:
        pieces, better = pieces_beside(wiki, opened, question, best, degraded)
        pieces = pieces[: places_for_pieces(question.k, len(places), better)]
        places = places[: question.k - len(pieces)]
    docs = [ranking.docs[place] for place in places]
    matches = opened.pages.match(question_terms(question))
    weights = {match.term: match.weight for match in matches}
    texts = [index.texts.text(doc) for doc in docs]
    blocks = [index.page_blocks(doc) for doc in docs]
    scores = block_worth(texts, blocks, Wanted.of(weights))
    pages = []
    known = {match.term for match in matches if len(match.docs)}
    for place, doc, relevance, text, page, scored in zip(
        places, docs, _relevance(best, docs), texts, blocks, scores, strict=True
    ):
        passage = best_passage(text, page, scored)
        hit = page_hit(wiki, index, doc, place + 1, ranking.scores[place], passage, text)
        if known and known.issubset(tokens.terms(hit.title)):
            _lead_first(page, scored)
        rows = zip(page.blocks.tolist(), scored.tolist(), strict=True)
        pages.append(
            FoundPage(
                hit,
                relevance,
                text,
                tuple(
                    FoundBlock(number, start, end, level, score)
                    for number, ((start, end, level, _), score) in enumerate(rows)
                ),
                _labelled(index.citations.text(doc)),
                page.words,
            )
        )
    return Found(
        question.text,
        opened.snapshot.id,
        str(getattr(opened.snapshot, "created", "")),
        best.gap or not docs,
        tuple(degraded),
        tuple(pages),
        tuple(pieces),
        tuple(_unknown(question.text, {match.term for match in matches if not len(match.docs)} - ASKING)),
        weights,
        float(np.mean(index.cjk)) if len(index.cjk) else 0.0,
        (wiki,),
        tuple(vectors.model for vectors in index.vectors),
        " ".join(json.loads(index.hits.text(doc))["title"] for doc in np.flatnonzero(index.cjk)[:SAMPLE].tolist()),
    )


def _lead_first(page: PageBlocks, scores: NDArray[np.float64]) -> None:
    """Asked about nothing but the page's subject, a page answers with its beginning."""
    body = np.flatnonzero(page.blocks["level"] == 0)
    if len(body):
        scores[body[0]] = scores.max() * 1.01


def _relevance(best: Ranked, docs: Sequence[int]) -> list[float]:
    """From 0 to 1, from what words and meaning added under `fused`, whatever the configuration that ranked.

    No page is said to be better than one that stands before it.
    """
    keyword, vector = parts(best.candidates)
    places = np.searchsorted(best.candidates.docs, np.array(docs, np.int32))
    evidence = np.maximum(keyword[places] + vector[places], 0.0)
    found = np.round(1 - np.exp(-evidence / SCALE), 4)
    return [float(one) for one in np.minimum.accumulate(found)]


def _not_excluded(index: SearchIndex, docs: Sequence[int], count: int, exclude: Collection[str]) -> list[int]:
    """Places of the first `count` pages whose id or slug is not among `exclude`."""
    if not exclude:
        return list(range(min(count, len(docs))))
    rows = [json.loads(index.hits.text(doc)) for doc in docs[: count + len(exclude)]]
    kept = [row["id"] not in exclude and row["slug"] not in exclude for row in rows]
    return [place for place, keep in enumerate(kept) if keep][:count]


def _labelled(citations: str) -> tuple[Labelled, ...]:
    if citations == "[]":
        return ()
    return tuple(
        Labelled(one["label"], one["source_id"], one["target"], one["anchor"], one["quote"])
        for one in json.loads(citations)
    )


def _unknown(question: str, absent: Collection[str]) -> list[str]:
    """The words of a question whose terms no page holds, in order, as they were asked."""
    found: dict[str, None] = {}
    for word in _WORD.findall(question[: MOST_TERMS * 20]):
        terms = tokens.terms(word)
        if terms and len(word) <= LONGEST_UNKNOWN and all(term in absent for term in terms):
            found.setdefault(word)
    return list(found)[:MOST_UNKNOWN]
