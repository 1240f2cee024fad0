"""A wiki's model: shared by its readers, a run's own, with its budget and its former answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.errors import ModelError
from config.wiki import Wiki, open_wiki
from flows.asking import WikiAsker, asker
from storage.reader import Reader
from tests import wikis
from tests.llm_backends import GOOD, PROMPT, Facts
from tests.loopback_model import Loopback, loopback
from tests.web import Reply


def made(tmp_path: Path, model: Loopback, budget: str = "") -> Wiki:
    """A wiki without sources that uses this model."""
    text = wikis.SETTINGS + "compile: {compiler: extractive}\n" + model.settings(retries=0) + budget
    (tmp_path / "nightwiki.yaml").write_text(text)
    (tmp_path / "raw_sources").mkdir(exist_ok=True)
    return open_wiki(tmp_path)


def of(wiki: Wiki) -> WikiAsker:
    found = asker(wiki)
    assert found is not None
    return found


def test_a_wiki_without_a_model_has_no_asker(tmp_path: Path) -> None:
    """Nothing is asked, nothing is loaded."""
    (tmp_path / "nightwiki.yaml").write_text("name: w\n")
    assert asker(open_wiki(tmp_path)) is None


def test_readers_share_one_asker_until_settings_change(tmp_path: Path) -> None:
    """Asking for it again costs nothing; other settings make another one."""
    with loopback(lambda _: GOOD) as model:
        wiki = made(tmp_path, model)
        first = of(wiki)
        assert of(wiki) is first and of(open_wiki(tmp_path)) is first
        other = of(made(tmp_path, model, "budget: {day_tokens: 9}\n"))
        assert other is not first
        with pytest.raises(ModelError, match="day_tokens"):
            other.ask(PROMPT, Facts)
        other.close()


def test_a_reader_asks_again_after_trouble(tmp_path: Path) -> None:
    """A server that runs for weeks does not stay without a model because its key was once wrong."""
    with loopback(lambda _: GOOD) as model:
        model.script(Reply(401, b"{}", {"Content-Type": "application/json"}), GOOD)
        wiki = made(tmp_path, model)
        first = of(wiki)
        with pytest.raises(ModelError, match="key is not accepted"):
            first.ask(PROMPT, Facts)
        second = of(wiki)
        assert second is not first and second.ask(PROMPT, Facts).title == "Z3"
        second.close()


def test_what_readers_asked_is_recorded_by_the_next_night(tmp_path: Path) -> None:
    """Its row is published, its log goes, and the night after writes no snapshot."""
    with loopback(lambda _: GOOD) as model:
        wiki = made(tmp_path, model)
        asked = of(wiki)
        asked.ask(PROMPT, Facts)
        wikis.run(wiki, 1)
        snapshot = Reader(wiki.state_dir).current()
        assert snapshot is not None and [row.id for row in snapshot.rows("decisions")]
        assert list((wiki.state_dir / "decisions").glob("*")) == []
        wikis.run(wiki, 2)
        after = Reader(wiki.state_dir).current()
        assert after is not None and after.id == snapshot.id
        asked.close()
