"""Pages that send their readers on, as servers without settings do: a hop like any other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from config.errors import SourceError
from config.settings import Fetch
from tasks.fetching.fetch import Fetcher
from tasks.fetching.refresh import leads_to
from tasks.records import Outcome
from tests.web import FakeClock, Reply, Web, page


@pytest.fixture
def fetcher(clock: FakeClock) -> Iterator[Fetcher]:
    settings = Fetch(allow_private=("127.0.0.1",), max_redirects=3, retries=0)
    with Fetcher(settings, clock) as one:
        yield one


def onward(content: str) -> str:
    return f'<html><head><meta http-equiv="refresh" content="{content}"></head><body>You are being sent on.</body>'


@pytest.mark.parametrize(
    ("body", "target"),
    [
        (onward("0; url=new.html"), "new.html"),
        (onward("0;URL='/new?a=1&amp;b=2'"), "/new?a=1&b=2"),
        (onward("5,https://lamps.example/new"), "https://lamps.example/new"),
        ("<META CONTENT='1;url=new.html' HTTP-EQUIV=Refresh>", "new.html"),
        ("<meta http-equiv=refresh content=0;url=new.html>", "new.html"),
        (onward("300; url=index.html"), ""),
        (onward("5"), ""),
        (onward("soon; url=new.html"), ""),
        ("<p>Of refresh.</p><!--" + onward("0; url=new.html") + "-->", ""),
        ("<noscript>" + onward("0; url=new.html") + "</noscript>", ""),
        ("<script>var a = '" + onward("0; url=new.html") + "'</script>", ""),
    ],
)
def test_where_a_page_leads(body: str, target: str) -> None:
    """What a browser would follow at once is followed; what waits, or does not count, is not."""
    assert leads_to(body.encode(), "text/html") == target
    assert leads_to(body.encode("utf-16"), "text/html") == target
    assert leads_to(body.encode(), "text/plain") == ""


def test_the_page_at_the_end_is_fetched(web: Web, fetcher: Fetcher) -> None:
    """Pages lead on, one by its header; the last one is the answer, and its validators hold there."""
    web.route("/old", page(onward("0; url=/newer")))
    web.route("/newer", page("", Refresh="0; url=/new"))
    web.route("/new", page("the lamp", ETag='"1"'), Reply(304))
    first = fetcher.fetch(web.url("/old"))
    assert (first.body, first.final_url) == (b"the lamp", web.url("/new"))
    again = fetcher.fetch(web.url("/old"), first.etag, final_url=first.final_url)
    assert (again.status, again.etag) == ("unchanged", '"1"')


@pytest.mark.parametrize("content", ["0; url=/lamp", "0; url=#top", "2; url=market://lamps", "0; url=javascript:a()"])
def test_a_page_that_leads_nowhere_else_is_read(web: Web, fetcher: Fetcher, content: str) -> None:
    """A page that loads itself anew, or offers an app, is what was asked for."""
    web.route("/lamp", page(onward(content)))
    assert b"sent on" in fetcher.fetch(web.url("/lamp")).body


@pytest.mark.parametrize(
    ("content", "outcome"),
    [
        ("0; url=http://10.0.0.5/", Outcome.REFUSED),
        ("0; url=file:///etc/hosts", Outcome.REFUSED),
        ("0; url=/b", Outcome.BLOCKED),
        ("0; url=/1", Outcome.REFUSED),
    ],
    ids=["private address", "file", "circle", "too many"],
)
def test_each_hop_is_checked(web: Web, fetcher: Fetcher, content: str, outcome: Outcome) -> None:
    """A page leads no further than a redirect may."""
    web.route("/a", page(onward(content)))
    web.route("/b", page(onward("0; url=/a")))
    for number in range(1, 6):
        web.route(f"/{number}", page(onward(f"0; url=/{number + 1}")))
    with pytest.raises(SourceError) as caught:
        fetcher.fetch(web.url("/a"))
    assert (caught.value.outcome, bool(caught.value.next_step)) == (outcome, True)
