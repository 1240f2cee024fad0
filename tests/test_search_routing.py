"""Routing: a question that clearly belongs to a branch or two is put to these, and to the pages of no branch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.load import parse_settings
from config.settings import Search, Settings
from storage.search.engine import Engine, SearchedWiki, searched
from tasks.embedding.model import Model
from tasks.llm.client import connect
from tasks.search.filters import Filters
from tasks.search.scope import BranchChooser, BranchEvidence, ByKeywords
from tasks.search.scope_by_model import ByModel
from tests.loopback_model import loopback
from tests.search_wiki import Concepts, Snapshots, Tables, embedded, page, publish

WORDS = Concepts({"vessel": "ship", "freighter": "ship"})
WIKI = [
    page(1, "Freighter", "The freighter carries cargo over the sea.", branch="Ships"),
    page(2, "Tanker", "A tanker carries oil.", branch="Ships"),
    page(3, "Oak", "The oak grows slowly.", branch="Trees"),
    page(4, "Cargo cult", "A cargo cult awaits goods.", branch="Beliefs"),
    page(5, "Harbour", "Cargo waits in the harbour.", branch=""),
    page(6, "Birch", "The birch grows fast.", branch="Trees"),
]


@dataclass(frozen=True)
class Always:
    """Chooses the same, whatever is asked."""

    names: tuple[str, ...]

    def choose(self, question: str, covered: float, branches: Sequence[BranchEvidence]) -> tuple[str, ...]:
        return self.names


def over(folder: Path, chooser: BranchChooser | None, words: Concepts | None = None) -> Engine:
    vectors = embedded(WIKI, words) if words else ()
    snapshot = publish(folder, Tables(WIKI, vectors))
    return Engine([SearchedWiki("w", Snapshots(snapshot), Model(lambda: words) if words else None, chooser=chooser)])


def titles(search: Engine, question: str, filters: Filters | None = None) -> list[str]:
    return [hit.title for hit in search.search(question, 10, filters or Filters()).hits]


def test_a_clear_question_is_narrowed(tmp_path: Path) -> None:
    """Only the branch it belongs to is asked, with what lies in none; the answer says which."""
    result = over(tmp_path, ByKeywords(), WORDS).search("freighter carries", 10)
    assert result.branches == ("Ships",)
    assert {hit.branch for hit in result.hits} == {"Ships", ""}
    assert result.to_json()["branches"] == ["Ships"]


def test_without_the_setting_every_question_goes_to_the_whole_wiki(tmp_path: Path) -> None:
    """Off is the default, and then the answer has no word of branches."""
    result = over(tmp_path, None, WORDS).search("freighter carries", 10)
    assert {hit.branch for hit in result.hits} > {"Trees"} and "branches" not in result.to_json()
    assert searched(tmp_path, Settings(name="w"), tmp_path).chooser is None
    routed = Settings(name="w", search=Search(routing="auto"))
    assert isinstance(searched(tmp_path, routed, tmp_path).chooser, ByKeywords)


def test_an_unclear_question_a_gap_and_a_filter_go_to_the_whole_wiki(tmp_path: Path) -> None:
    """Words that three branches share, words that no page has, and a branch that the person chose."""
    search = over(tmp_path, ByKeywords(), WORDS)
    assert not search.search("carries grows awaits").branches
    assert not search.search("quantum chromodynamics vessel").branches
    assert not search.search("freighter carries", filters=Filters(branch=("Trees",))).branches
    assert titles(search, "oak freighter", Filters(branch=("Trees",)))[0] == "Oak"


def test_another_chooser_may_take_its_place(tmp_path: Path) -> None:
    """A choice that would miss the answer, or names no branch, changes nothing."""
    three = over(tmp_path / "three", Always(("Trees", "Ships", "Beliefs")), WORDS)
    assert three.search("oak").branches == ("Trees", "Ships")
    for number, names in enumerate([("Ships",), ("Nowhere",), ()]):
        search = over(tmp_path / str(number), Always(names), WORDS)
        assert search.search("oak").branches == () and titles(search, "oak")[0] == "Oak"


def test_keywords_alone_route_as_well(tmp_path: Path) -> None:
    """Without embeddings the keyword list is narrowed."""
    search = over(tmp_path, Always(("Ships",)))
    assert titles(search, "freighter cargo") == ["Freighter", "Harbour"]
    assert titles(over(tmp_path, None), "freighter cargo") == ["Freighter", "Cargo cult", "Harbour"]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["freighter", "tanker", "oak", "cargo", "vessel", "sea", "harbour"]), min_size=1))
def test_narrowed_hits_are_those_of_the_whole_wiki_in_scope(
    tmp_path_factory: pytest.TempPathFactory, words: list[str]
) -> None:
    """In the same order with the same scores: nothing but the scope changes."""
    folder = tmp_path_factory.mktemp("wiki")
    question = " ".join(words)
    whole = over(folder / "a", None, WORDS).search(question, 10)
    routed = over(folder / "b", ByKeywords(), WORDS).search(question, 10)
    scope = {"", *routed.branches} if routed.branches else {one.branch for one in WIKI}
    told = [replace(hit, rank=0, score=round(hit.score, 5)) for hit in whole.hits if hit.branch in scope]
    assert [replace(hit, rank=0, score=round(hit.score, 5)) for hit in routed.hits] == told


def test_a_model_may_choose_the_branches(tmp_path: Path) -> None:
    """What it names is searched; an unknown name is refused once, and without a usable reply the keywords choose."""
    replies = iter(['{"branches": ["Trees"]}', '{"branches": ["Ghosts"]}', '{"branches": ["Ghosts"]}'])
    with loopback(lambda question: next(replies)) as model:
        client = connect(parse_settings(model.settings()))
        assert client is not None
        search = over(tmp_path, ByModel(lambda: client), WORDS)
        assert search.search("the oak carries").branches == ("Trees",)
        assert search.search("freighter carries").branches == ("Ships",) and model.calls == 3
        client.close()
    chosen = searched(tmp_path, Settings(name="w", search=Search(routing="model")), tmp_path, ByModel(lambda: None))
    assert isinstance(chosen.chooser, ByModel)
    assert over(tmp_path / "none", ByModel(lambda: None), WORDS).search("freighter carries").branches == ("Ships",)
