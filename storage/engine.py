"""Search over published snapshots: one object, opened once, safe for threads.

It takes no lock and opens no ledger. A new snapshot is noticed by a look at one file and swapped in; questions that are being
answered keep the one they began with. The question is embedded in a worker thread while the keywords are looked up.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from config.errors import ModelUnavailableError, StateError
from config.settings import Settings
from storage.search_index import SearchIndex, VectorSet, called, open_index
from tasks import tokens
from tasks.bm25 import Match, Scorer, idf, most_possible
from tasks.embed import Embedder, is_multilingual, load, should_embed_question
from tasks.filters import Filters, allowed
from tasks.fusion import CONFIGURATIONS, DEPTH, Candidates, Configuration, Fused, Ranking, fuse, parts
from tasks.passages import best
from tasks.ranking import coverage, holds, interleave, top
from tasks.search_result import Degraded, Explanation, Hit, HitCitation, SearchResult, TermEvidence

Layer = Literal["pages", "chunks", "both"]

GAP = 0.25
"""Below this share of the question's idf mass in the best page, the wiki's words do not cover the question."""
MOST_TERMS = 1_000   # of a question; a pasted page is not read to its end
KEPT_QUESTIONS = 256
MOST_PIECES_AT_GAP = 3
EXCERPT = 700        # characters

_REFERENCE = re.compile(r"\[\^([^\]\s]+)\]")


class Snapshot(Protocol):
    """What the engine needs of a snapshot."""

    @property
    def id(self) -> str: ...

    @property
    def index_dir(self) -> Path: ...


class Reader(Protocol):
    """Gives snapshots; `storage.reader.Reader` is one."""

    def current(self) -> Snapshot | None: ...

    def at(self, ref: str) -> Snapshot: ...


class LoadEmbedder(Protocol):
    """Loads the embedding model; raises ModelUnavailableError."""

    def __call__(self) -> Embedder: ...


class Model:
    """An embedding model that is loaded when the first question needs it, in a worker thread, and remembers questions."""

    def __init__(self, load: LoadEmbedder) -> None:
        self._load = load
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="embed")
        self._loaded: Future[Embedder] | None = None
        self._known: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = Lock()

    def ask(self, question: str) -> Future[NDArray[np.float32]]:
        """The question's vector, soon; the future raises ModelUnavailableError when there is no model."""
        with self._lock:
            if question in self._known:
                self._known.move_to_end(question)
                done: Future[NDArray[np.float32]] = Future()
                done.set_result(self._known[question])
                return done
        return self._pool.submit(self._embed, question)

    def embedder(self) -> Embedder:
        """The model itself; ModelUnavailableError when it cannot be had."""
        with self._lock:
            if self._loaded is None:
                self._loaded = Future()
                mine = True
            else:
                mine = False
        if mine:
            try:
                self._loaded.set_result(self._load())
            except Exception as error:
                self._loaded.set_exception(error)
        return self._loaded.result()

    def _embed(self, question: str) -> NDArray[np.float32]:
        vector = self.embedder().embed_query(question)
        with self._lock:
            self._known[question] = vector
            if len(self._known) > KEPT_QUESTIONS:
                self._known.popitem(last=False)
        return vector

    def close(self) -> None:
        """Lets the worker thread go."""
        self._pool.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True, slots=True)
class SearchedWiki:
    """One wiki to search: its name, snapshots and settings; `model` is None when meaning search is off."""

    name: str
    reader: Reader
    model: Model | None = None
    configuration: Configuration = "fused"
    hits: int = 10


def searched(state_dir: Path, settings: Settings, model_cache: Path) -> SearchedWiki:
    """A wiki of this machine, ready to be searched. Nothing is opened or loaded before the first question."""
    from storage import reader  # pyarrow comes with it

    model = None if settings.search.vector == "off" else Model(lambda: load(settings.embedding, model_cache))
    return SearchedWiki(
        settings.name, reader.Reader(state_dir), model, settings.search.configuration, settings.search.hits
    )


