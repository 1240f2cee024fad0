"""How a run ends in Prefect: the truth as a state, and as an event that automations hear.

Green is only what needs nobody. A run that found the wiki busy is no failure: it ends Cancelled, named Skipped.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from dataclasses import dataclass

from prefect.client.schemas.objects import State, StateType
from prefect.events import emit_event
from prefect.states import Completed, Failed

from config.errors import BusyError, NightwikiError
from config.wiki import Wiki
from flows.console.artifacts import artifact_key
from tasks.digest import NightReport, headline

log = logging.getLogger(__name__)

EVENTS = {
    "ok": "nightwiki.night.finished",
    "partial": "nightwiki.night.partial",
    "failed": "nightwiki.night.failed",
}


@dataclass(slots=True)
class Ended:
    """How a flow ended."""

    state: State[None]
    error: NightwikiError | None = None


@contextlib.contextmanager
def honest(folder: str) -> Iterator[Ended]:
    """Turn our own errors into end states: Skipped when another run holds the lock, else Failed."""
    ended = Ended(Failed(message=f"{folder}: the run did not end"))
    try:
        yield ended
    except BusyError as error:
        ended.state, ended.error = skipped(str(error)), error
    except NightwikiError as error:
        log.error("%s", error)
        ended.state, ended.error = Failed(message=str(error)), error


def skipped(why: str) -> State[None]:
    """The end of a run that had nothing to do, or could not begin; no failure."""
    return State(type=StateType.CANCELLED, name="Skipped", message=why)


def ending(report: NightReport) -> State[None]:
    """The final state of a night: green only for one that needs nobody."""
    if report.state == "ok":
        return Completed(message=headline(report))
    return Failed(name="Partial" if report.state == "partial" else "Failed", message=headline(report))


def resource_id(name: str) -> str:
    """What events of the wiki of this name are about."""
    return f"nightwiki.wiki.{artifact_key(name)}"


def announce_night(wiki: Wiki, report: NightReport) -> None:
    """Emit `nightwiki.night.finished` or `.partial` with the run's counts."""
    _emit(
        EVENTS[report.state],
        wiki.name,
        {
            "run": report.run,
            "kind": report.kind,
            "created": str(report.created),
            "updated": str(report.updated),
            "staged": str(report.staged),
            "message": headline(report),
        },
    )


def announce_failure(name: str, kind: str, again: bool, message: str) -> None:
    """Emit `nightwiki.night.failed`, or `.failed.again` for the second failure in a row: the night brought nothing."""
    _emit(EVENTS["failed"] + (".again" if again else ""), name, {"kind": kind, "message": message})


def _emit(event: str, name: str, payload: dict[str, str]) -> None:
    with contextlib.suppress(Exception):  # an event is a courtesy; the state is what counts
        emit_event(event, {"prefect.resource.id": resource_id(name), "prefect.resource.name": name}, payload=payload)
