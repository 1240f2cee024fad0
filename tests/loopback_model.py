"""A model for tests: a real server in the OpenAI form on a free loopback port.

Left alone it answers from the text it is given, by the JSON Schema it is asked for, so that a changed prompt breaks no
test and the same question has the same answer. A test may hand it another way to answer, or script reply by reply.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.web import Asked, Reply, Web, serve

MODEL = "openai-compatible:loopback"
_SCHEMA = "Its JSON Schema:\n"
_DATA = re.compile(r'<data-(\w+) name="([^"]*)">\n(.*?)\n</data-\1>', re.DOTALL)
_TRUSTED = re.compile(r"^## ([^\n]+)\n(.*?)(?=\n\n## |\n\n<data-|\Z)", re.DOTALL | re.MULTILINE)
_SENTENCE = re.compile(r"[A-Z0-9][^.!?\n]{8,}[.!?]")


@dataclass(frozen=True)
class Question:
    """What the model is asked, taken apart again."""

    system: str
    text: str                                        # of the last message
    schema: Mapping[str, Any] | None                 # of the reply, when it is to be an object
    data: Mapping[str, str] = field(default_factory=dict)     # fenced parts by name
    trusted: Mapping[str, str] = field(default_factory=dict)  # other parts by name
    again: bool = False                              # whether an earlier reply was refused
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)


Answer = Callable[[Question], str | Reply]


class Loopback:
    """The server as a test sees it."""

    def __init__(self, web: Web, answer: Answer, seconds: float) -> None:
        self.web, self.answer, self.seconds = web, answer, seconds
        self.questions: list[Question] = []
        self.most_at_once = 0
        self._at_once = 0
        self._script: list[str | Reply] = []
        self._lock = threading.Lock()
        self.base_url = web.url("/v1")
        web.route("/v1/chat/completions", self._reply)

    @property
    def calls(self) -> int:
        """Requests so far."""
        return len(self.questions)

    def settings(self, **endpoint: object) -> str:
        """Lines of `nightwiki.yaml` that make a wiki use this model."""
        lines = {"base_url": self.base_url, "timeout_seconds": 20, **endpoint}
        return f"model: {MODEL}\nendpoint:\n" + "".join(f"  {key}: {value}\n" for key, value in lines.items())

    def script(self, *replies: str | Reply) -> None:
        """Say these, one a call, the last one from then on: a text, or a whole reply of a server."""
        self._script = list(replies)

    def _reply(self, asked: Asked) -> Reply:
        question = taken_apart(json.loads(asked.body), asked.headers)
        with self._lock:
            self.questions.append(question)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            scripted = (self._script.pop(0) if len(self._script) > 1 else self._script[0]) if self._script else None
        try:
            if self.seconds:
                time.sleep(self.seconds)
            said = scripted if scripted is not None else self.answer(question)
        finally:
            with self._lock:
                self._at_once -= 1
        if isinstance(said, Reply):
            return said
        return streamed(said) if question.body.get("stream") else completion(said, len(asked.body) // 4)


@contextmanager
def loopback(answer: Answer | None = None, seconds: float = 0.0) -> Iterator[Loopback]:
    """A running model that takes `seconds` for each reply."""
    with serve() as web:
        yield Loopback(web, answer or answer_from_text, seconds)


def completion(text: str, input_tokens: int = 100, finish: str = "stop") -> Reply:
    """A whole chat completion."""
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_800_000_000,
        "model": "loopback",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}],
        "usage": _usage(input_tokens, text),
    }
    return Reply(200, json.dumps(body).encode(), {"Content-Type": "application/json"})


def streamed(text: str, finish: str = "stop", size: int = 12) -> Reply:
    """The same as server-sent events."""
    chunks: list[dict[str, Any]] = [
        {"index": 0, "delta": {"role": "assistant", "content": text[start : start + size]}, "finish_reason": None}
        for start in range(0, len(text), size)
    ]
    chunks.append({"index": 0, "delta": {}, "finish_reason": finish})
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_800_000_000, "model": "loopback"}
    lines = [f"data: {json.dumps({**head, 'choices': [chunk]})}\n\n" for chunk in chunks]
    return Reply(200, "".join([*lines, "data: [DONE]\n\n"]).encode(), {"Content-Type": "text/event-stream"})


def taken_apart(body: Mapping[str, Any], headers: Mapping[str, str]) -> Question:
    """A request's messages as a question."""
    messages: Sequence[Mapping[str, Any]] = body["messages"]
    system = "\n".join(_text(one) for one in messages if one["role"] in ("system", "developer"))
    asked = [_text(one) for one in messages if one["role"] == "user"]
    schema = json.loads(system.partition(_SCHEMA)[2].partition("\n")[0]) if _SCHEMA in system else None
    plain = _DATA.sub("", asked[0])
    return Question(
        system,
        asked[-1],
        schema,
        {name: text for _, name, text in _DATA.findall(asked[0])},
        {name: text.rstrip() for name, text in _TRUSTED.findall(plain)},
        len(asked) > 1,
        headers,
        body,
    )


def answer_from_text(question: Question) -> str:
    """An object of the schema, filled with sentences of the data in their order; without a schema, two sentences."""
    sentences = [one for text in question.data.values() for one in _SENTENCE.findall(text)] or ["Nothing is said."]
    if question.schema is None:
        return " ".join(sentences[:2])
    return json.dumps(_filled(question.schema, question.schema, iter(sentences), 0), ensure_ascii=False)


def _filled(schema: Mapping[str, Any], root: Mapping[str, Any], sentences: Iterator[str], depth: int) -> Any:
    if "$ref" in schema:
        return _filled(root["$defs"][schema["$ref"].rpartition("/")[2]], root, sentences, depth)
    for choice in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())):
        if choice.get("type") != "null":
            return _filled(choice, root, sentences, depth)
    if "const" in schema or "enum" in schema:
        return schema.get("const", (schema.get("enum") or [None])[0])
    kind = schema.get("type")
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: _filled(inner, root, sentences, depth + 1) for name, inner in properties.items()}
    if kind == "array":
        least = max(1 if depth < 6 else 0, schema.get("minItems", 0))
        return [_filled(schema.get("items", {"type": "string"}), root, sentences, depth + 1) for _ in range(least)]
    if kind in ("integer", "number"):
        return schema.get("minimum", 0)
    if kind == "boolean":
        return False
    return _fitting(next(sentences, "Nothing more is said."), schema)


def _fitting(text: str, schema: Mapping[str, Any]) -> str:
    """As many words of a text as the schema's greatest length allows."""
    most = schema.get("maxLength", len(text))
    if len(text) <= most:
        return text
    return text[:most].rpartition(" ")[0] or text[:most]


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)


def _usage(input_tokens: int, text: str) -> dict[str, int]:
    said = max(1, len(text) // 4)
    return {"prompt_tokens": input_tokens, "completion_tokens": said, "total_tokens": input_tokens + said}
