"""Schedules on a Prefect server that is somebody's own: applied, paused, exported, run; and nothing else touched."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from config.edit import set_value
from config.wiki import Wiki, open_wiki
from flows.service.server import endpoint_path, working_folder
from serving.cli import run
from tests.prefect_server import Api, Bare, environment, wait_until
from tests.test_prefect_flows import small_wiki


@dataclass(frozen=True, slots=True)
class House:
    """A server with a stranger's deployment on it, and a wiki that is to use it."""

    api: Api
    wiki: Wiki
    home: Path
    stranger: Any


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, bare_prefect: Bare) -> House:
    """A bare server, with a wiki that is to use it."""
    api = bare_prefect.api
    flow = api.post("flows/", name="nightly")["id"]
    schedule = {"active": True, "schedule": {"cron": "5 5 * * *", "timezone": "UTC"}}
    stranger = api.post("deployments/", name="theirs", flow_id=flow, schedules=[schedule], tags=["work"])
    wiki = existing(small_wiki(tmp_path_factory.mktemp("wikis") / "mine"), api.url)
    return House(api, wiki, bare_prefect.home, api.get(f"deployments/{stranger['id']}"))


def existing(wiki: Wiki, url: str, name: str = "") -> Wiki:
    """The wiki with its settings sending runs to this server."""
    text = set_value(wiki.settings_path.read_text(), ("prefect", "api_url"), url)
    text = set_value(text, ("prefect", "mode"), "existing")
    wiki.settings_path.write_text(set_value(text, ("name",), name or wiki.name))
    return open_wiki(wiki.root)


