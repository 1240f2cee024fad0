"""Says of runs that were about to begin when everything was killed that they never will.

A run that has begun is given away by its missing heartbeat; one that was only handed to a process sends none, and would
look for ever as if it were about to start. A night that is marked so is tried once more, as after any crash.
"""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import (
    DeploymentFilter,
    DeploymentFilterId,
    FlowRunFilter,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import StateType
from prefect.states import Crashed


def mark_lost_runs(client: SyncPrefectClient, deployments: Collection[UUID]) -> int:
    """Mark pending runs of these deployments as crashed; how many. Called before anything of theirs can be begun."""
    found = client.read_flow_runs(
        flow_run_filter=FlowRunFilter(state=FlowRunFilterState(type=FlowRunFilterStateType(any_=[StateType.PENDING]))),
        deployment_filter=DeploymentFilter(id=DeploymentFilterId(any_=sorted(deployments))),
        limit=200,
    )
    for run in found:
        client.set_flow_run_state(run.id, Crashed(message="Everything was stopped before it had begun."), force=True)
    return len(found)
