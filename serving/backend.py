"""What a server answers, whichever door is used: REST and MCP are two doors to this one object.

Each question is answered from whole snapshots, by what the command line uses too.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from config.errors import GoneError, NightwikiError, NotFoundError
from config.wiki import Wiki
from serving import look, overview
from serving.cli.choosing import chosen
from serving.cursors import cursor, read_cursor
from serving.deciding import decide
from serving.page_book import Found, PageBook
from serving.requests import (
    BatchRequest,
    CandidatesRequest,
    ContextRequest,
    OfWiki,
    OfWikis,
    PageRequest,
    PagesRequest,
    QueryRequest,
    ReviewRequest,
    RunsRequest,
    SearchRequest,
    SourcesRequest,
)
from serving.schemas import base
from serving.schemas.review import CandidateAnswer, CandidateDiffAnswer, CandidatesAnswer, ReviewAnswer
from serving.schemas.runs import ChangesAnswer, RunsAnswer, SourcesAnswer, StatusAnswer
from serving.schemas.served import HealthAnswer, PageAnswer, PagesAnswer, WikiStatus
from serving.shelf import Shelf
from storage.search.engine import Engine
from tasks.records import GOOD
from tasks.search.result import Degraded, SearchResult

if TYPE_CHECKING:
    from tasks.answers.answering import Answer, Event
    from tasks.packs.pack import ContextPack, Form

MOST_RUNS = 1000
"""Runs that are looked through for one that is named."""

ANSWER_SECONDS = 45.0
"""How long a model is waited for where its answer is not streamed: many clients give up after a minute."""

_KEPT_BOOKS = 4
"""Snapshots a wiki whose pages are kept ready to be listed."""


class Backend:
    """Answers for one or several wikis. Safe for threads."""

    def __init__(self, folders: Sequence[Path], model_cache: Path) -> None:
        """Raises NightwikiError when none of the wikis can be opened."""
        self._shelf = Shelf(folders, model_cache)
        self._lock = Lock()
        self._books: OrderedDict[tuple[str, str], PageBook] = OrderedDict()

    # --- which wikis

    @property
    def names(self) -> tuple[str, ...]:
        """The wikis' names, also of those that cannot be opened."""
        return self._shelf.names

    def _named(self, name: str) -> Sequence[str]:
        """The wiki that is named, else all that can be opened. Raises NotFoundError, StateError."""
        self._shelf.refresh()
        if name or len(self._shelf.served) == 1:
            return [self._shelf.one(name)[0].name]
        return [one.name for one in self._shelf.served if one.wiki is not None]

    def wiki(self, name: str = "") -> Wiki:
        """One wiki by its name, which may be left out where there is only one. Raises NotFoundError."""
        return self._shelf.one(name)[1]

    def warm(self) -> None:
        """Open the snapshots and load the model, so that the first question finds them ready."""
        for name in self.names:
            engine = self._shelf.engine.only([name])
            if engine.names:
                engine.search("warm", 1)

    def warm_quietly(self) -> None:
        """The same; what is wrong, the first question will be told."""
        with contextlib.suppress(NightwikiError):
            self.warm()

    @property
    def hits(self) -> int:
        """Hits of one answer where none are asked for."""
        return max(one.wiki.settings.search.hits for one in self._shelf.served if one.wiki is not None)

    def health(self) -> HealthAnswer:
        """What is served, and what is wrong with it."""
        self._shelf.refresh()
        degraded = [_told(one) for one in self._shelf.troubles()]
        return HealthAnswer(state="degraded" if degraded else "ok", wikis=list(self.names), degraded=degraded)

    # --- reading

    def search(self, asked: SearchRequest) -> SearchResult:
        """The hits for one question."""
        engine, as_of = self._asked(asked)
        found = engine.search(
            asked.question,
            asked.k,
            asked.filters,
            explain=asked.explain,
            layer=asked.layer,
            as_of=as_of,
            configuration=asked.configuration,
        )
        return self._with_troubles(found)

    def search_batch(self, asked: BatchRequest) -> tuple[SearchResult, ...]:
        """The hits for several questions, all from one snapshot."""
        engine, as_of = self._asked(asked)
        found = engine.search_many(
            asked.questions,
            asked.k,
            asked.filters,
            explain=asked.explain,
            layer=asked.layer,
            as_of=as_of,
            configuration=asked.configuration,
        )
        return tuple(map(self._with_troubles, found))

    def context(self, asked: ContextRequest, form: Form) -> ContextPack:
        """Evidence for a goal, within a budget of tokens that counts everything in the form asked for."""
        from flows.answering.context import build_pack
        from tasks.packs.choice import MOST_A_PAGE

        engine, as_of = self._asked(asked)
        asker, troubles = self._shelf.asker(asked.wiki)
        return build_pack(
            engine,
            asked.goal,
            tokens=asked.token_budget,
            filters=asked.filters,
            max_per_page=asked.max_per_page or MOST_A_PAGE,
            exclude_ids=asked.exclude_ids,
            as_of=as_of,
            asker=asker,
            form=form,
            trouble=(*troubles, *self._shelf.troubles()),
        )

    def query(self, asked: QueryRequest, seconds: float = inf) -> Iterator[Event]:
        """The events of an answer as it is made; what is wrong with settings or model is said in the first and last.

        A model is waited for no longer than some `seconds`.
        """
        from flows.answering.query import answer_events
        from tasks.answers.answering import Done, Hits

        engine, as_of = self._asked(asked)
        asker, troubles = self._shelf.asker(asked.wiki)
        troubles = (*troubles, *self._shelf.troubles())
        events = answer_events(engine, asked.question, asked.filters, as_of=as_of, asker=asker, seconds=seconds)
        for event in events:
            if troubles and isinstance(event, Hits | Done):
                event = replace(event, degraded=(*event.degraded, *troubles))
            yield event

    def answer(self, asked: QueryRequest, seconds: float = ANSWER_SECONDS) -> Answer:
        """The whole answer, in time for a client that waits for it. Raises NightwikiError when there can be none."""
        from tasks.answers.answering import collected

        return collected(self.query(asked, seconds))

    def pages(self, asked: PagesRequest) -> PagesAnswer:
        """The pages that the filters let through, by path; of several wikis one after the other."""
        snapshot, offset = read_cursor(asked.cursor)
        engine, as_of = self._asked(asked.model_copy(update={"snapshot": snapshot}) if snapshot else asked)
        books = self._opened(engine, as_of)
        passing = [book.passing(asked.filters) for book in books]
        total = sum(map(len, passing))
        following = offset + asked.limit
        entries, skipped = [], 0
        for book, docs in zip(books, passing, strict=True):
            start, stop = max(0, offset - skipped), max(0, following - skipped)
            entries += [book.item(doc) for doc in docs[start:stop].tolist()]
            skipped += len(docs)
        snapshot = ",".join(book.opened.snapshot.id for book in books)
        return PagesAnswer(
            snapshot=snapshot,
            total=total,
            pages=entries,
            next=cursor(snapshot, following) if following < total else "",
        )

    def page(self, name: str, asked: PageRequest) -> PageAnswer:
        """One page's text. Raises NotFoundError, GoneError for a deleted one."""
        engine, as_of = self._asked(asked)
        book, found = self._find(engine, as_of, name)
        return book.read(found, asked.section, asked.offset, asked.limit)

    def changes(self, wiki: str, since: str) -> ChangesAnswer:
        """Pages that are not as they were in a former snapshot; of several wikis a date or their joined snapshots."""
        names = self._named(wiki)
        refs = since.split(",")
        told = overview.of_each(
            names,
            lambda name: look.changes(self.wiki(name), refs[names.index(name)] if len(refs) == len(names) else since),
        ).answers
        return told[names[0]] if len(names) == 1 else overview.changes(told)

    def sources(self, asked: SourcesRequest) -> SourcesAnswer:
        """What became of each source."""
        names = self._named(asked.wiki)
        told = overview.of_each(names, lambda name: look.sources(self.wiki(name))).answers
        answer = told[names[0]] if len(names) == 1 else overview.sources(told)
        answer.sources = [
            one
            for one in answer.sources
            if (not asked.outcome or one.outcome in asked.outcome)
            and (not asked.failed or (one.outcome not in GOOD and not one.ignored))
        ]
        return answer

    def runs(self, asked: RunsRequest) -> RunsAnswer:
        """The newest runs."""
        names = self._named(asked.wiki)
        told = overview.of_each(names, lambda name: look.runs(self.wiki(name))).answers
        answer = told[names[0]] if len(names) == 1 else overview.runs(told)
        answer.runs = answer.runs[: asked.limit]
        return answer

    def status(self, asked: OfWiki) -> StatusAnswer:
        """How a wiki stands, or all that are served."""
        names = self._named(asked.wiki)
        if len(names) == 1:
            return self._status(names[0])
        told = overview.of_each(names, self._status)
        answer = overview.statuses(told.answers)
        answer.degraded += told.troubles
        answer.degraded += [
            _told(replace(one.trouble, reason=f"{one.name}: {one.trouble.reason}"))
            for one in self._shelf.served
            if one.wiki is None and one.trouble is not None
        ]
        return answer

    def _status(self, name: str) -> StatusAnswer:
        served, wiki = self._shelf.one(name)
        answer = look.status(wiki, self._shelf.engine.only([served.name]))
        if served.trouble is not None:
            answer.degraded.append(_told(served.trouble))
        return answer

    def wiki_status(self, wiki: str, run: str = "", newest: int = 5) -> WikiStatus:
        """How a wiki stands, or all, with the newest runs or the one that is named. Raises NotFoundError."""
        names = self._named(wiki)
        status = self.status(OfWiki(wiki=wiki))
        runs = self.runs(RunsRequest(wiki=wiki, limit=MOST_RUNS)).runs
        if run and not any(one.run == run for one in runs):
            raise NotFoundError(run, "there is no such run", "See: nightwiki runs")
        shown = [one for one in runs if one.run == run] if run else runs[:newest]
        return WikiStatus(wiki=", ".join(names), status=status, runs=shown)

    # --- review

    def candidates(self, asked: CandidatesRequest) -> CandidatesAnswer:
        """The pages that wait for a person."""
        names = self._named(asked.wiki)

        def of(name: str) -> CandidatesAnswer:
            wiki = self.wiki(name)
            return look.candidates(wiki, chosen(wiki, asked.filters))

        told = overview.of_each(names, of).answers
        return told[names[0]] if len(names) == 1 else overview.candidates(told)

    def candidate(self, wiki: str, name: str) -> CandidateAnswer:
        """The text of one that waits."""
        return look.candidate(self._holding(wiki, name), name)

    def candidate_diff(self, wiki: str, name: str) -> CandidateDiffAnswer:
        """What promoting it would change."""
        holding = self._holding(wiki, name)
        return look.candidate_diff(holding, look.named_candidates(holding, [name])[0])

    def promote(self, wiki: str, name: str, asked: ReviewRequest) -> ReviewAnswer:
        """Make a candidate part of the wiki. Raises BusyError while another run goes on."""
        holding = self._holding(wiki, name)
        return decide(holding, look.named_candidates(holding, [name]), (), dry_run=asked.dry_run)

    def discard(self, wiki: str, name: str, asked: ReviewRequest) -> ReviewAnswer:
        """Drop a candidate. Raises BusyError while another run goes on."""
        holding = self._holding(wiki, name)
        return decide(holding, (), look.named_candidates(holding, [name]), asked.reason, asked.dry_run)

    def _holding(self, wiki: str, name: str) -> Wiki:
        """The wiki that is named, else the one where this candidate waits. Raises NotFoundError, also when two do."""
        names = self._named(wiki)
        if len(names) == 1:
            return self.wiki(names[0])
        found = overview.of_each(names, lambda one: look.named_candidates(self.wiki(one), [name])).answers
        if len(found) > 1:
            raise NotFoundError(name, f"it waits in several wikis: {', '.join(found)}", "Name the wiki")
        return self.wiki(next(iter(found)))

    # --- keeping up

    def _with_troubles(self, found: SearchResult) -> SearchResult:
        troubles = self._shelf.troubles()
        return replace(found, degraded=(*found.degraded, *troubles)) if troubles else found

    # --- finding

    def _asked(self, asked: OfWikis) -> tuple[Engine, str]:
        """The engine over the wikis asked for, and what to open of them. Raises GoneError for a collected snapshot."""
        self._shelf.refresh()
        engine = self._shelf.engine
        if asked.wiki:
            for name in asked.wiki:
                self._shelf.one(name)
            engine = engine.only(asked.wiki)
        if asked.snapshot:
            refs = asked.snapshot.split(",")
            refs = refs if len(refs) == len(engine.names) else [asked.snapshot] * len(engine.names)
            for name, ref in zip(engine.names, refs, strict=True):
                look.check_kept(self._shelf.one(name)[1], ref)
        return engine, asked.snapshot

    def _opened(self, engine: Engine, as_of: str) -> Sequence[PageBook]:
        books = []
        for name, opened in zip(engine.names, engine.opened(as_of), strict=True):
            if opened is None:
                continue
            key = (name, opened.snapshot.id)
            with self._lock:
                book = self._books.get(key)
                if book is not None:
                    self._books.move_to_end(key)
            if book is None:
                book = PageBook(name, opened)
                with self._lock:
                    self._books[key] = book
                    while len(self._books) > _KEPT_BOOKS * len(self._shelf.served):
                        self._books.popitem(last=False)
            books.append(book)
        return books

    def _find(self, engine: Engine, as_of: str, name: str) -> tuple[PageBook, Found]:
        """A page in the wikis asked. Raises NotFoundError, also when two wikis have one of this name."""
        found: list[tuple[PageBook, Found]] = []
        failure: NotFoundError | None = None
        for book in self._opened(engine, as_of):
            try:
                found.append((book, book.find(name)))
            except NotFoundError as error:
                failure = error if failure is None or isinstance(error, GoneError) else failure
        if len(found) > 1:
            wikis = ", ".join(book.wiki for book, _ in found)
            raise NotFoundError(name, f"several wikis have a page of this name: {wikis}", "Name the wiki")
        if not found:
            raise failure or NotFoundError(name, "the wiki is empty", "Fill it with: nightwiki ingest")
        return found[0]


def _told(one: Degraded) -> base.Degraded:
    return base.Degraded(what=one.what, reason=one.reason, next_step=one.next_step)
