"""The REST over the demo: what each route answers, in the forms that `nightwiki schema` describes."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import jsonschema
import pytest

from config.wiki import open_wiki
from flows.night import night
from flows.steps import DirectRunner
from serving.rest.app import Limits
from serving.schemas.registry import ANSWERS
from serving.schemas.served import SERVED
from storage.locks import run_lock
from tests.loopback_model import MODEL, Question, loopback
from tests.rest_server import rest
from tests.test_cli import ROOT, told


@pytest.fixture(scope="module")
def client(demo_night: Path) -> Iterator[httpx.Client]:
    with rest(demo_night) as asking:
        yield asking


def schema(name: str) -> dict[str, object]:
    return ({**ANSWERS, **SERVED})[name].model_json_schema()


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/search?question=who+built+the+Z3&k=2&explain=true", "search"),
        ("/search?question=relays&layer=both&tag=machine", "search"),
        ("/pages?limit=3", "pages"),
        ("/pages/zuse-z3", "page"),
        ("/pages/wiki/zuse-z3.md?section=Design", "page"),
        ("/changes?since=2026-11-01", "changes"),
        ("/candidates?confidence=low", "candidates list"),
        ("/candidates/pascaline", "candidates show"),
        ("/candidates/pascaline/diff", "candidates diff"),
        ("/sources?failed=true", "sources list"),
        ("/runs?limit=1", "runs"),
        ("/status", "status"),
        ("/health", "health"),
        ("/query?question=When+was+the+Z3+finished", "query"),
        ("/nothing", "problem"),
        ("/pages/no-such-page", "problem"),
        ("/search?question=x&k=NaN", "problem"),
    ],
)
def test_answers_keep_to_their_schemas(client: httpx.Client, path: str, name: str) -> None:
    """Programs can rely on what `nightwiki schema` says."""
    answer = client.get(path)
    assert answer.status_code < 500
    jsonschema.validate(answer.json(), schema(name))
    kind = "application/problem+json" if name == "problem" else "application/json"
    assert answer.headers["content-type"] == kind


def test_the_terminal_and_the_rest_say_the_same(client: httpx.Client, demo_night: Path) -> None:
    """One engine answers both, with the same filters."""
    by_terminal = told("-w", demo_night, "search", "electronic machine", "-k", "4", "--tag", "machine")
    by_get = client.get("/search", params={"question": "electronic machine", "k": 4, "tag": "machine"}).json()
    by_post = client.post("/search", json={"question": "electronic machine", "k": 4, "tag": ["machine"]}).json()
    assert by_get == by_terminal == by_post
    assert told("-w", demo_night, "sources", "list") == client.get("/sources").json()
    assert told("-w", demo_night, "candidates", "list") == client.get("/candidates").json()


def test_a_batch_answers_as_single_questions_do(client: httpx.Client) -> None:
    """Embedded together, answered the same, and from one snapshot."""
    questions = ["who built the Z3", "what was the first compiler", "", "why do lamps burn out"]
    together = client.post("/search/batch", json={"questions": questions, "k": 3}).json()
    jsonschema.validate(together, schema("search batch"))
    alone = [client.post("/search", json={"question": one, "k": 3}).json() for one in questions]
    assert together["answers"] == alone


def test_the_seeds_pack_is_answered(client: httpx.Client) -> None:
    """The budget is kept, the fields are those of the published form, and Markdown is there for the asking."""
    body = {"goal": "history of early computing pioneers", "token_budget": 1500}
    pack = client.post("/context/build", json=body).json()
    assert {"goal", "token_budget", "tokens_used", "pages", "omitted"} <= pack.keys()
    assert pack["pages"]
    assert {"slug", "relevance", "excerpt", "source", "confidence", "tags"} <= pack["pages"][0].keys()
    assert pack["tokens_used"] <= 1500
    text = client.post("/context/build", json=body, headers={"Accept": "text/markdown"}).text
    assert text.startswith("# Context Pack: history of early computing pioneers\nGenerated: ")


def test_an_answer_is_streamed_in_typed_events(client: httpx.Client) -> None:
    """Hits first, each citation before the sentence that needs it, done last."""
    with client.stream("GET", "/query?question=who+built+the+Z3", headers={"Accept": "text/event-stream"}) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        events = [part.split("\n") for part in answer.read().decode().strip().split("\n\n")]
    kinds = [lines[0].removeprefix("event: ") for lines in events]
    data = [json.loads(lines[1].removeprefix("data: ")) for lines in events]
    assert (kinds[0], kinds[-1]) == ("hits", "done")
    assert set(kinds) == {"hits", "citation", "sentence", "done"}
    known: set[int] = set()
    for kind, told_now in zip(kinds, data, strict=True):
        known |= {told_now["reference"]["number"]} if kind == "citation" else set()
        assert set(told_now.get("citations", ())) <= known


def test_a_failing_stream_ends_with_an_error(client: httpx.Client) -> None:
    """What cannot be answered is said as the last event."""
    with client.stream("GET", "/query?question=+", headers={"Accept": "text/event-stream"}) as answer:
        assert answer.read().decode().startswith("event: error\n")


def test_pages_are_listed_piece_by_piece(client: httpx.Client) -> None:
    """Cursors lead through all pages once, under the same filters."""
    seen: list[str] = []
    cursor = ""
    for _ in range(20):
        told_now = client.get("/pages", params={"limit": 2, "path": "wiki", "cursor": cursor}).json()
        seen += [one["path"] for one in told_now["pages"]]
        cursor = told_now["next"]
        if not cursor:
            break
    assert seen == sorted(set(seen))
    assert len(seen) == told_now["total"]


def test_a_page_is_read_piece_by_piece(client: httpx.Client) -> None:
    """The pieces put together are the page."""
    whole = client.get("/pages/zuse-z3").json()
    pieces, offset = [], 0
    while offset is not None:
        told_now = client.get("/pages/zuse-z3", params={"offset": offset, "limit": 700}).json()
        pieces.append(told_now["text"])
        offset = told_now.get("next_offset")
    assert "".join(pieces) == whole["text"]
    assert whole["citations"]
    section = client.get("/pages/zuse-z3?section=key facts").json()
    assert section["text"].startswith("## Key facts")
    assert client.get("/pages/zuse-z3?section=Cheese").status_code == 404


def test_a_former_slug_tells_where_the_page_is(demo: Path) -> None:
    """The answer moves on, and says so in its body too."""
    (demo / "wiki" / "zuse-z3.md").rename(demo / "wiki" / "konrads-machine.md")
    (demo / "wiki" / "grace-hopper.md").unlink()
    night(open_wiki(demo), DirectRunner(), "2026-12-02T02:00:00Z")
    with rest(demo) as client:
        moved = client.get("/pages/zuse-z3?limit=9", follow_redirects=False)
        assert (moved.status_code, moved.json()["slug"]) == (301, "konrads-machine")
        jsonschema.validate(moved.json(), schema("page moved"))
        assert client.get(moved.headers["location"]).json()["page"]["slug"] == "konrads-machine"
        assert client.get("/pages/grace-hopper").status_code == 410


def test_a_former_slug_of_any_script_tells_where_the_page_is(demo: Path) -> None:
    """The address in the answer can be followed as it stands."""
    (demo / "wiki" / "zuse-z3.md").rename(demo / "wiki" / "цузе z3 計算機.md")
    night(open_wiki(demo), DirectRunner(), "2026-12-02T02:00:00Z")
    with rest(demo) as client:
        moved = client.get("/pages/zuse-z3?section=Key+facts", follow_redirects=False)
        assert moved.status_code == 301
        there = client.get(moved.headers["location"]).json()
        assert (there["page"]["slug"], there["section"]) == (moved.json()["slug"], "Key facts")


def test_changes_since_a_day_or_a_time(demo: Path) -> None:
    """A day counts from its beginning, a time in its own zone; what cannot be told any more is gone, not missing."""
    (demo / "wiki" / "grace-hopper.md").unlink()
    night(open_wiki(demo), DirectRunner(), "2026-12-02T02:00:00Z")
    with rest(demo) as client:

        def changed(since: str) -> int:
            return len(client.get("/changes", params={"since": since}).json()["pages"])

        assert changed("2026-12-02") == changed("2026-12-02T01:59:59.9Z") == changed("2026-12-01T21:59-04:00") == 1
        assert changed("2026-12-02T02:00:00Z") == changed("2026-12-02T10:30:00+08:30") == changed("2026-12-03") == 0
        assert changed("1999") > 5
        assert client.get("/changes?since=2026-12-02T03:59:00+02:00").json()["pages"] != []
        assert client.get("/changes?since=2026-13-45").status_code == 404
        first = min((demo / ".nightwiki" / "snapshots" / "manifests").glob("*.json"))
        run = json.loads(first.read_text())["run"]
        first.unlink()
        for gone in ("1999", "2026-11-30", run):
            assert client.get("/changes", params={"since": gone}).status_code == 410
        assert client.get("/changes?since=20990101-000000-0000").status_code == 404


def test_a_pinned_snapshot_stays_until_it_is_collected(demo: Path) -> None:
    """A later night does not change it; when it is no longer kept the answer is 410, never another snapshot."""
    with rest(demo) as client:
        first = client.get("/search?question=Z3").json()
        listed = client.get("/pages?limit=1").json()
        (demo / "raw_sources" / "new.md").write_text("# Z4\n\nThe Z4 followed the Z3 in 1945.\n" * 2)
        night(open_wiki(demo), DirectRunner(), "2026-12-02T02:00:00Z")
        assert client.get("/search?question=Z3").json()["snapshot"] != first["snapshot"]
        pinned = {"question": "Z3", "snapshot": first["snapshot"]}
        assert client.get("/search", params=pinned).json() == first
        (demo / ".nightwiki" / "snapshots" / "manifests" / f"{first['snapshot']}.json").unlink()
        assert client.get("/search", params=pinned).status_code == 410
        assert client.get("/pages", params={"limit": 1, "cursor": listed["next"]}).status_code == 410
        assert client.post("/context/build", json={"goal": "Z3", "snapshot": first["snapshot"]}).status_code == 410
        assert client.get("/changes", params={"since": first["snapshot"]}).status_code == 410
        assert client.get("/search", params={"question": "Z3", "snapshot": "s00000099-0123456789ab"}).status_code == 404


def test_a_review_goes_through_the_same_commit(demo: Path) -> None:
    """Tried dry, promoted, audited; a second time there is nothing by that name."""
    with rest(demo) as client:
        dry = client.post("/candidates/pascaline/promote", json={"dry_run": True}).json()
        assert (dry["run"], dry["promoted"]) == ("", ["wiki/pascaline.md"])
        assert not (demo / "wiki" / "pascaline.md").exists()
        done = client.post("/candidates/pascaline/promote").json()
        assert done["promoted"] == ["wiki/pascaline.md"]
        assert client.get("/pages/pascaline").status_code == 200
        assert any(row["path"] == "wiki/pascaline.md" for row in told("-w", demo, "audit", done["run"])["writes"])
        assert client.post("/candidates/pascaline/promote").status_code == 404


def test_a_discard_is_remembered_with_its_reason(demo: Path) -> None:
    """The page does not wait any more."""
    with rest(demo) as client:
        done = client.post("/candidates/pascaline/discard", json={"reason": "too thin"}).json()
        assert done["discarded"] == ["pascaline"]
        assert client.get("/candidates").json()["candidates"] == []


def test_a_review_during_a_night_names_the_holder(demo: Path) -> None:
    """409 says who holds the lock and since when; reading goes on."""
    with rest(demo) as client, run_lock(demo / ".nightwiki"):
        refused = client.post("/candidates/pascaline/promote")
        assert refused.status_code == 409
        assert refused.json()["holder"]["pid"] > 0
        assert client.get("/search?question=Z3").status_code == 200
        assert [lock["name"] for lock in client.get("/status").json()["locks"]] == ["run"]


def test_read_only_has_no_reviews(demo_night: Path) -> None:
    """The routes are not there."""
    with rest(demo_night, limits=Limits(read_only=True)) as client:
        assert client.post("/candidates/pascaline/promote").status_code == 404


def test_several_wikis_and_a_broken_one(demo: Path, tmp_path: Path) -> None:
    """Hits name their wiki; a wiki that cannot be opened degrades answers and fails only what is asked of it alone."""
    other = Path(shutil.copytree(demo, tmp_path / "second"))
    broken = tmp_path / "third"
    broken.mkdir()
    (broken / "nightwiki.yaml").write_text("nonsense: [")
    with rest(demo, other, broken) as client:
        told_now = client.get("/search?question=Zuse+Z3&k=4").json()
        assert {hit["wiki"] for hit in told_now["hits"]} == {"computing", "second"}
        assert any("third" in one["reason"] for one in told_now["degraded"])
        assert client.get("/search", params={"question": "Z3", "snapshot": told_now["snapshot"]}).status_code == 200
        assert client.get("/health").json()["state"] == "degraded"
        assert client.get("/status?wiki=second").status_code == 200
        assert client.get("/status?wiki=third").status_code == 503
        assert client.get("/pages/zuse-z3").status_code == 404
        assert client.get("/pages/zuse-z3?wiki=second").json()["page"]["wiki"] == "second"


def test_all_wikis_answer_where_none_is_named(demo: Path, tmp_path: Path) -> None:
    """Numbers are added up and entries name their wiki; a wiki that cannot be read is named and left out."""
    other = Path(shutil.copytree(demo, tmp_path / "second"))
    (other / "wiki" / "grace-hopper.md").unlink()
    night(open_wiki(other), DirectRunner(), "2026-12-03T02:00:00Z")
    broken = tmp_path / "third"
    broken.mkdir()
    (broken / "nightwiki.yaml").write_text("nonsense: [")
    with rest(demo, other, broken) as client:
        status = client.get("/status").json()
        jsonschema.validate(status, ANSWERS["status"].model_json_schema())
        each = {one["wiki"]: one for one in status["wikis"]}
        assert set(each) == {"computing", "second"} and any("third" in one["reason"] for one in status["degraded"])
        assert status["pages"] == each["computing"]["pages"] + each["second"]["pages"]
        for place, name in (("/sources", "sources"), ("/runs", "runs"), ("/candidates", "candidates")):
            assert {one["wiki"] for one in client.get(place).json()[name]} == {"computing", "second"}
            assert "wiki" not in client.get(f"{place}?wiki=second").json()[name][0]
        started = [one["started"] for one in client.get("/runs").json()["runs"]]
        assert started == sorted(started, reverse=True)
        changed = client.get("/changes?since=2026-12-02").json()
        assert {one["wiki"] for one in changed["pages"]} == {"second"}
        assert client.get("/changes", params={"since": status["snapshot"]}).json()["pages"] == []
        assert client.get("/changes?since=nonsense").status_code == 404
        assert "several wikis" in client.post("/candidates/pascaline/promote").json()["detail"]
        assert client.get("/candidates/nonsense").status_code == 404


def test_a_list_goes_on_across_wikis(demo: Path, tmp_path: Path) -> None:
    """Page by page, every page of every wiki comes once."""
    other = Path(shutil.copytree(demo, tmp_path / "second"))
    with rest(demo, other) as client:
        found, cursor, total = [], "", -1
        while cursor or not found:
            told = client.get("/pages", params={"limit": 4, "cursor": cursor}).json()
            found += [(one["wiki"], one["path"]) for one in told["pages"]]
            cursor, total = told["next"], told["total"]
        assert len(found) == len(set(found)) == total and {wiki for wiki, _ in found} == {"computing", "second"}


def test_a_model_is_shown_only_wikis_that_name_it(demo: Path, tmp_path: Path) -> None:
    """Of wikis that name different models none is asked, and the answer says why."""
    other = Path(shutil.copytree(demo, tmp_path / "second"))
    settings = demo / "nightwiki.yaml"
    settings.write_text(settings.read_text().replace('\nmodel: ""\n', "\nmodel: anthropic:some-model\n"))
    with rest(demo, other) as client:
        told = client.post("/query", json={"question": "who built the Z3"}).json()
        assert told["sentences"] and all(one["checked"] == "quoted" for one in told["sentences"])
        assert any("computing: anthropic:some-model, second: none" in one["reason"] for one in told["degraded"])
        alone = client.post("/query", json={"question": "who built the Z3", "wiki": ["second"]}).json()
        assert not [one for one in alone["degraded"] if one["what"] == "model"]


def test_a_model_that_hangs_holds_up_neither_the_answer_nor_others(demo: Path) -> None:
    """What the pages say is answered in time, and searches go on meanwhile, however many wait for the model."""
    ended = threading.Event()

    def hang(_: Question) -> str:
        ended.wait(120)
        return "too late"

    with loopback(hang) as model:
        settings = demo / "nightwiki.yaml"
        named = settings.read_text("utf-8").replace('\nmodel: ""', f"\nmodel: {MODEL}")
        settings.write_text(re.sub(r'base_url: ".*"', f"base_url: {model.base_url}", named), "utf-8")
        with (
            rest(demo, limits=Limits(seconds=32, threads=2, streams=4)) as client,
            ThreadPoolExecutor(4) as others,
        ):
            asked = {"question": "When was the Z3 finished?"}
            waiting = [others.submit(client.post, "/query", json=asked) for _ in range(3)]
            assert client.get("/search?question=z3").status_code == 200
            answers = [one.result() for one in waiting]
        ended.set()
    for answer in answers:
        told = answer.json()
        assert (answer.status_code, told["state"], told["degraded"][0]["what"]) == (200, "answered", "model")
        assert told["sentences"][0]["checked"] == "quoted"


def test_settings_broken_while_serving(demo: Path) -> None:
    """The last good settings stay in force, and every answer says what is wrong, until it is mended."""
    settings = demo / "nightwiki.yaml"
    good = settings.read_text()
    with rest(demo) as client:
        before = client.get("/search?question=Z3").json()
        settings.write_text(good + "\nserach: {}\n")
        after = client.get("/search?question=Z3").json()
        assert (after["hits"], [one["what"] for one in after["degraded"]]) == (before["hits"], ["settings"])
        assert "settings" in [one["what"] for one in client.get("/status").json()["degraded"]]
        answer = client.post("/query", json={"question": "who built the Z3"}).json()
        assert "settings" in [one["what"] for one in answer["degraded"]]
        settings.write_text(good.replace("hits: 10", "hits: 2"))
        assert len(client.get("/search?question=machine").json()["hits"]) == 2
        assert client.get("/health").json()["state"] == "ok"


def test_the_readmes_request_is_answered_as_shown(demo_night: Path) -> None:
    """`curl`, typed as the README has it, prints every line that is shown, in order."""
    if shutil.which("curl") is None:
        pytest.skip("there is no curl here")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = next(one for one in re.findall(r"```console\n(.*?)```", readme, re.DOTALL) if one.startswith("$ curl"))
    command, _, shown = block[2:].replace("\\\n", "").partition("\n")
    with rest(demo_night) as client:
        words = shlex.split(command.replace("http://127.0.0.1:4210", str(client.base_url).rstrip("/")))
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    printed = done.stdout.splitlines()
    for line in shown.splitlines():
        if line not in ("...", ""):
            assert line in printed
            printed = printed[printed.index(line) + 1 :]
