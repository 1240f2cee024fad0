"""Pages that are listed under several addresses, and short links to videos."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from config.wiki import Wiki
from flows import marks
from flows.night_steps import gather
from flows.session import open_state
from tasks.fetching.fetch import Fetcher
from tasks.records import Outcome, SourceRecord
from tests import wikis
from tests.web import Reply, Web, page, redirect
from tests.wikis import put, run, vault

SENTENCE = (
    "Fanal is a lighthouse that was built in 1851 on a rock in the bay, and its keeper climbs two hundred steps. "
)
FANAL = (
    f"<html><head><title>Fanal</title></head><body><article><h1>Fanal</h1><p>{SENTENCE * 3}</p></article></body></html>"
)


@pytest.fixture
def listed(tmp_path: Path, web: Web) -> Wiki:
    """A wiki with one page under four addresses, of which one is its own."""
    web.route("/old", redirect("/fanal", 301))
    web.route("/fanal", lambda asked: Reply(304) if "if-none-match" in asked.headers else page(FANAL, ETag='"1"'))
    web.route("/fanal/", page(FANAL))
    wiki = wikis.make(tmp_path / "w", wikis.SETTINGS + "fetch: {allow_private: ['127.0.0.1'], host_pause_seconds: 0}\n")
    put(wiki.root, "raw_sources/inbox.md", "\n".join(map(web.url, ("/old", "/fanal/", "/fanal"))))
    return wiki


def sources(wiki: Wiki) -> dict[str, SourceRecord]:
    return {one.location.rpartition(":")[2][5:]: one for one in open_state(wiki).ledger.sources().values()}


def test_one_page_is_one_source(listed: Wiki) -> None:
    """The address where it stands is read, the others are named after it, and nights without change write nothing."""
    first = run(listed)
    found = sources(listed)
    assert {place: one.outcome for place, one in found.items()} == {
        "/old": Outcome.DUPLICATE,
        "/fanal": Outcome.OK,
        "/fanal/": Outcome.DUPLICATE,
    }
    assert found["/old"].reason == f"the same page as {found['/fanal'].location}"
    before, copies = vault(listed.root), [path for path in vault(listed.root) if path.startswith("evidence/")]
    assert (first.state, len(copies)) == ("ok", 1)
    assert (run(listed, 2).changed, vault(listed.root), sources(listed)) == ((), before, found)


def test_when_it_goes_another_takes_its_place(listed: Wiki) -> None:
    """A page that its person ignores is read from where else it stands."""
    run(listed)
    marks.ignore(listed, [sources(listed)["/fanal"].id], "2026-03-01T10:00:00Z")
    run(listed, 2)
    outcomes = {place: one.outcome for place, one in sources(listed).items()}
    assert sorted(outcomes.values()) == [Outcome.DUPLICATE, Outcome.OK, Outcome.OK]


def test_empty_pages_of_scripts_are_not_alike(tmp_path: Path, web: Web) -> None:
    """A site that is built by scripts gives the same bytes everywhere: each address needs its own browser."""
    shell = "<html><body><div id=root></div><noscript>You need to enable JavaScript.</noscript><script></script></html>"
    wiki = wikis.make(tmp_path / "w", wikis.SETTINGS + "fetch: {allow_private: ['127.0.0.1'], host_pause_seconds: 0}\n")
    put(wiki.root, "raw_sources/inbox.md", "\n".join(web.route(place, page(shell)) for place in ("/a", "/b")))
    run(wiki)
    assert {one.outcome for one in sources(wiki).values()} == {Outcome.NEEDS_BROWSER}


def test_a_short_link_to_a_video_is_that_video(tmp_path: Path, web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its page at YouTube is no article; the transcript is asked for."""
    video = "https://www.youtube.com/watch?v=dQw4w9WgXcQ"
    there = f"http://www.youtube.com:{web.address.rpartition(':')[2]}/watch?v=dQw4w9WgXcQ"
    monkeypatch.setattr(gather, "Fetcher", partial(Fetcher, resolve=lambda host, port: ("127.0.0.1",)))
    web.route("/watch", page(FANAL))
    settings = "fetch: {allow_private: ['127.0.0.1'], host_pause_seconds: 0, retries: 0}\n"
    wiki = wikis.make(tmp_path / "w", wikis.SETTINGS + settings)
    put(wiki.root, "raw_sources/inbox.md", web.route("/short", redirect(there)))
    run(wiki)
    found = {one.location: one for one in open_state(wiki).ledger.sources().values()}
    assert found[web.url("/short")].reason == f"it leads to the video {video}"
    assert found[video].outcome is not Outcome.OK and not list(wiki.root.glob("evidence/*"))


def test_a_page_that_never_can_be_read_is_asked_for_ever_more_seldom(tmp_path: Path, web: Web) -> None:
    """An answer without an article counts as a failure like no answer: a week, two weeks, four."""
    wiki = wikis.make(tmp_path / "w", wikis.SETTINGS + "fetch: {allow_private: ['127.0.0.1'], host_pause_seconds: 0}\n")
    put(wiki.root, "raw_sources/inbox.md", web.route("/empty", page("<html><body></body></html>")))
    asked = []
    for day in (1, 8, 15, 22):
        run(wiki, day)
        asked.append(web.paths().count("/empty"))
    assert asked == [1, 2, 2, 3]
