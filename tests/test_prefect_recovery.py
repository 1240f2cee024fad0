"""What a real `nightwiki up` puts right again: a night whose process died, a run taken back, a clock that was set."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from config.edit import set_value
from flows.service import server
from storage.locks import holder
from storage.runs import RunRecord, Runs
from tests.prefect_server import ROOT, wait_until
from tests.test_prefect_flows import Up, small_wiki
from tests.web import Asked, Reply, Web, page

Z3 = "<title>Zuse Z3</title><p>The Zuse Z3 was made of 2,600 relays. It was finished in Berlin in May 1941.</p>"
NIGHTLY = {"name": {"any_": ["nightly"]}}
PLANNED = {"state": {"type": {"any_": ["SCHEDULED"]}}}


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """A real server with served deployments."""
    wiki = small_wiki(tmp_path_factory.mktemp("wikis") / "house")
    text = set_value(wiki.settings_path.read_text(), ("fetch", "allow_private"), ("127.0.0.1",))
    wiki.settings_path.write_text(set_value(text, ("fetch", "robots"), False))
    running = Up(wiki, tmp_path_factory.mktemp("user"))
    yield running
    running.process.send_signal(signal.SIGTERM)
    running.process.wait(60)
    running.api.http.close()


def nights(up: Up) -> list[RunRecord]:
    """The nights of the wiki's diary."""
    return [run for run in Runs(up.wiki.state_dir).all() if run.kind == "nightly"]


def planned(up: Up) -> list[Any]:
    """Runs of the night that are planned."""
    return list(up.post("flow_runs/filter", flow_runs=PLANNED, flows=NIGHTLY, sort="EXPECTED_START_TIME_ASC"))


def test_a_night_whose_process_died_is_tried_again(up: Up, web: Web) -> None:
    """The console shows it as crashed and plans it once more; that one goes on with the same run, to its end."""
    asked, gone = threading.Event(), threading.Event()

    def hang(_: Asked) -> Reply:
        asked.set()
        gone.wait(60)
        return page(Z3)

    (up.wiki.root / "raw_sources/sources.yaml").write_text(f"- {web.route('/z3', hang, page(Z3))}\n")
    night = up.api.trigger("nightly/house")
    assert asked.wait(120), up.log.read_text()
    held = holder(up.wiki.state_dir, "run")
    assert held is not None
    os.kill(held.pid, signal.SIGKILL)
    gone.set()
    assert up.api.ended(night)["state"]["type"] == "CRASHED"
    assert [run.state for run in nights(up)] == ["crashed"]
    wait_until(lambda: any(run["parameters"].get("again") for run in planned(up)), 60)
    again = next(run for run in planned(up) if run["parameters"].get("again"))
    now = {"type": "SCHEDULED", "state_details": {"scheduled_time": datetime.now(UTC).isoformat()}}
    up.post(f"flow_runs/{again['id']}/set_state", state=now, force=True)  # ten minutes are too long for a test
    assert up.api.ended(again["id"])["state"]["type"] == "COMPLETED"
    assert [(run.state, run.changed > 1) for run in nights(up)] == [("ok", True)]
    assert list((up.wiki.root / "wiki").glob("*z3*.md")) and holder(up.wiki.state_dir, "run") is None


def test_a_night_is_really_taken_back_from_the_console(up: Up) -> None:
    """Its pages go, the diary says which run took them, and what cannot be named ends as Failed."""
    night = nights(up)[0]
    pages = {path.name for path in (up.wiki.root / "wiki").glob("*.md")}
    assert len(pages) >= 3
    done = up.run("undo", run=night.run)
    assert done["state"]["type"] == "COMPLETED" and done["state"]["message"].startswith(f"{night.run}: ")
    assert not pages & {path.name for path in (up.wiki.root / "wiki").glob("*.md")}
    assert nights(up)[0].undone_by == Runs(up.wiki.state_dir).all()[-1].run
    assert any(night.run in one["data"] for one in up.api.artifacts(done["id"]))
    assert up.run("undo", run="nobody")["state"]["type"] == "FAILED"


def test_after_a_clock_was_wrong_the_next_nights_come(up: Up) -> None:
    """Neither what it began before its time nor what was planned a year ahead stands in for the nights to come."""
    wait_until(lambda: len(planned(up)) >= 3, 90)
    begun, *later = planned(up)
    ahead = [(run["id"], datetime.fromisoformat(run["expected_start_time"]) + timedelta(days=365)) for run in later]
    database = sqlite3.connect(server.home(up.wiki) / "prefect.db", timeout=60)
    with closing(database), database:
        for run, due in ahead:
            change = "update flow_run set expected_start_time = ?, next_scheduled_start_time = ? where id = ?"
            database.execute(change, (stamp(due), stamp(due), str(UUID(run))))
        end = (stamp(datetime.now(UTC) + timedelta(days=365)), str(UUID(begun["id"])))
        change = "update flow_run set state_type = 'COMPLETED', state_name = 'Completed', state_timestamp = ?"
        database.execute(f"{change} where id = ?", end)
        change = "update flow_run_state set type = 'COMPLETED', name = 'Completed', timestamp = ? where flow_run_id = ?"
        database.execute(change, end)
    assert first(up) > datetime.now(UTC) + timedelta(days=300)
    code = (
        "import sys\nfrom pathlib import Path\nfrom config.wiki import open_wiki\n"
        "from flows.console.serving import serve\nserve(open_wiki(Path(sys.argv[1])), lambda take_up: sys.exit(0))"
    )
    variables = server.client_environment(up.wiki, up.endpoint.api_url)
    subprocess.run([sys.executable, "-c", code, str(up.wiki.root)], env=variables, cwd=ROOT, check=True)
    wait_until(lambda: len(planned(up)) >= 3, 90)
    assert first(up) == datetime.fromisoformat(begun["expected_start_time"])


def stamp(moment: datetime) -> str:
    """A time as Prefect's database has it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.000000")


def first(up: Up) -> datetime:
    """When the next night is due."""
    return datetime.fromisoformat(planned(up)[0]["expected_start_time"])


def test_the_past_leaves_the_console(tmp_path: Path) -> None:
    """Runs past their time are deleted with their logs, artifacts and events, and so is what they left behind."""
    wiki = small_wiki(tmp_path / "w")
    said = server.server_environment(wiki, 4200)
    code = (
        "from prefect.settings import get_current_settings\nkept = get_current_settings().server.services.db_vacuum\n"
        "print(sorted(kept.enabled_vacuum_types), kept.retention_period.days)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=said, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['events', 'flow_runs', 'orphans'] 90"
