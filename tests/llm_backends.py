"""Backends for tests of what stands before the wire: counting, caps, the cache."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from pydantic import BaseModel

from tasks.llm.ask import Part, Prompt, Role
from tasks.llm.backend import Call, Completion


class Facts(BaseModel):
    """What the tests ask for."""

    title: str
    facts: list[str]


PROMPT = Prompt(Role.WRITE, "1", "List the facts.", (Part("source", "The Z3 was built in 1941."),))
GOOD = '{"title": "Z3", "facts": ["It was built in 1941."]}'


class Echo:
    """Says the same each time, and counts."""

    def __init__(self, *replies: str) -> None:
        self._replies = list(replies) or [GOOD]
        self._lock = threading.Lock()
        self.calls = 0

    def complete(self, call: Call) -> Completion:
        """The next reply; the last one stays."""
        with self._lock:
            said = self._replies[min(self.calls, len(self._replies) - 1)]
            self.calls += 1
        return Completion(said, False, 50, 7)

    def stream(self, call: Call) -> Iterator[str]:
        """The same in two pieces."""
        text = self.complete(call).text
        yield text[: len(text) // 2]
        yield text[len(text) // 2 :]

    def close(self) -> None:
        """Nothing is open."""