@dataclass(frozen=True, slots=True)
class _Open:
    """A snapshot's index, with what is derived from it once."""

    snapshot: Snapshot
    index: SearchIndex
    pages: Scorer
    default_mask: NDArray[np.bool_]
    degraded: tuple[Degraded, ...] = ()


@dataclass(frozen=True, slots=True)
class _Question:
    """One question as one wiki sees it."""

    text: str
    terms: tuple[str, ...]
    k: int
    filters: Filters
    explain: bool
    layer: Layer
    configuration: Configuration


class Engine:
    """Answers questions over one or several wikis."""

    def __init__(self, wikis: Sequence[SearchedWiki]) -> None:
        self._wikis = [_WikiSearch(wiki) for wiki in wikis]

    def search(
        self,
        question: str,
        k: int | None = None,
        filters: Filters = Filters(),  # noqa: B008  # frozen
        *,
        explain: bool = False,
        layer: Layer = "pages",
        as_of: str = "",
        configuration: Configuration | None = None,
    ) -> SearchResult:
        """The best `k` hits (default: the wiki's setting). With `as_of`, of a kept snapshot: its id, a run's id, or a date.

        Raises StateError when the snapshot or its index cannot be read and no earlier one can take its place.
        """
        if configuration is not None and configuration not in CONFIGURATIONS:
            raise ValueError(f"no configuration {configuration!r}; there are {', '.join(CONFIGURATIONS)}")
        answers = [wiki.search(question, k, filters, explain, layer, as_of, configuration) for wiki in self._wikis]
        if len(answers) == 1:
            return answers[0]
        count = k if k is not None else max(wiki.wiki.hits for wiki in self._wikis)
        order = interleave([answer.hits for answer in answers])[:count]
        hits = tuple(
            replace(answers[number].hits[place], rank=rank) for rank, (number, place) in enumerate(order, 1)
        )
        degraded = tuple(
            replace(one, reason=f"{wiki.wiki.name}: {one.reason}")
            for wiki, answer in zip(self._wikis, answers, strict=True) for one in answer.degraded
        )
        return SearchResult(question, ",".join(answer.snapshot for answer in answers), all(a.gap for a in answers),
                            degraded, hits)


class _WikiSearch:
    """Search over one wiki."""

    def __init__(self, wiki: SearchedWiki) -> None:
        self.wiki = wiki
        self._held: _Open | None = None
        self._pinned: _Open | None = None
        self._opening = Lock()

    def search(
        self, text: str, k: int | None, filters: Filters, explain: bool, layer: Layer, as_of: str,
        configuration: Configuration | None,
    ) -> SearchResult:
        question = _Question(
            text, tuple(tokens.terms(text[:MOST_TERMS * 20])[:MOST_TERMS]), max(0, self.wiki.hits if k is None else k), filters,
            explain, layer, configuration or self.wiki.configuration,
        )
        opened = self._open(as_of)
        if opened is None:
            step = "Run `nightwiki ingest`"
            return SearchResult(text, "", True, (Degraded("snapshot", "nothing was published yet", step),), ())
        return _answer(self.wiki, opened, question)

    def _open(self, as_of: str) -> _Open | None:
        if as_of:
            snapshot = self.wiki.reader.at(as_of)
            if self._pinned is None or self._pinned.snapshot.id != snapshot.id:
                self._pinned = _open_snapshot(snapshot)
            return self._pinned
        current = self.wiki.reader.current()
        held = self._held
        if current is None or (held is not None and held.snapshot.id == current.id):
            return held if current is not None else None
        if held is not None and not self._opening.acquire(blocking=False):
            return held  # another thread is opening the new one; this question is answered from the last
        if held is None:
            self._opening.acquire()
        try:
            if self._held is None or self._held.snapshot.id != current.id:
                self._held = self._open_or_former(current, held)
            return self._held
        finally:
            self._opening.release()

    def _open_or_former(self, snapshot: Snapshot, held: _Open | None) -> _Open:
        """The snapshot, or the one before it whose index is whole; the answer then says so."""
        try:
            return _open_snapshot(snapshot)
        except StateError as error:
            trouble = Degraded("index", f"{error.subject}: {error.cause}", error.next_step)
            former = held or self._former(snapshot)
            if former is None:
                raise
            return replace(former, degraded=(trouble,))

    def _former(self, snapshot: Snapshot) -> _Open | None:
        history = getattr(self.wiki.reader, "history", tuple)
        for manifest in reversed(history()):
            if manifest.id != snapshot.id:
                try:
                    return _open_snapshot(self.wiki.reader.at(manifest.id))
                except StateError:
                    continue
        return None