def told(capsys: pytest.CaptureFixture[str], wiki: Wiki, *command: str) -> Any:
    """The JSON answer of a command."""
    assert run(["-w", str(wiki.root), *command, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def changes(capsys: pytest.CaptureFixture[str], wiki: Wiki, *options: str) -> dict[str, str]:
    """What `schedule apply` did, by deployment."""
    answer = told(capsys, wiki, "schedule", "apply", *options)
    return {one["deployment"]: one["change"] for one in answer["deployments"]}


def nightly_of(house: House) -> Any:
    return house.api.get(f"deployments/name/nightly/{open_wiki(house.wiki.root).name}")


def test_applying_twice_changes_nothing(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    """First all are made, then none is touched; a dry run makes none."""
    assert set(changes(capsys, house.wiki, "--dry-run").values()) == {"created"}
    assert len(house.api.post("deployments/filter")) == 1
    assert set(changes(capsys, house.wiki).values()) == {"created"}
    before = nightly_of(house)
    assert set(changes(capsys, house.wiki).values()) == {"unchanged"}
    assert nightly_of(house) == before
    assert before["tags"] == ["nightwiki", "mine"]


def test_two_wikis_on_one_server_do_not_meet(
    house: House, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of another name has its own; one of the same name is refused, and says whose the name is."""
    other = existing(small_wiki(tmp_path / "other"), house.api.url)
    assert set(changes(capsys, other).values()) == {"created"}
    assert set(changes(capsys, house.wiki).values()) == {"unchanged"}
    twin = existing(small_wiki(tmp_path / "twin"), house.api.url, "mine")
    assert run(["-w", str(twin.root), "schedule", "apply"]) == 1
    assert f"belongs to the wiki in {house.wiki.root}" in capsys.readouterr().err


def test_a_strangers_name_is_not_taken(
    house: House, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A deployment that is not ours is never written over."""
    wiki = existing(small_wiki(tmp_path / "w"), house.api.url, "theirs")
    assert run(["-w", str(wiki.root), "schedule", "apply"]) == 1
    assert "is not nightwiki's" in capsys.readouterr().err


def test_a_pause_in_the_console_stays(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    """It is shown, and a change of the entry's time leaves it."""
    there = nightly_of(house)
    schedule = there["schedules"][0]["id"]
    house.api.send("PATCH", f"deployments/{there['id']}/schedules/{schedule}", {"active": False})
    told(capsys, house.wiki, "schedule", "add", "nightly", "30 1 * * *", "--time-zone", "Europe/Berlin")
    told(capsys, house.wiki, "schedule", "add", "noon", "0 12 * * *", "--flow", "nightly")
    changed = changes(capsys, open_wiki(house.wiki.root))
    assert {name for name, change in changed.items() if change == "updated"} == {"nightly/mine"}
    found = {one["slug"]: (one["schedule"]["cron"], one["active"]) for one in nightly_of(house)["schedules"]}
    assert found == {"nightly": ("30 1 * * *", False), "noon": ("0 12 * * *", True)}
    listed = {one["name"]: one for one in told(capsys, house.wiki, "schedule", "list")["schedules"]}
    assert (listed["nightly"]["paused"], listed["nightly"]["next_run"]) == (True, "")
    assert listed["noon"]["paused"] is False and "T12:00:00Z" in listed["noon"]["next_run"]
    told(capsys, house.wiki, "schedule", "remove", "noon")
    changes(capsys, open_wiki(house.wiki.root))
    assert [one["slug"] for one in nightly_of(house)["schedules"]] == ["nightly"]


def test_a_served_run_completes_and_keeps_page_text_back(house: House, tmp_path: Path) -> None:
    """`up` serves on the person's own server; neither digest nor logs there tell what pages hold."""
    log = tmp_path / "up.log"
    command = [sys.executable, "-m", "serving.cli", "-w", str(house.wiki.root), "up"]
    with log.open("wb") as output:
        up = subprocess.Popen(
            command, cwd=tmp_path, env=environment(house.home, house.api.url), stdout=output, stderr=output
        )
    try:
        wait_until(lambda: "Stop with" in log.read_text() or up.poll() is not None, 150)
        ended = house.api.ended(house.api.trigger("nightly/mine"))
    finally:
        up.terminate()
        up.wait(60)
    state = ended["state"]
    assert (state["type"], state["message"]) == ("COMPLETED", "1 new page, 0 updated, 0 held back for review")
    shown = json.dumps(house.api.artifacts(ended["id"]))
    logs = json.dumps(house.api.post("logs/filter", logs={"flow_run_id": {"any_": [ended["id"]]}}))
    assert "1 new page" in shown and "ENIAC" not in shown and "vacuum tubes" not in logs
    paused = {one["slug"]: one["active"] for one in nightly_of(house)["schedules"]}
    assert paused == {"nightly": False}


def test_an_exported_file_deploys_and_runs_beside_strangers(
    house: House, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A worker of a process pool, started beside a foreign flows/ and config/, runs a flow of ours to its end."""
    for name in ("flows", "config"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError('a stranger was imported')\n")
    changes(capsys, open_wiki(house.wiki.root))
    assert run(["-w", str(house.wiki.root), "schedule", "export", str(tmp_path / "prefect.yaml")]) == 0
    assert f"cd {working_folder(house.wiki)}" in capsys.readouterr().out
    shell = environment(house.home, house.api.url) | {"PYTHONSAFEPATH": "1"}

    def prefect(*arguments: str, folder: Path = tmp_path) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "prefect", "--no-prompt", *arguments],
            cwd=folder,
            env=shell,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    house.api.post("work_pools/", name="nightwiki", type="process")
    prefect("deploy", "--all", "--prefect-file", str(tmp_path / "prefect.yaml"), folder=working_folder(house.wiki))
    run_id = house.api.trigger("scaffold/mine")
    prefect("worker", "start", "--pool", "nightwiki", "--run-once")
    ended = house.api.ended(run_id)
    assert ended["state"]["type"] == "COMPLETED", ended["state"]
    assert set(changes(capsys, open_wiki(house.wiki.root)).values()) <= {"unchanged", "updated"}


def test_a_renamed_wiki_leaves_nothing_behind(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    """Its deployments move to the new name; the stranger's is as it was."""
    renamed = existing(house.wiki, house.api.url, "renamed")
    changed = changes(capsys, renamed)
    assert Counter(changed.values()) == {"created": len(changed) // 2, "deleted": len(changed) // 2}
    assert {one["name"] for one in house.api.post("deployments/filter")} >= {"theirs", "renamed"}
    assert "mine" not in {one["name"] for one in house.api.post("deployments/filter")}
    now = house.api.get(f"deployments/{house.stranger['id']}")
    assert now["schedules"] == house.stranger["schedules"] and now["updated"] == house.stranger["updated"]


def test_a_wiki_with_its_own_server_may_move(
    house: House, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The server moves with it, and its deployments lead to the new folder; a stranger's stay even there."""
    wiki = small_wiki(tmp_path / "here")
    wiki.state_dir.mkdir(exist_ok=True)
    note = {"pid": os.getpid(), "api_url": house.api.url, "started": ""}
    endpoint_path(wiki).write_text(json.dumps(note))
    assert changes(capsys, wiki)["nightly/here"] == "created"
    moved = open_wiki(Path(shutil.move(wiki.root, tmp_path / "there")))
    text = set_value(moved.settings_path.read_text(), ("name",), "here")
    moved.settings_path.write_text(text)
    assert set(changes(capsys, open_wiki(moved.root)).values()) == {"updated"}
    assert house.api.get("deployments/name/nightly/here")["parameters"] == {"wiki": str(moved.root)}
    assert house.api.get(f"deployments/{house.stranger['id']}")["name"] == "theirs"


def test_a_wiki_may_be_a_guest_on_anothers_own_server(
    house: House, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The host leaves the guest's deployments there, and takes them for leftovers once the guest has gone."""
    host = small_wiki(tmp_path / "host")
    host.state_dir.mkdir(exist_ok=True)
    endpoint_path(host).write_text(json.dumps({"pid": os.getpid(), "api_url": house.api.url, "started": ""}))
    guest = existing(small_wiki(tmp_path / "guest"), house.api.url)
    assert changes(capsys, guest)["nightly/guest"] == "created"
    for options, change in ((("--dry-run",), "created"), ((), "created"), ((), "unchanged")):
        changed = changes(capsys, host, *options)
        assert changed["nightly/host"] == change and "nightly/guest" not in changed
    assert set(changes(capsys, guest).values()) == {"unchanged"}
    shutil.rmtree(guest.root)
    assert changes(capsys, host)["nightly/guest"] == "deleted"


@pytest.mark.parametrize(
    ("cron", "zone", "day"),
    [
        ("0 2 * * *", "Europe/Berlin", "2026-10-25"),  # 02:00 comes twice
        ("30 2 * * *", "Europe/Berlin", "2026-03-29"),  # 02:30 does not come
        ("0 2 * * *", "America/New_York", "2026-03-08"),
        ("30 1 * * *", "America/New_York", "2026-11-01"),
        ("0 0 * * *", "America/Havana", "2026-03-08"),
    ],
)
def test_one_local_night_is_one_run_when_clocks_change(cron: str, zone: str, day: str) -> None:
    """As Prefect computes the times, each local date of the week around the change has one run."""
    from prefect.server.schemas.schedules import CronSchedule

    local = ZoneInfo(zone)
    first = datetime.fromisoformat(day).replace(tzinfo=local) - timedelta(days=3)
    schedule = CronSchedule(cron=cron, timezone=zone)
    runs = asyncio.run(schedule.get_dates(start=first, end=first + timedelta(days=6, hours=12)))
    dates = [one.astimezone(local).date() for one in runs]
    assert len(dates) == len(set(dates)) >= 6
    assert dates == sorted(dates) and (dates[-1] - dates[0]).days == len(dates) - 1
