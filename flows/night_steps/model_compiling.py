"""Compiling with a model as a step of the night: which sources it is asked about, what it sees, what is kept of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock, Thread

from config.errors import MissingExtraError, ModelError, NightwikiError
from config.settings import Settings
from config.wiki import model_cache
from flows.asking import WikiAsker, go_ahead
from flows.night_steps.gathering import Gathering
from flows.night_steps.reading import Reading
from flows.night_steps.reading_in import Taken
from flows.session import Session
from flows.time_limit import TimedAsker
from storage.search.engine import Engine, searched
from tasks.compiling.compile import Compilation, Compiler, CompileRequest, KnownPage, Material, Verdict
from tasks.digest import Cost, Problem, RoleCost
from tasks.llm.ask import Asker, M, Prompt, Spent, fine
from tasks.llm.client import preload
from tasks.llm.estimate import PlannedCalls, estimate
from tasks.markdown import properties
from tasks.markdown.blocks import split
from tasks.reading.evidence import decode_document
from tasks.records import (
    TRANSIENT,
    BlockKind,
    ChunksRecord,
    Document,
    DocumentRecord,
    Outcome,
    Owner,
    PageRecord,
    SourceRecord,
)
from tasks.text_bytes import decode
from tasks.writing.compiler import ModelCompiler, basis
from tasks.writing.planning import planned_calls
from tasks.writing.purpose import NOTE, Purpose, read_purpose

log = logging.getLogger(__name__)

Connect = Callable[[Session], Asker | None]
"""Reaches the language model of a run; None when the wiki names none."""

_LATER = TRANSIENT - {Outcome.DEFERRED_BUDGET}
"""Outcomes after which a source waits for its time; what only the budget put off is asked in the next run."""

_SEARCHED = 5  # pages that search offers for a subject
_SHOWN = 500  # letters of a person's block that the model sees
_MOST_REMARKS = 200  # in one report


@dataclass(frozen=True, slots=True)
class Asked:
    """What of the sources a model is to decide on, and for which purpose."""

    ids: frozenset[str]
    purpose: Purpose

    @property
    def basis(self) -> str:
        return basis(self.purpose)


def to_ask(session: Session, gathering: Gathering, reading: Reading, live: Mapping[str, SourceRecord]) -> Asked:
    """New and corrected sources, and those compiled for other prompts or another purpose, or not by a model.

    A night over some sources leaves the others alone; one that failed of late waits for the time of its next try.
    """
    purpose = purpose_of(session)
    wanted = basis(purpose)
    due = {
        record.id
        for record in live.values()
        if not gathering.limited
        and record.compiled_for != wanted
        and not record.ignored
        and record.outcome is not Outcome.UNDONE
        and not (record.outcome in _LATER and record.retry_at > session.now)
    }
    return Asked(frozenset((due | set(reading.documents)) & live.keys()), purpose)


def purpose_of(session: Session) -> Purpose:
    """What the wiki is for, as its owner wrote it."""
    try:
        return read_purpose(decode(session.state.vault.read(NOTE)))
    except OSError:
        return Purpose()


def load_meanwhile(session: Session, gathering: Gathering) -> None:
    """Load the model's libraries beside the reading of new sources: that takes a second and more."""
    settings = session.wiki.settings
    if gathering.jobs and with_model(settings) and not session.dry:
        Thread(target=preload, args=(settings,), name="nightwiki-model-libraries", daemon=True).start()


def compile_with_model(
    session: Session,
    taken: Taken,
    gathering: Gathering,
    reading: Reading,
    live: Mapping[str, SourceRecord],
    request: CompileRequest,
    asked: Asked,
    connect: Connect,
) -> Compilation:
    """The pages that the changed sources concern. What the model decided is kept with the sources, and told of them."""
    shelf = _Shelf(session, reading)
    settings = session.wiki.settings.compile
    request = replace(request, material=_material(session, taken, live, asked, shelf))
    found = _connected(session, gathering, asked, shelf, connect)
    asker: Asker = _Closed(found) if isinstance(found, Verdict) else TimedAsker(found, session.limit)
    try:
        compiler: Compiler = ModelCompiler(
            asker,
            settings.fallback == "extractive",
            session.wiki.settings.chunks,
            settings.longest,
            max(8, 2 * session.wiki.settings.endpoint.concurrent),
        )
        made = compiler.compile(request)
        gathering.cost = replace(_cost(asker.spent), expected=gathering.cost.expected)
    finally:
        if isinstance(found, WikiAsker):
            found.close()
    if session.dry:
        verdicts = {one: verdict for one, verdict in made.verdicts.items() if verdict.outcome is Outcome.OUT_OF_SCOPE}
        made = replace(made, verdicts=verdicts)
    _keep(gathering, reading, made, shelf)
    return made


