"""The asker: takes a prompt through rate limits, the budget, tries and checks, to a reply that is what was asked for.

It stops by itself. Once the provider wants payment, the key is wrong, a cap is reached, or the model fails again and
again, every further question of the run is refused at once, without a call.
"""

from __future__ import annotations

import contextlib
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel

from config.errors import MissingExtraError, NightwikiError
from config.models import PROGRAMS, ModelName, Price
from config.settings import Endpoint, Settings
from tasks.clock import Clock, SystemClock
from tasks.llm.ask import Kind, ModelError, Prompt, Role, RoleSpent, Spent, fine
from tasks.llm.backend import Backend, Call, CallFailed, Completion, Turn
from tasks.llm.bucket import Bucket
from tasks.llm.budget import OpenPurse, Purse, Ticket, Usage
from tasks.llm.prices import model_for, price_of
from tasks.llm.reply import UnusableReply, read_reply
from tasks.llm.wording import again, json_schema, wording
from tasks.packs.token_count import count_tokens

M = TypeVar("M", bound=BaseModel)

_LEAST_IN_A_ROW = 3          # questions given up one after the other, after which the run asks no more
_LONGEST_WAIT = 300.0        # seconds that a provider may ask us to wait; more, and the question is given up
_LONGEST_PATIENCE = 20.0     # the same where somebody waits for a stream
_FIRST_PAUSE, _MOST_PAUSE = 2.0, 60.0
_SHOWN_AGAIN = 20_000        # characters of a refused reply that the model is shown


@dataclass(frozen=True, slots=True)
class Served:
    """A model that is ready to be asked, and its price (None: not known)."""

    name: ModelName
    backend: Backend
    price: Price | None


