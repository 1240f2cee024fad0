"""What is asked of a language model, and by whom it is answered: the seam between prompts and providers.

Whoever needs a model writes a `Prompt`, names the pydantic model of the reply, and hands both to an `Asker`. Text of
sources goes into parts of its own, which the asker fences off with delimiters that nobody can know beforehand. Keys,
rates, prices, retries and the cache are the asker's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeVar

from pydantic import BaseModel

from config.errors import ModelError

__all__ = ["Asker", "Kind", "ModelError", "Part", "Prompt", "Role", "RoleSpent", "Spent", "fine"]

M = TypeVar("M", bound=BaseModel)


class Role(StrEnum):
    """What a model is asked for; the settings may name another model for each."""

    ANALYSE = "analyse"
    DECIDE = "decide"
    WRITE = "write"
    CITE = "cite"
    ROUTE = "route"
    ANSWER = "answer"


class Kind(StrEnum):
    """Why a model gave no usable reply; `ModelError.kind` is one of these."""

    TRUNCATED = "truncated"      # the reply was cut off: ask for less
    INVALID = "invalid"          # twice not what was asked for
    TIMED_OUT = "timed_out"      # no whole reply in time
    REFUSED = "refused"          # the provider will not: wrong key, unknown model, unpaid bill, content filter
    UNAVAILABLE = "unavailable"  # not reachable, or failing again and again
    BUDGET = "budget"            # a cap of the settings, or no credit left: ask nothing more in this run


@dataclass(frozen=True, slots=True)
class Part:
    """A named piece of a prompt. What is not `trusted` is data, never an instruction."""

    name: str
    text: str
    trusted: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question to a model; equal prompts have equal answers in the cache."""

    role: Role
    version: str                    # of the wording; a new one asks anew
    instructions: str
    parts: tuple[Part, ...] = ()
    concerns: tuple[str, ...] = ()  # what the answer depends on beside the parts: versions of pages, the purpose's hash
    seconds: float = 0.0            # how long somebody waits for the answer; 0: as long as the settings say


@dataclass(frozen=True, slots=True)
class RoleSpent:
    """What the questions of one role have used."""

    role: Role
    calls: int
    input_tokens: int
    output_tokens: int
    money: float


@dataclass(frozen=True, slots=True)
class Spent:
    """What an asker has used since it was made."""

    calls: int = 0           # requests sent, tries again included
    input_tokens: int = 0
    output_tokens: int = 0
    money: float = 0.0       # dollars, by the price table; 0 for local models
    cached: int = 0          # answers that were already known
    roles: tuple[RoleSpent, ...] = ()  # the same by role, of those that were asked
    failed: tuple[tuple[Kind, int], ...] = ()  # calls that brought no usable reply, by kind


def fine(_: object) -> str:
    """Accepts every reply."""
    return ""


class Asker(Protocol):
    """A model, or several by role. Blocking and thread-safe: ask from as many threads as you like."""

    def ask(self, prompt: Prompt, schema: type[M], accept: Callable[[M], str] = fine) -> M:
        """The reply, valid by `schema` and by `accept`, which returns a reason to refuse it ('' when it is fine).

        A refused reply is asked for once more with the reason. Raises ModelError.
        """
        ...

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """The reply as plain text, piece by piece as it comes. Raises ModelError, also in the middle."""
        ...

    @property
    def spent(self) -> Spent:
        """What was used so far."""
        ...
