"""A night that takes too long stops at a safe point, names what it left, and the next one takes it up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from config.edit import set_value
from config.settings import Settings
from config.wiki import Wiki, open_wiki
from flows import session, time_limit
from flows.night import night
from flows.session import Session
from flows.steps import DirectRunner
from serving.new_wiki import carry_out, plan
from tasks.llm.ask import Asker, Role
from tasks.reading.reading import Analyse, ReadingPool, ReadJob, ReadResult
from tests.web import Web, page
from tests.writing_model import RuleAsker


class Slow(ReadingPool):
    """Reads as always, but at the first source read the night's time runs out."""

    def __init__(self, settings: Settings, analyse: Analyse, clock: Clock) -> None:
        super().__init__(settings, analyse)
        self._clock = clock

    def read(self, jobs: Iterable[ReadJob]) -> Iterator[ReadResult]:
        for job in jobs:
            yield from super().read([job])
            self._clock.now += 3600


class Clock:
    """A clock that a test moves; with `step` it goes on by itself whenever somebody looks."""

    now = 0.0
    step = 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def limited(root: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Wiki, Clock]:
    """A wiki of three sources whose nights may take half an hour by a clock of the test's own."""
    carry_out(plan(root))
    for number in range(3):
        text = f"# Engine {number}\n\nEngine {number} was built in London in 184{number} from brass and steel.\n"
        (root / "raw_sources" / f"engine-{number}.md").write_text(text)
    settings = root / "nightwiki.yaml"
    text = set_value(settings.read_text(), ("sources", "settle_seconds"), 0)
    text = set_value(text, ("search", "vector"), "off")
    text = set_value(text, ("staging", "policy"), "off")
    settings.write_text(set_value(text, ("night", "max_minutes"), 30))
    clock = Clock()
    monkeypatch.setattr(session, "begin", lambda minutes: time_limit.TimeLimit(clock.now + minutes * 60, clock))
    return open_wiki(root), clock


def test_what_was_not_reached_is_named_and_read_next_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One source became a page; the others wait, as deferred, and become pages in the night after."""
    wiki, clock = limited(tmp_path / "w", monkeypatch)
    report = night(wiki, DirectRunner(), "2026-12-01T02:00:00Z", reader=lambda s, a: Slow(s, a, clock))
    assert (report.state, report.created, dict(report.sources)) == ("partial", 1, {"deferred_budget": 2, "ok": 1})
    said = {line.reason for line in report.lines if line.outcome == "deferred_budget"}
    assert said == {"the night's time was used up (night.max_minutes)"}
    after = night(wiki, DirectRunner(), "2026-12-02T02:00:00Z")
    assert (after.state, after.created, dict(after.sources)) == ("ok", 2, {"ok": 3})


def test_a_model_is_asked_nothing_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven questions fit into the time: one page is written, two sources wait, and the night after writes them."""
    wiki, clock = limited(tmp_path / "w", monkeypatch)
    settings = wiki.settings_path
    text = set_value(settings.read_text(), ("endpoint", "base_url"), "http://127.0.0.1:9/v1")
    settings.write_text(set_value(text, ("model",), "openai-compatible:rules"))
    wiki, model = open_wiki(wiki.root), RuleAsker()

    def connect(_: Session) -> Asker:
        clock.step = 4 * 60.0
        return model

    report = night(wiki, DirectRunner(), "2026-12-01T02:00:00Z", connect=connect)
    assert (report.state, report.created, dict(report.sources)) == ("partial", 1, {"deferred_budget": 2, "ok": 1})
    assert Counter(one.role for one in model.calls) == {Role.ANALYSE: 3, Role.DECIDE: 3, Role.WRITE: 1}
    said = {(line.reason, line.next_step) for line in report.lines if line.outcome == "deferred_budget"}
    assert said == {(time_limit.SPENT, time_limit.LATER)}
    clock.step = 0.0
    after = night(wiki, DirectRunner(), "2026-12-02T02:00:00Z", connect=lambda _: model)
    assert (after.state, after.created, dict(after.sources)) == ("ok", 2, {"ok": 3})


def test_addresses_are_left_for_the_next_night_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, web: Web
) -> None:
    """Once the time is used up nothing more is fetched; the next night fetches it."""
    wiki, clock = limited(tmp_path / "w", monkeypatch)
    web.route("/a", page("<html><title>Loom</title><body><article><p>" + "The loom wove cloth by cards. " * 20))
    (wiki.root / "raw_sources" / "sources.yaml").write_text(f"- {web.url('/a')}\n")
    settings = wiki.settings_path
    settings.write_text(set_value(settings.read_text(), ("fetch", "allow_private"), ("127.0.0.1",)))
    wiki = open_wiki(wiki.root)
    monkeypatch.setattr(session, "begin", lambda minutes: time_limit.TimeLimit(0.0, clock))
    report = night(wiki, DirectRunner(), "2026-12-01T02:00:00Z")
    assert (dict(report.sources), report.created) == ({"deferred_budget": 4}, 0)
    monkeypatch.undo()
    assert dict(night(wiki, DirectRunner(), "2026-12-02T02:00:00Z").sources) == {"ok": 4}
