"""Shared fixtures: where the optional measuring data lies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web import FakeClock, Web, serve

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of measuring data beside the project; tests that need it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the measuring data is not here")
    return SHARED


@pytest.fixture
def web() -> Iterator[Web]:
    """A real web server on a free loopback port; fetch it with `allow_private=("127.0.0.1",)`."""
    with serve() as running:
        yield running


@pytest.fixture
def clock() -> FakeClock:
    """A clock whose pauses take no time."""
    return FakeClock()
