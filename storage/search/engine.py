"""Search over published snapshots: one object, opened once, safe for threads.

It takes no lock and opens no ledger. A new snapshot is noticed by a look at one file and swapped in;
questions that are being answered keep the one they began with. The question is embedded in a worker thread
while the keywords are looked up.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from config.errors import StateError
from config.settings import Settings
from storage.search.opened import Layer, Opened, Question
from storage.search.opened_wiki import EMPTY, OpenedWiki, SearchedWiki
from storage.search.passage_search import passages
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
        self._wikis = [OpenedWiki(wiki) for wiki in wikis]

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
                found.append(Found(question, "", "", True, (EMPTY,), (), wikis=(wiki.wiki.name,)))
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

    def _answers(self, wiki: OpenedWiki, asked: Sequence[Question], as_of: str) -> tuple[SearchResult, ...]:
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
