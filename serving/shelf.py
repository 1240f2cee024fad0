"""The wikis that a server answers for: opened once, and kept up to date with their settings.

Settings are looked at before every answer, so that a change holds at once; those that cannot be read leave the last
good ones in force, and every answer says so. A wiki that cannot be opened at all is left out, and said to be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from config.errors import NightwikiError, NotFoundError, StateError
from config.load import nearest
from config.wiki import SETTINGS_NAME, Wiki, open_wiki
from serving.opening import answering_model, ready
from storage.search.engine import Engine
from tasks.search.result import Degraded

if TYPE_CHECKING:
    from tasks.llm.ask import Asker

Stamp = tuple[int, int, int] | None


@dataclass(frozen=True, slots=True)
class Served:
    """One wiki under the name it is served by; `trouble` says what is wrong with its settings now."""

    name: str
    root: Path
    wiki: Wiki | None
    stamp: Stamp
    trouble: Degraded | None = None


class Shelf:
    """One or several wikis by name, and an engine over all that can be opened. Safe for threads."""

    def __init__(self, folders: Sequence[Path], model_cache: Path) -> None:
        """Raises NightwikiError when none of the wikis can be opened."""
        self._cache = model_cache
        self._lock = Lock()
        self.served: tuple[Served, ...] = ()
        for root in dict.fromkeys(folder.expanduser().resolve() for folder in folders):
            self.served = (*self.served, self._open(root, None))
        if not any(one.wiki for one in self.served):
            for folder in folders:
                open_wiki(folder)
            raise NotFoundError("wikis", "no wiki was named", "Name one with -w DIR")
        self.engine = self._engines()

    @property
    def names(self) -> tuple[str, ...]:
        """The wikis' names, also of those that cannot be opened."""
        return tuple(one.name for one in self.served)

    def refresh(self) -> None:
        """Take in settings that changed."""
        if all(one.stamp == _stamp(one.root) for one in self.served):
            return
        with self._lock:
            before = self.served
            self.served = tuple(one if one.stamp == _stamp(one.root) else self._open(one.root, one) for one in before)
            if any(now.wiki != then.wiki for now, then in zip(self.served, before, strict=True)):
                self.engine = self._engines()

    def _open(self, root: Path, before: Served | None) -> Served:
        stamp = _stamp(root)
        try:
            wiki = open_wiki(root)
        except NightwikiError as error:
            trouble = Degraded("settings", f"{error.subject}: {error.cause}", error.next_step)
            if before is None:
                return Served(root.name, root, None, stamp, trouble)
            return replace(before, stamp=stamp, trouble=trouble)
        return Served(before.name if before else self._free_name(wiki), root, wiki, stamp)

    def _free_name(self, wiki: Wiki) -> str:
        """The wiki's own name, or one made of its folder's where another wiki has that."""
        taken = {one.name for one in self.served}
        options: Iterator[str] = iter((wiki.name, wiki.root.name, *(f"{wiki.root.name}-{n}" for n in range(2, 1000))))
        return next(name for name in options if name not in taken)

    def _engines(self) -> Engine:
        return Engine(
            [replace(ready(one.wiki, self._cache), name=one.name) for one in self.served if one.wiki is not None]
        )

    def troubles(self) -> Sequence[Degraded]:
        """What is wrong with settings now."""
        several = len(self.served) > 1
        return [
            replace(one.trouble, reason=f"{one.name}: {one.trouble.reason}") if several else one.trouble
            for one in self.served
            if one.trouble is not None
        ]

    def one(self, name: str) -> tuple[Served, Wiki]:
        """A wiki by its name, which may be left out where there is only one. Raises NotFoundError, StateError."""
        self.refresh()
        if not name and len(self.served) > 1:
            raise NotFoundError("wiki", f"several are served: {', '.join(self.names)}", "Name one of them")
        served = next((one for one in self.served if name in ("", one.name)), None)
        if served is None:
            hint = nearest(name, self.names)
            step = f"Did you mean '{hint}'?" if hint else f"There are: {', '.join(self.names)}"
            raise NotFoundError(name, "no such wiki is served", step)
        if served.wiki is None:
            trouble = served.trouble
            raise StateError(served.name, trouble.reason if trouble else "it cannot be opened", "Mend it and ask again")
        return served, served.wiki

    def asker(self, names: Sequence[str]) -> tuple[Asker | None, Sequence[Degraded]]:
        """The language model that all wikis asked agree on, or None and why there is none."""
        return answering_model(
            {one.name: one.wiki for one in self.served if one.wiki is not None and (not names or one.name in names)}
        )


def _stamp(root: Path) -> Stamp:
    try:
        stat = (root / SETTINGS_NAME).stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size
