"""Answers as bytes, written straight from the records: they are made here, so nobody has to check them again."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json
from starlette.responses import Response


def answered(told: BaseModel | dict[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """JSON with status and headers."""
    return Response(as_json(told), status, headers, "application/json")


def as_json(told: BaseModel | dict[str, Any]) -> bytes:
    """UTF-8; half characters, which a page may hold, become marks of replacement."""
    try:
        return to_json(told, exclude_none=isinstance(told, BaseModel))
    except (PydanticSerializationError, UnicodeEncodeError):
        plain = told.model_dump(exclude_none=True) if isinstance(told, BaseModel) else told
        text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()
