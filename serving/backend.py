"""The wikis that a server answers for: opened once, kept up to date, each question answered from whole snapshots.

REST and MCP are two doors to this one object. Settings are looked at before every answer, so that a change holds at
once; settings that cannot be read leave the last good ones in force, and every answer says so. A wiki that cannot be
opened at all is left out, and said to be.
"""

from __future__ import annotations

import contextlib
import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from config.errors import GoneError, MissingExtraError, ModelError, NightwikiError, NotFoundError, StateError
from config.load import nearest
from config.wiki import SETTINGS_NAME, Wiki, open_wiki
from serving import look, schemas
from serving.cli.choosing import chosen
from serving.cursors import cursor, read_cursor
from serving.deciding import decide
from serving.page_book import Found, PageBook
from serving.requests import (
    BatchRequest,
    CandidatesRequest,
    ContextRequest,
    Filtered,
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
from serving.schemas_served import HealthAnswer, PageAnswer, PagesAnswer, WikiStatus
from storage.engine import Engine, searched
from storage.reader import Reader
from tasks.records import GOOD
from tasks.search_result import Degraded, SearchResult

if TYPE_CHECKING:
    from tasks.answering import Answer, Event
    from tasks.llm.ask import Asker
    from tasks.pack import ContextPack, Form

_KEPT_BOOKS = 4
_SNAPSHOT = re.compile(r"s(\d{8})-[0-9a-f]{12}")

Stamp = tuple[int, int, int] | None


@dataclass(frozen=True, slots=True)
class Served:
    """One wiki under the name it is served by; `trouble` says what is wrong with its settings now."""

    name: str
    root: Path
    wiki: Wiki | None
    stamp: Stamp
    trouble: Degraded | None = None


class Backend:
    """Answers for one or several wikis. Safe for threads."""

    def __init__(self, folders: Sequence[Path], model_cache: Path) -> None:
        """Raises NightwikiError when none of the wikis can be opened."""
        self._cache = model_cache
        self._lock = Lock()
        self._served: tuple[Served, ...] = ()
        for root in dict.fromkeys(folder.expanduser().resolve() for folder in folders):
            self._served = (*self._served, self._open(root, None))
        if not any(one.wiki for one in self._served):
            for folder in folders:
                open_wiki(folder)
            raise NotFoundError("wikis", "no wiki was named", "Name one with -w DIR")
        self._engine = self._engines()
        self._books: OrderedDict[tuple[str, str], PageBook] = OrderedDict()

    # --- which wikis

    @property
    def names(self) -> tuple[str, ...]:
        """The wikis' names, also of those that cannot be opened."""
        return tuple(one.name for one in self._served)

    def wiki(self, name: str = "") -> Wiki:
        """One wiki by its name, which may be left out where there is only one. Raises NotFoundError."""
        return self._one(name)[1]

    def warm(self) -> None:
        """Open the snapshots and load the model, so that the first question finds them ready."""
        for name in self.names:
            engine = self._engine.only([name])
            if engine.names:
                engine.search("warm", 1)

    def warm_quietly(self) -> None:
        """The same; what is wrong, the first question will be told."""
        with contextlib.suppress(NightwikiError):
            self.warm()

    @property
    def hits(self) -> int:
        """Hits of one answer where none are asked for."""
        return max(one.wiki.settings.search.hits for one in self._served if one.wiki is not None)

    def health(self) -> HealthAnswer:
        """What is served, and what is wrong with it."""
        self._refresh()
        degraded = [_told(one) for one in self._troubles()]
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
        from flows.context import build_pack
        from tasks.pack_choice import MOST_A_PAGE

        engine, as_of = self._asked(asked)
        return build_pack(
            engine,
            asked.goal,
            tokens=asked.token_budget,
            filters=asked.filters,
            max_per_page=asked.max_per_page or MOST_A_PAGE,
            exclude_ids=tuple(asked.exclude_ids),
            as_of=as_of,
            asker=self._asker(asked)[0],
            form=form,
        )

    def query(self, asked: QueryRequest) -> Iterator[Event]:
        """The events of an answer as it is made; what is wrong with settings or model is said in the first and last."""
        from flows.query import answer_events
        from tasks.answering import Done, Hits

        engine, as_of = self._asked(asked)
        asker, troubles = self._asker(asked)
        troubles = (*troubles, *self._troubles())
        for event in answer_events(engine, asked.question, asked.filters, as_of=as_of, asker=asker):
            if troubles and isinstance(event, Hits | Done):
                event = replace(event, degraded=(*event.degraded, *troubles))
            yield event

    def answer(self, asked: QueryRequest) -> Answer:
        """The whole answer. Raises NightwikiError when there can be none."""
        from tasks.answering import Failed, collected

        told = collected(self.query(asked))
        if isinstance(told, Failed):
            raise NightwikiError(told.subject, told.cause, told.next_step)
        return told

    def pages(self, asked: PagesRequest) -> PagesAnswer:
        """The pages that the filters let through, by path; of several wikis one after the other."""
        snapshot, offset = read_cursor(asked.cursor)
        engine, as_of = self._asked(asked.model_copy(update={"snapshot": snapshot}) if snapshot else asked)
        books = self._opened(engine, as_of)
        entries = [(book, doc) for book in books for doc in book.passing(asked.filters)]
        snapshot = ",".join(book.opened.snapshot.id for book in books)
        following = offset + asked.limit
        return PagesAnswer(
            snapshot=snapshot,
            total=len(entries),
            pages=[book.item(doc) for book, doc in entries[offset:following]],
            next=cursor(snapshot, following) if following < len(entries) else "",
        )

    def page(self, name: str, asked: PageRequest) -> PageAnswer:
        """One page's text. Raises NotFoundError, GoneError for a deleted one."""
        engine, as_of = self._asked(asked)
        book, found = self._find(engine, as_of, name)
        return book.read(found, asked.section, asked.offset, asked.limit)

    def changes(self, wiki: str, since: str) -> schemas.ChangesAnswer:
        """Pages that are not as they were in a former snapshot."""
        chosen = self.wiki(wiki)
        try:
            return look.changes(chosen, since)
        except StateError:
            _check_kept(chosen, since)  # says whether it was there once
            raise

    def sources(self, asked: SourcesRequest) -> schemas.SourcesAnswer:
        """What became of each source."""
        answer = look.sources(self.wiki(asked.wiki))
        answer.sources = [
            one
            for one in answer.sources
            if (not asked.outcome or one.outcome in asked.outcome)
            and (not asked.failed or (one.outcome not in GOOD and not one.ignored))
        ]
        return answer

    def runs(self, asked: RunsRequest) -> schemas.RunsAnswer:
        """The newest runs."""
        answer = look.runs(self.wiki(asked.wiki))
        answer.runs = answer.runs[: asked.limit]
        return answer

    def status(self, asked: OfWiki) -> schemas.StatusAnswer:
        """How a wiki stands."""
        served, wiki = self._one(asked.wiki)
        answer = look.status(wiki, self._engine.only([served.name]))
        if served.trouble is not None:
            answer.degraded.append(_told(served.trouble))
        return answer

    def wiki_status(self, wiki: str, run: str = "", newest: int = 5) -> WikiStatus:
        """How a wiki stands, with its newest runs or the one that is named. Raises NotFoundError."""
        status = self.status(OfWiki(wiki=wiki))
        runs = look.runs(self.wiki(wiki)).runs
        if run and not any(one.run == run for one in runs):
            raise NotFoundError(run, "there is no such run", "See: nightwiki runs")
        shown = [one for one in runs if one.run == run] if run else runs[:newest]
        return WikiStatus(wiki=self._one(wiki)[0].name, status=status, runs=shown)

    # --- review

    def candidates(self, asked: CandidatesRequest) -> schemas.CandidatesAnswer:
        """The pages that wait for a person."""
        wiki = self.wiki(asked.wiki)
        return look.candidates(wiki, chosen(wiki, asked.filters))

    def candidate(self, wiki: str, name: str) -> schemas.CandidateAnswer:
        """The text of one that waits."""
        return look.candidate(self.wiki(wiki), name)

    def candidate_diff(self, wiki: str, name: str) -> schemas.CandidateDiffAnswer:
        """What promoting it would change."""
        chosen = self.wiki(wiki)
        return look.candidate_diff(chosen, look.named_candidates(chosen, [name])[0])

    def promote(self, wiki: str, name: str, asked: ReviewRequest) -> schemas.ReviewAnswer:
        """Make a candidate part of the wiki. Raises BusyError while another run goes on."""
        chosen = self.wiki(wiki)
        return decide(chosen, look.named_candidates(chosen, [name]), (), dry_run=asked.dry_run)

    def discard(self, wiki: str, name: str, asked: ReviewRequest) -> schemas.ReviewAnswer:
        """Drop a candidate. Raises BusyError while another run goes on."""
        chosen = self.wiki(wiki)
        return decide(chosen, (), look.named_candidates(chosen, [name]), asked.reason, asked.dry_run)

    # --- keeping up

    def _refresh(self) -> None:
        """Take in settings that changed."""
        if all(one.stamp == _stamp(one.root) for one in self._served):
            return
        with self._lock:
            before = self._served
            self._served = tuple(
                one if one.stamp == _stamp(one.root) else self._open(one.root, one) for one in before
            )
            if any(now.wiki != then.wiki for now, then in zip(self._served, before, strict=True)):
                self._engine = self._engines()

    def _open(self, root: Path, before: Served | None) -> Served:
        stamp = _stamp(root)
        try:
            wiki = open_wiki(root)
        except NightwikiError as error:
            trouble = Degraded("settings", f"{error.subject}: {error.cause}", error.next_step)
            if before is None:
                return Served(root.name, root, None, stamp, trouble)
            return replace(before, stamp=stamp, trouble=trouble)
        return Served(before.name if before else self._free_name(wiki), root, wiki, stamp)

    def _free_name(self, wiki: Wiki) -> str:
        """The wiki's own name, or one made of its folder's where another wiki has that."""
        taken = {one.name for one in self._served}
        options: Iterator[str] = iter((wiki.name, wiki.root.name, *(f"{wiki.root.name}-{n}" for n in range(2, 1000))))
        return next(name for name in options if name not in taken)

    def _engines(self) -> Engine:
        return Engine(
            [
                replace(searched(one.wiki.state_dir, one.wiki.settings, self._cache), name=one.name)
                for one in self._served
                if one.wiki is not None
            ]
        )

    def _troubles(self) -> Sequence[Degraded]:
        several = len(self._served) > 1
        return [
            replace(one.trouble, reason=f"{one.name}: {one.trouble.reason}") if several else one.trouble
            for one in self._served
            if one.trouble is not None
        ]

    def _with_troubles(self, found: SearchResult) -> SearchResult:
        troubles = self._troubles()
        return replace(found, degraded=(*found.degraded, *troubles)) if troubles else found

    # --- finding

    def _one(self, name: str) -> tuple[Served, Wiki]:
        self._refresh()
        if not name and len(self._served) > 1:
            raise NotFoundError("wiki", f"several are served: {', '.join(self.names)}", "Name one of them")
        served = next((one for one in self._served if name in ("", one.name)), None)
        if served is None:
            hint = nearest(name, self.names)
            step = f"Did you mean '{hint}'?" if hint else f"There are: {', '.join(self.names)}"
            raise NotFoundError(name, "no such wiki is served", step)
        if served.wiki is None:
            trouble = served.trouble
            raise StateError(served.name, trouble.reason if trouble else "it cannot be opened", "Mend it and ask again")
        return served, served.wiki

    def _asked(self, asked: OfWikis) -> tuple[Engine, str]:
        """The engine over the wikis asked for, and what to open of them. Raises GoneError for a collected snapshot."""
        self._refresh()
        engine = self._engine
        if asked.wiki:
            for name in asked.wiki:
                self._one(name)
            engine = engine.only(asked.wiki)
        if asked.snapshot:
            refs = asked.snapshot.split(",")
            refs = refs if len(refs) == len(engine.names) else [asked.snapshot] * len(engine.names)
            for name, ref in zip(engine.names, refs, strict=True):
                _check_kept(self._one(name)[1], ref)
        return engine, asked.snapshot

    def _asker(self, asked: Filtered) -> tuple[Asker | None, Sequence[Degraded]]:
        """The language model of the first wiki asked that names one; without it, answers are quoted, and say so."""
        for one in self._served:
            if one.wiki is not None and (not asked.wiki or one.name in asked.wiki) and one.wiki.settings.model:
                from flows.asking import asker

                try:
                    return asker(one.wiki), ()
                except (ModelError, MissingExtraError) as error:
                    return None, (Degraded("model", f"{error.subject}: {error.cause}", error.next_step),)
        return None, ()

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
                    while len(self._books) > _KEPT_BOOKS * len(self._served):
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


def _stamp(root: Path) -> Stamp:
    try:
        stat = (root / SETTINGS_NAME).stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size


def _check_kept(wiki: Wiki, ref: str) -> None:
    """Raises GoneError for a snapshot that was collected, NotFoundError for one that never was."""
    reader = Reader(wiki.state_dir)
    try:
        reader.at(ref)
    except StateError as error:
        current = reader.current()
        known = _SNAPSHOT.fullmatch(ref)
        if known and current is not None and int(known[1]) <= current.manifest.sequence:
            raise GoneError(ref, "this snapshot is no longer kept", "Ask without it, for the newest") from None
        raise NotFoundError(error.subject, error.cause, error.next_step) from None


def _told(one: Degraded) -> schemas.Degraded:
    return schemas.Degraded(what=one.what, reason=one.reason, next_step=one.next_step)
