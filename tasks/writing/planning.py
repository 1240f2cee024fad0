"""How many calls a night will make, and of what size: told from the lengths of the texts, before anything is asked.

Expected sizes, not the most: replies run to about half of what is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tasks.llm.ask import Role
from tasks.llm.estimate import PlannedCalls
from tasks.records import Document
from tasks.writing import analyse, decide, semantic, settle, write
from tasks.writing.passages import WINDOW

_BYTES = 4  # of UTF-8 that a token stands for, in Latin and in CJK text alike
_FORM = 700  # tokens of a reply's form and of the rule about data
_CITED = 0.3  # share of writing calls that are followed by one about citations


def planned_calls(documents: Iterable[Document]) -> tuple[PlannedCalls, ...]:
    """What compiling these documents is expected to ask, role by role."""
    calls: Counter[Role] = Counter()
    reads: Counter[Role] = Counter()
    replies: Counter[Role] = Counter()

    def add(role: Role, count: float, instructions: str, text: float, reply: float) -> None:
        calls[role] += max(1, round(count))
        reads[role] += round(count * (len(instructions) / _BYTES + _FORM) + text)
        replies[role] += round(reply)

    for document in documents:
        length = sum(len(part.text) for part in document.parts)
        tokens = sum(len(part.text.encode("utf-8", "replace")) for part in document.parts) / _BYTES
        windows = max(1, -(-length // WINDOW))
        if semantic.wanted(document):
            add(Role.ANALYSE, windows, semantic.INSTRUCTIONS, tokens, 60 * windows)
        add(Role.ANALYSE, windows, analyse.INSTRUCTIONS, tokens, tokens / 2 + 200)
        add(Role.DECIDE, 1, decide.INSTRUCTIONS, 600, 200)
        add(Role.WRITE, windows, write.INSTRUCTIONS, tokens + 400 * windows, tokens * 0.7 + 100)
        add(Role.CITE, _CITED * windows, settle.INSTRUCTIONS, _CITED * tokens, 150 * _CITED * windows)
    return tuple(PlannedCalls(role, calls[role], reads[role], replies[role]) for role in Role if calls[role])
