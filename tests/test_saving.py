"""Saving an answer: it waits as a candidate with its citations, and becomes a page like any other."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.errors import NightwikiError
from config.wiki import Wiki, model_cache
from flows.answering.query import answer
from flows.answering.saving import save
from flows.night import review
from flows.night_steps.reading_in import Review
from flows.steps import DirectRunner
from storage.search.engine import Engine, searched
from tasks.answers.answering import Answer
from tests import wikis

NOW = "2026-03-02T12:00:00Z"


@pytest.fixture
def wiki(tmp_path: Path) -> Wiki:
    """A wiki of two pages."""
    made = wikis.make(
        tmp_path, f'{wikis.SETTINGS}staging:\n  policy: "off"\n', eniac=wikis.ENIAC, colossus=wikis.COLOSSUS
    )
    wikis.run(made)
    return made


def told(wiki: Wiki, question: str = "How many vacuum tubes did ENIAC use?") -> Answer:
    """The wiki's answer."""
    return answer(Engine([searched(wiki.state_dir, wiki.settings, model_cache())]), question)


def test_an_answer_waits_with_its_citations(wiki: Wiki) -> None:
    """The candidate holds the sentences, their footnotes and the pages they were told from."""
    saved = save(wiki, DirectRunner(), NOW, told(wiki))
    text = (wiki.root / saved.path).read_text()
    assert saved.path == "wiki/candidates/how-many-vacuum-tubes-did-eniac-use.md"
    assert "about 18,000 vacuum tubes.[^nw-" in text
    assert "[[raw_sources/eniac" in text
    assert "Told from [[" in text
    assert "type: answer" in text


def test_a_dry_run_writes_nothing(wiki: Wiki) -> None:
    """It says where the answer would wait."""
    before = wikis.vault(wiki.root)
    assert save(wiki, DirectRunner(), NOW, told(wiki), dry_run=True).path.endswith("use.md")
    assert wikis.vault(wiki.root) == before


def test_it_stays_over_nights_and_is_promoted(wiki: Wiki) -> None:
    """A night leaves it alone; promoted, it is a page that later nights leave alone, too."""
    saved = save(wiki, DirectRunner(), NOW, told(wiki))
    wikis.run(wiki, 3)
    assert (wiki.root / saved.path).is_file()
    review(wiki, DirectRunner(), "2026-03-03T12:00:00Z", [Review(saved.slug, True)])
    page = (wiki.root / "wiki" / f"{saved.slug}.md").read_bytes()
    assert b"about 18,000 vacuum tubes.[^nw-" in page
    wikis.run(wiki, 4)
    assert (wiki.root / "wiki" / f"{saved.slug}.md").read_bytes() == page
    with pytest.raises(NightwikiError, match="answered by a page already"):
        save(wiki, DirectRunner(), "2026-03-05T12:00:00Z", told(wiki))


def test_a_discarded_answer_is_not_offered_again(wiki: Wiki) -> None:
    """A person said no to these very words."""
    saved = save(wiki, DirectRunner(), NOW, told(wiki))
    with pytest.raises(NightwikiError, match="saved before"):
        save(wiki, DirectRunner(), NOW, told(wiki))
    review(wiki, DirectRunner(), "2026-03-03T12:00:00Z", [Review(saved.slug, False, "no")])
    with pytest.raises(NightwikiError, match="saved before"):
        save(wiki, DirectRunner(), "2026-03-04T12:00:00Z", told(wiki))


def test_a_gap_is_no_page(wiki: Wiki) -> None:
    """Nothing was answered, so nothing is saved."""
    with pytest.raises(NightwikiError, match="holds nothing"):
        save(wiki, DirectRunner(), NOW, told(wiki, "price of gold futures"))
