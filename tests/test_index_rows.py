"""What a person writes among the lists of index.md, through weeks and nights: moved or left where it is, never lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.wiki import Wiki
from flows.scaffold import scaffold
from flows.steps import DirectRunner
from tests import wikis
from tests.wikis import COLOSSUS, ENIAC, page, put, run

LINE = "- [[eniac|ENIAC]] — ENIAC was the first programmable general-purpose electronic digital computer."


@pytest.fixture
def wiki(tmp_path: Path) -> Wiki:
    made = wikis.make(tmp_path / "w", machine=ENIAC, codes=COLOSSUS)
    run(made)
    assert LINE in page(made.root, "index")
    return made


def _scaffold(wiki: Wiki, day: int, before: str = "", after: str = "") -> str:
    """The index made anew after an edit."""
    put(wiki.root, "wiki/index.md", page(wiki.root, "index").replace(before, after))
    scaffold(wiki, DirectRunner(), f"2026-03-{day:02d}T03:00:00Z")
    made = page(wiki.root, "index")
    assert scaffold(wiki, DirectRunner(), f"2026-03-{day:02d}T04:00:00Z", dry_run=True).changed == ()
    return made


@pytest.mark.parametrize("theirs", [f"{LINE} Mine.", "- [[eniac|ENIAC]] — the one that I saw.", "- [[eniac|Giant]]"])
def test_what_a_person_says_of_a_page_in_its_line_stays(wiki: Wiki, theirs: str) -> None:
    """Behind the page's own words, in their place, or its name."""
    made = _scaffold(wiki, 2, LINE, theirs)
    assert f"\n{theirs}\n" in made.partition("scaffold -->")[2] and made.count("[[eniac") == 1


def test_a_line_that_nobody_wrote_into_says_what_the_page_says_now(wiki: Wiki) -> None:
    """That its words are no longer the page's does not make it a person's."""
    put(wiki.root, "raw_sources/machine.md", ENIAC.replace("was the first", "was the very first"))
    run(wiki, 2)
    assert LINE in page(wiki.root, "index") and LINE not in (made := _scaffold(wiki, 3))
    assert "the very first programmable" in made and made.count("[[eniac") == 1


def test_a_line_with_a_person_s_words_becomes_words_when_its_page_goes(wiki: Wiki) -> None:
    """The generated one of the other page goes whole."""
    put(wiki.root, "wiki/index.md", page(wiki.root, "index").replace(LINE, "- [[eniac|ENIAC]] — the one that I saw."))
    for stem in ("eniac", "colossus"):
        (wiki.root / f"wiki/{stem}.md").unlink()
    run(wiki, 2)
    assert "\n- ENIAC — the one that I saw.\n" in (text := page(wiki.root, "index")) and "olossus" not in text


def test_a_person_s_own_list_moves_up_with_its_heading(wiki: Wiki) -> None:
    """Links to notes that the index does not list, under a heading of theirs; an empty category of theirs stays."""
    end = "\n## To read\n\n- [[some note]]\n- [[other|Other]] — soon\n\n## Later\n"
    made = _scaffold(wiki, 2, LINE + "\n", LINE + "\n" + end)
    above, _, below = made.partition("<!-- nightwiki:scaffold -->")
    assert "## To read\n\n- [[some note]]\n- [[other|Other]] — soon\n" in above and "## To read" not in below
    assert "\n## Later\n" in below
    put(wiki.root, "raw_sources/more.md", ENIAC.replace("ENIAC", "EDVAC"))
    run(wiki, 3)
    assert "## Later" in _scaffold(wiki, 4) and "[[edvac" in page(wiki.root, "index")
