"""Notices while `nightwiki up` runs that the settings have changed; a broken file is told once and changes nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from config.errors import NightwikiError
from config.wiki import SETTINGS_NAME, Wiki, open_wiki
from flows.service.kept_settings import keep
from flows.service.watching import Watching

LOOK_SECONDS = 5.0

log = logging.getLogger(__name__)

Stamp = tuple[int, int, int] | None


class SettingsWatch(Watching):
    """Calls `changed` with the wiki as it is now, each time that its settings can be read and say something new."""

    def __init__(
        self, wiki: Wiki, changed: Callable[[Wiki], None], say: Callable[[str], None], pause: float = LOOK_SECONDS
    ) -> None:
        super().__init__("watch-settings", pause)
        self._wiki, self._changed, self._say = wiki, changed, say
        self._stamp = _stamp(wiki.root)
        self._said = ""

    def look(self) -> None:
        """Look once."""
        stamp = _stamp(self._wiki.root)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            wiki = open_wiki(self._wiki.root)
        except NightwikiError as error:
            if str(error) != self._said:
                self._said = str(error)
                self._say(f"{error} The last good settings stay in force.")
            return
        self._said = ""
        if wiki.settings == self._wiki.settings:
            return
        keep(wiki)
        self._wiki = wiki
        self._changed(wiki)

    def _watch(self) -> None:
        while self._paused():
            try:
                self.look()
            except Exception as error:  # a server that is busy now: what has changed is put there at the next start
                self._say(f"The new settings could not be put on the server: {error}")


def _stamp(root: Path) -> Stamp:
    try:
        stat = (root / SETTINGS_NAME).stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns
