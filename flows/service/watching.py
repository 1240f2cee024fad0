"""A thread that looks after something again and again while `nightwiki up` runs: started, and stopped, with it."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod


class Watching(ABC):
    """Begins, paces and ends the thread; what is looked at is said by the class that derives from it."""

    def __init__(self, name: str, pause: float) -> None:
        self._pause = pause
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name=name, daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Stop looking; what a look has begun is waited for."""
        self._stop.set()
        self._thread.join()

    def _paused(self) -> bool:
        """Wait until the next look is due; False when it is time to end."""
        return not self._stop.wait(self._pause)

    @abstractmethod
    def _watch(self) -> None:
        """Look until `_paused` is False."""
