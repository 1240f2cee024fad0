"""No answer is paid for twice: the cache, its logs, and a second machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from pydantic import BaseModel

from config.models import ModelName, Price
from config.settings import Endpoint
from storage import backup
from storage.commit import commit
from storage.decisions import Decisions
from storage.state import WikiState
from tasks.commits import Changes
from tasks.llm.ask import ModelError, Part, Prompt, Role
from tasks.llm.cached import CachedAsker, decision_key
from tasks.llm.client import Client, Served
from tests.llm_backends import PROMPT, Echo, Facts

NOW = "2026-05-01T02:00:00Z"
ROOT = Path(__file__).resolve().parents[1]


class Other(Facts):
    """Another form of reply."""

    pages: tuple[str, ...] = ()


def asker(state_dir: Path, backend: Echo, model: str = "m") -> CachedAsker:
    """A fresh process's asker over a wiki's decisions."""
    served = Served(ModelName("openai", model), backend, Price(1, 2))
    return CachedAsker(Client(dict.fromkeys(Role, served), Endpoint()), Decisions(state_dir, NOW))


def test_the_same_question_is_asked_once(tmp_path: Path) -> None:
    """In one run and in the next, the second answer costs nothing."""
    echo = Echo()
    first = asker(tmp_path, echo)
    again = asker(tmp_path, echo)
    assert first.ask(PROMPT, Facts) == first.ask(PROMPT, Facts) == again.ask(PROMPT, Facts)
    assert echo.calls == 1 and (again.spent.calls, again.spent.cached) == (0, 1)


@pytest.mark.parametrize("changed", [
    replace(PROMPT, version="2"), replace(PROMPT, instructions="Count."), replace(PROMPT, role=Role.CITE),
    replace(PROMPT, parts=(Part("source", "The Z3 was built in 1942."),)), replace(PROMPT, concerns=("page 1: ab12",)),
    replace(PROMPT, parts=(Part("source", "The Z3 was built in 1941.", True),)), replace(PROMPT, parts=()),
])
def test_whatever_the_answer_depends_on_is_in_its_key(tmp_path: Path, changed: Prompt) -> None:
    """A changed source, page, purpose, prompt, role, form or model asks anew."""
    echo = Echo()
    asker(tmp_path, echo).ask(PROMPT, Facts)
    asker(tmp_path, echo).ask(changed, Facts)
    asker(tmp_path, echo).ask(PROMPT, Other)
    asker(tmp_path, echo, "n").ask(PROMPT, Facts)
    assert echo.calls == 4


def test_keys_do_not_run_into_each_other() -> None:
    """What stands in one part cannot pass for two."""
    one = replace(PROMPT, parts=(Part("a", 'x"], ["b'),))
    two = replace(PROMPT, parts=(Part("a", "x"), Part("b", "")))
    assert len({decision_key(each, Facts, "m") for each in (one, two, PROMPT)}) == 3


def test_a_bad_reply_is_not_kept(tmp_path: Path) -> None:
    """Neither an invalid nor a refused one; what is refused later is asked for again."""
    echo = Echo("no", "no", '{"title": "Z4", "facts": []}')
    with pytest.raises(ModelError):
        asker(tmp_path, echo).ask(PROMPT, Facts)
    assert asker(tmp_path, echo).ask(PROMPT, Facts).title == "Z4" and echo.calls == 3
    with pytest.raises(ModelError):
        asker(tmp_path, echo).ask(PROMPT, Facts, lambda reply: "too few facts" if not reply.facts else "")
    assert echo.calls == 5


def test_questions_at_once_are_asked_once(tmp_path: Path) -> None:
    """A thread that asks what another is asking waits for its answer."""
    echo = Echo()
    shared = asker(tmp_path, echo)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: shared.ask(PROMPT, Facts), range(40)))
    assert echo.calls == 1 and shared.spent.cached == 39


def test_a_killed_run_repeats_no_call(tmp_path: Path) -> None:
    """An answer is on disk before anything is made of it; a torn line costs only itself."""
    code = ("import os, signal, sys; from pathlib import Path; from tests.test_llm_decisions import *\n"
            "one = asker(Path(sys.argv[1]), Echo()); one.ask(PROMPT, Facts)\n"
            "one.ask(replace(PROMPT, version='2'), Facts); os.kill(os.getpid(), signal.SIGKILL)")
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    log = next((tmp_path / "decisions").glob("*.jsonl"))
    log.write_bytes(log.read_bytes()[:-9])
    echo = Echo()
    after = asker(tmp_path, echo)
    after.ask(PROMPT, Facts)
    assert echo.calls == 0
    after.ask(replace(PROMPT, version="2"), Facts)
    assert echo.calls == 1


def test_a_lost_blob_is_asked_for_again(tmp_path: Path) -> None:
    """A row whose reply is gone or damaged is as none."""
    echo = Echo()
    asker(tmp_path, echo).ask(PROMPT, Facts)
    for file in (tmp_path / "blobs").rglob("*"):
        if file.is_file():
            os.truncate(file, max(0, file.stat().st_size - 5))
    assert asker(tmp_path, echo).ask(PROMPT, Facts).title and echo.calls == 2


def test_decisions_are_published_and_travel_in_a_backup(tmp_path: Path) -> None:
    """A commit makes rows of them, the log goes, and a second machine asks for nothing."""
    echo = Echo()
    (tmp_path / "vault").mkdir()
    state = WikiState(tmp_path / "vault", tmp_path / "state").open()
    state.prepare()
    asker(state.root, echo).ask(PROMPT, Facts)
    decisions = Decisions(state.root, NOW, state.blobs)
    commit(state, "r1", "ingest", [], Changes(decisions=decisions.pending()), NOW)
    decisions.drop_published()
    assert decisions.pending() == () and list((state.root / "decisions").glob("*")) == []
    assert [row.role for row in state.ledger.rows("decisions")] == ["write"]
    state.retention(0, "2027-05-01T02:00:00Z")
    state.close()
    current = state.reader.current()
    assert current is not None
    backup.write(tmp_path / "wiki.tar.zst", state.vault.root, state.root, current.id)
    backup.read(tmp_path / "wiki.tar.zst", tmp_path / "second", ".nightwiki")
    asker(tmp_path / "second" / ".nightwiki", echo).ask(PROMPT, Facts)
    assert echo.calls == 1


def test_a_log_is_kept_until_all_of_it_is_published(tmp_path: Path) -> None:
    """What was decided after the commit was planned waits for the next one."""
    (tmp_path / "vault").mkdir()
    state = WikiState(tmp_path / "vault", tmp_path / "state").open()
    state.prepare()
    one = asker(state.root, Echo())
    one.ask(PROMPT, Facts)
    planned = Decisions(state.root, NOW).pending()
    one.ask(replace(PROMPT, version="2"), Facts)
    commit(state, "r1", "ingest", [], Changes(decisions=planned), NOW)
    Decisions(state.root, NOW).drop_published()
    assert [row.version for row in Decisions(state.root, NOW).pending()] == ["2"]


def test_a_wiki_of_before_gets_the_table(tmp_path: Path) -> None:
    """A state folder that knows no decisions takes them, and keeps what it has."""
    (tmp_path / "vault").mkdir()
    state = WikiState(tmp_path / "vault", tmp_path / "state").open()
    state.prepare()
    commit(state, "r0", "ingest", [], Changes(decisions=()), NOW)
    with state.ledger.session():
        state.ledger.head()
    with duckdb.connect(str(state.ledger.path)) as ledger:
        ledger.execute("DROP TABLE decisions")
        ledger.execute("UPDATE meta SET value = 'old' WHERE key = 'version'")
    asker(state.root, Echo()).ask(PROMPT, Facts)
    fresh = WikiState(tmp_path / "vault", tmp_path / "state").open()
    commit(fresh, "r1", "ingest", [], Changes(decisions=Decisions(state.root, NOW).pending()), NOW)
    assert len(fresh.ledger.rows("decisions")) == 1


def test_only_validated_objects_are_kept(tmp_path: Path) -> None:
    """What is kept is the object, without the talk around it."""

    class Small(BaseModel):
        title: str

    asker(tmp_path, Echo('Sure!\n```json\n{"title": "Z3", "facts": ["invented"]}\n```')).ask(PROMPT, Small)
    row = Decisions(tmp_path, NOW).pending()[0]
    assert Decisions(tmp_path, NOW).find(row.id) == b'{"title":"Z3"}'
