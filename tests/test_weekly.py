"""The week's tidying: three steps in their order, under one lock, each told."""

from __future__ import annotations

import os
import threading
from datetime import datetime
from pathlib import Path

import pytest

from config.errors import BusyError
from config.wiki import Wiki
from flows import routing
from flows.service import server
from flows.steps import DirectRunner
from flows.weekly import markdown, message, weekly
from storage.locks import run_lock
from storage.runs import Runs
from tests import wikis
from tests.wikis import COLOSSUS, ENIAC, put, run, vault

NOW = "2026-03-08T03:00:00Z"


@pytest.fixture
def wiki(tmp_path: Path) -> Wiki:
    """A wiki after one night, with a table of branches."""
    policy = wikis.SETTINGS + "staging:\n  policy: off\n"
    made = wikis.make(tmp_path / "w", policy, eniac=ENIAC, colossus=COLOSSUS)
    run(made)
    index = made.root / "wiki/index.md"
    index.write_text(index.read_text().replace("## More pages", "## Machines"))
    routing.init(made, DirectRunner(), "2026-03-02T12:00:00Z")
    return made


def test_a_deleted_page_leaves_no_trace_of_ours(wiki: Wiki) -> None:
    """Its links become words, its lines in the index and in ROUTING.md go; a second week writes nothing."""
    eniac = next((wiki.root / "wiki").glob("eniac*.md"))
    eniac.unlink()
    report = weekly(wiki, DirectRunner(), NOW)
    assert [step.step for step in report.steps] == ["lint", "scaffold", "routing-clean"] and not report.failed
    texts = [path.read_text() for path in (*(wiki.root / "wiki").rglob("*.md"), wiki.root / "ROUTING.md")]
    assert not any(f"[[{eniac.stem}" in text for text in texts)
    assert "ENIAC" in wikis.page(wiki.root, next((wiki.root / "wiki").glob("colossus*.md")).stem)
    before = vault(wiki.root)
    assert weekly(wiki, DirectRunner(), "2026-03-15T03:00:00Z").lint and vault(wiki.root) == before
    kinds = [one.kind for one in Runs(wiki.state_dir).all()]
    assert kinds[-6:] == ["lint", "scaffold", "routing-clean"] * 2


def test_a_persons_own_notes_are_never_written(tmp_path: Path) -> None:
    """Faults in adopted notes are told; a night, a week and lint's repairs leave every byte of them."""
    adopt = wikis.SETTINGS + 'staging:\n  policy: off\nadopt:\n  pages: ["**/*.md"]\n'
    wiki = wikis.make(tmp_path / "w", adopt, eniac=ENIAC)
    put(wiki.root, "Tubes.md", "---\nup: [[ENIAC]]\naliases: [Valve]\n---\r\nSee [[ghost]] and [[eniac]].\n")
    put(wiki.root, "My/Radio.md", "Uses a [[Valve]].\n")
    (wiki.root / "My/Old.md").write_bytes(b"caf\xe9 [[d\xe9ad]]\n")
    before = {path: path.read_bytes() for path in wiki.root.rglob("*.md")}
    run(wiki)
    report = weekly(wiki, DirectRunner(), NOW)
    assert {path: path.read_bytes() for path in before} == before
    told = {one.check for one in report.lint.findings} if report.lint else set()
    assert told >= {"dead-link", "alias-only-link", "unquoted-link"} and markdown(report.steps).encode()


def test_a_busy_wiki_is_left_alone(wiki: Wiki) -> None:
    """While another run holds the lock nothing is begun."""
    before = vault(wiki.root)
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with run_lock(wiki.state_dir):
            held.set()
            done.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(30)
    with pytest.raises(BusyError):
        weekly(wiki, DirectRunner(), NOW)
    done.set()
    holder.join()
    assert vault(wiki.root) == before


def test_the_report_can_be_shown_without_names(wiki: Wiki) -> None:
    """A server that is not our own hears of numbers, not of pages."""
    put(wiki.root, "wiki/my secret.md", "See [[nowhere | at all]].\n")
    steps = weekly(wiki, DirectRunner(), NOW).steps
    assert "my secret" in markdown(steps) and "my secret" not in markdown(steps, private=True)
    assert "1 dead-link" in message(steps) and "my secret" not in message(steps)


def test_kept_answers_go_when_their_time_is_over(wiki: Wiki) -> None:
    """Of Prefect's own storage, after seven days; younger ones, and what is no result of Prefect's, stay."""
    storage = server.home(wiki) / "storage"
    storage.mkdir(parents=True)
    for name, days in (("a" * 32, 8), ("b" * 32, 6), ("notes.txt", 90), ("c" * 32 + ".tmp", 90)):
        (storage / name).write_text("{}")
        seconds = datetime.fromisoformat("2026-03-08T03:00:00+00:00").timestamp() - days * 86400
        os.utime(storage / name, (seconds, seconds))
    (storage / ("d" * 32)).mkdir()
    weekly(wiki, DirectRunner(), NOW)
    assert sorted(path.name[0] for path in storage.iterdir()) == ["b", "c", "d", "n"]
