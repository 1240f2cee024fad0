"""One exchange with a model, whoever serves it: the seam between the client's rules and the wire."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from tasks.llm.ask import Kind


@dataclass(frozen=True, slots=True)
class Turn:
    """A reply that was refused, and what is said to it."""

    reply: str
    answer: str


@dataclass(frozen=True, slots=True)
class Call:
    """What is sent. `schema` is given when the reply is to be an object of this JSON Schema."""

    system: str
    question: str
    turns: tuple[Turn, ...] = ()
    schema: dict[str, Any] | None = None
    max_output_tokens: int = 8000
    seconds: float = 180.0

    @property
    def text(self) -> str:
        """Everything that is sent, for counting."""
        return "\n".join((self.system, self.question, *(f"{turn.reply}\n{turn.answer}" for turn in self.turns)))


@dataclass(frozen=True, slots=True)
class Completion:
    """What came back. Token counts are 0 where the server tells none."""

    text: str
    cut_off: bool = False
    input_tokens: int = 0
    output_tokens: int = 0


class CallFailed(Exception):
    """A call brought no reply. `charged` says whether the provider may still ask money for it."""

    def __init__(self, kind: Kind, reason: str, next_step: str = "", *, passing: bool = False,
                 wait: float | None = None, final: bool = False, charged: bool = False,
                 otherwise: bool = False) -> None:
        super().__init__(reason)
        self.kind, self.reason, self.next_step = kind, reason, next_step
        self.passing = passing  # may succeed when it is tried again
        self.wait = wait        # seconds that the provider asks to wait
        self.final = final      # every further call of this run would fail alike
        self.charged = charged
        self.otherwise = otherwise  # the backend now knows another way of asking: ask again at once


class Backend(Protocol):
    """Reaches one model. Thread-safe."""

    def complete(self, call: Call) -> Completion:
        """The reply to a call. Raises CallFailed."""
        ...

    def stream(self, call: Call) -> Iterator[str]:
        """The reply's text as it comes. Raises CallFailed, also in the middle."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...
