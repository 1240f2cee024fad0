"""Which sources the model failed on, and when to stop asking: shared by the threads of one night."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from threading import Lock

from tasks.compiling.compile import Verdict
from tasks.llm.ask import Kind, ModelError
from tasks.records import Outcome

_STEPS = {
    Kind.BUDGET: "Raise the caps under `budget:` in nightwiki.yaml, or wait for the next day",
    Kind.UNAVAILABLE: "Is the model's server up? See: nightwiki model check",
    Kind.REFUSED: "See: nightwiki model check",
    Kind.TIMED_OUT: "Raise endpoint.timeout_seconds, or use a faster model",
    Kind.TRUNCATED: "Raise endpoint.max_output_tokens",
    Kind.INVALID: "It is tried again; a larger model may do better",
}


class Failures:
    """Sources by the error that ended their way; safe for threads."""

    def __init__(self) -> None:
        self._errors: dict[str, ModelError] = {}
        self._lock = Lock()
        self._stop: ModelError | None = None

    def __contains__(self, source_id: object) -> bool:
        return source_id in self._errors

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._errors))

    def before(self) -> None:
        """Raise the error of a spent budget: nothing more is asked then."""
        if self._stop is not None:
            raise self._stop

    def note(self, source_id: str, error: ModelError) -> None:
        """Note that a source's way ends here."""
        with self._lock:
            self._errors.setdefault(source_id, error)
            if error.kind == Kind.BUDGET and self._stop is None:
                self._stop = error

    def verdicts(self) -> Mapping[str, Verdict]:
        """What became of the sources, by id."""
        return {source_id: _verdict(self._errors[source_id]) for source_id in sorted(self._errors)}


def _verdict(error: ModelError) -> Verdict:
    kind = Kind(error.kind)
    outcome = Outcome.DEFERRED_BUDGET if kind is Kind.BUDGET else Outcome.MODEL_FAILED
    reason = error.reason if kind is Kind.BUDGET else f"{kind.value.replace('_', ' ')}: {error.reason}"
    return Verdict(outcome, " ".join(reason.split())[:300], error.next_step or _STEPS[kind])
