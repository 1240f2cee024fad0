"""With git.commit each run is one commit of its own files, and a person's own staging is left as it is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from config.wiki import Wiki
from flows import git_commit
from flows.session import open_state
from flows.undo import undo
from tests import wikis
from tests.wikis import ENIAC, SETTINGS, put, run


def _git(root: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def wiki(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wiki:
    """A wiki in a folder of a repository, with a first commit of its owner."""
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "ada@example.org")
    made = wikis.make(tmp_path / "repo" / "w", f"{SETTINGS}git:\n  commit: true\n", machine=ENIAC)
    put(made.root, "notes.txt", "one\n")
    _git(tmp_path, "init", "-q", "repo")
    _git(made.root, "add", ".")
    _git(made.root, "commit", "-q", "-m", "first")
    return made


def test_a_run_is_one_commit_of_its_files(wiki: Wiki) -> None:
    """What the person staged or left unstaged stays so; the undo is a commit, too."""
    put(wiki.root, "notes.txt", "two\n")
    _git(wiki.root, "add", "notes.txt")
    put(wiki.root, "new [1].txt", "mine\n")
    night = run(wiki).run
    assert _git(wiki.root, "log", "-1", "--format=%s").strip() == f"nightwiki: ingest {night}"
    assert _git(wiki.root, "show", "--name-only", "--format=").split() == ["w/wiki/eniac.md", "w/wiki/index.md"]
    rest = ["M  w/notes.txt", '?? "w/new [1].txt"']
    assert [row for row in _git(wiki.root, "status", "--porcelain").splitlines() if ".nightwiki" not in row] == rest
    undo(wiki, night, "2026-03-02T09:00:00Z")
    removed = ["D\tw/wiki/eniac.md", "D\tw/wiki/index.md"]
    assert _git(wiki.root, "show", "--name-status", "--format=").splitlines() == removed


def test_a_merge_under_way_is_waited_for(wiki: Wiki, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run is well, its files wait, and the next run commits them under the id of theirs."""
    monkeypatch.setattr(git_commit, "PATIENCE", 0.1)
    marker = wiki.root.parent / ".git" / "MERGE_HEAD"
    marker.write_text(_git(wiki.root, "rev-parse", "HEAD"))
    first = run(wiki)
    assert first.state == "ok" and _git(wiki.root, "log", "-1", "--format=%s").strip() == "first"
    marker.unlink()
    run(wiki, 2)
    assert _git(wiki.root, "log", "--format=%s").split("\n")[0] == f"nightwiki: ingest {first.run}"


def test_without_a_repository_the_run_is_well(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It is said once a run, and that is all."""
    wiki = wikis.make(tmp_path / "w", f"{SETTINGS}git:\n  commit: true\n", machine=ENIAC)
    assert run(wiki).state == "ok" and "git" in caplog.text
    assert open_state(wiki).runs.all()[-1].state == "ok"
