"""A model that writes pages by rule: every sentence of the text it is given, cited word for word.

It stands for a careful model wherever a night needs one. What it says depends on the data of the question alone.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from tasks.compiling import subjects
from tasks.llm.ask import Kind, M, ModelError, Prompt, Spent, fine
from tasks.markdown import sentences
from tests.loopback_model import Question

_PASSAGE = re.compile(r"^\[(c\d+)\] (.*?)(?=^\[c\d+\] |^#|\Z)", re.M | re.S)
_OFFER = re.compile(r"^  page (p\d+)( \(yours\))?: ([^:(\n]+)")
_SUBJECT = re.compile(r"^subject: (.*?)(?: \(also .*\))?; [^;]*; \d+ facts$")


def answer(question: Question) -> str:
    """The reply as JSON, for the model on loopback."""
    fields = (question.schema or {}).get("properties", {})
    return json.dumps(reply(tuple(fields), {**question.trusted, **question.data}), ensure_ascii=False)


def reply(fields: tuple[str, ...], parts: Mapping[str, str]) -> dict[str, Any]:
    """The reply to a question, told apart by the fields it is to have."""
    if "claims" in fields:
        return _analysed(parts)
    if "decisions" in fields:
        return _decided(parts)
    if "operations" in fields:
        return _written(parts)
    if "cuts" in fields:
        numbers = [int(name[1:]) for name, _ in _passages(parts["source"])]
        return {"cuts": numbers[5::5]}
    return {"sentences": []}


@dataclass(slots=True)
class RuleAsker:
    """Answers in this process; `bend` may change a reply before it is validated, `calls` are the questions so far."""

    bend: Callable[[Prompt, dict[str, Any]], Any] = lambda prompt, reply: reply
    calls: list[Prompt] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def spent(self) -> Spent:
        return Spent(calls=len(self.calls))

    def ask(self, prompt: Prompt, schema: type[M], accept: Callable[[M], str] = fine) -> M:
        with self._lock:
            self.calls.append(prompt)
        made = self.bend(prompt, reply(tuple(schema.model_fields), {part.name: part.text for part in prompt.parts}))
        if isinstance(made, ModelError):
            raise made
        try:
            said = schema.model_validate(made)
        except ValidationError as error:
            raise ModelError(Kind.INVALID, str(error.errors()[0]["msg"])) from error
        problem = accept(said)
        if problem:
            raise ModelError(Kind.INVALID, problem)
        return said

    def stream(self, prompt: Prompt) -> Iterator[str]:
        raise ModelError(Kind.REFUSED, "it only fills in forms")


def _passages(text: str) -> list[tuple[str, str]]:
    return [(name, words.strip()) for name, words in _PASSAGE.findall(text)]


def _sentences(text: str) -> list[str]:
    return [one for one in sentences.split(text) if len(one) < 1200 and any(letter.isalpha() for letter in one)]


def _analysed(parts: Mapping[str, str]) -> dict[str, Any]:
    title = subjects.clean_title(parts["title"]) or "Untitled"
    claims = [
        {"subject": title, "passage": name, "words": one}
        for name, text in _passages(parts["source"])
        for one in _sentences(text)
    ]
    return {"type": "note", "subjects": [{"title": title, "aliases": [], "kind": "topic"}], "claims": claims[:400]}


def _decided(parts: Mapping[str, str]) -> dict[str, Any]:
    decisions: list[dict[str, Any]] = []
    banned = re.findall(r"Not: (.+)", parts["purpose"])
    if any(word in parts["title"] for line in banned for word in line.split(", ")):
        return {"in_scope": False, "scope_reason": "the owner does not want it", "decisions": []}
    for line in parts["subjects"].splitlines():
        if found := _SUBJECT.match(line):
            decisions.append({"subject": found[1], "action": "create", "title": found[1], "type": "topic"})
        elif offer := _OFFER.match(line):
            same = subjects.key_of(offer[3].strip()) == subjects.key_of(decisions[-1]["subject"])
            if same and decisions[-1]["action"] == "create":
                decisions[-1] |= {"action": "update", "page": offer[1]}
    return {"in_scope": True, "decisions": decisions}


def _written(parts: Mapping[str, str]) -> dict[str, Any]:
    said = parts["page"]
    operations: list[dict[str, Any]] = []
    for name, text in _passages(parts["source"]):
        lines = [
            {"text": one, "cites": [{"passage": name, "words": one}]} for one in _sentences(text) if one not in said
        ][:40]
        if lines:
            section = "" if not operations and said == "(a new page)" else "Details"
            operations.append({"op": "add", "section": section, "sentences": lines})
    return {"operations": operations[:120], "contradictions": []}
