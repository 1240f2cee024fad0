"""Takes runs from the server that a clock which ran ahead had begun before their time.

Prefect plans each night once. One that such a clock began counts as done, so without this it would not come when its
hour is really there. The wiki's own diary keeps what these runs did.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import (
    DeploymentFilter,
    DeploymentFilterId,
    FlowRunFilter,
    FlowRunFilterExpectedStartTime,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import TERMINAL_STATES

MARGIN = timedelta(minutes=2)
"""A state that is set so far in the future was set by another clock than the present one."""


def forget_early_runs(client: SyncPrefectClient, deployments: Collection[UUID], now: datetime) -> int:
    """Delete planned runs of these deployments that ended before they were due, by a clock ahead of `now`; how many.

    One that a person cancelled beforehand stays cancelled: that was done in the past.
    """
    found = client.read_flow_runs(
        flow_run_filter=FlowRunFilter(
            expected_start_time=FlowRunFilterExpectedStartTime(after_=now + MARGIN),
            state=FlowRunFilterState(type=FlowRunFilterStateType(any_=sorted(TERMINAL_STATES))),
        ),
        deployment_filter=DeploymentFilter(id=DeploymentFilterId(any_=sorted(deployments))),
        limit=200,
    )
    early = [run for run in found if run.auto_scheduled and run.state and run.state.timestamp > now + MARGIN]
    for run in early:
        client.delete_flow_run(run.id)
    return len(early)
