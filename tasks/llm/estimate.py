"""What planned calls are expected to cost, and whether a person is asked before they are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from config.settings import Settings
from tasks.llm.ask import Role
from tasks.llm.prices import is_local, model_for, price_of


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
