"""An answer as it comes: what was found, sentence by sentence with what each relies on, and how it ended.

Terminal, REST and MCP show the same events. An `Answer` is these events put together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from config.errors import NightwikiError
from tasks.search.result import SCHEMA_VERSION, Degraded, Hit, HitCitation

Checked = Literal["quoted", "covered", "uncovered", "translated"]
"""How far a sentence stands: word for word on the page; every word covered by what it cites; some word not covered;
in another language than what it cites, so that only its figures could be compared."""

State = Literal["answered", "gap", "empty"]


@dataclass(frozen=True, slots=True)
class Reference:
    """A passage that the answer uses, and where its words come from."""

    number: int  # from 1, in the order of first use; sentences name it
    layer: Literal["pages", "chunks"]  # of a page, or of a source that no page tells
    wiki: str
    id: str  # of the page, or the source
    slug: str
    title: str
    path: str
    status: str
    confidence: str
    block: int  # number of the block on its page; -1 for a source
    start: int  # of the block, in characters of the page's text
    end: int
    page_hash: str
    heading_path: tuple[str, ...]
    quote: str  # the words relied on, as the page has them
    sources: tuple[HitCitation, ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the answer; `citations` are numbers of references."""

    text: str
    citations: tuple[int, ...]
    checked: Checked
    paragraph: int = 0  # sentences of one paragraph belong together
    reason: str = ""  # what is not covered


@dataclass(frozen=True, slots=True)
class Cut:
    """A sentence that a model wrote and that its sources do not carry."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Near:
    """A page near in meaning: not an answer, but perhaps where to look."""

    wiki: str
    slug: str
    title: str
    path: str


@dataclass(frozen=True, slots=True)
class Cost:
    """What an answer used of a model."""

    calls: int = 0
    tokens: int = 0
    money: float = 0.0


# --- events ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Hits:
    """The first event: what was looked for and found."""

    question: str
    parts: tuple[str, ...]
    translated: str
    snapshot: str
    generated: str
    gap: bool
    degraded: tuple[Degraded, ...]
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Cited:
    """A reference, before the first sentence that names it."""

    reference: Reference


@dataclass(frozen=True, slots=True)
class Done:
    """The last event."""

    state: State
    note: str  # of a gap: what is not covered, and what would help
    unknown: tuple[str, ...]  # words that no page knows
    uncovered: tuple[str, ...]  # parts of the question that the wiki does not cover
    near: tuple[Near, ...]
    cut: tuple[Cut, ...]
    degraded: tuple[Degraded, ...]  # all of it, also what came up while answering
    cost: Cost = field(default_factory=Cost)


@dataclass(frozen=True, slots=True)
class Failed:
    """The last event when there can be no answer."""

    subject: str
    cause: str
    next_step: str


Event = Hits | Cited | Sentence | Done | Failed


# --- the whole -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answer:
    """What the wiki answers: sentences, and the references that they name and no others."""

    question: str
    parts: tuple[str, ...]
    translated: str
    snapshot: str
    generated: str
    state: State
    gap: bool
    note: str
    unknown: tuple[str, ...]
    uncovered: tuple[str, ...]
    degraded: tuple[Degraded, ...]
    sentences: tuple[Sentence, ...]
    citations: tuple[Reference, ...]
    near: tuple[Near, ...]
    cut: tuple[Cut, ...]
    cost: Cost

    def to_json(self) -> dict[str, Any]:
        """As a JSON object with `schema_version`."""
        return {"schema_version": SCHEMA_VERSION, **asdict(self)}


def event_json(event: Event) -> dict[str, Any]:
    """An event as a JSON object, its type under `event`: hits, citation, sentence, done or error."""
    names = {Hits: "hits", Cited: "citation", Sentence: "sentence", Done: "done", Failed: "error"}
    told = asdict(event)
    for hit in told.get("hits", ()):
        hit.pop("explain", None)
    return {"event": names[type(event)], **told}


def collected(events: Iterable[Event]) -> Answer:
    """The answer that the events are. Raises NightwikiError where they say that there is none."""
    begun: Hits | None = None
    sentences: list[Sentence] = []
    references: list[Reference] = []
    for event in events:
        match event:
            case Hits():
                begun = event
            case Sentence():
                sentences.append(event)
            case Cited(reference):
                references.append(reference)
            case Failed():
                raise NightwikiError(event.subject, event.cause, event.next_step)
            case Done() if begun is not None:
                used = {number for sentence in sentences for number in sentence.citations}
                return Answer(
                    begun.question,
                    begun.parts,
                    begun.translated,
                    begun.snapshot,
                    begun.generated,
                    event.state,
                    begun.gap,
                    event.note,
                    event.unknown,
                    event.uncovered,
                    event.degraded,
                    tuple(sentences),
                    tuple(one for one in references if one.number in used),
                    event.near,
                    event.cut,
                    event.cost,
                )
    raise NightwikiError("answer", "it ended before it was whole", "Ask again")


def renumbered(reference: Reference, number: int) -> Reference:
    """A reference under another number."""
    return replace(reference, number=number)