def _open_snapshot(snapshot: Snapshot) -> _Open:
    index = open_index(snapshot.index_dir)
    return _Open(snapshot, index, Scorer(index.pages), allowed(Filters(), index.facets))


# --- one question ----------------------------------------------------------------------------------------------------


def _answer(wiki: SearchedWiki, opened: _Open, question: _Question) -> SearchResult:
    degraded = list(opened.degraded)
    model, vectors = wiki.model, None
    asked: Future[NDArray[np.float32]] | None = None
    if model is not None and question.configuration != "bm25" and question.layer != "chunks" and question.text.strip():
        asked = _ask(model, opened.index, question, degraded)

    mask = opened.default_mask if question.filters == Filters() else allowed(question.filters, opened.index.facets)
    terms = (*question.terms, *_alias_terms(question.text, opened.index))
    matches = opened.pages.match(terms)
    scores = opened.pages.scores(terms, matches)
    depth = max(DEPTH, question.k)
    keyword = top_matching(scores, depth, mask)
    gap = not keyword.docs or coverage(matches, np.array(keyword.docs[:1]))[0] < GAP

    vector, near = Ranking(), _Nearness()
    if asked is not None and model is not None:
        try:
            question_vector = asked.result()
            vectors = _vectors(opened.index, model.embedder().model, degraded)
        except ModelUnavailableError as error:
            degraded.append(Degraded("embeddings", f"{error.subject}: {error.cause}", error.next_step))
        if vectors is not None:
            near = _nearness(vectors, question_vector)
            places = np.flatnonzero(mask[near.docs])
            vector = top(near.z[places], depth, near.docs[places])
    candidates = _candidates(scores, matches, keyword, vector, near, len(opened.index.page_ids))
    fused = fuse(question.configuration, keyword, vector, candidates)

    hits: list[Hit] = []
    if question.layer != "chunks":
        weights = {match.term: match.weight for match in matches}
        for rank, (doc, score) in enumerate(zip(fused.ranking.docs[:question.k], fused.ranking.scores, strict=False), 1):
            hit = _page_hit(wiki.name, opened.index, doc, rank, score, weights)
            if question.explain:
                hit = replace(hit, explain=_explain(question, doc, rank, keyword, vector, near, fused, candidates, matches))
            hits.append(hit)
    if question.layer != "pages" or gap:
        pieces = _chunk_hits(wiki.name, opened, question)
        if question.layer == "pages":  # the evidence is offered behind the pages, which keep most of the places
            pieces = pieces[: max(MOST_PIECES_AT_GAP, question.k - len(hits))]
            hits = hits[: question.k - len(pieces)] if len(pieces) < question.k else hits[: question.k]
        hits = [replace(hit, rank=rank) for rank, hit in enumerate([*hits, *pieces][: question.k], 1)]
    return SearchResult(question.text, opened.snapshot.id, gap, tuple(degraded), tuple(hits))


