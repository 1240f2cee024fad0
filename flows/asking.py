"""The language model of a wiki, ready to be asked: its settings, its budget on disk, and the answers it gave before."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from config.settings import Settings
from config.wiki import Wiki
from flows.session import Session
from flows.steps import utc_now
from storage.decisions import Decisions
from storage.spending import Spending
from tasks.llm.ask import Role
from tasks.llm.cached import CachedAsker
from tasks.llm.client import Client, connect
from tasks.llm.prices import is_local, model_for, price_of
from tasks.records import DecisionRecord


class WikiAsker(CachedAsker):
    """Answers from what is known, else from the model; `decisions` holds what the next commit is to record."""

    def __init__(self, client: Client, decisions: Decisions) -> None:
        super().__init__(client, decisions)
        self.client, self.decisions = client, decisions


class _Place(NamedTuple):
    state_dir: Path
    settings: Settings


_readers: dict[_Place, WikiAsker] = {}
_guard = threading.Lock()


def asker(where: Session | Wiki) -> WikiAsker | None:
    """The asker of a run (its own; close it in the end) or of a wiki (shared by this process); None without a model.

    Raises MissingExtraError when the provider's library is not installed, ModelError when no key is found.
    """
    if isinstance(where, Session):
        decisions = Decisions(where.wiki.state_dir, where.now, where.state.blobs)
        return _connected(where.wiki, where.run, decisions)
    place = _Place(where.state_dir, where.settings)
    with _guard:
        found = _readers.get(place)
        if found is not None and not found.client.stopped:
            return found
        for old in [one for one in _readers if one.state_dir == place.state_dir]:  # its settings or its luck changed
            _readers.pop(old).close()
        made = _connected(where, "reading", Decisions(where.state_dir, utc_now()))
        if made is not None:
            _readers[place] = made
        return made


def _connected(wiki: Wiki, run: str, decisions: Decisions) -> WikiAsker | None:
    settings = wiki.settings
    client = connect(settings, Spending(wiki.state_dir, run, settings.budget, settings.time_zone))
    return WikiAsker(client, decisions) if client is not None else None


# --- what a commit records


def pending_decisions(session: Session) -> tuple[DecisionRecord, ...]:
    """What models decided and no snapshot holds yet, also in runs that were cut off and in questions of readers."""
    return Decisions(session.wiki.state_dir, session.now, session.state.blobs).pending()


def decisions_published(session: Session) -> None:
    """Drop the logs of decisions that the commit has published."""
    Decisions(session.wiki.state_dir, session.now, session.state.blobs).drop_published()


# --- what a night will cost


@dataclass(frozen=True, slots=True)
class PlannedCalls:
    """Calls that a run means to make for one role; output is what is expected, not the most."""

    role: Role
    calls: int
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """What planned calls are expected to cost. `money` is None when a price is not known."""

    models: tuple[str, ...]
    calls: int
    input_tokens: int
    output_tokens: int
    money: float | None
    paid: bool             # whether any of the models costs money
    sources: int = 0       # that they are about

    def sentence(self) -> str:
        """The estimate as a person reads it."""
        price = "its price is not known" if self.money is None else f"about ${self.money:,.2f}"
        if not self.paid:
            price = "free"
        about = f" for {self.sources:,} sources" if self.sources else ""
        tokens = f"{self.input_tokens:,} tokens in, {self.output_tokens:,} out"
        return f"{self.calls:,} calls of {', '.join(self.models)}{about} ({tokens}): {price}"


Approve = Callable[[Estimate], bool]
"""Whether a run may make the calls of an estimate."""


def agreed(_: Estimate) -> bool:
    """Yes, always: the caps of the budget hold anyway."""
    return True


def estimate(settings: Settings, planned: Iterable[PlannedCalls], sources: int = 0) -> Estimate:
    """What planned calls are expected to cost, by the price table."""
    named: list[str] = []
    calls = coming_in = going_out = 0
    money: float | None = 0.0
    paid = False
    for one in planned:
        name = model_for(one.role, settings)
        if name is None or not one.calls:
            continue
        named.append(name.full)
        calls += one.calls
        coming_in += one.input_tokens
        going_out += one.output_tokens
        price = price_of(name, settings)
        paid = paid or (not is_local(name, settings) if price is None else bool(price.input or price.output))
        money = None if price is None or money is None else money + price.of(one.input_tokens, one.output_tokens)
    return Estimate(tuple(dict.fromkeys(named)), calls, coming_in, going_out, money, paid, sources)


def worth_asking(settings: Settings, expected: Estimate) -> bool:
    """Whether a person is to be asked before the calls are made: they cost more than `budget.ask_above`, or who knows.
    """
    return expected.paid and (expected.money is None or expected.money > settings.budget.ask_above)


