"""The embedding model as search meets it: loaded in a worker thread when the first question needs it."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event, Lock

import numpy as np
from numpy.typing import NDArray

from tasks.embedding.embed import Embedder

KEPT_QUESTIONS = 256
MOST_CHARACTERS = 8_000
"""More of a question than any model sees; the rest need not be cut into tokens."""
RETRY_SECONDS = 60.0
"""A model that could not be loaded is tried again after this time, so that a long-lived process recovers."""

_HANDOVER_SECONDS = 0.002
"""Longest wait for the worker to take a question: one that works on while its worker has yet to wake holds the
interpreter, and the model starts as late as the keywords end."""


class Model:
    """An embedding model and its answers to the last questions. Safe for threads."""

    def __init__(self, load: Callable[[], Embedder]) -> None:
        self._load = load
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="embed")
        self._loading = Lock()
        self._embedder: Embedder | None = None
        self._failure: Exception | None = None
        self._failed_at = 0.0
        self._known: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._knowing = Lock()

    def ask(self, question: str) -> Future[NDArray[np.float32]]:
        """The question's vector, soon; the future raises ModelUnavailableError when there is no model."""
        with self._knowing:
            known = self._known.get(question)
            if known is not None:
                self._known.move_to_end(question)
        if known is None:
            taken = Event()
            soon = self._pool.submit(self._embed, question, taken)
            taken.wait(_HANDOVER_SECONDS)
            return soon
        done: Future[NDArray[np.float32]] = Future()
        done.set_result(known)
        return done

    def ask_together(self, questions: Sequence[str]) -> None:
        """Begin to embed questions in one go, so that asking each finds its vector; at most KEPT_QUESTIONS of them."""
        with self._knowing:
            fresh = [one for one in dict.fromkeys(questions) if one not in self._known][:KEPT_QUESTIONS]
        if len(fresh) > 1:
            self._pool.submit(self._embed_all, fresh)

    def embedder(self) -> Embedder:
        """The model itself; ModelUnavailableError when it cannot be had."""
        if self._embedder is not None:
            return self._embedder
        with self._loading:
            if self._failure is not None and time.monotonic() - self._failed_at < RETRY_SECONDS:
                raise self._failure
            if self._embedder is None:
                try:
                    self._embedder = self._load()
                except Exception as error:
                    self._failure, self._failed_at = error, time.monotonic()
                    raise
            return self._embedder

    def _embed(self, question: str, taken: Event) -> NDArray[np.float32]:
        taken.set()
        with self._knowing:
            known = self._known.get(question)  # while this waited, it may have been embedded with others
        if known is not None:
            return known
        vector = self.embedder().embed_query(question[:MOST_CHARACTERS])
        self._keep({question: vector})
        return vector

    def _embed_all(self, questions: Sequence[str]) -> None:
        vectors = self.embedder().embed_queries([one[:MOST_CHARACTERS] for one in questions])
        self._keep(dict(zip(questions, vectors, strict=True)))

    def _keep(self, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        with self._knowing:
            self._known.update(vectors)
            while len(self._known) > KEPT_QUESTIONS:
                self._known.popitem(last=False)
