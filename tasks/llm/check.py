"""Whether the models of a wiki work: one tiny question a role, asked of the provider itself, never of the cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import BaseModel, Field

from config.errors import MissingExtraError, ModelError
from config.models import Price
from config.settings import Settings
from tasks.clock import Clock, SystemClock
from tasks.llm.ask import Part, Prompt, Role
from tasks.llm.budget import Purse
from tasks.llm.client import Client, connect
from tasks.llm.prices import model_for, price_of

_TOKENS = 2000  # for the reply: models that think aloud first need some
_PROMPT = "Which year does the note name? Reply with the year alone."
_NOTE = Part("note", "The Z3 was presented in Berlin in 1941.")


class Year(BaseModel):
    """What the tiny question asks for."""

    year: int = Field(ge=0, le=3000)


@dataclass(frozen=True, slots=True)
class RoleCheck:
    """What became of one role's question. `price` is None when it is not known."""

    role: Role
    model: str
    works: bool
    reason: str = ""          # why it does not, or what is odd about the reply
    next_step: str = ""
    seconds: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    money: float = 0.0
    price: Price | None = None


def check_roles(settings: Settings, purse: Purse, clock: Clock | None = None) -> Iterator[RoleCheck]:
    """One result a role that has a model, as they come."""
    tiny = settings.endpoint.model_copy(update={"retries": 0, "max_output_tokens": _TOKENS})
    quick = settings.model_copy(update={"endpoint": tiny})
    for role in Role:
        if model_for(role, settings) is not None:
            yield _checked(role, quick, purse, clock or SystemClock())


def _checked(role: Role, settings: Settings, purse: Purse, clock: Clock) -> RoleCheck:
    name = model_for(role, settings)
    assert name is not None
    price = price_of(name, settings)
    client: Client | None = None
    begun = clock.now()
    reason = next_step = ""
    works = False
    try:
        client = connect(settings, purse, clock, (role,))
        assert client is not None
        begun = clock.now()  # loading a library is no part of the reply
        year = client.ask(Prompt(role, "check", _PROMPT, (_NOTE,)), Year).year
        works = True
        reason = "" if year == 1941 else f"it answers in the right form, but wrongly ({year} instead of 1941)"
    except (ModelError, MissingExtraError) as error:
        reason, next_step = error.cause, error.next_step
    finally:
        seconds = clock.now() - begun
        spent = client.spent if client is not None else None
        if client is not None:
            client.close()
    if spent is None:
        return RoleCheck(role, name.full, works, reason, next_step, price=price)
    return RoleCheck(role, name.full, works, reason, next_step, round(seconds, 3), spent.input_tokens,
                     spent.output_tokens, spent.money, price)
