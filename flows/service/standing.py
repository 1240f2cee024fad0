"""How the entries of the schedule stand, and putting them on the server, for commands that do not know Prefect."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from config.errors import NightwikiError
from config.settings import Timed
from config.wiki import Wiki
from flows.service import server

NOWHERE = "http://127.0.0.1:9/api"
"""An address that nothing answers at, for computing times where no server is up."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One entry; moments are ISO 8601 in UTC, '' where there is none. `paused` is None where no server tells."""

    entry: Timed
    next_run: str
    last_run: str = ""
    last_state: str = ""
    last_good_run: str = ""
    paused: bool | None = None
    served: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """What was done, or would be, with one deployment: created, updated, unchanged or deleted."""

    deployment: str
    change: str


def standings(wiki: Wiki) -> tuple[Standing, ...]:
    """Each entry of the schedule in its order."""
    endpoint = server.find_server(wiki)
    with _prefect(wiki, endpoint):
        from flows.console.schedules import standings as read  # Prefect reads its environment when it is imported

        return read(wiki, datetime.now(UTC), endpoint is not None)


def apply(wiki: Wiki, dry_run: bool = False) -> tuple[Change, ...]:
    """Bring the server's deployments of this wiki to what the settings say; nothing else there is touched.

    Raises NightwikiError when no server is up, or when a deployment of this name is another's.
    """
    endpoint = server.find_server(wiki)
    if endpoint is None:
        mode = wiki.settings.prefect.mode
        step = {
            "own": "`nightwiki up` brings its schedules up to date when it starts.",
            "existing": "Start it, or check prefect.api_url.",
            "none": "prefect.mode is none; set it to own or existing.",
        }[mode]
        raise NightwikiError(str(wiki.root), "no Prefect server is up for this wiki", step)
    with _prefect(wiki, endpoint):
        from flows.console.deployments import apply as put  # Prefect reads its environment when it is imported

        return tuple(Change(one.name, one.change) for one in put(wiki, dry_run))


@contextmanager
def _prefect(wiki: Wiki, endpoint: server.Endpoint | None) -> Iterator[None]:
    """The environment in which Prefect is asked; its complaints about the network stay out of the terminal."""
    variables = server.client_environment(wiki, endpoint.api_url if endpoint else NOWHERE)
    with server.environment(variables | {"PREFECT_LOGGING_LEVEL": "ERROR"}):
        from flows.console.environment import take_up_environment

        take_up_environment()
        yield
