"""What a function says of each word, worked out once: a text repeats its words, and so does a language.

`functools.lru_cache` with a limit keeps its entries in the order of their last use. To put that down for every word
of a night takes twice as long as to look the word up.
"""

from __future__ import annotations

from collections.abc import Callable

MOST = 1 << 16
"""Words that are remembered; then all are forgotten and it starts anew."""


class Remembered(dict[str, str]):
    """A table of a function's results, filled as it is asked: `list(map(table.__getitem__, words))`."""

    __slots__ = ("_function",)

    def __init__(self, function: Callable[[str], str]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, word: str) -> str:
        if len(self) >= MOST:
            self.clear()
        found = self[word] = self._function(word)
        return found
