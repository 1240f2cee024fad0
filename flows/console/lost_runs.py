"""Says of runs that were under way, or about to begin, when everything was killed that they have ended.

A run gives its death away by a missing heartbeat, but only once it has sent one: the first comes after half a minute.
A night that is marked so is planned once more, as after any crash: the automation for that may not listen yet.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterState,
    FlowRunFilterStateType,
    FlowRunFilterTags,
)
from prefect.client.schemas.objects import State, StateType
from prefect.states import Crashed, Scheduled

from config.wiki import Wiki
from flows.console.automations import AGAIN_AFTER
from flows.console.deployments import TAG
from storage.locks import holder


def mark_lost_runs(client: SyncPrefectClient, wiki: Wiki, nightly: UUID, now: datetime) -> int:
    """Mark the wiki's runs as crashed that the server believes to be alive; how many. `nightly` is a deployment's id.

    Called when the server has just started, before anything can begin. While a process holds the wiki's lock, one that
    has outlived the server may be at work: then only those that had not begun are marked.
    """
    believed = [StateType.PENDING]
    if holder(wiki.state_dir, "run") is None:
        believed += [StateType.RUNNING, StateType.CANCELLING]
    found = client.read_flow_runs(
        flow_run_filter=FlowRunFilter(
            state=FlowRunFilterState(type=FlowRunFilterStateType(any_=believed)),
            tags=FlowRunFilterTags(all_=[TAG, wiki.name]),
        ),
        limit=200,
    )
    for run in found:
        client.set_flow_run_state(run.id, Crashed(message="Everything was stopped while it was alive."), force=True)
    if any(run.deployment_id == nightly for run in found):
        later: State[None] = Scheduled(scheduled_time=now + AGAIN_AFTER)
        client.create_flow_run_from_deployment(nightly, parameters={"again": True}, state=later)
    return len(found)
