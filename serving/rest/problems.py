"""Errors as `application/problem+json` (RFC 9457): what went wrong, about what, and the next step."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from config.errors import (
    BusyError,
    GoneError,
    MissingExtraError,
    ModelError,
    ModelUnavailableError,
    NightwikiError,
    NotFoundError,
    StateError,
)
from serving.requests import refusals
from tasks.text_bytes import shown

log = logging.getLogger(__name__)

_STATUS: Sequence[tuple[type[NightwikiError], int]] = (
    (GoneError, 410),
    (NotFoundError, 404),
    (BusyError, 409),
    (ModelError, 503),
    (ModelUnavailableError, 503),
    (MissingExtraError, 501),
    (StateError, 503),
    (NightwikiError, 422),
)
_HOLDER = re.compile(r"busy since (\S+) \(pid (\d+)[,)]")
MEDIA_TYPE = "application/problem+json"
NOT_JSON, SEND_JSON = "the body is not valid JSON", "Send a JSON object in UTF-8"


def problem(status: int, detail: str, headers: dict[str, str] | None = None, **more: Any) -> Response:
    """One error as a response; `more` are further members, of which empty ones are left out."""
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": shown(detail),
    }
    body |= {key: shown(value) if isinstance(value, str) else value for key, value in more.items() if value}
    return Response(to_json(body), status, headers, MEDIA_TYPE)


def of_error(error: NightwikiError) -> Response:
    """What the REST answers for one of nightwiki's own errors."""
    status = next(code for kind, code in _STATUS if isinstance(error, kind))
    holder = _HOLDER.search(error.cause)
    return problem(
        status,
        error.cause,
        headers={"Retry-After": "5"} if status in (409, 503) else None,
        subject=error.subject,
        next_step=error.next_step,
        holder={"pid": int(holder[2]), "since": holder[1]} if holder and isinstance(error, BusyError) else None,
    )


async def nightwiki_error(request: Request, error: Exception) -> Response:
    """Handler of nightwiki's own errors."""
    assert isinstance(error, NightwikiError)
    return of_error(error)


async def refused_fields(request: Request, error: Exception) -> Response:
    """Handler of what does not fit the request's model: 400 for what is no JSON, else 422 with each field."""
    assert isinstance(error, RequestValidationError)
    if any(one["type"] == "json_invalid" for one in error.errors()):
        return problem(400, NOT_JSON, next_step=SEND_JSON)
    told = refusals(error.errors(), skip=1)
    fields = [{"field": shown(field), "message": shown(message)} for field, message in told[:20]]
    first = fields[0] if fields else {"field": "", "message": "the request is not understood"}
    detail = f"{first['field']}: {first['message']}" if first["field"] else first["message"]
    return problem(422, detail, errors=fields, next_step="See /openapi.json")


async def http_error(request: Request, error: Exception) -> Response:
    """Handler of what the framework refuses: an unknown path or method, a body that cannot be read.

    A question for the methods of a path is answered; a page of another origin learns nothing from that.
    """
    assert isinstance(error, HTTPException)
    headers = dict(error.headers) if error.headers else None
    if error.status_code == 405:
        methods = _methods(request)
        headers = {"Allow": ", ".join(methods)}
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=headers)
        return problem(405, f"{request.method[:20]} is not answered here", headers, next_step=_use(methods))
    if error.status_code == 404:
        step = "See /openapi.json" if hasattr(request.app, "openapi") else ""
        return problem(404, f"there is no {request.url.path[:200]}", headers, next_step=step)
    if error.status_code == 400:
        return problem(400, NOT_JSON, headers, next_step=SEND_JSON)
    return problem(error.status_code, str(error.detail), headers)


def _use(methods: Sequence[str]) -> str:
    return f"Use {' or '.join(one for one in methods if one not in ('HEAD', 'OPTIONS'))}"


def _methods(request: Request) -> list[str]:
    """The methods that any route of the path answers."""
    found: set[str] = {"OPTIONS"}
    for route in request.app.router.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            found.update(getattr(route, "methods", None) or ())
    return sorted(found | {"HEAD"} if "GET" in found else found)


async def unexpected(request: Request, error: Exception) -> Response:
    """Handler of a fault of ours: said without its inside, which goes to the log."""
    return problem(500, f"unexpected {type(error).__name__}", next_step="The server's log says more")