class _Closed:
    """Asks nothing: every question ends with the reason why."""

    def __init__(self, why: Verdict) -> None:
        kind = "budget" if why.outcome is Outcome.DEFERRED_BUDGET else "refused"
        self._error = ModelError(kind, why.reason, next_step=why.next_step)

    @property
    def spent(self) -> Spent:
        return Spent()

    def ask(self, prompt: Prompt, schema: type[M], accept: Callable[[M], str] = fine) -> M:
        raise self._error

    def stream(self, prompt: Prompt) -> Iterator[str]:
        raise self._error


class _Shelf:
    """Documents of sources, those of this run first; rows of former runs are read once."""

    def __init__(self, session: Session, reading: Reading) -> None:
        self._session, self._reading = session, reading
        self._rows: dict[str, DocumentRecord | None] = {}
        self._lock = Lock()

    def fetch(self, ids: Sequence[str]) -> None:
        """Read the former rows of many sources at once."""
        with self._lock:
            missing = [one for one in ids if one not in self._rows]
            if missing:
                found = self._reading.documents_of(missing)
                self._rows.update({one: found.get(one) for one in missing})

    def former(self, source_id: str) -> DocumentRecord | None:
        """The row as it was before this run."""
        self.fetch([source_id])
        return self._rows.get(source_id)

    def document(self, source_id: str) -> Document:
        """The document as it is now."""
        row = self._reading.documents.get(source_id) or self.former(source_id)
        if row is None:
            raise NightwikiError(source_id, "its document is not kept", "nightwiki sources retry")
        return decode_document(row.document)

    def written(self, source_id: str) -> bytes:
        """What was decided on the source in a former run."""
        row = self.former(source_id)
        return row.written if row is not None else b""


def _connected(
    session: Session, gathering: Gathering, asked: Asked, shelf: _Shelf, connect: Connect
) -> Asker | Verdict:
    """The model, or why it is not asked: a person said no, or it cannot be reached."""
    shelf.fetch(sorted(asked.ids))
    documents = [shelf.document(one) for one in sorted(asked.ids)]
    planned = planned_calls(documents)
    gathering.cost = Cost(expected=expected(session, planned, len(documents)) if documents else "")
    if session.dry:
        return Verdict(Outcome.DEFERRED_BUDGET, "a dry run asks no model")
    if documents and not go_ahead(session, planned, len(documents)):
        step = "Run `nightwiki ingest --yes` to spend it"
        return Verdict(Outcome.DEFERRED_BUDGET, f"not agreed to: {gathering.cost.expected}", step)
    try:
        model = connect(session)
    except (ModelError, MissingExtraError) as error:
        return Verdict(Outcome.MODEL_FAILED, f"{error.subject}: {error.cause}", error.next_step)
    if model is None:
        return Verdict(Outcome.MODEL_FAILED, "no model is set", "Set `model:` in nightwiki.yaml")
    return model


def expected(session: Session, planned: Sequence[PlannedCalls], sources: int) -> str:
    """What planned calls are expected to cost, in a sentence."""
    return estimate(session.wiki.settings, planned, sources).sentence()


def _cost(spent: Spent) -> Cost:
    roles = tuple(
        RoleCost(one.role.value, one.calls, one.input_tokens + one.output_tokens, one.money) for one in spent.roles
    )
    failed = tuple((kind.value, count) for kind, count in spent.failed)
    return Cost(
        spent.calls, spent.input_tokens, spent.output_tokens, spent.money, spent.cached, roles=roles, failed=failed
    )


def _material(
    session: Session, taken: Taken, live: Mapping[str, SourceRecord], asked: Asked, shelf: _Shelf
) -> Material:
    pages = taken.vault.pages
    waiting = [
        KnownPage(one.id, one.slug, one.title, (), (one.subject,), one.sources)
        for one in taken.vault.candidates.values()
        if one.state == "open" and one.kind == "new" and one.subject
    ]
    return Material(
        asked=asked.ids,
        document=shelf.document,
        written=shelf.written,
        subjects={record.id: record.subjects for record in live.values()},
        waiting=waiting,
        search=_search(session, pages),
        opening=lambda page_id: _opening(pages[page_id]),
        persons=lambda page_id: _persons(pages[page_id]) if page_id in pages else (),
        purpose=asked.purpose.text,
    )


