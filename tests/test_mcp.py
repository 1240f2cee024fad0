"""The tools for agents, asked by the protocol's own client over standard input and output and over HTTP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from config.wiki import model_cache
from serving.backend import Backend
from serving.mcp.run import http_app
from serving.mcp.server import make_server
from serving.rest.app import make_app
from serving.rest.guard import Rules
from storage.locks import run_lock
from tests.rest_server import rest, running
from tests.test_cli import ROOT, say

READERS = ["search", "read_page", "list_pages", "context_build", "query", "candidates", "status"]
WRITERS = ["ingest", "review"]

Asking = Callable[[Client], Awaitable[Any]]


def over_stdio(folder: Path, ask: Asking, *options: str) -> Any:
    """What `ask` returns, of a server that the client starts."""
    command = ["-m", "serving.cli", "mcp", "-w", str(folder), *options]
    variables = {**os.environ, "NIGHTWIKI_CACHE": os.environ["NIGHTWIKI_CACHE"]}
    transport = stdio_client(StdioServerParameters(command=sys.executable, args=command, cwd=ROOT, env=variables))

    async def go() -> Any:
        async with Client(transport) as client:
            return await ask(client)

    return anyio.run(go)


def within(folders: list[Path], ask: Asking, allow_writes: bool = False) -> Any:
    """What `ask` returns, of a server in this process."""

    async def go() -> Any:
        async with Client(make_server(Backend(folders, model_cache()), allow_writes)) as client:
            return await ask(client)

    return anyio.run(go)


def over_http(url: str, ask: Asking) -> Any:
    """What `ask` returns, of a server that listens."""

    async def go() -> Any:
        async with Client(url) as client:
            return await ask(client)

    return anyio.run(go)


async def call(client: Client, tool: str, /, **arguments: object) -> Any:
    """The structured answer of a tool, which the client holds against the tool's schema."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


async def failure(client: Client, tool: str, /, **arguments: object) -> str:
    """The line with which a tool refuses."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(result.content[0].text)


async def _every_reader(client: Client) -> dict[str, Any]:
    told = {"tools": [tool.name for tool in (await client.list_tools()).tools]}
    told["search"] = await call(client, "search", question="who built the Z3", k=2)
    told["read_page"] = await call(client, "read_page", page="zuse-z3", section="Design", limit=200)
    told["list_pages"] = await call(client, "list_pages", limit=3)
    told["context_build"] = await call(client, "context_build", goal="early computing pioneers", token_budget=900)
    told["query"] = await call(client, "query", question="When was the Z3 finished?")
    told["candidates"] = await call(client, "candidates")
    told["status"] = await call(client, "status")
    return told


def test_an_agent_reads_over_stdio(demo_night: Path) -> None:
    """Every tool answers in the form that it promised, and nothing but the protocol is on standard output."""
    told = over_stdio(demo_night, _every_reader)
    assert told["tools"] == READERS
    assert told["search"]["hits"][0]["slug"] == "zuse-z3"
    assert told["read_page"]["text"].startswith("## Design")
    assert 0 < told["context_build"]["tokens_used"] <= 900
    assert "1941" in " ".join(one["text"] for one in told["query"]["sentences"])
    assert [one["slug"] for one in told["candidates"]["candidates"]] == ["pascaline"]
    assert told["status"]["status"]["pages"] == 9


def test_http_says_the_same(demo_night: Path) -> None:
    """On a port of its own, and beside the REST."""
    backend = Backend([demo_night], model_cache())
    with running(http_app(make_server(backend), Rules())) as url:
        alone = over_http(f"{url}/mcp", _every_reader)
    with running(make_app(backend)) as url:
        beside = over_http(f"{url}/mcp", _every_reader)
    assert alone == beside == within([demo_night], _every_reader)


def test_http_checks_who_asks(demo_night: Path) -> None:
    """The guard of the REST stands before the tools, too."""
    with rest(demo_night) as client:
        call_ping = partial(client.post, "/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
        assert call_ping(headers={"Host": "evil.example"}).status_code == 421
        assert call_ping(headers={"Origin": "https://evil.example"}).status_code == 403


def test_tools_say_what_they_are(demo_night: Path) -> None:
    """The wiki's name, whether it writes, and the forms of question and answer."""
    tools = within([demo_night], lambda client: client.list_tools(), allow_writes=True).tools
    assert [tool.name for tool in tools] == [*READERS, *WRITERS]
    for tool in tools:
        assert "'computing'" in tool.description
        assert tool.annotations.read_only_hint is (tool.name in READERS)
        assert tool.annotations.destructive_hint is (tool.name == "review")
        assert tool.input_schema["type"] == tool.output_schema["type"] == "object"


