"""Serves the wiki's deployments: polls for runs that are due, and starts each in a process of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from uuid import UUID

from prefect.client.orchestration import get_client
from prefect.exceptions import TerminationSignal
from prefect.runner import Runner

from config.errors import NightwikiError
from config.wiki import Wiki
from flows.console.automations import automate
from flows.console.deployments import prepared
from flows.console.early_runs import forget_early_runs
from flows.console.lost_runs import mark_lost_runs

MOST_RUNS = 2
"""Runs at once: a night, and one thing beside it, which finds the lock held or not."""


TakeUp = Callable[[Wiki], None]


def serve(wiki: Wiki, ready: Callable[[TakeUp], None]) -> None:
    """Serve until SIGTERM or SIGINT, and tell when all is on the server; schedules stay on when this ends.

    `ready` gets a function that serves the wiki by other settings, also under another name, from then on.
    """
    runner = Runner(name=f"nightwiki {wiki.name}", pause_on_shutdown=False, limit=MOST_RUNS)

    ids: dict[str, UUID] = {}

    def take_up(now: Wiki) -> None:
        for deployment in prepared(now):
            found = runner.add_deployment(deployment)
            if not isinstance(found, UUID):
                raise NightwikiError(deployment.full_name, "could not be served", "See the server's log.")
            ids[deployment.flow_name or ""] = found
        with get_client(sync_client=True) as client:
            forget_early_runs(client, ids.values(), datetime.now(UTC))
        automate(now, ids["nightly"])

    take_up(wiki)
    if wiki.settings.prefect.mode == "own":  # elsewhere a worker of the person's may be about to begin one
        with get_client(sync_client=True) as client:
            mark_lost_runs(client, wiki, ids["nightly"], datetime.now(UTC))
    ready(take_up)
    try:
        asyncio.run(runner.start())
    except (KeyboardInterrupt, TerminationSignal, SystemExit):  # the last when the signal came while it was starting
        return
