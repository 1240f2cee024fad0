"""One catch-up after downtime, not five: a run that comes late asks whether another has done its work since.

Prefect inserts the next runs beforehand. After nights without power all of them are due at once.
"""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta

from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import (
    DeploymentFilter,
    DeploymentFilterId,
    FlowRunFilter,
    FlowRunFilterStartTime,
    FlowRunFilterState,
    FlowRunFilterStateName,
)
from prefect.client.schemas.objects import FlowRun
from prefect.context import FlowRunContext

LATE = timedelta(minutes=5)


def done_since() -> str:
    """Name of the run that has done the work of this late one, '' when there is none or this one is in time."""
    context = FlowRunContext.get()
    run = context.flow_run if context is not None else None
    if run is None or not run.auto_scheduled or run.deployment_id is None or run.expected_start_time is None:
        return ""
    due = run.expected_start_time
    if datetime.now(UTC) - due < LATE:
        return ""
    with contextlib.suppress(Exception):  # in doubt it runs once more: a night over nothing new does no harm
        others = _begun_since(run, due)
        return next((other.name for other in others if other.id != run.id), "")
    return ""


def _begun_since(run: FlowRun, due: datetime) -> list[FlowRun]:
    """Runs of the same deployment that began after this one was due and did what it was for.

    Not those that began in the future: a clock that ran ahead for a while must not keep nights from running.
    """
    done = FlowRunFilterStateName(any_=["Completed", "Partial"])
    since = FlowRunFilterStartTime(after_=due, before_=datetime.now(UTC))
    with get_client(sync_client=True) as client:
        return client.read_flow_runs(
            flow_run_filter=FlowRunFilter(state=FlowRunFilterState(name=done), start_time=since),
            deployment_filter=DeploymentFilter(id=DeploymentFilterId(any_=[run.deployment_id])),
            limit=10,
        )
