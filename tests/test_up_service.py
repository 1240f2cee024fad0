"""What surrounds `nightwiki up`: the system's service, the settings it goes by, what runs beside it, its database."""

from __future__ import annotations

import os
import plistlib
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from config.edit import set_value
from config.errors import NightwikiError, SettingsError
from config.wiki import Wiki, open_wiki
from flows.service.beside import beside
from flows.service.install import install, service_of, uninstall
from flows.service.kept_settings import VARIABLE, keep, kept_path, open_by_kept
from flows.service.shrink import shrink
from flows.service.watch_clock import ClockWatch
from flows.service.watch_settings import SettingsWatch
from serving.cli import run
from serving.new_wiki import carry_out, plan
from tests.prefect_server import ROOT, wait_until


@pytest.fixture
def wiki(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wiki:
    """A new wiki whose path is hard to quote, in a home of its own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config home"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    root = tmp_path / 'a "wiki" at 100% $HOME'
    carry_out(plan(root))
    return open_wiki(root)


def test_a_systemd_unit_says_what_it_starts(wiki: Wiki) -> None:
    """The path comes through systemd's own quoting, and the system's checker finds nothing wrong."""
    service = service_of(wiki, "linux", api=True)
    start = next(line for line in service.text.splitlines() if line.startswith("ExecStart="))
    assert start.endswith('"' + str(wiki.root).replace("%", "%%").replace('"', '\\"').replace("$", "$$") + '" up --api')
    assert service.path.parent == Path(os.environ["XDG_CONFIG_HOME"]) / "systemd" / "user"
    if shutil.which("systemd-analyze"):
        service.path.parent.mkdir(parents=True)
        service.path.write_text(service.text)
        done = subprocess.run(
            ["systemd-analyze", "--user", "verify", str(service.path)], capture_output=True, text=True, check=False
        )
        assert str(service.path.name) not in done.stderr, done.stderr


def test_a_launchd_agent_says_what_it_starts(wiki: Wiki) -> None:
    """It is a property list that starts at login, and again when it died."""
    service = service_of(wiki, "darwin")
    said = plistlib.loads(service.text.encode())
    assert said["ProgramArguments"][-3:] == ["-w", str(wiki.root), "up"]
    assert said["RunAtLoad"] and said["KeepAlive"] == {"SuccessfulExit": False}
    assert service.path.suffix == ".plist" and said["Label"] == service.path.stem


def test_installing_and_taking_it_back(wiki: Wiki) -> None:
    """The file is written and the service started; afterwards nothing is left."""
    ran: list[Sequence[str]] = []
    service = service_of(wiki, "linux")
    install(service, ran.append)
    assert service.path.read_text() == service.text and ran[-1][2:4] == ("enable", "--now")
    assert uninstall(service, ran.append) and ran[-1][2:4] == ("disable", "--now")
    assert not service.path.exists() and not uninstall(service, ran.append)


def test_a_dry_run_shows_and_writes_nothing(wiki: Wiki, capsys: pytest.CaptureFixture[str]) -> None:
    """What would be written is printed whole."""
    assert run(["-w", str(wiki.root), "up", "--install", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "serving.cli" in said and "Then:" in said
    assert not service_of(wiki).path.exists()
    assert run(["-w", str(wiki.root), "up", "--uninstall", "--yes"]) == 0
    assert "Not installed" in capsys.readouterr().out


def test_an_unknown_system_is_told_what_to_do(wiki: Wiki) -> None:
    """Where there is no service manager that we know, nothing is guessed."""
    with pytest.raises(NightwikiError, match="Have your system run: nightwiki up"):
        service_of(wiki, "plan9")


def test_broken_settings_are_told_once_and_change_nothing(wiki: Wiki, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last good ones stay in force, for runs too, until the file can be read again."""
    said: list[str] = []
    seen: list[Wiki] = []
    keep(wiki)
    monkeypatch.setenv(VARIABLE, str(kept_path(wiki)))
    watch = SettingsWatch(wiki, seen.append, said.append)
    good = wiki.settings_path.read_text()
    for broken in ("staging:\n  polcy: off\n", "staging:\n  polcy: off\n", "staging: [\n", "staging: [\n"):
        wiki.settings_path.write_text(broken + "# " + "x" * len(said))
        watch.look()
        assert open_by_kept(wiki.root).settings == wiki.settings
    wiki.settings_path.unlink()
    watch.look()
    assert open_by_kept(wiki.root).settings == wiki.settings
    assert len(said) == 3 and seen == [] and all("stay in force" in line for line in said)
    wiki.settings_path.write_text(set_value(good, ("schedule", "nightly"), "0 1 * * *"))
    watch.look()
    assert [one.settings.schedule.nightly for one in seen] == ["0 1 * * *"]
    assert open_by_kept(wiki.root).settings.schedule.nightly == "0 1 * * *"
    monkeypatch.delenv(VARIABLE)
    wiki.settings_path.write_text("staging: [\n")
    with pytest.raises(SettingsError):
        open_by_kept(wiki.root)


def test_what_runs_beside_is_begun_again_and_ended(tmp_path: Path) -> None:
    """A process that dies comes back; at the end of the block none is left."""
    (tmp_path / "counted.py").write_text(
        "import os, sys, time\n"
        "with open(sys.argv[1], 'a') as file: file.write(f'{os.getpid()}\\n')\n"
        "time.sleep(600)\n"
    )
    pids, said = tmp_path / "pids", list[str]()
    variables = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
    with beside("counted", [str(pids)], variables, tmp_path / "log", said.append):
        wait_until(lambda: pids.exists() and len(pids.read_text().split()) == 1, 20)
        os.kill(int(pids.read_text()), 9)
        wait_until(lambda: len(pids.read_text().split()) == 2, 20)
    last = int(pids.read_text().split()[-1])
    with pytest.raises(ProcessLookupError):
        os.kill(last, 0)
    assert len(said) == 1 and "begun again" in said[0]


def test_a_database_gives_its_room_back_when_it_is_worth_it(tmp_path: Path) -> None:
    """Deleted rows leave the disk; a small or full database, junk, and none at all are left as they are."""
    path = tmp_path / "prefect.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("create table runs (body blob)")
        database.executemany("insert into runs values (?)", [(bytes(2**20),)] * 24)
        database.commit()
        assert shrink(path) == 0
        database.execute("delete from runs where rowid > 2")
        database.commit()
    assert shrink(path) > 20 * 2**20 > path.stat().st_size
    assert shrink(path) == 0
    (tmp_path / "junk.db").write_bytes(b"no database" * 100)
    assert shrink(tmp_path / "junk.db") == shrink(tmp_path / "none.db") == 0
    assert not (tmp_path / "none.db").exists()


def test_a_database_in_use_is_left_alone(tmp_path: Path) -> None:
    """A server that is still up keeps its lock; nothing waits for it and nothing fails."""
    path = tmp_path / "prefect.db"
    code = (
        "import sqlite3, sys; d = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "d.execute('create table t (b blob)')\n"
        "d.executemany('insert into t values (?)', [(bytes(2**20),)] * 20); d.execute('delete from t')\n"
        "d.execute('begin exclusive'); print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdin=-1, stdout=-1, text=True) as holder:
        assert holder.stdout and holder.stdout.readline() == "held\n"
        assert shrink(path) == 0
        holder.communicate()
    assert shrink(path) > 0


def test_a_clock_that_is_set_has_the_runs_planned_anew() -> None:
    """Each jump once, forward and back; a clock that creeps is none; what cannot be now is tried again, told once."""
    said, planned = list[str](), list[float]()
    wall, even = [1_000_000.0], [50.0]

    def plan_anew(seconds: float) -> bool:
        if not broken:
            planned.append(seconds)
        return not broken

    broken = False
    watch = ClockWatch(plan_anew, said.append, clock=lambda: wall[0], even=lambda: even[0])
    for _ in range(100):  # ten seconds pass each time, and the clock gains a minute and a half
        even[0], wall[0] = even[0] + 10, wall[0] + 100
        watch.look()
    assert planned == [] == said
    wall[0] += 365 * 86400
    watch.look()
    watch.look()
    wall[0] -= 365 * 86400
    broken = True
    for _ in range(3):
        watch.look()
    broken = False
    watch.look()
    watch.look()
    assert planned == [365 * 86400, -365 * 86400]
    assert [("forward" in line, "back" in line) for line in said] == [(True, False), (False, True)]


def test_the_watch_on_the_clock_ends_when_it_is_told() -> None:
    """Its thread looks while it runs, and no failure ends it."""
    looked, said = list[float](), list[str]()

    def jumping() -> float:
        looked.append(len(looked) * 1000.0)
        return looked[-1]

    def fail(_: float) -> bool:
        raise OSError("the server is busy")

    watch = ClockWatch(fail, said.append, 0.01, jumping, lambda: 0.0)
    watch.start()
    wait_until(lambda: len(looked) > 5, 20)
    watch.stop()
    assert len(said) == 2 and "tried again: the server is busy" in said[1]


@pytest.mark.parametrize("name", ["two\nlines", " blanks ", "ends in \\", "%h of $HOME", "Z\u00fcrich \u65e5\u672c's"])
def test_any_folder_can_be_a_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Each line of the unit is a key of its own, whatever the folder is called, and names the folder whole."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    root = tmp_path / name
    root.mkdir()
    (root / "nightwiki.yaml").write_text("name: w\n")
    wiki = open_wiki(root)
    rows = [row for row in service_of(wiki, "linux").text.splitlines() if row]
    assert all(row.startswith("[") or row.partition("=")[2].strip(" \\") for row in rows)
    assert not any(row.endswith("\\") or row != row.strip() for row in rows)
    said = next(row for row in rows if row.startswith("ExecStart=")).replace("%%", "%").replace("$$", "$")
    assert str(wiki.root).replace("\\", "\\\\").replace("\n", "\\n") in said
    assert plistlib.loads(service_of(wiki, "darwin").text.encode())["ProgramArguments"][-2] == str(wiki.root)
