"""All passages of the best pages, scored: what context packs and answers choose from.

Ranks pages exactly as `search` does, from the same opened snapshot, and then scores every block of these pages by
the words of the question, where `search` keeps only the best one.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from storage.answer import GAP, MOST_TERMS, answer
from storage.opened import Opened, Question
from tasks import tokens
from tasks.bm25 import Match, idf
from tasks.found import Found, FoundBlock, FoundPage, Labelled
from tasks.model import Model
from tasks.passages import PageBlocks, Wanted, block_scores
from tasks.ranking import holds
from tasks.search_result import Hit

SMALL = 50
"""Pages below which a wiki's own counts say little about how telling a word is."""

_ASKING = frozenset(
    tokens.terms(
        "many much long often old far big tall fast early late kind sort type call name named tell explain describe"
        " give list show find mean happen take come know say called does did please anything something someone"
    )
)
MOST_UNKNOWN = 12
LONGEST_UNKNOWN = 40  # characters; what is longer is no word
SAMPLE = 5
_WORD = re.compile(r"[^\W_]+(?:[-_.'’+/][^\W_]+)*")

SCALE = 5.0
"""Evidence at which a page counts as relevant by 1 - 1/e: a clear match by meaning, or most of the words."""


def passages(wiki: str, opened: Opened, model: Model | None, question: Question, exclude: Collection[str]) -> Found:
    """The best `question.k` pages of one snapshot with all their blocks; `exclude` are ids or slugs left out."""
    asked = replace(question, k=question.k + len(exclude), explain=True, layer="pages")
    result = answer(wiki, opened, model, asked)
    index = opened.index
    hits = [hit for hit in result.hits if hit.type != "chunk" or hit.slug]
    pieces = tuple(hit for hit in result.hits if hit.type == "chunk" and not hit.slug)
    hits = [hit for hit in hits if hit.id not in exclude and hit.slug not in exclude][: question.k]
    terms = tokens.terms(question.text[: MOST_TERMS * 20])[:MOST_TERMS]
    matches = opened.pages.match(terms)
    weights = {match.term: match.weight for match in matches}
    docs = [index.page_ids.find(hit.id) for hit in hits]
    blocks = [index.page_blocks(doc) for doc in docs]
    scores = block_scores(blocks, Wanted.of(weights))
    pages = []
    highest = 1.0
    known = {match.term for match in matches if len(match.docs)}
    for hit, doc, page, scored in zip(hits, docs, blocks, scores, strict=True):
        if known and known.issubset(tokens.terms(hit.title)):
            _lead_first(page, scored)
        highest = min(highest, _relevance(hit))  # no page is said to be better than one that stands before it
        rows = zip(page.blocks.tolist(), scored.tolist(), strict=True)
        pages.append(
            FoundPage(
                replace(hit, explain=None),
                highest,
                index.texts.text(doc),
                tuple(
                    FoundBlock(number, start, end, level, score)
                    for number, ((start, end, level, _), score) in enumerate(rows)
                ),
                _labelled(index.citations.text(doc)),
            )
        )
    return Found(
        question.text,
        result.snapshot,
        str(getattr(opened.snapshot, "created", "")),
        _is_gap(matches, docs, opened.pages.corpus_size),
        result.degraded,
        tuple(pages),
        pieces,
        tuple(_unknown(question.text, {match.term for match in matches if not len(match.docs)})),
        weights,
        float(np.mean(index.cjk)) if len(index.cjk) else 0.0,
        (wiki,),
        tuple(vectors.model for vectors in index.vectors),
        " ".join(json.loads(index.hits.text(doc))["title"] for doc in np.flatnonzero(index.cjk)[:SAMPLE].tolist()),
    )


def _is_gap(matches: Sequence[Match], docs: Sequence[int], pages: int) -> bool:
    """Whether no page found holds enough of what is asked, words that only ask ('how many') left out.

    In a wiki of a few pages a word that all of them hold weighs next to nothing against one that none holds; there the
    weights are those of a wiki of `SMALL` pages.
    """
    told = [match for match in matches if len(match.docs) or match.term not in _ASKING]
    weights = [idf(max(pages, SMALL), len(match.docs)) for match in told]
    held = [sum(weight for match, weight in zip(told, weights, strict=True) if holds(match, doc)) for doc in docs]
    return max(held, default=0.0) < GAP * sum(weights) or not docs


def _lead_first(page: PageBlocks, scores: NDArray[np.float64]) -> None:
    """Asked about nothing but the page's subject, a page answers with its beginning."""
    body = np.flatnonzero(page.blocks["level"] == 0)
    if len(body):
        scores[body[0]] = scores.max() * 1.01


def _relevance(hit: Hit) -> float:
    """From 0 to 1, from what words and meaning added under `fused`, whatever the configuration that ranked."""
    if hit.explain is None:
        return 0.0
    evidence = max(0.0, hit.explain.keyword_part + hit.explain.vector_part)
    return round(1 - math.exp(-evidence / SCALE), 4)


def _labelled(citations: str) -> tuple[Labelled, ...]:
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