def _ask(model: Model, index: SearchIndex, question: _Question, degraded: list[Degraded]) -> Future[NDArray[np.float32]] | None:
    """Starts embedding the question, unless no vector could answer it."""
    if not index.vectors:
        if len(index.page_ids):
            degraded.append(Degraded("embeddings", "no page is embedded yet", "Run `nightwiki ingest`"))
        return None
    if not any(should_embed_question(question.text, one.model) for one in index.vectors):
        return None
    return model.ask(question.text)


def _vectors(index: SearchIndex, model: str, degraded: list[Degraded]) -> VectorSet | None:
    """The pages' vectors of this very model; any other is not looked at."""
    found = next((one for one in index.vectors if one.model == model), None)
    if found is None:
        others = ", ".join(one.model for one in index.vectors)
        degraded.append(Degraded(
            "embeddings", f"the pages were embedded with {others}, the settings now say {model}: rebuild needed",
            "Run `nightwiki ingest`: it embeds the pages again",
        ))
        return None
    expected = len(index.page_ids) if is_multilingual(model) else int(np.count_nonzero(~index.cjk))
    if len(found.docs) < expected:
        missing = expected - len(found.docs)
        degraded.append(Degraded(
            "embeddings", f"{missing} of {expected} pages are not embedded yet", "Run `nightwiki ingest`"
        ))
    return found


@dataclass(frozen=True, slots=True)
class _Nearness:
    """Likeness by meaning of the embedded pages `docs`: standard deviations above their mean."""

    docs: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    z: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    mean: float = 0.0
    deviation: float = 1.0

    def of(self, docs: NDArray[np.int32]) -> NDArray[np.float64]:
        """z of some pages; NaN for one without embedding."""
        found = np.full(len(docs), np.nan)
        if len(self.docs):
            places = np.minimum(np.searchsorted(self.docs, docs), len(self.docs) - 1)
            there = self.docs[places] == docs
            found[there] = self.z[places[there]]
        return found


def _nearness(vectors: VectorSet, question: NDArray[np.float32]) -> _Nearness:
    similarity = vectors.matrix @ question
    mean, deviation = float(similarity.mean()), float(similarity.std()) or 1.0
    return _Nearness(vectors.docs, (similarity - np.float32(mean)) / np.float32(deviation), mean, deviation)


def _candidates(
    scores: NDArray[np.float64], matches: Sequence[Match], keyword: Ranking, vector: Ranking, near: _Nearness, pages: int
) -> Candidates:
    docs = np.array(sorted({*keyword.docs, *vector.docs}), np.int32)
    most = most_possible(matches) or 1.0
    rarity = max((match.weight for match in matches if len(match.docs)), default=0.0) / idf(pages, 0) if pages else 0.0
    return Candidates(docs, scores[docs] / most * rarity, coverage(matches, docs), near.of(docs))


_LONGEST_NAME = 6
_MOST_NAME_WORDS = 40


