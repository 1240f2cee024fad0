"""How often a model is asked."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.llm.bucket import Bucket
from tests.web import FakeClock


def turns(bucket: Bucket, clock: FakeClock, amounts: list[int]) -> list[float]:
    """When each turn began, in seconds from the first."""
    begun = []
    for amount in amounts:
        with bucket.turn(amount):
            begun.append(clock.time - 1_800_000_000.0)
    return begun


def test_no_limit_means_no_wait() -> None:
    """Without rates every turn comes at once."""
    clock = FakeClock()
    assert set(turns(Bucket(1, clock=clock), clock, [10**9] * 50)) == {0.0}


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 300), st.lists(st.integers(0, 900), min_size=1, max_size=60))
def test_no_minute_holds_more_calls_than_allowed(rate: int, amounts: list[int]) -> None:
    """In no minute do more calls begin than the rate and the little that a silence saved."""
    clock = FakeClock()
    begun = turns(Bucket(1, requests_per_minute=rate, clock=clock), clock, amounts)
    most = rate + max(1, rate / 6) + 1
    assert all(sum(1 for other in begun if at <= other < at + 60) <= most for at in begun)


@settings(max_examples=40, deadline=None)
@given(st.integers(60, 6000), st.lists(st.integers(0, 2000), min_size=1, max_size=40))
def test_tokens_keep_to_their_rate(rate: int, amounts: list[int]) -> None:
    """All tokens but the last call's took their time; one larger than the bucket still gets its turn."""
    clock = FakeClock()
    last = turns(Bucket(1, tokens_per_minute=rate, clock=clock), clock, amounts)[-1]
    assert sum(amounts[:-1]) <= last * rate / 60 + rate / 6 + max(amounts) + 1


def test_a_pause_holds_everybody() -> None:
    """While the provider wants silence no turn begins."""
    clock = FakeClock()
    bucket = Bucket(4, clock=clock)
    bucket.pause(30)
    bucket.pause(10)
    assert turns(bucket, clock, [1, 1]) == [30.0, 30.0]