def _search(session: Session, pages: Mapping[str, PageRecord]) -> Callable[[str], Sequence[str]]:
    if not pages:
        return lambda _: ()
    engine = Engine([searched(session.wiki.state_dir, session.wiki.settings, model_cache())])

    def search(question: str) -> Sequence[str]:
        hits = engine.search(question, _SEARCHED).hits
        return [hit.id for hit in hits if hit.id in pages]

    return search


def _opening(page: PageRecord) -> str:
    body = properties.read(page.markdown).body
    first = next((block.text for block in split(body) if block.kind is BlockKind.PARAGRAPH), "")
    return " ".join(first.split())[:_SHOWN]


def _persons(page: PageRecord) -> tuple[str, ...]:
    """The blocks that a person wrote on a page, for the model to see and not to repeat."""
    found = split(properties.read(page.markdown).body)
    if len(found) != len(page.blocks):
        return ()
    kinds = (BlockKind.HEADING, BlockKind.FOOTNOTE, BlockKind.RULE)
    return tuple(
        block.text[:_SHOWN]
        for block, record in zip(found, page.blocks, strict=True)
        if record.owner is Owner.PERSON and block.kind not in kinds
    )


def _keep(gathering: Gathering, reading: Reading, made: Compilation, shelf: _Shelf) -> None:
    """Note with each source what was decided on it, and say of those that did not come through why."""
    for source_id, row in [*reading.documents.items()]:
        given = made.given.get(source_id)
        written = given.written if given is not None else shelf.written(source_id)
        reading.documents[source_id] = replace(row, written=written)
    for source_id, given in made.given.items():
        former = shelf.former(source_id)
        if source_id not in reading.documents and former is not None:
            reading.documents[source_id] = replace(former, written=given.written)
        record = gathering.records[source_id]
        gathering.records[source_id] = replace(record, compiled_for=given.basis, subjects=given.subjects)
        again = record.outcome in (Outcome.OUT_OF_SCOPE, Outcome.MODEL_FAILED, Outcome.DEFERRED_BUDGET)
        if again and source_id not in made.verdicts:
            gathering.settle(gathering.records[source_id], Outcome.OK)
    for source_id, chunks in made.chunks.items():
        reading.chunks[source_id] = ChunksRecord(source_id, chunks)
    for source_id, verdict in made.verdicts.items():
        record = gathering.records[source_id]
        gathering.settle(record, verdict.outcome, verdict.reason, verdict.next_step)
    for remark in made.remarks[:_MOST_REMARKS]:
        gathering.problems.append(Problem(gathering.records[remark.source_id].location, remark.text))
    if len(made.remarks) > _MOST_REMARKS:
        rest = len(made.remarks) - _MOST_REMARKS
        gathering.problems.append(Problem("the model", f"{rest} further remarks on sources"))


# --- without a model -------------------------------------------------------------------------------------------------


def with_model(settings: Settings) -> bool:
    """Whether pages are written with a model: one is set, and the settings do not say otherwise."""
    return settings.compile.compiler == "model" or (settings.compile.compiler == "auto" and bool(settings.model))


def without_written(request: CompileRequest, live: Mapping[str, SourceRecord], gathering: Gathering) -> CompileRequest:
    """The request without what a model wrote in former nights: that stays as it is while no model is set.

    A corrected source of that kind waits for a model; `compile.compiler: extractive` has it quoted instead.
    """
    written = {record.id for record in live.values() if record.compiled_for}
    if not written:
        return request
    for source_id in sorted(written & request.changed & gathering.touched):
        record = gathering.records[source_id]
        if record.outcome is Outcome.OK:
            step = "Set `model:` again, or `compile.compiler: extractive` to have it quoted"
            gathering.settle(record, Outcome.MODEL_FAILED, "a model wrote its pages, and none is set now", step)
    return replace(
        request,
        changed=request.changed - written,
        topics={source_id: topics for source_id, topics in request.topics.items() if source_id not in written},
        pages=[replace(page, adopted=page.adopted or not written.isdisjoint(page.sources)) for page in request.pages],
    )


def unwritten(gathering: Gathering, made: Compilation) -> None:
    """Note of sources that are now quoted that no model's words stand for them any longer."""
    for source_id in {source for proposal in made.proposals for source in proposal.sources}:
        record = gathering.records[source_id]
        if record.compiled_for:
            gathering.records[source_id] = replace(record, compiled_for="", subjects=())
