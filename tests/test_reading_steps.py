"""A night reads in steps; the processes know nothing of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from flows.night_steps.reading import _Results
from tasks.reading.reading import ReadJob, ReadResult
from tasks.records import Outcome

JOBS = [ReadJob(name, f"/{name}", name) for name in "abcde"]


class Reader:
    """Reads in order and notes what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def read(self, jobs: Sequence[ReadJob]) -> Iterator[ReadResult]:
        for job in jobs:
            self.asked.append(job.source_id)
            yield ReadResult(job.source_id, Outcome.OK)


def test_one_reading_goes_through_all_steps() -> None:
    """Each step takes its share, and no source is read twice."""
    reader = Reader()
    results = _Results(JOBS, reader.read)
    steps = [[result.source_id for result in results.until(count)] for count in (2, 4, 5, 5)]
    assert steps == [["a", "b"], ["c", "d"], ["e"], []]
    assert reader.asked == list("abcde")


def test_a_step_that_failed_goes_on_with_what_is_left() -> None:
    """What was being taken when the error came is read again, what was taken before is not."""
    reader = Reader()
    results = _Results(JOBS, reader.read)
    with pytest.raises(OSError, match="full"):
        for result in results.until(3):
            if result.source_id == "b":
                raise OSError("full")
    assert [result.source_id for result in results.until(3)] == ["b", "c"]
    assert [result.source_id for result in results.until(5)] == ["d", "e"]


def test_sources_that_are_put_off_end_the_steps() -> None:
    """Fewer results than jobs are no reason to wait."""
    results = _Results(JOBS, lambda jobs: Reader().read(jobs[:2]))
    assert [len(list(results.until(count))) for count in (1, 4, 5)] == [1, 1, 0]