def _alias_terms(text: str, index: SearchIndex) -> list[str]:
    """Terms of the titles of pages that the question calls by an alias, on word boundaries."""
    words = tokens.name_words(text[:2000])[:_MOST_NAME_WORDS]
    found: list[str] = []
    for length in range(min(_LONGEST_NAME, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            name = " ".join(words[start : start + length])
            docs, _ = index.facets.of_term(f"name:{name}")
            for doc in docs[:2].tolist():
                title = str(json.loads(index.hits.text(doc))["title"])
                if called(title) != name:
                    found.extend(term for term in tokens.terms(title) if term not in found)
    return found


# --- hits ------------------------------------------------------------------------------------------------------------


def _page_hit(wiki: str, index: SearchIndex, doc: int, rank: int, score: float, weights: Mapping[str, float]) -> Hit:
    row: dict[str, Any] = json.loads(index.hits.text(doc))
    text = index.texts.text(doc)
    passage = best(text, index.page_blocks(doc), weights)
    end = passage.end if passage.end - passage.start <= EXCERPT else _cut(text, passage.start, passage.start + EXCERPT)
    excerpt = text[passage.start : end]
    labels = set(_REFERENCE.findall(excerpt))
    citations: tuple[HitCitation, ...] = ()
    if labels:
        citations = tuple(
            HitCitation(one["source_id"], one["target"], one["anchor"], one["quote"])
            for one in json.loads(index.citations.text(doc)) if one["label"] in labels
        )
    return Hit(
        wiki, row["id"], row["slug"], row["title"], row["path"], rank, score, row["status"], row["confidence"], row["type"],
        tuple(row["tags"] or ()), row["branch"], row["updated"], passage.heading_path, excerpt, passage.start, end,
        row["file_hash"], citations,
    )


def _cut(text: str, start: int, limit: int) -> int:
    """The last word's end before `limit`."""
    end = max(text.rfind(" ", start, limit), text.rfind("\n", start, limit))
    return end if end > start else limit


def _explain(
    question: _Question, doc: int, rank: int, keyword: Ranking, vector: Ranking, near: _Nearness, fused: Fused,
    candidates: Candidates, matches: Sequence[Match],
) -> Explanation:
    place = int(np.searchsorted(candidates.docs, doc))
    in_keyword = keyword.docs.index(doc) + 1 if doc in keyword.docs else 0
    in_vector = vector.docs.index(doc) + 1 if doc in vector.docs else 0
    similarity = float(candidates.similarity[place]) * near.deviation + near.mean
    keyword_part, vector_part = (float(part[place]) for part in parts(candidates))
    told = tuple(
        TermEvidence(
            match.term, match.weight,
            float(match.parts[np.searchsorted(match.docs, doc)]) * match.times if holds(match, doc) else 0.0,
        )
        for match in matches
    )
    return Explanation(
        question.configuration, in_keyword, keyword.scores[in_keyword - 1] if in_keyword else 0.0, in_vector,
        similarity if similarity == similarity else 0.0, keyword_part, vector_part, float(candidates.coverage[place]),
        rank <= fused.pinned, told,
    )


def _chunk_hits(wiki: str, opened: _Open, question: _Question) -> list[Hit]:
    """Pieces of evidence by BM25; one source may answer several times."""
    index = opened.index
    scorer = Scorer(index.chunks)
    ranking = top_matching(scorer.scores(question.terms), question.k)
    names = _source_names(opened.snapshot, ranking, index)
    hits = []
    for place, (number, score) in enumerate(zip(ranking.docs, ranking.scores, strict=True), 1):
        piece: dict[str, Any] = json.loads(index.pieces.text(number))
        title, location = names.get(piece["source"], ("", ""))
        text: str = piece["text"]
        hits.append(Hit(
            wiki, piece["source"], "", title, location, place, score, "", "", "chunk", (), "", "",
            tuple(piece["title_path"] or ()), text, 0, len(text), "",
            (HitCitation(piece["source"], location, piece["anchor"], text),),
        ))
    return hits


def top_matching(scores: NDArray[np.float64], depth: int, mask: NDArray[np.bool_] | None = None) -> Ranking:
    """The best documents among those that hold any term and that the mask lets through."""
    found = np.flatnonzero(scores > 0 if mask is None else (scores > 0) & mask).astype(np.int32)
    return top(scores[found], depth, found)


def _source_names(snapshot: Snapshot, ranking: Ranking, index: SearchIndex) -> dict[str, tuple[str, str]]:
    """Title and readable place of each source among the pieces."""
    some = getattr(snapshot, "some", None)
    if some is None or not ranking.docs:
        return {}
    ids = frozenset(str(json.loads(index.pieces.text(number))["source"]) for number in ranking.docs)
    rows = some("sources", ids, ("id", "title", "location", "evidence")).to_pylist()
    return {row["id"]: (row["title"], row["evidence"] or row["location"]) for row in rows}
