"""The night under a real Prefect server: runs, end states, artifacts, deployments, `up`, and a clean end of it all."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from benchmarks.cpu import descendants
from config.edit import set_value
from config.errors import NightwikiError
from config.wiki import Wiki, open_wiki
from flows.service import server
from flows.steps import DirectRunner, silent
from serving.new_wiki import carry_out, plan
from storage.locks import run_lock
from tasks.digest import NightReport
from tests.prefect_server import Api, wait_until

ROOT = Path(__file__).resolve().parents[1]


def small_wiki(root: Path) -> Wiki:
    """A wiki of one source, which does not wait for the source to stand still."""
    carry_out(plan(root))
    settings = root / "nightwiki.yaml"
    text = set_value(settings.read_text(), ("sources", "settle_seconds"), 0)
    text = set_value(text, ("search", "vector"), "off")
    text = set_value(text, ("staging", "policy"), "off")
    settings.write_text(set_value(text, ("prefect", "port"), server.free_port()))
    (root / "raw_sources" / "eniac.md").write_text(
        "# ENIAC\n\nENIAC was shown to the public in February 1946. It was built in Philadelphia by "
        "Mauchly and Eckert."
        " It held about 18,000 vacuum tubes and filled a large room of the Moore School.\n"
    )
    return open_wiki(root)


class Up:
    """A `nightwiki up` in a process of its own, started beside a user's own flows/ and config/ folders."""

    def __init__(self, wiki: Wiki, folder: Path) -> None:
        for name in ("flows", "config"):
            (folder / name).mkdir(parents=True)
            (folder / name / "__init__.py").write_text("raise RuntimeError('a stranger was imported')\n")
        self.wiki = wiki
        self.folder, self.log = folder, folder / "up.log"
        self.start()

    def start(self) -> None:
        """Start it, and wait until it serves; once more after `kill_all`."""
        environ = os.environ | {
            "PYTHONPATH": str(ROOT),
            "PYTHONSAFEPATH": "1",
            "PREFECT_API_URL": "http://127.0.0.1:9/api",
        }
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "serving.cli", "-w", str(self.wiki.root), "up"],
                cwd=self.folder,
                env=environ,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self._wait()

    def _wait(self) -> None:
        """Until it serves; one that never does is not left behind."""
        try:
            wait_until(lambda: "Stop with" in self.log.read_text() or self.process.poll() is not None, 240)
        except AssertionError:
            self.process.terminate()
            self.process.wait(60)
            raise
        endpoint = server.find_server(self.wiki)
        assert endpoint, self.log.read_text()
        self.endpoint = endpoint
        self.api = Api(endpoint.api_url)
        wait_until(lambda: len(self.post("deployments/filter")) >= 9, 60)

    def post(self, path: str, **body: Any) -> Any:
        return self.api.post(path, **body)

    def run(self, flow: str, **parameters: Any) -> Any:
        """Trigger a deployment as the console does, and wait for the run's end."""
        return self.api.ended(self.api.trigger(f"{flow}/{self.wiki.name}", **parameters))

    def kill_all(self) -> None:
        """As a power cut does."""
        for pid in descendants(self.process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self.api.http.close()


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """One real server with served deployments for all tests of this module."""
    running = Up(small_wiki(tmp_path_factory.mktemp("wikis") / "my wiki"), tmp_path_factory.mktemp("user"))
    yield running
    if running.process.poll() is None:
        running.process.send_signal(signal.SIGTERM)
        running.process.wait(60)
    running.api.http.close()


def test_deployments_are_ours_described_and_scheduled(up: Up) -> None:
    """They carry the wiki's name, load by module path, and explain their parameters."""
    found = {one["entrypoint"]: one for one in up.post("deployments/filter")}
    flows = ("nightly", "weekly", "ingest", "lint", "scaffold", "routing_clean", "promote", "discard", "undo")
    assert {name for name in found if name.startswith("flows.deployed.")} == {f"flows.deployed.{one}" for one in flows}
    nightly = found["flows.deployed.nightly"]
    assert (nightly["name"], nightly["tags"], nightly["paused"]) == (
        "my wiki",
        ["nightwiki", "my wiki"],
        False,
    )
    assert nightly["schedules"][0]["schedule"]["cron"] == "0 2 * * *"
    assert found["flows.deployed.weekly"]["schedules"][0]["schedule"]["cron"] == "0 3 * * 0"
    assert [one["name"] for one in found.values() if one["schedules"]] == ["my wiki", "my wiki"]
    for one in found.values():
        assert all(parameter["description"] for parameter in one["parameter_openapi_schema"]["properties"].values())
    properties = found["flows.deployed.ingest"]["parameter_openapi_schema"]["properties"]
    assert set(properties) == {"wiki", "sources", "force", "dry_run"}


def test_a_wrong_parameter_is_refused(up: Up) -> None:
    """The run form says what is wrong instead of failing at two in the morning."""
    deployment = up.api.get("deployments/name/ingest/my wiki")["id"]
    answer = up.api.http.post(
        f"deployments/{deployment}/create_flow_run", json={"parameters": {"force": "perhaps"}}
    )
    assert answer.status_code == 409


def test_a_triggered_night_fills_the_wiki_and_shows_itself(up: Up) -> None:
    """Name, tasks, logs of our own modules, the digest; and a user's folders beside do no harm."""
    run = up.run("nightly")
    assert run["state"]["type"] == "COMPLETED", (run["state"], up.log.read_text())
    assert run["name"].startswith("nightly my wiki 20")
    assert [path.name for path in (up.wiki.root / "wiki").glob("eniac*.md")] != []
    only = {"flow_runs": {"id": {"any_": [run["id"]]}}}
    tasks = [one["name"] for one in up.post("task_runs/filter", **only)]
    assert 3 <= len(tasks) <= 20
    digest = next(one for one in up.post("artifacts/filter", **only) if one["key"] == "digest-my-wiki")
    assert "ENIAC" in digest["data"]


def test_a_week_shows_its_report(up: Up) -> None:
    """Lint, scaffold and routing-clean in one run, each told; findings are no failure."""
    run = up.run("weekly")
    assert run["state"]["type"] == "COMPLETED", (run["state"], up.log.read_text())
    said = run["state"]["message"]
    assert said.startswith("lint: ") and "; scaffold: 1 page in 1 category; " in said
    only = {"flow_runs": {"id": {"any_": [run["id"]]}}}
    report = next(one for one in up.post("artifacts/filter", **only) if one["key"] == "weekly-my-wiki")
    assert "| orphan | wiki/eniac-" in report["data"]


def test_a_decision_on_a_page_that_does_not_wait_fails(up: Up) -> None:
    """The run says which name was not known."""
    run = up.run("promote", pages=["nobody"])
    assert run["state"]["type"] == "FAILED" and "nobody" in run["state"]["message"]


def ingest(up: Up) -> subprocess.CompletedProcess[str]:
    """`nightwiki ingest --json` in a terminal."""
    command = [sys.executable, "-m", "serving.cli", "-w", str(up.wiki.root), "ingest", "--json"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def last_run(up: Up) -> tuple[str, str, str]:
    """Type and name of the last run's state, and its flow's name."""
    begun = {"state": {"type": {"not_any_": ["SCHEDULED"]}}}
    run = up.post("flow_runs/filter", sort="START_TIME_DESC", limit=1, flow_runs=begun)[0]
    return run["state"]["type"], run["state"]["name"], run["name"].split()[0]


def test_the_terminal_runs_its_flow_there(up: Up) -> None:
    """`nightwiki ingest` is seen in the console when the server is up, and prints the night's answer alone."""
    done = ingest(up)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["state"] == "ok"
    assert last_run(up) == ("COMPLETED", "Completed", "ingest")
    ours = {"tags": {"all_": ["nightwiki", "my wiki"]}, "deployment_id": {"is_null_": True}}
    runs = up.post("flow_runs/filter", flow_runs=ours)
    assert [run["name"].split()[0] for run in runs] == ["ingest"]


def test_a_long_step_has_a_bar(up: Up) -> None:
    """How far it is stands in the console, drawn beside the work, and ends at the full; a step soon over has none."""
    code = (
        "import asyncio, time\nfrom prefect import flow\nfrom flows.console.bars import Bars\n"
        "def work():\n"
        "    with Bars(0.2) as bars:\n"
        "        for done in range(11): bars.show('read', done, 10); time.sleep(0.2)\n"
        "        bars.show('embed', 1, 1)\n"
        "@flow(name='barred')\nasync def barred(): await asyncio.to_thread(work)\n"
        "asyncio.run(barred())"
    )
    variables = server.client_environment(up.wiki, up.endpoint.api_url)
    subprocess.run([sys.executable, "-c", code], env=variables, cwd=ROOT, check=True, capture_output=True)
    bars = up.post("artifacts/filter", artifacts={"type": {"any_": ["progress"]}}, flows={"name": {"any_": ["barred"]}})
    assert [(one["key"], one["data"]) for one in bars] == [("progress-read", 100)]


def test_a_busy_wiki_ends_as_skipped(up: Up) -> None:
    """A run that finds the lock held is no failure; it names the holder, and the terminal hears the same."""
    with run_lock(up.wiki.state_dir, kind="nightly"):
        begun = up.api.trigger("weekly/my wiki")
        done = ingest(up)
        skipped = up.api.ended(begun)["state"]
    assert (skipped["type"], skipped["name"]) == ("CANCELLED", "Skipped")
    assert f"(pid {os.getpid()}, nightly)" in skipped["message"]
    assert done.returncode == 1
    assert f"(pid {os.getpid()}, nightly)" in done.stderr


def test_a_night_with_failures_ends_as_partial(up: Up) -> None:
    """It is of a failed type, so that the console shows it red, and the exit code is 3."""
    (up.wiki.root / "raw_sources" / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    assert ingest(up).returncode == 3
    assert last_run(up) == ("FAILED", "Partial", "ingest")


def test_an_edit_is_taken_in_within_a_minute(up: Up) -> None:
    """A note written in Obsidian is found without waiting for the night; what runs wrote so far called for no sync."""
    from storage.reader import Reader
    from storage.runs import Runs

    assert "sync" not in {run.kind for run in Runs(up.wiki.state_dir).all()}
    (up.wiki.root / "wiki" / "my note.md").write_text("# My note\n\nSomething about punched cards.\n")
    reader = Reader(up.wiki.state_dir)

    def known() -> bool:
        snapshot = reader.current()
        return (
            snapshot is not None
            and "wiki/my note.md" in snapshot.table("pages", ["path"]).column("path").to_pylist()
        )

    wait_until(known, 150)  # a busy machine is no fault


def test_only_one_may_be_up(up: Up) -> None:
    """The second is told where the first one is."""
    command = [sys.executable, "-m", "serving.cli", "-w", str(up.wiki.root), "up"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert up.endpoint.ui_url in done.stderr


def test_dead_runs_are_watched_for(up: Up) -> None:
    """A run whose process was killed does not look alive for ever."""
    names = [one["name"] for one in up.post("automations/filter")]
    what = ("mark dead runs as crashed", "try a crashed night again", "try a failed night again")
    assert sorted(names) == [f"nightwiki my wiki: {one}" for one in what]


def test_a_run_without_a_heartbeat_is_marked_dead(up: Up) -> None:
    """The automation's own rule, with ten seconds in the place of ninety, on a run whose process is gone."""
    from flows.console.automations import mark_dead_runs

    rule = mark_dead_runs(up.wiki, timedelta(seconds=10)).model_copy(update={"name": "sooner"})
    made = up.api.send("POST", "automations/", rule.model_dump(mode="json"))["id"]
    flow = up.post("flows/", name="nightly")["id"]
    run = up.post("flow_runs/", flow_id=flow, tags=["my wiki"], state={"type": "RUNNING"})["id"]
    beat = {
        "event": "prefect.flow-run.heartbeat",
        "occurred": datetime.now(UTC).isoformat(),
        "resource": {"prefect.resource.id": f"prefect.flow-run.{run}"},
        "related": [{"prefect.resource.id": "prefect.tag.my wiki", "prefect.resource.role": "tag"}],
        "id": str(uuid4()),
    }
    up.api.send("POST", "events", [beat])
    assert up.api.ended(run, 60)["state"]["type"] == "CRASHED"
    up.api.send("DELETE", f"automations/{made}")


def test_a_failed_night_is_tried_once_more(up: Up) -> None:
    """The automation plans the night again; when that one fails too, nothing more is planned."""
    version = up.wiki.state_dir / "format"
    kept = version.read_text()

    def planned() -> list[Any]:
        only = {"state": {"type": {"any_": ["SCHEDULED"]}}}
        return [run for run in up.post("flow_runs/filter", flow_runs=only) if run["parameters"].get("again")]

    version.write_text("999")
    try:
        assert up.run("nightly")["state"]["name"] == "Failed"
        wait_until(lambda: len(planned()) == 1, 60)
        up.api.send("DELETE", f"flow_runs/{planned()[0]['id']}")
        assert up.run("nightly", again=True)["state"]["name"] == "Failed"
    finally:
        version.write_text(kept)
    wait_until(lambda: {"nightwiki.night.failed", "nightwiki.night.failed.again"} <= set(events(up)), 30)
    assert planned() == []


def events(up: Up) -> list[str]:
    """Names of the events that nightwiki has emitted."""
    found = up.post("events/filter", filter={"event": {"prefix": ["nightwiki."]}}, limit=50)
    return [one["event"] for one in found["events"]]


def test_nights_are_announced(up: Up) -> None:
    """An event each for those that went well and those that need a look, for automations of one's own."""
    wait_until(lambda: {"nightwiki.night.finished", "nightwiki.night.partial"} <= set(events(up)), 30)


def test_a_run_is_taken_back_from_the_console(up: Up) -> None:
    """The undo flow says what it would do."""
    from storage.runs import Runs

    night = next(run.run for run in Runs(up.wiki.state_dir).all() if run.changed)
    would = up.run("undo", run=night, dry_run=True)
    assert would["state"]["type"] == "COMPLETED" and "would be changed" in would["state"]["message"]


def test_changed_settings_are_taken_up(up: Up) -> None:
    """While `up` runs: another time, even another name; broken ones change nothing, and runs go by the last good."""
    settings = up.wiki.settings_path
    before = settings.read_text()

    def names() -> set[str]:
        return {one["name"] for one in up.post("deployments/filter")}

    settings.write_text(set_value(set_value(before, ("name",), "other"), ("schedule", "nightly"), "30 4 * * *"))
    try:
        wait_until(lambda: names() == {"other"}, 60)
        assert up.api.get("deployments/name/nightly/other")["schedules"][0]["schedule"]["cron"] == "30 4 * * *"
        settings.write_text("name: [\n")
        wait_until(lambda: "stay in force" in up.log.read_text(), 30)
        assert up.api.ended(up.api.trigger("lint/other"))["state"]["type"] == "COMPLETED"
    finally:
        settings.write_text(before)
    wait_until(lambda: names() == {up.wiki.name}, 60)


def test_nothing_is_kept_outside_the_state_folder(up: Up) -> None:
    """Prefect's home is the wiki's; the folder that flows run in stays empty."""
    assert (up.wiki.state_dir / "prefect" / "prefect.db").exists()
    assert list(server.working_folder(up.wiki).iterdir()) == []


def test_after_a_power_cut_one_night_catches_up(up: Up) -> None:
    """All is killed, three nights pass; then `up` comes back on the same database, and one night does for all.

    What the database had no longer needed is given back to the disk before the server opens it, and a run that was
    about to begin does not look for ever as if it still were.
    """
    planned = {"state": {"type": {"any_": ["SCHEDULED"]}}}
    nightly = {"name": {"any_": ["nightly"]}}
    wait_until(lambda: len(up.post("flow_runs/filter", flow_runs=planned, flows=nightly)) >= 3, 90)
    assert "stranger" not in up.log.read_text()
    deployment = up.api.get("deployments/name/nightly/my wiki")["id"]
    handed = up.post(f"deployments/{deployment}/create_flow_run", state={"type": "PENDING", "name": "Submitting"})["id"]
    begun = up.post("flow_runs/", flow_id=flow_of(up), tags=["nightwiki", "my wiki"], state={"type": "RUNNING"})["id"]
    assert up.api.get(f"flow_runs/{handed}")["state"]["name"] == "Submitting"
    up.kill_all()
    wait_until(lambda: not server.answers(up.endpoint.api_url), 30)
    assert server.find_server(up.wiki) is None
    database = server.home(up.wiki) / "prefect.db"
    missed = let_nights_pass(database, 3)
    leave_room(database, 40)
    up.start()
    assert database.stat().st_size < 40 * 2**20
    assert {up.api.get(f"flow_runs/{run}")["state"]["type"] for run in (handed, begun)} == {"CRASHED"}
    assert any(run["parameters"].get("again") for run in up.post("flow_runs/filter", flow_runs=planned, flows=nightly))
    ends = [up.api.ended(run)["state"] for run in missed]
    assert sorted(state["type"] for state in ends) == ["CANCELLED", "CANCELLED", "COMPLETED"], ends


def flow_of(up: Up) -> str:
    """Id of the night's flow."""
    return str(up.post("flows/", name="nightly")["id"])


def leave_room(path: Path, megabytes: int) -> None:
    """Fill and empty a stopped server's database, as a history does that was kept and then deleted."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("create table past (run blob)")
        database.executemany("insert into past values (?)", [(bytes(2**20),)] * megabytes)
        database.execute("drop table past")
        database.commit()
        database.execute("pragma wal_checkpoint(truncate)")
    assert path.stat().st_size > megabytes * 2**20


def let_nights_pass(path: Path, count: int) -> list[str]:
    """Put the next nights of a stopped server's database into the past; their ids."""
    with closing(sqlite3.connect(path)) as database, database:
        planned = database.execute(
            "select r.id from flow_run r join flow f on f.id = r.flow_id where f.name = 'nightly' and "
            "r.state_type = 'SCHEDULED' and r.auto_scheduled order by r.expected_start_time limit ?",
            (count,),
        ).fetchall()
        assert len(planned) == count
        for nights, (run,) in enumerate(planned):
            due = datetime.now(UTC) - timedelta(days=count - nights)
            stamp = due.strftime("%Y-%m-%d %H:%M:%S.000000")
            change = "update flow_run set expected_start_time = ?, next_scheduled_start_time = ? where id = ?"
            database.execute(change, (stamp, stamp, run))
            # a run whose state still says tomorrow would be made to wait until then
            change = "update flow_run_state set state_details = json_set(state_details, '$.scheduled_time', ?)"
            database.execute(f"{change} where flow_run_id = ?", (due.isoformat(), run))
    return [str(UUID(run)) for (run,) in planned]


def test_a_signal_ends_all_that_was_started(up: Up) -> None:
    """SIGTERM to `up` stops its server, removes the note about it, and leaves schedules on."""
    up.process.send_signal(signal.SIGTERM)
    assert up.process.wait(120) == 0, up.log.read_text()
    wait_until(lambda: not server.answers(up.endpoint.api_url), 20)
    assert server.read_endpoint(up.wiki) is None
    assert "Stopped." in up.log.read_text()
    assert "stranger" not in up.log.read_text()


# --- without a server ------------------------------------------------------------------------------------------------


def test_an_inherited_address_is_never_consent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PREFECT_API_URL of the shell does not lead our runs to a stranger's server, unless the settings say so."""
    monkeypatch.setenv("PREFECT_API_URL", "https://stranger.example/api")
    monkeypatch.setenv("PREFECT_API_KEY", "secret")
    wiki = small_wiki(tmp_path / "w")
    assert server.find_server(wiki) is None
    variables = server.client_environment(wiki, "http://127.0.0.1:1/api")
    assert variables["PREFECT_API_URL"] == "http://127.0.0.1:1/api"
    assert "PREFECT_API_KEY" not in variables
    prefect = wiki.settings.prefect.model_copy(
        update={"mode": "existing", "api_url": "http://127.0.0.1:1/api"}
    )
    existing = replace(wiki, settings=wiki.settings.model_copy(update={"prefect": prefect}))
    assert server.client_environment(existing, prefect.api_url)["PREFECT_API_KEY"] == "secret"
    assert server.find_server(existing) is None


def test_a_note_of_a_dead_server_is_not_believed(tmp_path: Path) -> None:
    """up.json may survive a power cut; the server it names must answer."""
    wiki = small_wiki(tmp_path / "w")
    wiki.state_dir.mkdir(exist_ok=True)
    for text in (
        "",
        "[]",
        '{"pid": 1}',
        json.dumps({"pid": 2**31 - 1, "api_url": "http://127.0.0.1:1/api", "started": ""}),
    ):
        server.endpoint_path(wiki).write_text(text)
        assert server.find_server(wiki) is None


def test_mode_none_starts_nothing(tmp_path: Path) -> None:
    """`up` says why it has nothing to do."""
    from flows.service.up import once

    wiki = small_wiki(tmp_path / "w")
    wiki.settings_path.write_text(set_value(wiki.settings_path.read_text(), ("prefect", "mode"), "none"))
    with pytest.raises(NightwikiError, match=r"prefect\.mode is none"):
        once(open_wiki(wiki.root), silent, lambda line: None)


def test_a_taken_port_is_named(tmp_path: Path) -> None:
    """Something else listens there: say which port, and what to set."""
    import socket

    wiki = small_wiki(tmp_path / "w")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with (
            pytest.raises(NightwikiError, match=rf"port {port}.*prefect\.port"),
            server.own_server(wiki, port),
        ):
            pass


def test_a_direct_runner_keeps_order_and_passes_errors_on() -> None:
    """Results come in the order of the items, and the first error ends the step."""
    seen: list[tuple[str, int, int]] = []
    runner = DirectRunner(lambda name, done, total: seen.append((name, done, total)))
    assert runner.map("double", lambda item: item * 2, list(range(50))) == [2 * item for item in range(50)]
    assert seen[-1] == ("double", 50, 50)
    with pytest.raises(ZeroDivisionError):
        runner.map("divide", lambda item: 1 // item, [1, 0, 2])


def test_end_states_by_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ok is green; partial and failed are of a failed type under their own names."""
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    from flows.console.ends import ending

    report = NightReport("r", "nightly", "ok", "2026-12-01T02:00:00Z", "2026-12-01T02:01:00Z", ())
    states = [ending(replace(report, state=state)) for state in ("ok", "partial", "failed")]
    assert [(state.type.value, state.name) for state in states] == [
        ("COMPLETED", "Completed"),
        ("FAILED", "Partial"),
        ("FAILED", "Failed"),
    ]


def test_a_cancelled_run_begins_no_further_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is under way ends at its next sign of progress; no server is asked for that."""
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    from flows.console.bars import Bars
    from flows.console.runner import PrefectRunner

    stop = threading.Event()
    runner = PrefectRunner(Bars(), stop)
    runner.progress("read", 1, 2)
    stop.set()
    for step in (
        lambda: runner.run("commit", lambda: pytest.fail("it ran")),
        lambda: runner.map("read", lambda item: pytest.fail("it ran"), [1]),
        lambda: runner.progress("read", 2, 2),
    ):
        with pytest.raises(NightwikiError, match="was cancelled"):
            step()
