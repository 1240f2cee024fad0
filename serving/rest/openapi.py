"""What the OpenAPI description says beside the models: problems, other media types, and examples from the demo."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from serving.rest.query_string import parameters
from serving.schemas.served import MovedAnswer, Problem


def _problem() -> dict[str, Any]:
    """The schema of a problem in one piece, for it stands outside the description's own components."""
    schema = Problem.model_json_schema()
    schema["properties"]["errors"]["items"] = schema.pop("$defs")["ProblemField"]
    return schema


_PROBLEM: dict[str, Any] = {"application/problem+json": {"schema": _problem()}}
_WORDS = {
    400: "The body is not JSON, or not UTF-8.",
    401: "A token is needed.",
    403: "Pages of another origin may not ask.",
    404: "Nothing goes by this name.",
    405: "Not with this method.",
    408: "The body took too long.",
    409: "Another run holds the lock; `holder` says which.",
    410: "It was there once: a deleted page, a snapshot that was collected.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    421: "The Host is not one of this server's.",
    422: "A field has a value that it cannot have.",
    501: "An optional package is missing.",
    503: "Not now: the wiki's state cannot be read, or too much is going on.",
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    code: {"description": words, "content": _PROBLEM} for code, words in _WORDS.items()
}

EXAMPLES: dict[str, Any] = {
    "search": {"demo": {"summary": "Ask the demo", "value": {"question": "who built the Z3", "k": 3}}},
    "batch": {"demo": {"value": {"questions": ["who built the Z3", "what was the first compiler"], "k": 2}}},
    "query": {"demo": {"value": {"question": "When was the Z3 finished?"}}},
    "context": {"demo": {"value": {"goal": "history of early computing pioneers", "token_budget": 1500}}},
}

_ANSWERS: dict[str, Any] = {
    "health": {"schema_version": 1, "state": "ok", "wikis": ["computing"], "degraded": []},
    "promote": {
        "schema_version": 1,
        "run": "20261201-081500-3fa9",
        "promoted": ["wiki/pascaline.md"],
        "discarded": [],
        "refused": {},
    },
    "discard": {"schema_version": 1, "run": "20261201-081500-3fa9", "promoted": [], "discarded": ["pascaline"],
                "refused": {}},
    "changes": {
        "schema_version": 1,
        "since": "",
        "snapshot": "s00000002-0a1b2c3d4e5f",
        "pages": [{"id": "p3fa94c1e77d0", "slug": "zuse-z3", "title": "Zuse Z3", "path": "wiki/zuse-z3.md",
                   "change": "created"}],
    },
}


def shown_as(
    model: type[BaseModel],
    example: str,
    *,
    query: type[BaseModel] | None = None,
    stream: bool = False,
    markdown: bool = False,
    moved: bool = False,
) -> dict[str, Any]:
    """Arguments of a route: what it is asked by a query string and answers, in which forms, with an example."""
    content: dict[str, Any] = {"application/json": {}}
    if example in _ANSWERS:
        content["application/json"]["example"] = _ANSWERS[example]
    if stream:
        content["text/event-stream"] = {
            "schema": {"type": "string", "description": "Events hits, sentence, citation, done and error, each JSON."}
        }
    if markdown:
        content["text/markdown"] = {"schema": {"type": "string"}}
    responses: dict[int, dict[str, Any]] = {200: {"model": model, "description": "Done.", "content": content}}
    if moved:
        responses[301] = {"model": MovedAnswer, "description": "The page is called otherwise now."}
    asked = {"openapi_extra": {"parameters": parameters(query)}} if query is not None else {}
    return {"responses": responses, "response_model": None, **asked}