class Client:
    """Models by role, under one budget and one rate. Implements `tasks.llm.ask.Asker`."""

    def __init__(self, models: Mapping[Role, Served], endpoint: Endpoint, purse: Purse | None = None,
                 money_capped: bool = False, clock: Clock | None = None) -> None:
        self._models = models
        self._endpoint = endpoint
        self._purse = purse or OpenPurse()
        self._money_capped = money_capped
        self._clock = clock or SystemClock()
        self._bucket = Bucket(endpoint.concurrent, endpoint.requests_per_minute, endpoint.tokens_per_minute,
                              self._clock)
        self._lock = threading.Condition()
        self._used: dict[Role, Usage] = {}
        self._failed: Counter[Kind] = Counter()
        self._under_way = self._over = 0
        self._in_a_row: Counter[ModelName] = Counter()
        self._stopped: dict[ModelName, ModelError] = {}

    @property
    def spent(self) -> Spent:
        """What was used so far."""
        with self._lock:
            used, failed = dict(self._used), dict(self._failed)
        all_of = sum(used.values(), Usage())
        roles = tuple(
            RoleSpent(role, used[role].calls, used[role].input_tokens, used[role].output_tokens, used[role].money)
            for role in Role
            if role in used
        )
        kinds = tuple((kind, failed[kind]) for kind in Kind if kind in failed)
        return Spent(
            all_of.calls, all_of.input_tokens, all_of.output_tokens, all_of.money, roles=roles, failed=kinds
        )

    @property
    def stopped(self) -> bool:
        """Whether a model is not asked any more."""
        with self._lock:
            return bool(self._stopped)

    def model(self, role: Role) -> str:
        """The name of the model that answers a role."""
        return self._models[role].name.full

    def ask(self, prompt: Prompt, schema: type[M], accept: Callable[[M], str] = fine) -> M:
        """The reply, valid by `schema` and `accept`. Raises ModelError."""
        served = self._models[prompt.role]
        worded = wording(prompt, schema)
        call = Call(worded.system, worded.question, (), json_schema(schema), self._endpoint.max_output_tokens,
                    self._seconds(prompt))
        reason = ""
        for last in (False, True):
            try:
                completion = self._carried_out(prompt.role, served, call, prompt.seconds > 0)
            except CallFailed as failed:
                if last or failed.kind is not Kind.INVALID:
                    raise self._error(served, failed) from None
                reason, completion = failed.reason, Completion("")
            else:
                if completion.cut_off:
                    self._note(Kind.TRUNCATED)
                    raise ModelError(Kind.TRUNCATED, "the reply was cut off at its greatest length", served.name.full,
                                     "Ask for less, or raise endpoint.max_output_tokens.")
                reason = ""
                try:
                    reply = read_reply(completion.text, schema)
                    reason = accept(reply)
                    if not reason:
                        return reply
                except UnusableReply as unusable:
                    reason = str(unusable)
                self._note(Kind.INVALID)
            if not last and completion.text:
                turn = Turn(completion.text[:_SHOWN_AGAIN], again(reason))
                call = Call(call.system, call.question, (turn,), call.schema, call.max_output_tokens, call.seconds)
        raise ModelError(Kind.INVALID, f"its reply was refused twice: {reason}", served.name.full)

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """The reply as plain text, piece by piece. Raises ModelError, also in the middle.

        Somebody waits for it, so it is asked for again only when the provider says how soon that may be.
        """
        served = self._models[prompt.role]
        worded = wording(prompt, None)
        call = Call(worded.system, worded.question, (), None, self._endpoint.max_output_tokens, self._seconds(prompt))
        tries = 0
        while True:
            said = False
            try:
                for piece in self._streamed(prompt.role, served, call):
                    said = True
                    yield piece
            except CallFailed as failed:
                tries += 1
                if said or not _soon(failed) or tries > self._endpoint.retries or self._is_stopped(served):
                    self._remember(failed, served)
                    raise self._error(served, failed) from None
                self._pause(tries - 1, failed)
            else:
                self._fared_well(served)
                return

    def _streamed(self, role: Role, served: Served, call: Call) -> Iterator[str]:
        """One try of a stream, booked and counted. Raises CallFailed or ModelError."""
        most = self._most(served, call)
        self._refuse_if_stopped(served)
        with self._bucket.turn(most.tokens):
            ticket = self._book(role, served, most)
            said: list[str] = []
            used = most
            try:
                for piece in served.backend.stream(call):
                    said.append(piece)
                    yield piece
                used = self._counted(served, call, Completion("".join(said)))
            except CallFailed as failed:
                if not said and not failed.charged:
                    used = Usage(calls=1)
                self._note(failed.kind)
                raise
            finally:
                self._settle(role, ticket, used)

    def close(self) -> None:
        """Let go of all connections."""
        for backend in {id(one.backend): one.backend for one in self._models.values()}.values():
            backend.close()

    # --- one call, with its tries

    def _seconds(self, prompt: Prompt) -> float:
        return min(prompt.seconds or self._endpoint.timeout_seconds, self._endpoint.timeout_seconds)

    def _carried_out(self, role: Role, served: Served, call: Call, hurried: bool) -> Completion:
        """The completion of a call, tried again while its failures may pass. Raises CallFailed or ModelError.

        Where somebody waits for it, it is tried again only when the provider says how soon that may be.
        """
        tries, number = self._endpoint.retries + 1, 0
        while True:
            try:
                completion = self._once(role, served, call)
            except CallFailed as failed:
                if failed.otherwise:
                    continue
                number += 1
                # A model that hangs is tried once more, not as often as one that answers with an error at once.
                enough = number >= (min(tries, 2) if failed.kind is Kind.TIMED_OUT else tries)
                too_long = failed.wait is not None and failed.wait > _LONGEST_WAIT
                too_long = too_long or (hurried and not _soon(failed))
                if not failed.passing or failed.final or enough or too_long or self._is_stopped(served):
                    self._remember(failed, served)
                    raise
                self._pause(number - 1, failed)
            else:
                self._fared_well(served)
                return completion

    def _once(self, role: Role, served: Served, call: Call) -> Completion:
        most = self._most(served, call)
        self._refuse_if_stopped(served)
        with self._bucket.turn(most.tokens):
            self._refuse_if_stopped(served)
            ticket = self._book(role, served, most)
            used = most
            try:
                completion = served.backend.complete(call)
                used = self._counted(served, call, completion)
                return completion
            except CallFailed as failed:
                used = most if failed.charged else Usage(calls=1)
                self._note(failed.kind)
                raise
            finally:
                self._settle(role, ticket, used)

    def _pause(self, number: int, failed: CallFailed) -> None:
        """Wait before the next try: as long as the provider asks, else longer each time."""
        if failed.wait:  # "at once", which clocks that differ make of a date, is not taken at its word
            self._bucket.pause(failed.wait)  # the others would meet the same limit
            return
        pause = min(_MOST_PAUSE, _FIRST_PAUSE * 2.0**number)
        self._clock.sleep(pause * (0.75 + random.random() / 2))

    # --- counting

    def _most(self, served: Served, call: Call) -> Usage:
        """What a call may cost at most. Raises ModelError when its price is not known and money is capped."""
        if served.price is None and self._money_capped:
            raise ModelError(
                Kind.BUDGET, "its price is not known, so the cap on money cannot be kept", served.name.full,
                f"Add it to budget.prices as '{served.name.full} IN OUT', or set the caps on money to 0.",
            )
        price = served.price or Price(0.0, 0.0)
        coming_in = at_most(call.text, served.name)
        return Usage(1, coming_in, call.max_output_tokens, price.of(coming_in, call.max_output_tokens))

    def _counted(self, served: Served, call: Call, completion: Completion) -> Usage:
        """What a call used: as the provider says, estimated where it says nothing."""
        price = served.price or Price(0.0, 0.0)
        coming_in = completion.input_tokens or at_most(call.text, served.name)
        going_out = completion.output_tokens or at_most(completion.text, served.name)
        return Usage(1, coming_in, going_out, price.of(coming_in, going_out))

    def _book(self, role: Role, served: Served, most: Usage) -> Ticket:
        """Book a call. While others are under way a refusal is not final: they are booked with more than they use."""
        with self._lock:
            while True:
                try:
                    ticket = self._purse.book(role.value, served.name.full, most)
                except ModelError:
                    over = self._over
                    # The wait is bounded: who reads a stream and asks meanwhile would wait for itself.
                    if not self._under_way or not self._lock.wait(self._endpoint.timeout_seconds) or over == self._over:
                        raise
                    continue
                self._under_way += 1
                return ticket

    def _settle(self, role: Role, ticket: Ticket, used: Usage) -> None:
        self._purse.settle(ticket, used)
        with self._lock:
            self._used[role] = self._used.get(role, Usage()) + used
            self._under_way -= 1
            self._over += 1
            self._lock.notify_all()

    def _note(self, kind: Kind) -> None:
        """Count a call that brought no usable reply."""
        with self._lock:
            self._failed[kind] += 1

    # --- stopping

    def _fared_well(self, served: Served) -> None:
        with self._lock:
            self._in_a_row[served.name] = 0

    def _remember(self, failed: CallFailed, served: Served) -> None:
        """Stop a model after a failure that every further call would meet, or after too many questions given up."""
        error = self._error(served, failed)
        with self._lock:
            if failed.kind in (Kind.UNAVAILABLE, Kind.TIMED_OUT):
                self._in_a_row[served.name] += 1
            # Those under way at once meet one outage together.
            most = _LEAST_IN_A_ROW + self._endpoint.concurrent - 1
            if not failed.final and self._in_a_row[served.name] >= most:
                reason = f"{most} questions in a row failed, so it is not asked again in this run: {failed.reason}"
                error = ModelError(failed.kind, reason, served.name.full, failed.next_step)
            elif not failed.final:
                return
            self._stopped.setdefault(served.name, error)

    def _is_stopped(self, served: Served) -> bool:
        with self._lock:
            return served.name in self._stopped

    def _refuse_if_stopped(self, served: Served) -> None:
        with self._lock:
            stopped = self._stopped.get(served.name)
        if stopped is not None:
            raise ModelError(stopped.kind, stopped.reason, stopped.subject, stopped.next_step)

    def _error(self, served: Served, failed: CallFailed) -> ModelError:
        return ModelError(failed.kind, failed.reason, served.name.full, failed.next_step)


