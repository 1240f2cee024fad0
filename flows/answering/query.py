"""A question answered from the wiki: looked up, told sentence by sentence, each with what it relies on.

Without a model the best passages are quoted. With one, it writes from these passages, and only sentences that they
carry are let through. A gap is said as such: nothing that merely means something similar takes an answer's place.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from config.errors import ModelError, NightwikiError
from flows.answering.asked import LookedUp, look_up
from storage.search.engine import NO_FILTERS, Engine
from tasks.answers import by_model as answering_model
from tasks.answers import by_quotes as answering_quotes
from tasks.answers.answering import (
    Answer,
    Cited,
    Cost,
    Cut,
    Done,
    Event,
    Failed,
    Hits,
    Near,
    Reference,
    Sentence,
    State,
    collected,
    renumbered,
)
from tasks.llm.ask import Asker, Kind, Spent
from tasks.search.filters import Filters
from tasks.search.result import Degraded

log = logging.getLogger(__name__)

NEAR = 0.5
"""Relevance from which on a page near in meaning alone is shown to a model, which may find that it answers nothing."""

PAGES = 8
"""Pages of each wiki that an answer may draw from."""

MOST_NEAR = 3
MOST_A_PART = 2
"""Passages quoted for each part of a question that was taken apart."""

_INGEST = "Bring one with: nightwiki ingest FILE-OR-ADDRESS"


def answer(
    engine: Engine,
    question: str,
    filters: Filters = NO_FILTERS,
    as_of: str = "",
    asker: Asker | None = None,
    trouble: Sequence[Degraded] = (),
) -> Answer:
    """The whole answer. Raises NightwikiError where `answer_events` ends with `Failed`."""
    return collected(answer_events(engine, question, filters, as_of, asker, trouble))


def answer_events(
    engine: Engine,
    question: str,
    filters: Filters = NO_FILTERS,
    as_of: str = "",
    asker: Asker | None = None,
    trouble: Sequence[Degraded] = (),
    seconds: float = inf,
) -> Iterator[Event]:
    """The answer as it comes: `Hits`, then each `Sentence` behind the `Cited` it needs, then `Done`; or `Failed`.

    `trouble` is what the caller met on its way here, to be said in the answer. A model that has not answered after so
    many `seconds` leaves the answer to the pages.
    """
    until = time.monotonic() + seconds
    if not question.strip():
        yield Failed("question", "is empty", 'Ask something: nightwiki query "who built the Z3"')
        return
    before = asker.spent if asker is not None else Spent()
    try:
        looked_up = look_up(engine, question, PAGES, filters, (), as_of, asker, until)
    except NightwikiError as error:
        yield Failed(error.subject, error.cause, error.next_step)
        return
    looked_up = replace(looked_up, found=replace(looked_up.found, degraded=(*trouble, *looked_up.found.degraded)))
    found = looked_up.found
    hits = tuple(replace(page.hit, rank=rank) for rank, page in enumerate(found.pages, 1))
    yield Hits(
        found.question,
        looked_up.parts,
        looked_up.translated,
        found.snapshot,
        found.generated,
        found.gap,
        found.degraded,
        hits,
    )
    telling = _Telling(looked_up, until)
    near = bool(found.pages) and found.pages[0].relevance >= NEAR
    if asker is not None and found.gap and near:
        yield from telling.by_model(asker)
    elif found.gap or not found.pages:
        yield from telling.gap()
    elif asker is None:
        yield from telling.quotes()
    else:
        yield from telling.by_model(asker)
    yield telling.done(asker, before)


@dataclass(slots=True)
class _Telling:
    """An answer while it is told: which references were given out, and what was cut."""

    looked_up: LookedUp
    until: float  # on the monotonic clock: how long a model is waited for
    state: State = "answered"
    numbers: dict[tuple[str, str, int, int], int] = field(default_factory=dict)
    cut: list[Cut] = field(default_factory=list)
    trouble: list[Degraded] = field(default_factory=list)
    note: str = ""
    paragraph: int = -1

    def quotes(self) -> Iterator[Event]:
        """The best passages, quoted."""
        parts = self.looked_up.by_part
        for found in parts or (self.looked_up.found,):
            for quoted in answering_quotes.passages(found, MOST_A_PART if parts else answering_quotes.MOST_PASSAGES):
                yield from self._quoted(quoted)

    def gap(self) -> Iterator[Event]:
        """What the sources say that no page tells, and a note of what is missing."""
        found = self.looked_up.found
        self.state = "gap" if found.snapshot.strip(",") else "empty"
        offered = answering_quotes.of_sources(found.pieces, found.weights)
        for quoted in offered:
            yield from self._quoted(quoted)
        self.note = gap_note(found.unknown, bool(offered), self.state)

    def by_model(self, asker: Asker) -> Iterator[Event]:
        """What a model writes, sentence by sentence; the quoted passages where it fails or nothing it writes stands."""
        found = self.looked_up.found
        passages = answering_model.shown(found)
        references = {passage.reference.number: passage.reference for passage in passages}
        stood = said = False
        known: set[str] = set()
        count = 0
        try:
            asked = answering_model.prompt(found.question, passages, found.snapshot)
            if self.until < inf:
                asked = replace(asked, seconds=max(1.0, self.until - time.monotonic()))
            for text in answering_model.written(self._in_time(asker.stream(asked))):
                said = True
                count += 1
                if count > answering_model.MOST_SENTENCES:
                    self.note = f"The model wrote on and on; what follows its first {count - 1} sentences is left out."
                    break
                told = answering_model.judged(text, passages, found.question)
                if told is None or told.text in known:
                    continue
                known.add(told.text)
                if isinstance(told, Cut):
                    self.cut.append(told)
                else:
                    stood = True
                    yield from self._sentence(told, [references[number] for number in told.citations])
        except ModelError as error:
            log.warning("the model did not finish its answer: %s", error)
            self.trouble.append(Degraded("model", f"{error.subject}: {error.cause}", error.next_step))
        if stood:
            if found.gap:
                self.note = "The wiki's words do not cover this question; the answer is from pages near in meaning."
            return
        if found.gap:
            yield from self.gap()
            return
        if said and not self.cut and not self.trouble:
            self.state = "gap"
            self.note = "The model finds no answer in the pages that were found."
            return
        if not said and not self.trouble:
            self.note = "The model wrote nothing; this is what the pages say themselves."
        elif not self.trouble:
            self.note = "Nothing that the model wrote is carried by the pages; this is what they say themselves."
        yield from self.quotes()

    def _in_time(self, stream: Iterator[str]) -> Iterator[str]:
        """The stream while there is time left. Raises ModelError."""
        for piece in stream:
            if time.monotonic() > self.until:
                raise ModelError(Kind.TIMED_OUT, "there was no whole answer in time", "model", "Ask for a stream")
            yield piece

    def done(self, asker: Asker | None, before: Spent) -> Done:
        """How it ended."""
        found = self.looked_up.found
        spent = asker.spent if asker is not None else Spent()
        near = tuple(
            Near(page.hit.wiki, page.hit.slug, page.hit.title, page.hit.path) for page in found.pages[:MOST_NEAR]
        )
        return Done(
            self.state,
            self.note,
            found.unknown,
            self.looked_up.uncovered,
            near if self.state == "gap" else (),
            tuple(self.cut),
            (*found.degraded, *self.trouble),
            Cost(
                spent.calls - before.calls,
                spent.input_tokens + spent.output_tokens - before.input_tokens - before.output_tokens,
                round(spent.money - before.money, 6),
            ),
        )

    def _quoted(self, quoted: answering_quotes.Quoted) -> Iterator[Event]:
        if _key(quoted.reference) in self.numbers:
            return  # another part was answered with it
        self.paragraph += 1
        for sentence in quoted.sentences:
            yield from self._sentence(replace(sentence, paragraph=self.paragraph), [quoted.reference])

    def _sentence(self, sentence: Sentence, references: Sequence[Reference]) -> Iterator[Event]:
        """A sentence with its references numbered in the order of their first use."""
        numbers = []
        for reference in references:
            number = self.numbers.get(_key(reference))
            if number is None:
                number = self.numbers[_key(reference)] = len(self.numbers) + 1
                yield Cited(renumbered(reference, number))
            numbers.append(number)
        yield replace(sentence, citations=tuple(numbers))


def _key(reference: Reference) -> tuple[str, str, int, int]:
    return reference.wiki, reference.id, reference.block, reference.start


def gap_note(unknown: Sequence[str], offered: bool, state: State) -> str:
    """A gap in words: what is not covered, and what would help."""
    if state == "empty":
        return f"The wiki is empty. {_INGEST}"
    about = f" about {', '.join(unknown[:6])}" if unknown else " that speaks of this"
    if offered:
        return "No page of the wiki covers this. The sources that were read say something, which no page tells yet."
    return f"Neither the wiki's pages nor its sources cover this. A source{about} would help. {_INGEST}"
