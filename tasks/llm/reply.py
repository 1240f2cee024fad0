"""Reads a model's reply as what was asked for, through the wrappings that models add.

Thoughts, code fences, a sentence before and after: all of that is taken off. What is not JSON of the right form after
that is refused with a reason that the model can act on; nothing is guessed or filled in.
"""

from __future__ import annotations

import json
import re
from typing import TypeVar

from pydantic import BaseModel, ValidationError

M = TypeVar("M", bound=BaseModel)

_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)\b[^>]*>.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_LATE_END = re.compile(r"\A.*?</(?:think|thinking|thought|reasoning)\s*>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"(?m)^[ \t]*(`{3,}|~{3,})[ \t]*[\w+-]*[ \t]*\n(.*?)^[ \t]*\1[ \t]*$", re.DOTALL)
_DECODER = json.JSONDecoder()
_MOST_TRIES = 40      # places in a reply where an object may begin
_MOST_PROBLEMS = 5    # told to the model


class UnusableReply(Exception):
    """A reply is not what was asked for; the text says why, in words that the model can act on."""


def read_reply(text: str, schema: type[M]) -> M:
    """The object that a reply holds. Raises UnusableReply."""
    whole, bare = text.strip(), unwrapped(text)
    if not bare:
        raise UnusableReply("it is empty")
    reason = ""
    # An object that stands at the beginning is read as it is: what looks like a thought in it is content.
    first = _objects(whole) if whole.startswith("{") and whole != bare else []
    for candidate in (*first, *_objects(bare)):
        try:
            return schema.model_validate_json(candidate, strict=False)
        except ValidationError as error:
            reason = reason or _problems(error)
        except (ValueError, RecursionError):
            reason = reason or "it is not JSON that can be read"
    raise UnusableReply(reason or "there is no JSON object in it")


def unwrapped(text: str) -> str:
    """The reply without thoughts and byte order marks, stripped."""
    bare = _THOUGHT.sub("", text.replace("\ufeff", ""))
    return _LATE_END.sub("", bare).strip()


def _objects(text: str) -> list[str]:
    """The texts that may be the object: the whole, each fenced block, then every object in between, the longest first.

    A reply that begins like an object stands for itself, so that a broken one is not taken for one of its parts.
    """
    found = [text] if text.startswith("{") else []
    for fence in _FENCE.finditer(text) if "{" in text else ():
        inner = fence[2].strip()
        if inner.startswith("{"):
            found.append(inner)
    if not found:
        found = _embedded(text)
    elif found[0] is text and (end := _end(text, 0)) is not None:
        found[0] = text[:end]  # what stands behind a whole object is talk
    return found


def _embedded(text: str) -> list[str]:
    pieces: list[str] = []
    start, tries = text.find("{"), 0
    while start >= 0 and tries < _MOST_TRIES:
        tries += 1
        end = _end(text, start)
        if end is not None:
            pieces.append(text[start:end])
        start = text.find("{", end if end is not None else start + 1)
    return sorted(pieces, key=len, reverse=True)


def _end(text: str, start: int) -> int | None:
    """Where the object that begins at `start` ends, or None when it is broken."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return end if isinstance(value, dict) else None


def _problems(error: ValidationError) -> str:
    told = []
    for item in error.errors(include_url=False, include_input=False)[:_MOST_PROBLEMS]:
        place = ".".join(str(part) for part in item["loc"])
        told.append(f"{place}: {item['msg']}" if place else item["msg"])
    more = error.error_count() - len(told)
    return "; ".join(told)[:1000] + (f"; and {more} more" if more > 0 else "")
