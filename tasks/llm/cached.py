"""Answers that are known are not asked for again: an asker in front of another, with a store behind it.

The key of an answer is everything it depends on. Only validated replies are kept, and one that is found is validated
again, so a schema or a check that changed asks anew.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from tasks.llm.ask import Asker, Prompt, Role, Spent, fine
from tasks.llm.wording import json_schema

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Decision:
    """A validated reply, and the question's key."""

    key: str
    role: str
    model: str
    version: str
    reply: bytes


class DecisionStore(Protocol):
    """Keeps decisions. Thread-safe. `storage.decisions` keeps them on disk."""

    def find(self, key: str) -> bytes | None:
        """The reply to the question of this key, or None."""
        ...

    def keep(self, decision: Decision) -> None:
        """Keep a decision; it is safe when this returns."""
        ...


class NamedAsker(Asker, Protocol):
    """An asker that knows which model answers a role."""

    def model(self, role: Role) -> str:
        """The model's name."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...


class CachedAsker:
    """Implements `tasks.llm.ask.Asker`."""

    def __init__(self, inner: NamedAsker, store: DecisionStore) -> None:
        self._inner, self._store = inner, store
        self._lock = threading.Lock()
        self._found = 0
        self._asking: dict[str, threading.Lock] = {}

    @property
    def spent(self) -> Spent:
        """What was used so far, and how many answers were known."""
        with self._lock:
            return replace(self._inner.spent, cached=self._found)

    def model(self, role: Role) -> str:
        """The name of the model that answers a role."""
        return self._inner.model(role)

    def ask(self, prompt: Prompt, schema: type[M], accept: Callable[[M], str] = fine) -> M:
        """The reply, from the store if it is there and still accepted. Raises ModelError."""
        model = self._inner.model(prompt.role)
        key = decision_key(prompt, schema, model)
        with self._only_one(key):
            found = _valid(self._store.find(key), schema, accept)
            if found is not None:
                with self._lock:
                    self._found += 1
                return found
            reply = self._inner.ask(prompt, schema, accept)
            content = reply.model_dump_json().encode("utf-8", "surrogatepass")
            self._store.keep(Decision(key, prompt.role.value, model, prompt.version, content))
            return reply

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """As the model says it; nothing of it is kept."""
        return self._inner.stream(prompt)

    def close(self) -> None:
        """Let go of connections."""
        self._inner.close()

    def _only_one(self, key: str) -> threading.Lock:
        """A lock that makes a question asked twice at once wait for its first answer."""
        with self._lock:
            return self._asking.setdefault(key, threading.Lock())


def decision_key(prompt: Prompt, schema: type[BaseModel], model: str) -> str:
    """The sha256, in hex, of everything that an answer depends on."""
    facts = [
        model,
        prompt.role.value,
        prompt.version,
        prompt.instructions,
        [[part.name, part.text, part.trusted] for part in prompt.parts],
        list(prompt.concerns),
        json_schema(schema),
    ]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _valid(content: bytes | None, schema: type[M], accept: Callable[[M], str]) -> M | None:
    if content is None:
        return None
    try:
        reply = schema.model_validate_json(content)
    except (ValidationError, ValueError):
        return None
    return reply if not accept(reply) else None
