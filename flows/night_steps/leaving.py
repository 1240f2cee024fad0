"""Sources that a person takes back: all that came of them leaves the pages, in one run, until they are retried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from config.errors import NotFoundError
from flows.night_steps.gathering import Gathering
from flows.session import Session
from tasks.records import CandidateRecord, Outcome

SUSPECTED = "injection_suspected"


def leave(session: Session, names: Sequence[str]) -> Gathering:
    """A run's sources in which those named (ids or locations) are withdrawn, and nothing is collected.

    Raises NotFoundError for a name that is none.
    """
    gathering = Gathering(session.now, dict(session.rows.sources), session.rows.sources, limited=True)
    known = {key: record for record in session.rows.sources.values() for key in (record.location, record.id)}
    for name in names:
        record = known.get(name)
        if record is None:
            raise NotFoundError(name, "is no source of this wiki", "See: nightwiki sources list")
        if record.outcome is Outcome.WITHDRAWN:
            continue
        left = replace(record, topics=(), pages=(), subjects=(), compiled_for="", ignored=True)
        step = "To have its pages again: nightwiki sources retry"
        gathering.settle(left, Outcome.WITHDRAWN, "withdrawn by you", step)
        gathering.left.add(record.id)
    return gathering


def suspected(candidates: Sequence[CandidateRecord]) -> tuple[str, ...]:
    """Ids of the sources of open candidates that are held back because a source carries instructions to a machine."""
    held = [one for one in candidates if one.state == "open" and SUSPECTED in one.reasons]
    return tuple(sorted({source for one in held for source in one.sources}))
