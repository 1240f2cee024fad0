"""A night is one transaction: whatever kills it, the next start finishes it."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import multiprocessing
import os
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from config.errors import StateError
from storage.commit import commit
from storage.state import WikiState
from storage.tables import TABLES
from tasks.commits import NO_CHANGES, Changes, CommitResult, FileWrite, NewCandidate, Refusal
from tasks.records import EmbeddingRecord, Outcome, PageRecord, SourceKind, SourceRecord

NOW = "2026-05-01T02:00:00Z"


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def page(path: str, text: str, page_id: str = "") -> PageRecord:
    name = path.rpartition("/")[2].removesuffix(".md")
    return PageRecord(page_id or f"id-{path}", path, name, name.title(), False, digest(text.encode()), text)


def write(path: str, text: str, before: str | None = None) -> FileWrite:
    """A page written from `before` (its text, None: new) with the row that goes with it."""
    expected = None if before is None else digest(before.encode())
    return FileWrite(path, expected, text.encode(), Changes(pages=(page(path, text),)))


def new_page(path: str, text: str) -> FileWrite:
    """A page that is new, or a candidate when its name is taken meanwhile."""
    made = write(path, text)
    waits = f"candidates/{path.replace('/', '-')}"
    reasons = ("its name was taken",)
    candidate = NewCandidate(waits, made.changes.pages[0], reasons, "said", "subject", NOW)
    return replace(made, otherwise=candidate)


def source(number: int, reason: str = "") -> SourceRecord:
    return SourceRecord(f"s{number}", SourceKind.WEB, f"https://example.org/{number}", Outcome.OK, reason)


@pytest.fixture
def state(tmp_path: Path) -> WikiState:
    (tmp_path / "wiki").mkdir()
    return open_state(tmp_path / "wiki")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: hundreds of commits wait for no disk there."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


def open_state(vault: Path) -> WikiState:
    return WikiState(vault, vault / ".nightwiki").open()


def files(vault: Path) -> dict[str, bytes]:
    found = (file for file in sorted(vault.rglob("*")) if file.is_file())
    return {str(file.relative_to(vault)): file.read_bytes() for file in found
            if not str(file.relative_to(vault)).startswith(".nightwiki/")}


def run(state: WikiState, *writes: FileWrite, changes: Changes = NO_CHANGES, name: str = "r1") -> CommitResult:
    return commit(state, name, "ingest", writes, changes, NOW)


def test_files_rows_and_snapshot_agree(state: WikiState) -> None:
    """After a commit the vault, the ledger and the snapshot tell the same."""
    done = run(state, write("wiki/a.md", "A"), write("wiki/b.md", "B"), changes=Changes(sources=(source(1),)))
    assert done.landed == ("wiki/a.md", "wiki/b.md") and done.published
    assert files(state.vault.root) == {"wiki/a.md": b"A", "wiki/b.md": b"B"}
    snapshot = state.reader.current()
    assert snapshot is not None and snapshot.id == done.snapshot
    assert snapshot.pages() == tuple(state.ledger.pages().values()) == (page("wiki/a.md", "A"), page("wiki/b.md", "B"))
    assert snapshot.rows("sources") == (source(1),)


def test_nothing_to_do_writes_nothing(state: WikiState) -> None:
    """Doing the same again makes no journal, no snapshot and no audit row."""
    first = run(state, write("wiki/a.md", "A"), changes=Changes(sources=(source(1),)))
    again = run(state, write("wiki/a.md", "A"), changes=Changes(sources=(source(1),), drop_pages=("none",)))
    assert (again.landed, again.published, again.snapshot) == (("wiki/a.md",), False, first.snapshot)
    assert len(state.journal.closed()) == len(state.runs.audit()) == 1


def test_a_changed_file_is_refused_and_its_fallback_taken(state: WikiState) -> None:
    """What a person saved meanwhile stays; the night's text becomes a candidate with its own row."""
    run(state, write("wiki/a.md", "A"))
    (state.vault.root / "wiki/a.md").write_text("mine")
    fallback = write("wiki/candidates/a.update.md", "candidate")
    done = run(state, replace(write("wiki/a.md", "B", "A"), otherwise=fallback))
    assert done.landed == ("wiki/candidates/a.update.md",)
    assert done.refused == (Refusal("wiki/a.md", "the file was changed meanwhile"),)
    assert state.ledger.pages()["id-wiki/a.md"].markdown == "A"
    assert files(state.vault.root) == {"wiki/a.md": b"mine", "wiki/candidates/a.update.md": b"candidate"}


