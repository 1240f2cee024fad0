"""Categories that a language model names: what it is asked, what of its answer is believed, and what stays anyway."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.errors import MissingExtraError
from config.wiki import Wiki, open_wiki
from flows.scaffold import ScaffoldReport, scaffold
from flows.steps import DirectRunner
from flows.weekly import of_scaffold
from serving.cli import run as command
from storage.reader import Reader
from tasks.navigation import grouping_by_model
from tasks.navigation.grouping import MOST_BUNDLES, Bundle
from tasks.navigation.index_page import MARKER, REST, Entry
from tasks.navigation.scaffold import categories, sections, with_categories
from tests import wikis
from tests.loopback_model import Loopback, Question, loopback
from tests.wikis import put
from tests.writing_model import RuleAsker

PAGES = {"ENIAC": "A computer.", "Colossus": "A machine of codebreakers.", "Wren": "A small bird.", "Tea": "A leaf."}
KINDS = {"ENIAC": "Early computers", "Colossus": "Early computers", "Wren": "Birds", "Robin": "Birds"}


def by_kind(question: Question) -> str:
    """The kind of each bundle by the title of its first page."""
    placed = []
    for row in question.data["bundles"].splitlines():
        name, _, told = row.partition(" ")
        kind = next((kind for title, kind in KINDS.items() if f"): {title}" in told), "")
        placed += [{"bundle": name, "category": kind}] if kind else []
    return json.dumps({"placed": placed})


def wiki_of(root: Path, model: Loopback, more: str = "") -> Wiki:
    """Pages that a person wrote, and an index that knows none of them."""
    made = wikis.make(root, wikis.SETTINGS + model.settings() + more)
    for title, text in PAGES.items():
        put(root, f"wiki/{title}.md", f"# {title}\n\n{text}\n")
    return made


def week(wiki: Wiki, day: int = 1) -> ScaffoldReport:
    return scaffold(wiki, DirectRunner(), f"2026-03-{day:02d}T03:00:00Z")


def listed(wiki: Wiki) -> Mapping[str, tuple[str, ...]]:
    return sections((wiki.root / "wiki/index.md").read_text(encoding="utf-8"))


def test_a_model_names_the_categories_and_one_question_does(tmp_path: Path) -> None:
    """A category of one page is none; titles are fenced off as data; the answer is kept with the wiki's decisions."""
    with loopback(by_kind) as model:
        wiki = wiki_of(tmp_path, model)
        assert week(wiki).note == ""
        assert listed(wiki) == {"Early computers": ("colossus", "eniac"), REST: ("tea", "wren")}
        assert model.calls == 1 and "ENIAC" in model.questions[0].data["bundles"] and not model.questions[0].trusted
        snapshot = Reader(wiki.state_dir).current()
        assert snapshot is not None and snapshot.table("decisions", ["role"])["role"].to_pylist() == ["decide"]


def test_categories_stay_from_week_to_week(tmp_path: Path) -> None:
    """A heading that a person renamed keeps its pages, a new page joins its kind; then nothing is asked."""
    with loopback(by_kind) as model:
        wiki = wiki_of(tmp_path, model)
        week(wiki)
        index = tmp_path / "wiki/index.md"
        index.write_text(index.read_text().replace("## Early computers", "## Old iron"))
        put(tmp_path, "wiki/Robin.md", "# Robin\n\nA red bird.\n")
        week(wiki, 8)
        assert listed(wiki) == {"Old iron": ("colossus", "eniac"), "Birds": ("robin", "wren"), REST: ("tea",)}
        assert "Old iron: Colossus; ENIAC" in model.questions[-1].data["categories"]
        week(wiki, 15)
        calls, before = model.calls, index.read_bytes()
        week(wiki, 22)
        assert model.calls == calls and index.read_bytes() == before


def test_the_night_leaves_new_categories_to_the_model(tmp_path: Path) -> None:
    """What the night made waits at the end of the index until the week."""
    endpoint = "model: openai-compatible:x\nendpoint:\n  base_url: http://127.0.0.1:9/v1\n"
    wiki = wikis.make(tmp_path, wikis.SETTINGS + endpoint, eniac=wikis.ENIAC)
    wikis.run(wiki, connect=lambda _: RuleAsker())
    assert set(listed(wiki)) == {REST}


BAD = {
    "an unknown bundle": {"placed": [{"bundle": "b99", "category": "Birds"}]},
    "a bundle twice": {"placed": [{"bundle": "b1", "category": "A"}, {"bundle": "b1", "category": "B"}]},
    "a link": {"placed": [{"bundle": "b1", "category": "[[ENIAC]]"}]},
    "markup": {"placed": [{"bundle": "b1", "category": MARKER}]},
    "an address": {"placed": [{"bundle": "b1", "category": "see https://evil.example"}]},
    "hidden letters": {"placed": [{"bundle": "b1", "category": "Bi\u202erds"}]},
    "no words": {"placed": [{"bundle": "b1", "category": "1 / 2"}]},
    "a novel": {"placed": [{"bundle": "b1", "category": "On the many kinds of birds " * 9}]},
    "another form": {"categories": ["Birds"]},
}


