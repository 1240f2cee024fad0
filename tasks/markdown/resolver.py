"""Which page a link's target opens, for the processes that make pages: a module of its own that loads in no time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from tasks.markdown import links


def resolver(paths: Mapping[str, str]) -> Callable[[str], str]:
    """Return a function from a link's target to the id of the page it opens, or to the target itself.

    `paths` are page ids by vault path. The index of names is built when it is first asked.
    """
    return _Resolver(paths)


@dataclass(frozen=True)
class _Resolver:
    """A class, and no inner function, so that it can be sent to another process."""

    paths: Mapping[str, str]

    def __call__(self, target: str) -> str:
        opens = self._opens.get(target)
        if opens is None:  # a page's footnotes lead to few files
            found = self._index.find(target, "")
            opens = self._opens[target] = self.paths[found[0]] if found else target
        return opens

    @cached_property
    def _opens(self) -> dict[str, str]:
        return {}

    @cached_property
    def _index(self) -> links.LinkIndex:
        return links.LinkIndex(self.paths, {})
