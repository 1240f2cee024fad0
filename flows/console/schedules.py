"""What Prefect knows of the schedule: when each entry runs next, when it ran last, and whether it is paused."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import (
    DeploymentFilter,
    DeploymentFilterId,
    FlowRunFilter,
    FlowRunFilterStartTime,
    FlowRunFilterState,
    FlowRunFilterStateName,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.client.schemas.sorting import FlowRunSort
from prefect.server.schemas.schedules import CronSchedule

from config.settings import Timed
from config.wiki import Wiki
from flows.console.deployments import deployments, known
from flows.service.standing import Standing

_BEGUN = FlowRunFilterState(
    type=FlowRunFilterStateType(not_any_=[StateType.SCHEDULED, StateType.PENDING, StateType.CANCELLED])
)
_GOOD = FlowRunFilterState(name=FlowRunFilterStateName(any_=["Completed", "Partial"]))


def next_run(entry: Timed, zone: str, now: datetime) -> str:
    """When the entry runs next, as Prefect computes it; '' when it is off."""
    if not entry.cron:
        return ""
    schedule = CronSchedule(cron=entry.cron, timezone=entry.time_zone or zone)
    dates = asyncio.run(schedule.get_dates(n=1, start=now))
    return _moment(dates[0]) if dates else ""


def standings(wiki: Wiki, now: datetime, ask_server: bool) -> tuple[Standing, ...]:
    """How each entry of the schedule stands; without a server only when it runs next."""
    zone = wiki.settings.time_zone
    entries = wiki.settings.schedule.entries
    if not ask_server:
        return tuple(Standing(entry, next_run(entry, zone, now)) for entry in entries)
    with get_client(sync_client=True) as client:
        return tuple(_standing(client, wiki, entry, now) for entry in entries)


def _standing(client: SyncPrefectClient, wiki: Wiki, entry: Timed, now: datetime) -> Standing:
    wanted = next(one for one in deployments(wiki) if one.flow_name == entry.flow)
    there = known(client, wiki, wanted)
    following = next_run(entry, wiki.settings.time_zone, now)
    if there is None:
        return Standing(entry, following, served=False)
    active = {schedule.slug: schedule.active for schedule in there.schedules}
    paused = bool(entry.cron) and (there.paused or not active.get(entry.name, True))
    last, good = _last(client, there.id, _BEGUN, now), _last(client, there.id, _GOOD, now)
    return Standing(
        entry,
        "" if paused else following,
        last_run=_moment(last.start_time) if last and last.start_time else "",
        last_state=last.state_name or "" if last else "",
        last_good_run=_moment(good.start_time) if good and good.start_time else "",
        paused=paused,
        served=not entry.cron or entry.name in active,
    )


def _last(
    client: SyncPrefectClient, deployment: UUID, state: FlowRunFilterState, now: datetime
) -> FlowRun | None:
    """The last run in one of these states; none that a clock which ran ahead has put into the future."""
    found = client.read_flow_runs(
        flow_run_filter=FlowRunFilter(state=state, start_time=FlowRunFilterStartTime(before_=now)),
        deployment_filter=DeploymentFilter(id=DeploymentFilterId(any_=[deployment])),
        sort=FlowRunSort.START_TIME_DESC,
        limit=1,
    )
    return found[0] if found else None


def _moment(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