def test_writing_is_off_unless_allowed(demo_night: Path) -> None:
    """An agent that tries all the same is told how a person allows it."""
    for tool in WRITERS:
        assert "--allow-writes" in within([demo_night], lambda client, tool=tool: failure(client, tool))


def test_results_are_bounded_and_go_on(demo_night: Path) -> None:
    """Cursors lead through hits and pages, each once, from one snapshot."""

    async def walk(client: Client) -> tuple[list[int], list[str]]:
        ranks, paths, cursor = [], [], ""
        while True:
            told = await call(client, "search", question="machine", k=2, cursor=cursor)
            ranks += [hit["rank"] for hit in told["hits"]]
            assert len(told["hits"]) <= 2
            if not (cursor := told["next"]):
                break
        while True:
            told = await call(client, "list_pages", limit=4, cursor=cursor)
            paths += [page["path"] for page in told["pages"]]
            if not (cursor := told["next"]):
                return ranks, paths

    ranks, paths = within([demo_night], walk)
    assert ranks == list(range(1, len(ranks) + 1))
    assert len(ranks) > 4
    assert (len(paths), paths) == (9, sorted(set(paths)))


def test_pages_are_resources(demo_night: Path) -> None:
    """Listed, and read by id or slug; what is none of ours is refused."""

    async def read(client: Client) -> None:
        listed = await client.list_resources()
        assert len(listed.resources) == 9
        assert (await client.list_resource_templates()).resource_templates[0].uri_template.startswith("nightwiki://")
        page = next(one for one in listed.resources if one.name == "zuse-z3")
        text = (await client.read_resource(page.uri)).contents[0].text
        assert text == (await client.read_resource("nightwiki://pages/computing/zuse-z3")).contents[0].text
        assert "# Zuse Z3" in text
        for wrong in ("file:///etc/passwd", "nightwiki://pages/computing/..%2F..%2Fetc", "nightwiki://pages/x/zuse-z3"):
            with pytest.raises(Exception, match="no "):
                await client.read_resource(wrong)

    within([demo_night], read)


def test_what_a_tool_cannot_take_is_said(demo_night: Path) -> None:
    """In the result, where the agent sees it, in one line."""

    async def ask(client: Client) -> list[str]:
        return [
            await failure(client, "search", question=5),
            await failure(client, "search", question="x", k=1000),
            await failure(client, "search", question="x", cursor="nonsense"),
            await failure(client, "read_page", page="zuse"),
            await failure(client, "context_build", goal="x", token_budget=10**9),
            await failure(client, "status", run="no-such-run"),
            await failure(client, "no_such_tool"),
        ]

    lines = within([demo_night], ask)
    assert all(line and "\n" not in line for line in lines)
    assert "Did you mean" in lines[3]


def test_agents_are_understood(demo_night: Path) -> None:
    """Null and empty for what may be left out, one value for a list, and a page as packs write its link."""

    async def ask(client: Client) -> None:
        plain = await call(client, "search", question="relays", k=3)
        filled = {"wiki": None, "tag": None, "k": 3, "snapshot": "", "confidence_min": "", "layer": None, "cursor": ""}
        assert await call(client, "search", question="relays", **filled) == plain
        assert await call(client, "search", question="relays", k=3, wiki="computing") == plain
        page = await call(client, "read_page", page="zuse-z3", limit=50)
        for name in ("[[zuse-z3]]", "/wiki/zuse-z3.md", "wiki/zuse-z3", " Zuse-Z3 "):
            assert await call(client, "read_page", page=name, limit=50) == page
        assert "question" in await failure(client, "query", question="")
        assert "tag: Input should be a list" in await failure(client, "search", question="x", tag=5)

    within([demo_night], ask)


