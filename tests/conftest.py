"""Shared fixtures: where the optional measuring data lies."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of measuring data beside the project; tests that need it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the measuring data is not here")
    return SHARED
