"""Reviewing from the terminal: filters, diffs, and `--all`, which asks first."""

from __future__ import annotations

from pathlib import Path

import click.testing
import pytest

from serving.cli.app import cli
from tests import wikis
from tests.test_cli import say, told
from tests.wikis import COLOSSUS, ENIAC, put, run


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wiki where two pages wait since March; tests here look at it and change nothing."""
    made = tmp_path_factory.mktemp("review") / "w"
    run(wikis.make(made, wikis.SETTINGS + "staging:\n  policy: all\n", eniac=ENIAC, colossus=COLOSSUS))
    return made


def slugs(root: Path, *options: str) -> list[str]:
    answer = told("-w", root, "candidates", "list", *options)
    return [one["slug"].partition("-")[0] for one in answer["candidates"]]


def test_filters_narrow_the_list(root: Path) -> None:
    """By age, confidence and source; a filter that nothing passes gives an empty list."""
    assert slugs(root) == ["colossus", "eniac"] == slugs(root, "--older-than", "1d")
    assert slugs(root, "--source", "ENIAC") == ["eniac"] == slugs(root, "--source", "raw_sources/e*.md")
    assert slugs(root, "--confidence", "high") == [] == slugs(root, "--older-than", "9999d")
    assert say("-w", root, "candidates", "list", "--older-than", "soon")[0] == 2


def test_a_diff_shows_the_page_without_the_review_s_properties(root: Path) -> None:
    """A new page is all additions, and the boxes are no part of it."""
    name = told("-w", root, "candidates", "list", "--source", "eniac")["candidates"][0]["slug"]
    answer = told("-w", root, "candidates", "diff", name)
    assert answer["current"] and "+# ENIAC" in answer["diff"] and "promote:" not in answer["diff"]
    assert say("-w", root, "candidates", "diff", name)[1] == answer["diff"]


def test_all_asks_first(root: Path) -> None:
    """Without a yes nothing is done, and names and --all exclude each other."""
    answer = click.testing.CliRunner().invoke(cli, ["-w", str(root), "candidates", "promote", "--all"], input="n\n")
    assert "Promote 2 pages?" in answer.output and len(slugs(root)) == 2
    assert told("-w", root, "candidates", "discard", "--all", "--source", "eniac", "--dry-run")["discarded"]
    for wrong in (["--all", "x"], [], ["x", "--confidence", "low"]):
        assert say("-w", root, "candidates", "promote", *wrong)[0] == 2
    assert len(slugs(root)) == 2


def test_all_promotes_what_passes(tmp_path: Path) -> None:
    """With --yes the pages that pass the filters are published, the others still wait."""
    root = tmp_path / "w"
    run(wikis.make(root, wikis.SETTINGS + "staging:\n  policy: all\n", eniac=ENIAC, colossus=COLOSSUS))
    answer = told("-w", root, "candidates", "promote", "--all", "--yes", "--source", "eniac.md")
    assert len(answer["promoted"]) == 1 and slugs(root) == ["colossus"]


def test_a_dry_run_and_a_promotion_tell_the_same_of_a_name_that_is_taken(tmp_path: Path) -> None:
    """What would be left is not announced as done, and the next step is said."""
    root = tmp_path / "w"
    run(wikis.make(root, wikis.SETTINGS + "staging:\n  policy: all\n", machine=ENIAC))
    put(root, "notes/ENIAC.md", "mine\n")
    for options in (["--dry-run"], []):
        code, out, err = say("-w", root, "candidates", "promote", "eniac", *options)
        assert code == 3 and out == ""
        assert err == (
            "wiki/candidates/eniac.md: notes/ENIAC.md exists already. Rename that note, or discard the candidate\n"
        )