def test_several_wikis(demo: Path, demo_night: Path) -> None:
    """Descriptions name them, hits say whose they are, all are told of at once, and what writes asks which."""

    async def ask(client: Client) -> None:
        assert "'computing' and '" in (await client.list_tools()).tools[0].description
        told = await call(client, "search", question="Zuse Z3", k=4)
        wikis = {hit["wiki"] for hit in told["hits"]}
        assert len(wikis) == 2
        assert {one["wiki"] for one in (await call(client, "status"))["status"]["wikis"]} == wikis
        assert {one["wiki"] for one in (await call(client, "candidates"))["candidates"]} == wikis
        assert "several" in await failure(client, "ingest")
        for wiki in wikis:
            assert (await call(client, "status", wiki=wiki))["wiki"] == wiki

    other = demo.rename(demo.parent / "second")
    within([demo_night, other], ask, allow_writes=True)


def test_a_long_run_is_told_by_its_id(demo: Path) -> None:
    """`ingest` answers at once, `status` says how it goes, and the night comes to its end."""
    (demo / "raw_sources" / "new.md").write_text("# Z4\n\nThe Z4 followed the Z3 in 1945. It had relays.\n" * 3)

    async def ask(client: Client) -> str:
        run = (await call(client, "ingest", sources=["raw_sources/new.md"]))["run"]
        while True:
            told = (await call(client, "status", run=run))["runs"][0]
            if told["state"] != "running":
                return str(told["state"])
            await anyio.sleep(0.2)

    assert over_stdio(demo, ask, "--allow-writes") in ("ok", "partial")


def test_an_agent_reads_no_strangers_files(demo: Path, tmp_path: Path) -> None:
    """Only addresses and files of the sources folder are sources to it; options are none."""
    (tmp_path / "secret.txt").write_text("secret")
    (demo / "raw_sources" / "link.txt").symlink_to(tmp_path / "secret.txt")

    async def ask(client: Client) -> None:
        for name in (str(tmp_path / "secret.txt"), "/etc/passwd", "../secret.txt", "raw_sources/link.txt", "--force"):
            assert "only addresses" in await failure(client, "ingest", sources=[name])

    within([demo], ask, allow_writes=True)


def test_reviews_by_an_agent(demo: Path) -> None:
    """Tried dry, refused while another run goes on, then done."""

    async def ask(client: Client) -> None:
        dry = await call(client, "review", page="pascaline", decision="promote", dry_run=True)
        assert dry["run"] == ""
        with _held(demo):
            assert "busy since" in await failure(client, "review", page="pascaline", decision="promote")
            assert "busy since" in await failure(client, "ingest")
        done = await call(client, "review", page="pascaline", decision="promote")
        assert done["promoted"] == ["wiki/pascaline.md"]

    within([demo], ask, allow_writes=True)


def _held(root: Path) -> AbstractContextManager[None]:
    return run_lock(root / ".nightwiki")


def test_what_libraries_print_stays_off_the_wire(demo_night: Path) -> None:
    """Python's and native code's prints during start and calls go to standard error."""
    code = (
        "import os, sys, serving.backend as b\n"
        "first = b.Backend.__init__\n"
        "def loud(self, *a):\n    print('printed'); os.write(1, b'written\\n'); first(self, *a)\n"
        "b.Backend.__init__ = loud\n"
        "search = b.Backend.search\n"
        "def louder(self, *a):\n    print('printed'); os.write(1, b'written\\n'); return search(self, *a)\n"
        "b.Backend.search = louder\n"
        "from serving.cli import run; sys.exit(run(['mcp', '-w', sys.argv[1]]))"
    )
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    arguments = {"name": "search", "arguments": {"question": "Z3"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": arguments},
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(demo_night)],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("".join(f"{json.dumps(line)}\n" for line in lines))
    process.stdin.flush()
    answers = [json.loads(process.stdout.readline()) for _ in range(2)]
    rest_of_it, errors = process.communicate(timeout=60)
    assert [one["id"] for one in answers] == [1, 2]
    assert rest_of_it == ""
    assert errors.count("printed") == errors.count("written") == 2


def test_the_clients_snippet_starts_the_server(demo_night: Path) -> None:
    """What `--print-config` prints is what a client runs."""
    code, out, _ = say("mcp", "-w", demo_night, "--print-config")
    assert code == 0
    entry = json.loads(out)["mcpServers"][f"nightwiki-{demo_night.name}"]

    async def go() -> list[str]:
        transport = stdio_client(StdioServerParameters(command=entry["command"], args=entry["args"], cwd=ROOT))
        async with Client(transport) as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    assert anyio.run(go) == READERS