def test_a_new_page_whose_name_is_taken_waits_as_a_candidate(state: WikiState) -> None:
    """The candidate's file and row are made then, and stand for the page that could not be written."""
    (state.vault.root / "wiki").mkdir(parents=True)
    (state.vault.root / "wiki/a.md").write_text("mine")
    done = run(state, new_page("wiki/a.md", "# A\n"), new_page("wiki/b.md", "# B\n"))
    assert done.landed == ("candidates/wiki-a.md", "wiki/b.md")
    candidate = state.ledger.candidates()["id-wiki/a.md"]
    assert (candidate.target, candidate.reasons, candidate.state) == ("wiki/a.md", ("its name was taken",), "open")
    assert digest(state.vault.read(candidate.path)) == candidate.file_hash
    assert set(state.ledger.pages()) == {"id-wiki/b.md"}


def test_a_dependent_write_waits_for_the_one_before(state: WikiState) -> None:
    """A candidate is removed only once its page stands, however the two are listed."""
    run(state, write("wiki/candidates/a.md", "A"))
    gone = FileWrite("wiki/candidates/a.md", digest(b"A"), None, Changes(drop_pages=("id-wiki/candidates/a.md",)),
                     after="wiki/a.md")
    done = run(state, gone, write("wiki/a.md", "A"))
    assert set(done.landed) == {"wiki/a.md", "wiki/candidates/a.md"}
    assert files(state.vault.root) == {"wiki/a.md": b"A"} and list(state.ledger.pages()) == ["id-wiki/a.md"]
    assert state.blobs.get(digest(b"A")) == b"A"


def test_a_dependent_write_is_refused_with_the_one_before(state: WikiState) -> None:
    """Nothing follows a write that did not land, nor one that waits in a circle."""
    (state.vault.root / "a.md").write_text("mine")
    late = replace(write("b.md", "B"), after="a.md")
    circle = (replace(write("c.md", "C"), after="d.md"), replace(write("d.md", "D"), after="c.md"))
    done = run(state, write("a.md", "A"), late, *circle)
    assert done.landed == () and [one.path for one in done.refused] == ["a.md", "b.md", "c.md", "d.md"]
    assert not done.published and files(state.vault.root) == {"a.md": b"mine"}


def test_two_writes_of_one_file_keep_their_order(state: WikiState) -> None:
    """A file may be written twice in a commit; the later row wins."""
    done = run(state, write("a.md", "A"), write("a.md", "B", "A"))
    assert done.landed == ("a.md", "a.md") and files(state.vault.root) == {"a.md": b"B"}
    assert state.ledger.pages()["id-a.md"].markdown == "B"


def test_a_full_disk_leaves_a_commit_that_can_be_finished(state: WikiState) -> None:
    """ENOSPC in the middle is one line; the next start finishes what was begun."""
    def full(step: str) -> None:
        if step == "swapped:b.md":
            raise OSError(errno.ENOSPC, "No space left on device", "b.md")
    with pytest.raises(StateError, match="the disk is full; the commit is half done, nothing is lost"):
        writes = [write(f"{name}.md", name) for name in "abc"]
        commit(state, "r1", "ingest", writes, Changes(), NOW, full)
    done = open_state(state.vault.root).recover().commit
    assert done is not None and done.landed == ("a.md", "b.md", "c.md")
    assert len(open_state(state.vault.root).ledger.pages()) == 3


