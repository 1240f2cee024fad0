"""The routes of the REST: each takes what `serving.requests` describes and hands it to `serving.backend`.

Work is done in threads of our own, so that one slow question holds up no other; what takes too long is answered with
a problem while its thread ends by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from urllib.parse import quote

from fastapi import Body, Depends, FastAPI, Path, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from config.errors import NightwikiError
from serving import requests as asked
from serving.backend import ANSWER_SECONDS, Backend
from serving.mcp import PATH as MCP_PATH
from serving.mcp.beside import Beside
from serving.rest import problems
from serving.rest.accepted import preferred
from serving.rest.answers import answered
from serving.rest.events import stream
from serving.rest.guard import Guard, Rules
from serving.rest.openapi import EXAMPLES, PROBLEMS, shown_as
from serving.rest.query_string import from_query
from serving.schemas import served
from serving.schemas.asking import SearchAnswer
from serving.schemas.base import SCHEMA_VERSION
from serving.schemas.registry import ANSWERS
from serving.schemas.review import CandidateAnswer, CandidateDiffAnswer, CandidatesAnswer, ReviewAnswer
from serving.schemas.runs import ChangesAnswer, RunsAnswer, SourcesAnswer, StatusAnswer
from tasks.answers.answering import event_json
from tasks.text_bytes import shown

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

T = TypeVar("T")

Name = Annotated[str, Path(max_length=500)]
OF_WIKI = from_query(asked.CandidateRequest)


@dataclass(frozen=True, slots=True)
class Limits:
    """How long, and how much at once."""

    seconds: float = 60.0  # for one answer that is not streamed
    threads: int = 16
    streams: int = 64
    read_only: bool = False
    rules: Rules = field(default_factory=Rules)


_TOO_MANY = "too many answers are being made"


class _Desk:
    """Carries work out in threads, within the time limit."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.threads = ThreadPoolExecutor(limits.threads, thread_name_prefix="answer")
        self.streamers = ThreadPoolExecutor(limits.streams, thread_name_prefix="stream")
        self.streams = 0

    @property
    def patience(self) -> float:
        """Seconds that a model is waited for, such that what the pages say comes in time."""
        return min(ANSWER_SECONDS, 0.75 * self.limits.seconds)

    async def answer(self, function: Callable[[], T]) -> T:
        """The same as `work`, in the threads that may wait for a model, so that searches have theirs."""
        if self.streams >= self.limits.streams:
            raise HTTPException(503, _TOO_MANY, {"Retry-After": "5"})
        self.streams += 1
        try:
            return await self._in_time(self.streamers, function)
        finally:
            self.streams -= 1

    async def work(self, function: Callable[..., T], *arguments: Any) -> T:
        """What the function returns. Raises HTTPException 503 when it takes too long."""
        return await self._in_time(self.threads, function, *arguments)

    async def _in_time(self, threads: ThreadPoolExecutor, function: Callable[..., T], *arguments: Any) -> T:
        running = asyncio.get_running_loop().run_in_executor(threads, function, *arguments)
        try:
            async with asyncio.timeout(self.limits.seconds):
                return await running
        except TimeoutError:
            raise HTTPException(503, f"no answer within {self.limits.seconds:g} s") from None

    async def streaming(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The chunks, while counted as an open stream."""
        self.streams += 1
        try:
            async for chunk in chunks:
                yield chunk
        finally:
            self.streams -= 1

    def close(self) -> None:
        """Start nothing more; threads that still work are not waited for."""
        self.threads.shutdown(wait=False, cancel_futures=True)
        self.streamers.shutdown(wait=False, cancel_futures=True)


class _Direct(APIRoute):
    """A route whose function takes the request as it is: the framework's own way to it costs more than the rest."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The function itself."""
        handler: Callable[[Request], Coroutine[Any, Any, Response]] = self.endpoint
        return handler


def make_app(backend: Backend, limits: Limits | None = None, warmed: Callable[[], None] = lambda: None) -> FastAPI:
    """The application; it warms the wikis up when it starts, and calls `warmed` from a thread then."""
    limits = limits or Limits()
    desk = _Desk(limits)
    agents = Beside(lambda: _agents_server(backend))

    def warm() -> None:
        backend.warm_quietly()
        warmed()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        warming = asyncio.get_running_loop().run_in_executor(desk.threads, warm)
        try:
            yield
        finally:
            await agents.close()
            desk.close()
            warming.cancel()

    app = FastAPI(
        title="nightwiki",
        version="1",
        description="Answers, evidence and pages of the wikis: " + ", ".join(backend.names),
        docs_url=None,  # the usual pages load scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
        responses=PROBLEMS,
        exception_handlers={
            NightwikiError: problems.nightwiki_error,
            RequestValidationError: problems.refused_fields,
            HTTPException: problems.http_error,
            Exception: problems.unexpected,
        },
    )
    app.add_middleware(Guard, rules=limits.rules)
    _search_routes(app, backend, desk)
    _evidence_routes(app, backend, desk)
    _page_routes(app, backend, desk)
    _state_routes(app, backend, desk)
    _review_routes(app, backend, desk)
    app.router.routes.append(Route(MCP_PATH, endpoint=agents, methods=["POST"]))
    return app


def _agents_server(backend: Backend) -> Server[Any]:
    """The tools for agents, read-only; loaded when the first agent asks."""
    from serving.mcp.server import make_server

    return make_server(backend)


def _model(command: str) -> type[BaseModel]:
    """What a command prints with --json, and a route answers too."""
    return ANSWERS[command]


def _search_routes(app: FastAPI, backend: Backend, desk: _Desk) -> None:
    read = from_query(asked.SearchRequest)

    def found(request: asked.SearchRequest) -> Response:
        return answered(backend.search(request).to_json())

    async def search(http: Request) -> Response:
        """The pages that answer a question, by words and by meaning."""
        return await desk.work(found, await read(http))

    described = shown_as(SearchAnswer, "search", query=asked.SearchRequest)
    app.router.add_api_route("/search", search, methods=["GET"], route_class_override=_Direct, **described)

    @app.post("/search", **shown_as(SearchAnswer, "search"))
    async def search_by_post(
        request: Annotated[asked.SearchRequest, Body(openapi_examples=EXAMPLES["search"])],
    ) -> Response:
        """As GET, for long questions."""
        return await desk.work(found, request)

    @app.post("/search/batch", **shown_as(served.BatchAnswer, "search"))
    async def search_batch(
        request: Annotated[asked.BatchRequest, Body(openapi_examples=EXAMPLES["batch"])],
    ) -> Response:
        """Several questions, embedded together and answered from one snapshot."""

        def batch() -> Response:
            answers = [one.to_json() for one in backend.search_batch(request)]
            return answered({"schema_version": SCHEMA_VERSION, "answers": answers})

        return await desk.work(batch)


def _evidence_routes(app: FastAPI, backend: Backend, desk: _Desk) -> None:
    async def respond(request: asked.QueryRequest, accept: str) -> Response:
        if not preferred(accept, "text/event-stream"):
            return answered(await desk.answer(lambda: backend.answer(request, desk.patience).to_json()))
        if desk.streams >= desk.limits.streams:
            return problems.problem(503, _TOO_MANY, {"Retry-After": "5"})
        chunks = stream(lambda: map(event_json, backend.query(request)), desk.streamers)
        return StreamingResponse(desk.streaming(chunks), media_type="text/event-stream")

    @app.get("/query", **shown_as(_model("query"), "query", stream=True, query=asked.QueryRequest))
    async def query(
        request: Annotated[asked.QueryRequest, Depends(from_query(asked.QueryRequest))], http: Request
    ) -> Response:
        """An answer, each sentence cited; as server-sent events with `Accept: text/event-stream`."""
        return await respond(request, http.headers.get("accept", ""))

    @app.post("/query", **shown_as(_model("query"), "query", stream=True))
    async def query_by_post(
        request: Annotated[asked.QueryRequest, Body(openapi_examples=EXAMPLES["query"])], http: Request
    ) -> Response:
        """As GET, for long questions."""
        return await respond(request, http.headers.get("accept", ""))

    @app.post("/context/build", **shown_as(_model("context build"), "context", markdown=True))
    async def build_context(
        request: Annotated[asked.ContextRequest, Body(openapi_examples=EXAMPLES["context"])], http: Request
    ) -> Response:
        """Evidence for a goal within a budget of tokens; as Markdown with `Accept: text/markdown`."""
        markdown = preferred(http.headers.get("accept", ""), "text/markdown")
        pack = await desk.work(backend.context, request, "markdown" if markdown else "json")
        return Response(shown(pack.text), media_type="text/markdown" if markdown else "application/json")


def _page_routes(app: FastAPI, backend: Backend, desk: _Desk) -> None:
    @app.get("/pages", **shown_as(served.PagesAnswer, "pages", query=asked.PagesRequest))
    async def pages(request: Annotated[asked.PagesRequest, Depends(from_query(asked.PagesRequest))]) -> Response:
        """The pages that the conditions let through, by path."""
        return answered(await desk.work(backend.pages, request))

    @app.get("/pages/{name:path}", **shown_as(served.PageAnswer, "page", moved=True, query=asked.PageRequest))
    async def page(
        name: Name, request: Annotated[asked.PageRequest, Depends(from_query(asked.PageRequest))], http: Request
    ) -> Response:
        """One page by slug, id or path. A former slug is answered with where the page is now."""
        told = await desk.work(backend.page, name, request)
        if not told.moved_from:
            return answered(told)
        here = http.url_for("page", name=quote(told.page.slug))  # a header holds nothing but ASCII
        place = str(here.include_query_params(**dict(http.query_params)))
        one = told.page
        moved = served.MovedAnswer(
            moved_from=told.moved_from, id=one.id, slug=one.slug, path=one.path, location=place
        )
        return answered(moved, 301, {"Location": place})


def _state_routes(app: FastAPI, backend: Backend, desk: _Desk) -> None:
    @app.get("/changes", **shown_as(ChangesAnswer, "changes", query=asked.ChangesRequest))
    async def changes(request: Annotated[asked.ChangesRequest, Depends(from_query(asked.ChangesRequest))]) -> Response:
        """Pages made, changed or deleted since a snapshot, a run or a date."""
        return answered(await desk.work(backend.changes, request.wiki, request.since))

    @app.get("/sources", **shown_as(SourcesAnswer, "sources", query=asked.SourcesRequest))
    async def sources(request: Annotated[asked.SourcesRequest, Depends(from_query(asked.SourcesRequest))]) -> Response:
        """What became of each source, why, and what to do."""
        return answered(await desk.work(backend.sources, request))

    @app.get("/runs", **shown_as(RunsAnswer, "runs", query=asked.RunsRequest))
    async def runs(request: Annotated[asked.RunsRequest, Depends(from_query(asked.RunsRequest))]) -> Response:
        """The newest runs, also failed and running ones."""
        return answered(await desk.work(backend.runs, request))

    @app.get("/status", **shown_as(StatusAnswer, "status", query=asked.OfWiki))
    async def status(request: Annotated[asked.OfWiki, Depends(from_query(asked.OfWiki))]) -> Response:
        """Pages, sources by outcome, the last good night, locks, and anything degraded."""
        return answered(await desk.work(backend.status, request))

    @app.get("/health", **shown_as(served.HealthAnswer, "health"))
    async def health() -> Response:
        """Whether the server is up, and which wikis it answers for."""
        return answered(backend.health())


def _review_routes(app: FastAPI, backend: Backend, desk: _Desk) -> None:
    @app.get("/candidates", **shown_as(CandidatesAnswer, "candidates", query=asked.CandidatesRequest))
    async def candidates(
        request: Annotated[asked.CandidatesRequest, Depends(from_query(asked.CandidatesRequest))],
    ) -> Response:
        """Pages that wait for a person, with the reasons."""
        return answered(await desk.work(backend.candidates, request))

    @app.get("/candidates/{name}", **shown_as(CandidateAnswer, "candidate", query=asked.CandidateRequest))
    async def candidate(name: Name, where: Annotated[asked.CandidateRequest, Depends(OF_WIKI)]) -> Response:
        """The text of one."""
        return answered(await desk.work(backend.candidate, where.wiki, name))

    @app.get("/candidates/{name}/diff", **shown_as(CandidateDiffAnswer, "candidate diff", query=asked.CandidateRequest))
    async def candidate_diff(name: Name, where: Annotated[asked.CandidateRequest, Depends(OF_WIKI)]) -> Response:
        """What promoting it would change."""
        return answered(await desk.work(backend.candidate_diff, where.wiki, name))

    if desk.limits.read_only:
        return

    @app.post("/candidates/{name}/promote", **shown_as(ReviewAnswer, "promote", query=asked.CandidateRequest))
    async def promote(
        name: Name,
        where: Annotated[asked.CandidateRequest, Depends(OF_WIKI)],
        request: asked.ReviewRequest = asked.ReviewRequest(),  # noqa: B008  # frozen
    ) -> Response:
        """Make it part of the wiki, as it now lies on disk. 409 with the holder while another run goes on."""
        return answered(await desk.work(backend.promote, where.wiki, name, request))

    @app.post("/candidates/{name}/discard", **shown_as(ReviewAnswer, "discard", query=asked.CandidateRequest))
    async def discard(
        name: Name,
        where: Annotated[asked.CandidateRequest, Depends(OF_WIKI)],
        request: asked.ReviewRequest = asked.ReviewRequest(),  # noqa: B008  # frozen
    ) -> Response:
        """Drop it; the same proposal is not made again. 409 with the holder while another run goes on."""
        return answered(await desk.work(backend.discard, where.wiki, name, request))
