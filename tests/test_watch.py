"""The watch over the vault while `nightwiki up` runs: a person's edits are taken in, our own runs' writing is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from config.errors import BusyError
from config.wiki import Wiki
from flows.night import sync
from flows.service.watch import OwnRuns, Watcher
from flows.session import open_state
from flows.steps import DirectRunner, utc_now
from flows.undo import undo
from flows.weekly import weekly
from serving import background
from storage.locks import holder, run_lock
from storage.reader import Reader
from storage.runs import AuditTail, Runs
from tests import wikis
from tests.wikis import put

ROOT = Path(__file__).resolve().parents[1]
STAGED = wikis.SETTINGS + 'staging:\n  policy: "all"\n'

SYNC = """
import sys
from pathlib import Path
from config.wiki import open_wiki
from flows import night
from flows.steps import DirectRunner, utc_now
taken = night.take_in
def slow(*args):
    print("held", flush=True)
    sys.stdin.read()
    return taken(*args)
night.take_in = slow
night.sync(open_wiki(Path(sys.argv[1])), DirectRunner(), utc_now())
"""
"""A real sync in a process of its own that goes on when its standard input is closed."""


def until(true: Callable[[], bool], seconds: float = 120) -> None:
    """Look often until it is true."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


@contextmanager
def syncing(wiki: Wiki, code: str = SYNC) -> Iterator[subprocess.Popen[str]]:
    """A sync under way in another process; it ends once its input is closed, else it is killed."""
    line = [sys.executable, "-c", code, str(wiki.root)]
    with subprocess.Popen(line, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


@contextmanager
def ending_soon(process: subprocess.Popen[str], seconds: float = 1.0) -> Iterator[None]:
    """Let the sync go on a little later, which is longer than any run waits for another run."""
    assert process.stdin is not None
    timer = threading.Timer(seconds, process.stdin.close)
    timer.start()
    yield
    timer.join()
    assert process.wait(30) == 0


def kinds(wiki: Wiki) -> list[tuple[str, str]]:
    return [(run.kind, run.state) for run in Runs(wiki.state_dir).all()]


def command(wiki: Wiki, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command of nightwiki in a terminal of its own."""
    line = [sys.executable, "-m", "serving.cli", "-w", str(wiki.root), *arguments]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)


# --- two processes -----------------------------------------------------------------------------------------------


def test_a_night_waits_for_a_sync(tmp_path: Path) -> None:
    """It begins when the sync of another process has ended, and both are in the diary."""
    wiki = wikis.make(tmp_path, eniac=wikis.ENIAC)
    with syncing(wiki) as other:
        held = holder(wiki.state_dir, "run")
        assert held is not None and (held.pid, held.kind) == (other.pid, "sync")
        with ending_soon(other):
            assert wikis.run(wiki).state == "ok"
    assert kinds(wiki) == [("sync", "ok"), ("ingest", "ok")]


def test_a_week_waits_for_a_sync(tmp_path: Path) -> None:
    """So does the tidying of the week, as a whole."""
    wiki = wikis.make(tmp_path, eniac=wikis.ENIAC)
    wikis.run(wiki)
    with syncing(wiki) as other, ending_soon(other):
        assert not weekly(wiki, DirectRunner(), "2026-12-06T03:00:00Z").failed
    assert [state for _, state in kinds(wiki)] == ["ok"] * len(kinds(wiki)) and len(kinds(wiki)) > 2


def test_a_decision_in_the_terminal_waits_for_a_sync(tmp_path: Path) -> None:
    """`candidates promote` is carried out although a sync was under way when it was typed."""
    wiki = wikis.make(tmp_path, STAGED, eniac=wikis.ENIAC)
    wikis.run(wiki)
    [waiting] = (tmp_path / "wiki" / "candidates").glob("*.md")
    with syncing(wiki) as other, ending_soon(other, 5.0):
        done = command(wiki, "candidates", "promote", waiting.stem)
    assert (done.returncode, done.stderr) == (0, "")
    assert not waiting.exists()
    assert kinds(wiki)[1:] == [("sync", "ok"), ("review", "ok")]


def test_a_night_asked_for_by_a_program_waits_for_a_sync(tmp_path: Path) -> None:
    """What REST and MCP start is not refused because of a sync."""
    wiki = wikis.make(tmp_path, eniac=wikis.ENIAC)
    with syncing(wiki) as other, ending_soon(other):
        assert background.start_ingest(wiki, (), False).state in ("running", "ok")
    until(lambda: kinds(wiki)[-1] == ("ingest", "ok"))


def test_a_real_run_is_not_waited_for(tmp_path: Path) -> None:
    """Whoever comes second is told at once who holds the lock, and of what kind that run is."""
    wiki = wikis.make(tmp_path, eniac=wikis.ENIAC)
    code = SYNC.replace("night.sync(", "night.night(").replace("utc_now())", "'2026-12-01T02:00:00Z')")
    with syncing(wiki, code) as other:
        told = rf"busy since \S+Z \(pid {other.pid}, ingest\)"
        with pytest.raises(BusyError, match=told):
            weekly(wiki, DirectRunner(), utc_now())
        with pytest.raises(BusyError, match=told):
            sync(wiki, DirectRunner(), utc_now())
        with pytest.raises(BusyError, match=told):
            background.start_ingest(wiki, (), False)


def test_a_sync_that_hangs_is_not_waited_for_without_end(tmp_path: Path) -> None:
    """After the patience it is named like any other run; one that was killed is in nobody's way."""
    wiki = wikis.make(tmp_path, eniac=wikis.ENIAC)
    with syncing(wiki) as other:
        with (
            pytest.raises(BusyError, match=rf"\(pid {other.pid}, sync\)"),
            run_lock(wiki.state_dir, kind="ingest", patience=0.5),
        ):
            pass
        threading.Timer(0.5, os.kill, (other.pid, signal.SIGKILL)).start()
        assert wikis.run(wiki).state == "ok"
    assert kinds(wiki) == [("sync", "crashed"), ("ingest", "ok")]


# --- what the watch does ---------------------------------------------------------------------------------------------


class Watched(OwnRuns):
    """A wiki under a watch that looks often; how often it found the vault changed, and how often it synced."""

    def __init__(self, wiki: Wiki) -> None:
        super().__init__(wiki)
        self.wiki, self.root, self.syncs, self.changes = wiki, wiki.root, 0, 0
        self.watcher = Watcher(wiki.root, self._sync, self, 0.05)

    def _sync(self) -> bool:
        self.syncs += 1
        sync(self.wiki, DirectRunner(), utc_now())
        return True

    def settled(self) -> None:
        super().settled()
        self.changes += 1

    def knows(self, path: str) -> bool:
        """Whether search can find a page of this path."""
        snapshot = Reader(self.wiki.state_dir).current()
        return snapshot is not None and path in snapshot.table("pages", ["path"]).column("path").to_pylist()


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    """A wiki of two sources that is being watched."""
    found = Watched(wikis.make(tmp_path, STAGED, eniac=wikis.ENIAC, colossus=wikis.COLOSSUS))
    found.watcher.start()
    yield found
    found.watcher.stop()


def test_what_a_night_wrote_needs_no_sync(watched: Watched) -> None:
    """The vault is full of new files, and the watch knows whose they are; so it is when a run takes them away."""
    report = wikis.run(watched.wiki)
    assert report.staged == 2
    until(lambda: watched.changes > 0)
    undo(watched.wiki, report.run, utc_now())
    before = watched.changes
    until(lambda: watched.changes > before)
    time.sleep(0.3)
    assert watched.syncs == 0


def test_an_edit_needs_one_sync(watched: Watched) -> None:
    """A note of a person's own is taken in once, also when it was written while a night went on."""
    put(watched.root, "wiki/mine.md", "# Mine\n\nPunched cards.\n")
    until(lambda: watched.knows("wiki/mine.md") and not watched.busy())
    assert watched.syncs == 1
    with open_state(watched.wiki).run_lock(kind="ingest"):
        put(watched.root, "wiki/second.md", "# Second\n\nPaper tape.\n")
        time.sleep(0.3)
        assert (watched.syncs, watched.knows("wiki/second.md")) == (1, False)
    until(lambda: watched.knows("wiki/second.md") and not watched.busy())
    time.sleep(0.3)
    assert watched.syncs == 2


def test_an_edit_of_a_page_that_a_run_just_wrote_is_a_persons(watched: Watched) -> None:
    """Among many files of ours the one that was changed since is enough for a sync."""
    wikis.run(watched.wiki)
    page = sorted((watched.root / "wiki" / "candidates").glob("*.md"))[0]
    page.write_text(page.read_text() + "\nA remark.\n")
    until(lambda: watched.syncs == 1 and not watched.busy())


def test_a_ticked_box_needs_one_sync(watched: Watched) -> None:
    """What the sync itself then writes does not call for another."""
    wikis.run(watched.wiki)
    until(lambda: watched.changes == 1)
    page = sorted((watched.root / "wiki" / "candidates").glob("*.md"))[0]
    page.write_text(page.read_text().replace("promote: false", "promote: true"))
    until(lambda: not page.exists() and not watched.busy())
    before = watched.changes
    until(lambda: watched.changes > before)
    time.sleep(0.3)
    assert watched.syncs == 1 and [kind for kind, _ in kinds(watched.wiki)] == ["ingest", "sync"]


def test_the_end_of_the_audit_is_read_as_it_grows(tmp_path: Path) -> None:
    """Each row once, the last of a path counts, a half-written line is waited for, and a shorter file begins anew."""
    audit = tmp_path / "runs" / "audit.jsonl"
    audit.parent.mkdir()
    audit.write_text('{"path": "old.md", "after": "0"}\n')
    tail = AuditTail(tmp_path)
    assert tail.written() == {}
    with audit.open("a") as file:
        file.write('{"path": "a.md", "after": "1"}\n{"path": "a.md", "after": ""}\n{"path": "b.md", "aft')
        file.flush()
        assert tail.written() == {"a.md": ""}
        file.write('er": "2"}\n')
    assert tail.written() == {"a.md": "", "b.md": "2"}
    tail.forget()
    assert tail.written() == {}
    audit.write_text('{"path": "c.md", "after": "3"}\n')
    assert tail.written() == {"c.md": "3"}
