"""A client that keeps its connection, and says how long each request took."""

from __future__ import annotations

import http.client
import json
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit


@dataclass(frozen=True, slots=True)
class Told:
    """One answer."""

    status: int
    body: bytes
    seconds: float

    @property
    def json(self) -> Any:
        """The body, read."""
        return json.loads(self.body)


class Client:
    """One connection to a server."""

    def __init__(self, url: str) -> None:
        place = urlsplit(url)
        self._connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)

    def search(self, question: str) -> Told:
        """`/search` for a question."""
        return self.get(f"/search?question={quote(question)}")

    def get(self, path: str) -> Told:
        """A GET."""
        return self._ask("GET", path, None)

    def post(self, path: str, body: object) -> Told:
        """A POST of JSON."""
        return self._ask("POST", path, json.dumps(body).encode())

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def _ask(self, method: str, path: str, body: bytes | None) -> Told:
        headers = {"Content-Type": "application/json"} if body is not None else {}
        start = time.perf_counter()
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        content = answer.read()
        return Told(answer.status, content, time.perf_counter() - start)
