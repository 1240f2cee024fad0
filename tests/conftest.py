"""Shared fixtures: where the optional measuring data lies."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.web import FakeClock, Web, serve

if TYPE_CHECKING:
    from tests.prefect_server import Bare

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"

settings.register_profile("unhurried", deadline=None)  # a loaded machine is no fault of what is tested
settings.load_profile("unhurried")


@pytest.fixture(scope="session", autouse=True)
def _own_model_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests put nothing into the cache of the person who runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NIGHTWIKI_CACHE", str(tmp_path_factory.mktemp("cache")))
        # After a flow in this process Prefect's handler stays, and would warn of every line that is logged later.
        patch.setenv("PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW", "ignore")
        yield


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


@pytest.fixture(scope="session")
def bare_prefect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bare]:
    """A real Prefect server that knows nothing of nightwiki, started once; tests use names of their own on it."""
    from tests.prefect_server import bare_server

    with bare_server(tmp_path_factory.mktemp("prefect")) as running:
        yield running


@pytest.fixture(scope="session")
def demo_night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo after its first night, made once; tests look at it and change nothing."""
    from config.wiki import open_wiki
    from flows.night import night
    from flows.steps import DirectRunner
    from serving.new_wiki import carry_out, plan

    root = tmp_path_factory.mktemp("demo") / "computing"
    carry_out(plan(root, demo=True))
    night(open_wiki(root), DirectRunner(), "2026-12-01T02:00:00Z")
    return root


@pytest.fixture(autouse=True)
def _demo_night_stays(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that leaves a run in the diary of the shared demo fails itself, not the one that reads it later."""
    if "demo_night" not in request.fixturenames:
        yield
        return
    diary = request.getfixturevalue("demo_night") / ".nightwiki" / "runs" / "runs.jsonl"
    before = diary.read_bytes()
    yield
    assert diary.read_bytes() == before, "a run was left in the shared demo: such a test takes `demo`, its copy"


@pytest.fixture
def demo(demo_night: Path, tmp_path: Path) -> Path:
    """A copy of the demo after its first night, to be changed."""
    return Path(shutil.copytree(demo_night, tmp_path / "computing"))
