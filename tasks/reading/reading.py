"""Reading sources: here (`ReadingHere`) or in worker processes with limits (`ReadingPool`), with the same results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Protocol, Self

from config.settings import Settings
from tasks.reading.pool import ReadingPool
from tasks.reading.read_source import Analyse, ReadJob, ReadResult, read

__all__ = ["Analyse", "ReadJob", "ReadResult", "ReadingHere", "ReadingPool", "SourceReader", "read"]


class SourceReader(Protocol):
    """Reads many sources; results come as they are ready."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def read(self, jobs: Iterable[ReadJob]) -> Iterator[ReadResult]: ...


class ReadingHere:
    """Reads in this process, without limits: for text that is trusted."""

    def __init__(self, settings: Settings, analyse: Analyse | None) -> None:
        self._settings, self._analyse = settings, analyse

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def read(self, jobs: Iterable[ReadJob]) -> Iterator[ReadResult]:
        """The results in the order of the jobs."""
        for job in jobs:
            yield read(job, self._settings, self._analyse)