def test_a_damaged_journal_is_set_aside(state: WikiState) -> None:
    """A journal that cannot be trusted is not replayed; the vault stays as it is and a person is told."""
    with pytest.raises(Killed):
        commit(state, "r1", "ingest", [write("a.md", "A"), write("b.md", "B")], Changes(), NOW, killer(6))
    content = state.journal.open_path.read_bytes()
    state.journal.open_path.write_bytes(content[: len(content) // 2])
    recovered = open_state(state.vault.root).recover()
    assert recovered.commit is None and "set aside" in recovered.messages[0]
    assert run(open_state(state.vault.root), write("c.md", "C")).landed == ("c.md",)


# --- random kills


class Killed(BaseException):
    """The process ends here, as far as the test is concerned."""


def killer(at: int) -> Callable[[str], None]:
    """A crash hook that ends everything at the step number `at`, from 1."""
    steps = iter(range(1, 10**9))

    def crash(step: str) -> None:
        if next(steps) == at:
            raise Killed(step)
    return crash


def killer_exit(at: int) -> Callable[[str], None]:
    """As `killer`, but the process really ends: nothing is cleaned up."""
    steps = iter(range(1, 10**9))

    def crash(step: str) -> None:
        if next(steps) == at:
            os._exit(9)
    return crash


@dataclass(frozen=True)
class Scenario:
    """A wiki with a past, what its person did since, and the commit that will be killed."""

    past: tuple[FileWrite, ...]
    edits: Mapping[str, str]
    writes: tuple[FileWrite, ...]
    changes: Changes


def scenario(seed: int) -> Scenario:
    """A random commit over new, known, edited, removed and dependent files."""
    rng = random.Random(seed)
    known = [f"wiki/{rng.choice(('', 'sub/', 'ü/'))}k{n}.md" for n in range(rng.randint(2, 8))]
    past = tuple(write(path, f"old {path}") for path in known)
    edits = {path: f"mine {path}" for path in known if rng.random() < 0.2}
    writes: list[FileWrite] = []
    for path in known:
        kind = rng.random()
        fallback = write(f"wiki/candidates/{path[5:].replace('/', '-')}.update.md", f"staged {path}")
        if kind < 0.5:
            changed = write(path, f"new {path}", f"old {path}")
            writes.append(replace(changed, otherwise=fallback) if rng.random() < 0.7 else changed)
        elif kind < 0.75:
            gone = Changes(drop_pages=(f"id-{path}",))
            writes.append(FileWrite(path, digest(f"old {path}".encode()), None, gone))
    for number in range(rng.randint(0, 25)):
        fresh = new_page(f"wiki/n{number}.md", f"text {number} " * rng.randint(1, 200))
        if rng.random() < 0.2:
            edits[fresh.path] = f"mine {number}"
        writes.append(replace(fresh, after=rng.choice(writes).path) if writes and rng.random() < 0.3 else fresh)
    rng.shuffle(writes)
    changes = Changes(sources=tuple(source(n, "again") for n in range(rng.randint(0, 3))),
                      embeddings=(EmbeddingRecord("e", "0" * 64, "m", rng.randbytes(8)),), drop_sources=("s9",))
    return Scenario(past, edits, tuple(writes), changes)


def begin(vault: Path, case: Scenario) -> None:
    """Live through the past of a scenario."""
    vault.mkdir(parents=True)
    run(open_state(vault), *case.past, changes=Changes(sources=(source(0), source(9))), name="r0")
    for path, text in case.edits.items():
        (vault / path).write_text(text)


def go(vault: Path, case: Scenario, crash: Callable[[str], None]) -> None:
    commit(open_state(vault), "r1", "ingest", case.writes, case.changes, NOW, crash)


def go_and_die(vault: Path, seed: int, at: int) -> None:
    """The commit of a scenario in a process of its own that ends at a step."""
    go(vault, scenario(seed), killer_exit(at))


def told(vault: Path) -> dict[str, object]:
    """Everything that must be the same after a kill: files, rows, snapshot, audit, no journal, no rests."""
    state = open_state(vault)
    snapshot = state.reader.current()
    assert snapshot is not None and not state.journal.is_open() and not state.journal.results_path.exists()
    with state.ledger.session():
        ledger = {name: state.ledger.rows(name) for name in TABLES}
    return {
        "files": files(vault),
        "ledger": ledger,
        "snapshot": {name: snapshot.rows(name) for name in TABLES},
        "audit": sorted((row.run, row.path, row.before, row.after) for row in state.runs.audit()),
        "closed": [(one.run, one.landed, one.refused) for one in state.journal.closed()],
        "published": len(state.reader.history()),
    }


def count_steps(vault: Path, case: Scenario) -> int:
    steps: list[str] = []
    go(vault, case, steps.append)
    return len(steps)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(16))
def test_a_killed_commit_ends_as_an_undisturbed_one(memory: Path, seed: int) -> None:
    """Killed anywhere, also while recovering, the next start leaves the same files, rows, snapshot and audit."""
    case, rng = scenario(seed), random.Random(seed)
    begin(memory / "start", case)
    shutil.copytree(memory / "start", memory / "calm")
    steps = count_steps(memory / "calm", case)
    want = told(memory / "calm")
    for number in range(13):
        vault = memory / f"kill{number}"
        shutil.copytree(memory / "start", vault)
        at = rng.randint(1, steps)
        if number % 4 == 0:
            context = multiprocessing.get_context("forkserver")
            context.set_forkserver_preload(["pytest", "storage.state"])
            process = context.Process(target=go_and_die, args=(vault, seed, at))
            process.start()
            process.join()
            assert process.exitcode == 9
        else:
            with pytest.raises(Killed):
                go(vault, case, killer(at))
        if number % 2:
            with contextlib.suppress(Killed):
                open_state(vault).recover(killer(rng.randint(1, steps)))
        begun = open_state(vault).recover().commit is not None or told(vault) == want
        if not begun:  # killed before the journal stood: nothing had happened, and the run is made again
            go(vault, case, lambda step: None)
        assert told(vault) == want, f"seed {seed}, killed at step {at} of {steps}"


def write_both(vault: Path, name: str) -> None:
    """One of two processes that write the same new page, and one page each of their own."""
    run(open_state(vault), write("wiki/both.md", name), write(f"wiki/{name}.md", name), name=name)


def test_two_processes_commit_one_after_the_other(tmp_path: Path) -> None:
    """The second waits its turn, and is refused what the first has written meanwhile."""
    vault = tmp_path / "wiki"
    vault.mkdir()
    context = multiprocessing.get_context("forkserver")
    both = [context.Process(target=write_both, args=(vault, name)) for name in ("one", "two")]
    for process in both:
        process.start()
    for process in both:
        process.join()
    found = told(vault)
    assert [process.exitcode for process in both] == [0, 0] and found["published"] == 2
    winner = files(vault)["wiki/both.md"].decode()
    assert files(vault) == {"wiki/both.md": winner.encode(), "wiki/one.md": b"one", "wiki/two.md": b"two"}
    assert open_state(vault).ledger.pages()["id-wiki/both.md"].markdown == winner


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 106))
def test_an_edit_between_kill_and_recovery_is_never_overwritten(memory: Path, seed: int) -> None:
    """Whatever a person saves or adds after the crash stays, whether or not we had written the file."""
    case, rng = scenario(seed), random.Random(seed)
    for number in range(6):
        vault = memory / f"kill{number}"
        begin(vault, case)
        with pytest.raises(Killed):
            go(vault, case, killer(rng.randint(1, 20)))
        mine = {one.path: f"mine {rng.random()}" for one in case.writes if rng.random() < 0.3}
        for path, text in mine.items():
            (vault / path).parent.mkdir(parents=True, exist_ok=True)
            (vault / path).write_text(text)
        open_state(vault).recover()
        now = files(vault)
        assert {path: now[path].decode() for path in mine} == mine
        state = open_state(vault)
        snapshot = state.reader.current()
        assert snapshot is not None and snapshot.pages() == tuple(state.ledger.pages().values())