def _soon(failed: CallFailed) -> bool:
    """Whether the provider says that it will answer soon enough for somebody who waits."""
    return failed.passing and failed.wait is not None and failed.wait <= _LONGEST_PATIENCE


def at_most(text: str, name: ModelName) -> int:
    """How many tokens a model may make of a text, rather too many than too few."""
    try:
        counted = count_tokens(text)
    except MissingExtraError:
        return len(text) // 3 + 8
    return counted if name.provider == "openai" else counted * 5 // 4 + 8


def connect(settings: Settings, purse: Purse | None = None, clock: Clock | None = None,
            roles: tuple[Role, ...] = tuple(Role)) -> Client | None:
    """A client for the models that the settings name, or None when they name none for these roles.

    Raises MissingExtraError when a provider's library is not installed, ModelError when its key is not found.
    """
    backends: dict[ModelName, Served] = {}
    models: dict[Role, Served] = {}
    for role in roles:
        name = model_for(role, settings)
        if name is None:
            continue
        if name not in backends:
            backends[name] = Served(name, reach(name, settings), price_of(name, settings))
        models[role] = backends[name]
    if not models:
        return None
    capped = bool(settings.budget.run_money or settings.budget.day_money)
    return Client(models, settings.endpoint, purse, capped, clock)


def reach(name: ModelName, settings: Settings) -> Backend:
    """The backend of one model."""
    if name.provider in PROGRAMS:
        from tasks.llm.programs import ProgramBackend

        return ProgramBackend(name, settings)
    from tasks.llm.providers import ProviderBackend

    return ProviderBackend(name, settings)


def preload(settings: Settings) -> None:
    """Load the libraries that `connect` and the first question need; what is missing is told by `connect`."""
    for name in {name for role in Role if (name := model_for(role, settings)) is not None}:
        with contextlib.suppress(NightwikiError):
            reach(name, settings).close()
    with contextlib.suppress(MissingExtraError):
        count_tokens("a")
