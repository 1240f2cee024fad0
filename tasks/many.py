"""One function over many items: work in a shape that can be shared out over processes (`tasks.crew`) or done here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

Common = TypeVar("Common")
Item = TypeVar("Item")
Result = TypeVar("Result")


class Many(Protocol):
    """What a top-level function returns for each item, in order; `common` is what all calls share."""

    def __call__(
        self, function: Callable[[Common, Item], Result], common: Common, items: Sequence[Item]
    ) -> list[Result]: ...


def here(function: Callable[[Common, Item], Result], common: Common, items: Sequence[Item]) -> list[Result]:
    """The results of a plain loop in this process."""
    return [function(common, item) for item in items]
