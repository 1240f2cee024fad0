"""Whatever the OpenAPI description allows, and whatever it does not, is answered without a fault of the server."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode

from tests.rest_server import rest

BUDGET = 5
"""Cases a route here; `schemathesis run` over a server's /openapi.json asks more."""


@pytest.fixture(scope="module")
def fuzzed(demo_night: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with rest(Path(shutil.copytree(demo_night, tmp_path_factory.mktemp("fuzz") / "computing"))) as client:
        yield client


@pytest.fixture(scope="module")
def described(fuzzed: httpx.Client) -> schemathesis.BaseSchema:
    return schemathesis.openapi.from_url(f"{fuzzed.base_url}/openapi.json")


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_no_request_is_the_servers_fault(
    described: schemathesis.BaseSchema, fuzzed: httpx.Client, mode: GenerationMode
) -> None:
    """No status from 500 on, for requests that fit the description and for those that do not."""
    asked = 0
    for found in described.get_all_operations():
        operation = found.ok()
        if mode is GenerationMode.NEGATIVE and not (operation.body or operation.query or operation.path_parameters):
            continue

        @settings(max_examples=BUDGET, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy(generation_mode=mode))
        def ask(case: schemathesis.Case) -> None:
            nonlocal asked
            asked += 1
            answer = case.call(base_url=str(fuzzed.base_url))
            assert answer.status_code < 500, answer.text

        ask()
    assert asked > 12 * BUDGET / 2


def test_the_description_is_whole(fuzzed: httpx.Client) -> None:
    """Every route is described, with an example for each body, and the problems."""
    told = fuzzed.get("/openapi.json").json()
    routes = {"/search", "/search/batch", "/query", "/context/build", "/pages", "/pages/{name}", "/changes"}
    routes |= {"/candidates", "/candidates/{name}/promote", "/candidates/{name}/discard", "/sources", "/status"}
    assert routes <= told["paths"].keys()
    references = set(re.findall(r'"#/(?:[^"/]+/)*([^"/]+)"', json.dumps(told)))
    assert references <= told["components"]["schemas"].keys()
    for path in ("/search", "/search/batch", "/query", "/context/build"):
        body = told["paths"][path]["post"]["requestBody"]["content"]["application/json"]
        assert body["examples"]
        for example in body["examples"].values():
            assert fuzzed.post(path, json=example["value"]).status_code == 200
