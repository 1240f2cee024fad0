"""Work that is shared out over processes comes back as if it had been done here."""

from __future__ import annotations

import os
import time

import pytest

from tasks.crew import Crew


def times(factor: int, number: int) -> int:
    """Stands for a page of work; some of it ends the process it is in."""
    return factor * number


def divided(number: int, by: int) -> int:
    return number // by


def killing(parent: int, number: int) -> int:
    if number == 30 and os.getpid() != parent:
        os._exit(1)
    return number


def where(common: None, number: int) -> int:
    return os.getpid()


def waited(seconds: float, number: int) -> int:
    time.sleep(seconds)
    return os.getpid()


def test_results_come_in_the_order_of_the_items() -> None:
    """Two processes work on batches at once; the list is that of a plain loop."""
    with Crew(2, few=10) as crew:
        assert crew.many(times, 3, range(100)) == [3 * number for number in range(100)]
        assert crew.many(divided, 100, range(1, 60)) == [100 // number for number in range(1, 60)]


def test_processes_are_others_for_many_items_and_none_for_few() -> None:
    """A small night starts no process."""
    with Crew(2, few=10) as crew:
        assert set(crew.many(where, None, range(9))) == {os.getpid()}
        assert os.getpid() not in crew.many(where, None, range(100))


def test_a_process_that_dies_loses_no_item() -> None:
    """What it was given is worked on here."""
    with Crew(2, few=10) as crew:
        assert crew.many(killing, os.getpid(), range(100)) == list(range(100))
        assert crew.many(times, 2, range(100)) == [2 * number for number in range(100)]


def test_an_error_is_raised_as_it_would_be_here() -> None:
    """The function's own error reaches the caller."""
    with Crew(2, few=10) as crew, pytest.raises(ZeroDivisionError):
        crew.many(divided, 1, range(50))


def test_few_large_items_go_to_the_processes_that_there_are() -> None:
    """Two items are worked on in two processes; without any they are worked on here."""
    with Crew(2, few=10) as crew:
        assert crew.each(where, None, range(2)) == [os.getpid()] * 2
        crew.start(10)
        assert len({os.getpid(), *crew.each(waited, 0.2, range(2))}) == 3
        assert crew.each(killing, os.getpid(), [30, 31]) == [30, 31]
