"""Looking a question up: as it was asked, in its parts, and translated, from one snapshot."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from math import inf

from pydantic import BaseModel, Field

from config.errors import ModelError
from storage.search.engine import Engine
from tasks.embedding.embed import is_multilingual
from tasks.llm.ask import Asker, Part, Prompt, Role
from tasks.search import questions, tokens
from tasks.search.filters import Filters
from tasks.search.found import Found, together

log = logging.getLogger(__name__)

LONG_QUESTION = 12
"""Words from which on a model is asked whether a question has parts; a shorter one is looked up as it is."""

HELPING_SECONDS = 30.0
"""Longest wait for a model that takes a question apart or translates it: without that it is answered, too."""

MIXED = 0.05
"""Share of pages in the other script from which on a translation is worth a call."""


@dataclass(frozen=True, slots=True)
class LookedUp:
    """What was found, and in which words it was looked for."""

    found: Found
    parts: tuple[str, ...] = ()
    translated: str = ""
    by_part: tuple[Found, ...] = ()  # what was found for each part that the wiki covers
    uncovered: tuple[str, ...] = ()  # parts that the wiki's words do not cover, while they cover others


class _Parts(BaseModel):
    questions: list[str] = Field(description="Up to 4 short questions, or none when there is only one question.")


class _Translation(BaseModel):
    question: str = Field(description="The question in the other language, nothing else.")


def look_up(
    engine: Engine,
    question: str,
    count: int,
    filters: Filters,
    exclude: Collection[str] = (),
    as_of: str = "",
    asker: Asker | None = None,
    until: float = inf,
) -> LookedUp:
    """The best `count` pages of each wiki for a question, its parts and its translation, merged.

    A model is waited for half of the time that is left `until` a moment of the monotonic clock.
    """
    plain_parts = questions.parts(question)
    if plain_parts:
        engine.embed_ahead((question, *plain_parts))
    first = engine.passages(question, count, filters, as_of=as_of, exclude=exclude)
    parts = plain_parts or _parts_by_model(question, asker, until)
    translated = _translated(question, first, asker, until)
    pinned = as_of or first.snapshot
    wordings = (*parts, translated) if translated else parts
    others = [engine.passages(one, count, filters, as_of=pinned, exclude=exclude) for one in wordings]
    covered = [one for one in (first, *others) if not one.gap]  # what answers no part takes no place beside what does
    merged = replace(together(covered or [first, *others]), question=first.question)
    uncovered = [part for part, one in zip(wordings, others, strict=True) if one.gap and part in parts]
    by_part = [one for part, one in zip(wordings, others, strict=True) if not one.gap and part in parts]
    return LookedUp(merged, parts, translated, tuple(by_part), tuple(uncovered) if covered else ())


def _patience(until: float) -> float:
    return max(1.0, min(HELPING_SECONDS, (until - time.monotonic()) / 2))


def _parts_by_model(question: str, asker: Asker | None, until: float) -> tuple[str, ...]:
    """What a model takes a long question apart into; nothing when it fails: the whole is looked up anyway."""
    words = len(question.split())
    if asker is None or not LONG_QUESTION <= words <= 200:
        return ()
    prompt = Prompt(
        Role.ANSWER,
        "parts-1",
        "The user asks a wiki the question below. If it holds several questions that would be looked up on their own,"
        " list them, each complete in itself, at most 4. If it is one question, return an empty list. Add nothing.",
        (Part("question", question),),
        seconds=_patience(until),
    )
    try:
        reply = asker.ask(prompt, _Parts)
    except ModelError as error:
        log.warning("the question was not taken apart: %s", error)
        return ()
    found = dict.fromkeys(" ".join(one.split()) for one in reply.questions)
    kept = [one for one in found if tokens.terms(one) and len(one) <= 400][: questions.MOST]
    return tuple(kept) if len(kept) > 1 else ()


def _translated(question: str, found: Found, asker: Asker | None, until: float) -> str:
    """The question in the script of the wiki's other pages, when a model is there and such pages are; else ''."""
    if asker is None or len(question) > 2_000:
        return ""
    asked = tokens.cjk_share(question) >= 0.3
    others = 1 - found.cjk if asked else found.cjk
    if others < MIXED or not found.wikis or any(is_multilingual(model) for model in found.models):
        return ""
    target = "English" if asked else _language(found)
    prompt = Prompt(
        Role.ANSWER,
        "translate-1",
        f"Translate the question below into {target}. Keep names, numbers and technical terms as they are usual in"
        " that language. Answer with the translated question alone.",
        (Part("question", question),),
        seconds=_patience(until),
    )
    try:
        reply = asker.ask(prompt, _Translation)
    except ModelError as error:
        log.warning("the question was not translated: %s", error)
        return ""
    text = " ".join(reply.question.split())
    return text if text and text != question and len(text) <= 2_000 else ""


def _language(found: Found) -> str:
    """The language of the wiki's CJK pages, told by the letters of their titles."""
    text = found.sample
    if any("\u3040" <= letter <= "\u30ff" for letter in text):
        return "Japanese"
    if any("\uac00" <= letter <= "\ud7af" for letter in text):
        return "Korean"
    return "Chinese"
