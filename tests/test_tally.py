"""What lint found last time is told in the digest, by the week's tidying and by `status`."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.wiki import Wiki
from flows.lint import lint
from flows.steps import DirectRunner
from flows.weekly import of_lint
from storage import tally
from tasks.digest import markdown
from tasks.records import Finding
from tests import wikis
from tests.test_cli import say, told
from tests.wikis import ENIAC, put, run


@pytest.fixture
def wiki(tmp_path: Path) -> Wiki:
    made = wikis.make(tmp_path / "w", wikis.SETTINGS + "staging:\n  policy: off\n", eniac=ENIAC)
    run(made, 1)
    return made


def fix(wiki: Wiki, day: int) -> str:
    return of_lint(lint(wiki, DirectRunner(), f"2026-03-{day:02d}T03:00:00Z", fix=True)).said


def test_new_findings_are_told(wiki: Wiki) -> None:
    """The first lint has nothing to compare with; the next one counts what has come since."""
    first = fix(wiki, 2)
    assert "new" not in first and "mended" in first
    put(wiki.root, "wiki/mine.md", "See [[nowhere]] and [[elsewhere]].\n")
    assert "2 errors" in fix(wiki, 3) and "of them new" in of_status(wiki)
    assert "Lint of 2026-03-03: 2 errors" in markdown(run(wiki, 4))
    assert "new" not in fix(wiki, 5)


def of_status(wiki: Wiki) -> str:
    answer = told("-w", wiki.root, "status")["lint"]
    assert answer["errors"] == 2 and answer["new"] >= 2
    return say("-w", wiki.root, "status")[1]


def test_the_tally_may_be_lost(wiki: Wiki) -> None:
    """Damaged or deleted it is made again; a wiki that was never linted has none."""
    assert told("-w", wiki.root, "status").get("lint") is None
    fix(wiki, 2)
    for spoilt in ("", "{}", "[1]", '{"at": 1}'):
        (wiki.state_dir / "lint" / "tally.json").write_text(spoilt)
        assert tally.load(wiki.state_dir) is None and "new" not in fix(wiki, 3)


def test_numbers() -> None:
    """One or many, with severity; a finding that moved to another line is no new one."""
    before = tally.take([Finding("a", "error", "p.md", 3, "m", "f")], None, "2026-03-01T00:00:00Z")
    after = tally.take(
        [Finding("a", "error", "p.md", 9, "m", "f"), Finding("b", "warning", "p.md", 1, "m", "f")], before, "x"
    )
    assert before.line() == "1 error" and after.line() == "1 error, 1 warning, 1 of them new"
    assert tally.take([], after, "x").line() == "nothing is wrong"
