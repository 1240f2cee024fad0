"""Questions as flows, on a real server: the result is kept as JSON, and the console shows it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from config.wiki import Wiki
from tests import wikis
from tests.prefect_server import ROOT, Api, Bare, environment

CODE = """
import json, sys
from flows.console.questions import context_pack, query, search
wiki = sys.argv[1]
found = query(wiki, "How many vacuum tubes did ENIAC use?")
pack = context_pack(wiki, "vacuum tubes", tokens=900)
hits = search(wiki, "vacuum tubes", 2)
refused = context_pack(wiki, "vacuum tubes", tokens=0, return_state=True)
print("TOLD " + json.dumps([found, pack, hits, refused.type.value, refused.message]))
"""


@pytest.fixture(scope="module")
def wiki(tmp_path_factory: pytest.TempPathFactory) -> Wiki:
    """A wiki after its first night."""
    made = wikis.make(
        tmp_path_factory.mktemp("wiki"),
        f'{wikis.SETTINGS}staging:\n  policy: "off"\n',
        eniac=wikis.ENIAC,
        colossus=wikis.COLOSSUS,
    )
    wikis.run(made)
    return made


def test_answers_are_kept_and_shown(wiki: Wiki, bare_prefect: Bare) -> None:
    """Both flows and the task give what the command line prints; a budget of nothing ends as Failed with its reason."""
    api = bare_prefect.api
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(wiki.root)],
        env=environment(bare_prefect.home, api.url),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    line = next((one for one in done.stdout.splitlines() if one.startswith("TOLD ")), "")
    assert line, done.stderr
    answer, pack, hits, kind, message = json.loads(line[5:])
    assert "about 18,000 vacuum tubes" in " ".join(one["text"] for one in answer["sentences"])
    assert pack["token_budget"] == 900
    assert "18,000 vacuum tubes" in " ".join(page["excerpt"] for page in pack["pages"])
    assert len(hits["hits"]) == 2
    assert (kind, "holds nothing" in message) == ("FAILED", True)
    check_shown(api)
    kept = [result(path) for path in (bare_prefect.home / "storage").iterdir() if path.is_file()]
    assert answer in kept and pack in kept
    states = [run["state"]["data"] for run in api.post("task_runs/filter") if run["state"].get("data")]
    assert any(one.get("expiration") for one in states)


def result(path: Path) -> Any:
    """What a result file holds: the JSON itself, or a record around it."""
    told = json.loads(path.read_text())
    told = told["result"] if isinstance(told, dict) and "metadata" in told else told
    return json.loads(told) if isinstance(told, str) else told


def check_shown(api: Api) -> None:
    """The console has the answer and the pack as artifacts of their runs."""
    shown: dict[str, str] = {}
    for run in api.post("flow_runs/filter"):
        for one in api.artifacts(run["id"]):
            if one["type"] == "markdown":
                shown[run["name"].split(" ")[0]] = one["data"]
    assert "18,000 vacuum tubes" in shown["query"]
    assert "# Context Pack: vacuum tubes" in shown["context-pack"]
