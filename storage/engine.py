"""Search over published snapshots: one object, opened once, safe for threads.

It takes no lock and opens no ledger. A new snapshot is noticed by a look at one file and swapped in;
questions that are being answered keep the one they began with. The question is embedded in a worker thread
while the keywords are looked up.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Protocol

from config.errors import StateError
from config.settings import Settings
from storage.answer import answer
from storage.index_files import damage, open_index
from storage.opened import Layer, Opened, Question, Snapshot
from storage.passage_search import passages
from tasks.embedding.embed import load, should_embed_question
from tasks.embedding.model import Model
from tasks.search.filters import Filters
from tasks.search.found import Found, across
from tasks.search.fusion import CONFIGURATIONS, Configuration
from tasks.search.ranking import interleave
from tasks.search.result import Degraded, SearchResult
from tasks.search.scope import BranchChooser, ByKeywords

__all__ = ["Engine", "Layer", "SearchedWiki", "searched"]

NO_FILTERS = Filters()
_REPAIR = "Run `nightwiki check --repair`"
_EMPTY = Degraded("snapshot", "nothing was published yet", "Run `nightwiki ingest`")


class Reader(Protocol):
    """Gives snapshots; `storage.reader.Reader` is one."""

    def current(self) -> Snapshot | None: ...

    def at(self, ref: str) -> Snapshot: ...


@dataclass(frozen=True, slots=True)
class SearchedWiki:
    """One wiki to search: its name, snapshots and settings; `model` is None when meaning search is off."""

    name: str
    reader: Reader
    model: Model | None = None
    configuration: Configuration = "fused"
    hits: int = 10
    chooser: BranchChooser | None = None  # narrows questions to branches; None: every question to the whole wiki


def searched(
    state_dir: Path, settings: Settings, model_cache: Path, by_model: BranchChooser | None = None
) -> SearchedWiki:
    """A wiki of this machine, ready to be searched. Nothing is opened or loaded before the first question.

    `by_model` chooses branches where the settings leave that to the language model; without it keywords do.
    """
    from storage import reader  # pyarrow comes with it

    model = None if settings.search.vector == "off" else Model(lambda: load(settings.embedding, model_cache))
    return SearchedWiki(
        settings.name,
        reader.Reader(state_dir),
        model,
        settings.search.configuration,
        settings.search.hits,
        _chooser(settings, by_model),
    )


def _chooser(settings: Settings, by_model: BranchChooser | None) -> BranchChooser | None:
    if settings.search.routing == "off":
        return None
    return by_model if settings.search.routing == "model" and by_model is not None else ByKeywords()


class Engine:
    """Answers questions over one or several wikis."""

    def __init__(self, wikis: Sequence[SearchedWiki]) -> None:
        self._wikis = [_WikiSearch(wiki) for wiki in wikis]

    def search(
        self,
        question: str,
        k: int | None = None,
        filters: Filters = NO_FILTERS,
        *,
        explain: bool = False,
        layer: Layer = "pages",
        as_of: str = "",
        configuration: Configuration | None = None,
        passages_by_meaning: bool = False,
    ) -> SearchResult:
        """The best `k` hits (default: the wiki's setting), of several wikis first of each, then second of each.

        With `as_of`, of a kept snapshot: its id, a run's id, or a date. `passages_by_meaning` embeds the blocks of
        the hits to choose the excerpts, which takes some milliseconds a block. Raises StateError when the snapshot
        or its index cannot be read and nothing can take its place.
        """
        return self._search([question], k, as_of, filters, explain, layer, configuration, passages_by_meaning)[0]

    def search_many(
        self,
        questions: Sequence[str],
        k: int | None = None,
        filters: Filters = NO_FILTERS,
        *,
        explain: bool = False,
        layer: Layer = "pages",
        as_of: str = "",
        configuration: Configuration | None = None,
    ) -> tuple[SearchResult, ...]:
        """As `search` for each question, all over the same snapshots; the questions are embedded together."""
        return self._search(questions, k, as_of, filters, explain, layer, configuration, False)

    def _search(
        self,
        questions: Sequence[str],
        k: int | None,
        as_of: str,
        filters: Filters,
        explain: bool,
        layer: Layer,
        configuration: Configuration | None,
        passages_by_meaning: bool,
    ) -> tuple[SearchResult, ...]:
        if configuration is not None and configuration not in CONFIGURATIONS:
            raise ValueError(f"no configuration {configuration!r}; there are {', '.join(CONFIGURATIONS)}")
        texts = [one.encode("utf-8", "replace").decode("utf-8") for one in questions]  # of a broken terminal
        answers = []
        for wiki, ref in zip(self._wikis, self._refs(as_of), strict=True):
            asked = [
                Question(
                    text,
                    max(0, wiki.wiki.hits if k is None else k),
                    filters,
                    explain,
                    layer,
                    configuration or wiki.wiki.configuration,
                    passages_by_meaning,
                    wiki.wiki.chooser,
                )
                for text in texts
            ]
            answers.append(self._answers(wiki, asked, ref))
        if len(answers) == 1:
            return answers[0]
        return tuple(self._together(text, [each[n] for each in answers], k) for n, text in enumerate(texts))

    def passages(
        self,
        question: str,
        k: int,
        filters: Filters = NO_FILTERS,
        *,
        as_of: str = "",
        exclude: Collection[str] = (),
        configuration: Configuration | None = None,
    ) -> Found:
        """The best `k` pages of each wiki with all their blocks scored, interleaved by each wiki's own rank.

        `exclude` are ids or slugs of pages left out; else as `search`, which ranks the same pages first.
        """
        question = question.encode("utf-8", "replace").decode("utf-8")
        found = []
        for wiki, ref in zip(self._wikis, self._refs(as_of), strict=True):
            asked = Question(
                question,
                k,
                filters,
                True,
                "pages",
                configuration or wiki.wiki.configuration,
                False,
                wiki.wiki.chooser,
            )
            try:
                opened = wiki.opened(ref)
            except StateError as error:
                if len(self._wikis) == 1 or ref:
                    raise
                trouble = Degraded("wiki", f"{error.subject}: {error.cause}", error.next_step)
                found.append(Found(question, "", "", True, (trouble,), (), wikis=(wiki.wiki.name,)))
                continue
            if opened is None:
                found.append(Found(question, "", "", True, (_EMPTY,), (), wikis=(wiki.wiki.name,)))
            else:
                found.append(passages(wiki.wiki.name, opened, wiki.wiki.model, asked, exclude))
        return across(found)

    def embed_ahead(self, questions: Sequence[str]) -> None:
        """Begin to embed questions in one go that will be asked one after the other."""
        for wiki in self._wikis:
            opened = wiki.held
            if wiki.wiki.model is None or opened is None:
                continue
            models = [vectors.model for vectors in opened.index.vectors]
            texts = [one.encode("utf-8", "replace").decode("utf-8") for one in questions]
            wiki.wiki.model.ask_together(
                [text for text in texts if any(should_embed_question(text, model) for model in models)]
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The wikis' names, in their order."""
        return tuple(wiki.wiki.name for wiki in self._wikis)

    def only(self, names: Collection[str]) -> Engine:
        """An engine over some of these wikis that shares what this one has opened."""
        fewer = Engine(())
        fewer._wikis = [wiki for wiki in self._wikis if wiki.wiki.name in names]
        return fewer

    def opened(self, as_of: str = "") -> tuple[Opened | None, ...]:
        """The opened snapshot of each wiki, None before its first; `as_of` as for `search`. Raises StateError."""
        return tuple(wiki.opened(ref) for wiki, ref in zip(self._wikis, self._refs(as_of), strict=True))

    def _refs(self, as_of: str) -> Sequence[str]:
        """What to open of each wiki; the joined snapshots that an answer names pin each its own."""
        parts = as_of.split(",")
        return parts if len(parts) == len(self._wikis) else [as_of] * len(self._wikis)

    def _answers(self, wiki: _WikiSearch, asked: Sequence[Question], as_of: str) -> tuple[SearchResult, ...]:
        """One wiki's answers; beside others, a broken one answers nothing and says why."""
        try:
            return wiki.answer(asked, as_of)
        except StateError as error:
            if len(self._wikis) == 1 or as_of:
                raise
            broken = Degraded("wiki", f"{error.subject}: {error.cause}", error.next_step)
            return tuple(SearchResult(one.text, "", True, (broken,), ()) for one in asked)

    def _together(self, question: str, answers: Sequence[SearchResult], k: int | None) -> SearchResult:
        count = max((wiki.wiki.hits for wiki in self._wikis), default=0) if k is None else max(0, k)
        order = interleave([answer.hits for answer in answers])[:count]
        return SearchResult(
            question,
            ",".join(answer.snapshot for answer in answers),
            all(answer.gap for answer in answers),
            tuple(
                replace(one, reason=f"{wiki.wiki.name}: {one.reason}")
                for wiki, answer in zip(self._wikis, answers, strict=True)
                for one in answer.degraded
            ),
            tuple(replace(answers[number].hits[place], rank=r) for r, (number, place) in enumerate(order, 1)),
            tuple(
                f"{wiki.wiki.name}: {name}"
                for wiki, answer in zip(self._wikis, answers, strict=True)
                for name in answer.branches
            ),
        )


class _WikiSearch:
    """The opened snapshots of one wiki."""

    def __init__(self, wiki: SearchedWiki) -> None:
        self.wiki = wiki
        self._held: Opened | None = None
        self._pinned: Opened | None = None
        self._broken: tuple[int, ...] = ()
        self._opening = Lock()

    @property
    def held(self) -> Opened | None:
        """The snapshot that was asked last, None before the first question."""
        return self._held

    def answer(self, questions: Sequence[Question], as_of: str) -> tuple[SearchResult, ...]:
        """An answer a question, all from one snapshot."""
        opened = self.opened(as_of)
        if opened is None:
            empty = Degraded("snapshot", "nothing was published yet", "Run `nightwiki ingest`")
            return tuple(SearchResult(one.text, "", True, (empty,), ()) for one in questions)
        if len(questions) > 1 and self.wiki.model is not None and opened.index.vectors:
            self.wiki.model.ask_together([one.text for one in questions])
        try:
            return tuple(answer(self.wiki.name, opened, self.wiki.model, one) for one in questions)
        except Exception:  # bytes that changed under an open index may break it anywhere
            mended = self._mended(opened)
            if mended is None:
                raise
            return tuple(answer(self.wiki.name, mended, self.wiki.model, one) for one in questions)

    def _repaired(self, held: Opened) -> bool:
        """Whether the index on disk, damaged when it was last looked at, has been built anew since."""
        broken = any(one.what == "index" for one in held.degraded)
        return broken and _stamp(held.snapshot.index_dir) != self._broken

    def _mended(self, opened: Opened) -> Opened | None:
        """The same snapshot with an index made in memory, when the one on disk was damaged since it was opened."""
        trouble = damage(opened.snapshot.index_dir)
        if not trouble or any(one.what == "index" for one in opened.degraded):
            return None
        stamp = _stamp(opened.snapshot.index_dir)
        built = replace(self._build(opened.snapshot), degraded=(Degraded("index", trouble, _REPAIR),))
        with self._opening:
            self._broken = stamp
            if self._held is opened:
                self._held = built
            if self._pinned is opened:
                self._pinned = built
        return built

    def opened(self, as_of: str) -> Opened | None:
        """The snapshot a question is put to."""
        held = self._held
        if held is not None and held.snapshot.id == as_of:
            return held
        return self._at(as_of) if as_of else self._current()

    def _at(self, ref: str) -> Opened:
        snapshot = self.wiki.reader.at(ref)
        pinned = self._pinned
        if pinned is None or pinned.snapshot.id != snapshot.id:
            pinned = self._open(snapshot) or self._build(snapshot)
            self._pinned = pinned
        return pinned

    def _current(self) -> Opened | None:
        held = self._held
        try:
            current = self.wiki.reader.current()
        except StateError as error:
            return self._instead(held, error)
        if current is None:
            return None
        if held is not None and held.snapshot.id == current.id and not self._repaired(held):
            return held
        if held is not None and not self._opening.acquire(blocking=False):
            return held  # another thread is opening the new one; this question is answered from the last
        if held is None:
            self._opening.acquire()
        try:
            if self._held is held or self._held is None or self._held.snapshot.id != current.id:
                self._held = self._open_or_former(current, self._held)
            return self._held
        finally:
            self._opening.release()

    def _instead(self, held: Opened | None, error: StateError) -> Opened:
        """The last snapshot that is whole, in place of one that cannot be read; `error` when there is none."""
        trouble = Degraded("snapshot", f"{error.subject}: {error.cause}", error.next_step)
        if held is None:
            with self._opening:
                held = self._held or self._former("")
                self._held = held
        if held is None:
            raise error
        return replace(held, degraded=(trouble, *(one for one in held.degraded if one.what != "snapshot")))

    def _open_or_former(self, snapshot: Snapshot, held: Opened | None) -> Opened:
        """The snapshot; with a damaged index, one made in memory; with damaged tables too, the last that is whole."""
        stamp = _stamp(snapshot.index_dir)
        try:
            return Opened.of(snapshot, open_index(snapshot.index_dir))
        except StateError as error:
            trouble = Degraded("index", f"{error.subject}: {error.cause}", error.next_step)
            self._broken = stamp
        try:
            return replace(self._build(snapshot), degraded=(trouble,))
        except StateError as error:
            former = held or self._former(snapshot.id)
            if former is None:
                raise
            return replace(
                former, degraded=(trouble, Degraded("snapshot", f"{error.subject}: {error.cause}", error.next_step))
            )

    def _former(self, snapshot: str) -> Opened | None:
        """The newest kept snapshot but this one that can be opened."""
        history = getattr(self.wiki.reader, "history", tuple)
        for manifest in reversed(history()):
            if manifest.id != snapshot:
                try:
                    former = self.wiki.reader.at(manifest.id)
                    return self._open(former) or self._build(former)
                except StateError:
                    continue
        return None

    def _open(self, snapshot: Snapshot) -> Opened | None:
        try:
            return Opened.of(snapshot, open_index(snapshot.index_dir))
        except StateError:
            return None

    def _build(self, snapshot: Snapshot) -> Opened:
        """An index made from the snapshot's tables for this process: slow once, and right."""
        from storage.search_index import SnapshotTables, index_of

        if not isinstance(snapshot, SnapshotTables):
            raise StateError(str(snapshot.index_dir), "the search index is missing", _REPAIR)
        return Opened.of(snapshot, index_of(snapshot))


def _stamp(index_dir: Path) -> tuple[int, ...]:
    """Tells an index from one built later in its place; empty when there is none."""
    try:
        stat = (index_dir / "manifest.json").stat()
    except OSError:
        return ()
    return stat.st_ino, stat.st_mtime_ns, stat.st_size