@pytest.mark.parametrize("kind", [*BAD, "prose", "nothing", "a failing server"])
def test_after_a_bad_answer_the_words_decide_and_it_is_said(tmp_path: Path, kind: str) -> None:
    """Twice no usable answer: nothing of it reaches the index, every page is listed, and the report says why."""
    said = {"prose": "I would call them birds.", "nothing": ""}.get(kind) or json.dumps(BAD.get(kind, {}))
    with loopback(lambda _: said) as model:
        wiki = wiki_of(tmp_path, model, "  retries: 0\n")
        if kind == "a failing server":
            model.web.route("/v1/chat/completions")
        report = week(wiki)
        assert listed(wiki) == {REST: ("colossus", "eniac", "tea", "wren")} and model.calls <= 2
    assert report.note.startswith("no model named the new categories: ")
    told = of_scaffold(report)
    assert "no model named the new categories" in told.said and "http" not in told.said and told.detail


def test_too_many_new_categories_are_refused() -> None:
    """An index of a heading for each pair of pages serves nobody."""
    bundles = [Bundle((Entry(f"p{n}", f"Page {n}", "", ()), Entry(f"q{n}", f"Other {n}", "", ()))) for n in range(40)]
    placed = [{"bundle": f"b{n + 1}", "category": f"Kind {'x' * n}"} for n in range(40)]
    asker = RuleAsker(lambda prompt, reply: {"placed": placed})
    with pytest.raises(Exception, match="40 new categories are too many"):
        grouping_by_model.ByModel(asker).group(bundles, {})


def test_what_the_budget_forbids_is_not_asked(tmp_path: Path) -> None:
    """The cap is named, and the words decide."""
    with loopback(by_kind) as model:
        wiki = wiki_of(tmp_path, model, "budget:\n  run_tokens: 10\n")
        assert "budget.run_tokens" in week(wiki).note and model.calls == 0 and set(listed(wiki)) == {REST}


def test_a_model_that_cannot_be_reached_is_said(tmp_path: Path) -> None:
    """A library that is missing ends no week."""
    wiki = wikis.make(tmp_path, wikis.SETTINGS)
    put(tmp_path, "wiki/Tea.md", "# Tea\n")

    def missing(_: object) -> None:
        raise MissingExtraError("anthropic", "is not installed", "pip install nightwiki[anthropic]")

    assert "is not installed" in scaffold(wiki, DirectRunner(), "2026-03-01T03:00:00Z", connect=missing).note


def test_a_dry_run_asks_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It shows what the words would make, and says that a model may find other names."""
    with loopback(by_kind) as model:
        wiki = wiki_of(tmp_path, model)
        assert command(["-w", str(tmp_path), "scaffold", "--dry-run", "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert model.calls == 0 and "a dry run asks no model" in told["note"] and told["categories"][0]["pages"] == 4
        assert open_wiki(wiki.root) and not (tmp_path / "wiki/index.md").exists()


class Says:
    """A grouper that gives these names in turn."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names, self.most = names, 0

    def group(self, bundles: Sequence[Bundle], standing: Mapping[str, Sequence[str]]) -> Sequence[str]:
        self.most = max(self.most, len(bundles))
        return [self._names[number % len(self._names)] for number in range(len(bundles))]


entries = st.lists(
    st.builds(
        Entry,
        st.integers(0, 300).map("p{}".format),
        st.sampled_from(["Alpha", "Beta", "Gamma ray"]),
        st.just(""),
        st.lists(st.sampled_from(["a", "b-c", "more pages"]), max_size=2).map(tuple),
    ),
    max_size=40,
    unique_by=lambda entry: entry.stem,
)


@settings(max_examples=40, deadline=None)
@given(entries, entries, st.lists(st.sampled_from(["", "A", "a", "Birds", REST, "more PAGES"]), min_size=1, max_size=5))
def test_whatever_is_said_each_page_stands_once_and_none_that_stood_moves(
    first: list[Entry], second: list[Entry], names: list[str]
) -> None:
    """No page is lost, doubled, or taken from its category, and the last category is that of the leftovers."""
    text = "# W\n"
    before: dict[str, str] = {}
    for pages in (first, second):
        grouper = Says(names)
        text = with_categories(text, categories(text, pages, {}, grouper=grouper))
        now = {stem: name for name, stems in sections(text).items() for stem in stems}
        assert sorted(now) == sorted(page.stem for page in pages) and grouper.most <= MOST_BUNDLES
        assert all(now[stem] == name for stem, name in before.items() if stem in now and name != REST)
        before = now
