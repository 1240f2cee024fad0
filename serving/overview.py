"""What a server of several wikis answers where none is named: the same as of one, over all of them.

Numbers are added up, lists are joined and name the wiki of each entry. A wiki that cannot be read is left out; only
where none can, that is an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from config.errors import NightwikiError
from serving.schemas.base import Degraded
from serving.schemas.review import CandidatesAnswer
from serving.schemas.runs import ChangesAnswer, LintCount, RunsAnswer, SourcesAnswer, StatusAnswer

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Told(Generic[T]):
    """What each wiki answered, by name, and why the others did not."""

    answers: Mapping[str, T]
    troubles: tuple[Degraded, ...]


def of_each(names: Iterable[str], ask: Callable[[str], T]) -> Told[T]:
    """What each wiki answers. Raises what the last one raised where none answers."""
    told: dict[str, T] = {}
    failures: dict[str, NightwikiError] = {}
    for name in names:
        try:
            told[name] = ask(name)
        except NightwikiError as error:
            failures[name] = error
    if failures and not told:
        raise [*failures.values()][-1]
    troubles = [
        Degraded(what="wiki", reason=f"{name}: {error.subject}: {error.cause}", next_step=error.next_step)
        for name, error in failures.items()
    ]
    return Told(told, tuple(troubles))


def statuses(told: Mapping[str, StatusAnswer]) -> StatusAnswer:
    """All wikis' numbers together; the snapshots joined as a search names them, the oldest of the last good nights."""
    each = [one.model_copy(update={"wiki": name}) for name, one in told.items()]
    checked = [one.lint for one in each if one.lint is not None]
    return StatusAnswer(
        pages=sum(one.pages for one in each),
        candidates=sum(one.candidates for one in each),
        sources=dict(sorted(sum((Counter(one.sources) for one in each), Counter()).items())),
        snapshot=",".join(one.snapshot for one in each),
        last_good_night=min(one.last_good_night for one in each),
        lint=_linted(checked) if checked else None,
        contradictions=sum(one.contradictions for one in each),
        locks=[lock for one in each for lock in one.locks],
        degraded=[
            Degraded(what=trouble.what, reason=f"{one.wiki}: {trouble.reason}", next_step=trouble.next_step)
            for one in each
            for trouble in one.degraded
        ],
        wikis=each,
    )


def _linted(counts: Sequence[LintCount]) -> LintCount:
    return LintCount(
        at=min(one.at for one in counts),
        errors=sum(one.errors for one in counts),
        warnings=sum(one.warnings for one in counts),
        new=sum(one.new for one in counts),
    )


def sources(told: Mapping[str, SourcesAnswer]) -> SourcesAnswer:
    """The sources of all."""
    return SourcesAnswer(
        sources=[one.model_copy(update={"wiki": name}) for name, each in told.items() for one in each.sources]
    )


def runs(told: Mapping[str, RunsAnswer]) -> RunsAnswer:
    """The runs of all, newest first."""
    found = [one.model_copy(update={"wiki": name}) for name, each in told.items() for one in each.runs]
    return RunsAnswer(runs=sorted(found, key=lambda one: one.started, reverse=True))


def candidates(told: Mapping[str, CandidatesAnswer]) -> CandidatesAnswer:
    """The waiting pages of all."""
    return CandidatesAnswer(
        candidates=[one.model_copy(update={"wiki": name}) for name, each in told.items() for one in each.candidates]
    )


def changes(told: Mapping[str, ChangesAnswer]) -> ChangesAnswer:
    """The changed pages of all; the snapshots joined as a search names them."""
    return ChangesAnswer(
        since=",".join(one.since for one in told.values()),
        snapshot=",".join(one.snapshot for one in told.values()),
        pages=[one.model_copy(update={"wiki": name}) for name, each in told.items() for one in each.pages],
    )
