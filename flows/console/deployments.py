"""The wiki's deployments: its flows by module path, with the schedules of its settings, put on a server.

All carry the wiki's name and the tag `nightwiki`; nothing else on the server is touched. What a person did in the
console stays: a paused schedule or deployment is paused afterwards, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import DeploymentScheduleCreate
from prefect.client.schemas.filters import DeploymentFilter, DeploymentFilterTags
from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy
from prefect.client.schemas.responses import DeploymentResponse
from prefect.client.schemas.schedules import CronSchedule
from prefect.deployments.runner import RunnerDeployment
from prefect.exceptions import ObjectNotFound
from prefect.flows import Flow
from prefect.types.entrypoint import EntrypointType

from config.errors import NightwikiError
from config.wiki import Wiki, open_wiki
from flows import deployed
from flows.console import questions

TAG = "nightwiki"

_FLOWS: tuple[tuple[Flow[Any, Any], str], ...] = (
    (deployed.nightly, "The night of {}"),
    (deployed.weekly, "The week's tidying of {}"),
    (deployed.ingest, "Read sources into {} now"),
    (deployed.lint, "Check the pages of {}"),
    (deployed.scaffold, "Make the index of {} anew"),
    (deployed.routing_clean, "Clean ROUTING.md of {}"),
    (deployed.promote, "Publish waiting pages of {}"),
    (deployed.discard, "Drop waiting pages of {}"),
    (deployed.undo, "Take a run of {} back"),
    (questions.query, "Ask {} a question"),
    (questions.context_pack, "Choose passages of {} for an agent"),
)
_READING = (questions.query, questions.context_pack)  # any number of these may run at a time


@dataclass(frozen=True, slots=True)
class Applied:
    """What was done with a deployment, or would be."""

    name: str  # such as 'nightly/my-wiki'
    change: str  # created | updated | unchanged | deleted


def deployments(wiki: Wiki) -> tuple[RunnerDeployment, ...]:
    """What the settings ask for; nothing is sent."""
    one_at_a_time = ConcurrencyLimitConfig(limit=1, collision_strategy=ConcurrencyLimitStrategy.CANCEL_NEW)
    made = []
    for served, description in _FLOWS:
        schedules = [
            DeploymentScheduleCreate(
                schedule=CronSchedule(cron=entry.cron, timezone=entry.time_zone or wiki.settings.time_zone),
                active=True,
                slug=entry.name,
            )
            for entry in wiki.settings.schedule.entries
            if entry.flow == served.name and entry.cron
        ]
        made.append(
            RunnerDeployment.from_flow(
                served,
                name=wiki.name,
                schedules=cast("Any", schedules or None),
                parameters={"wiki": str(wiki.root)},
                description=description.format(wiki.root),
                tags=[TAG, wiki.name],
                concurrency_limit=None if served in _READING else one_at_a_time,
                entrypoint_type=EntrypointType.MODULE_PATH,
            )
        )
    return tuple(made)


def apply(wiki: Wiki, dry_run: bool = False) -> tuple[Applied, ...]:
    """Bring the server's deployments of this wiki to what the settings say. Doing it twice changes nothing.

    Raises NightwikiError when a deployment of this name is another's; then nothing is changed.
    """
    with get_client(sync_client=True) as client:
        pairs = [(wanted, known(client, wiki, wanted)) for wanted in deployments(wiki)]
        return (
            *(_apply(client, wanted, there, dry_run) for wanted, there in pairs),
            *drop_former(client, wiki, dry_run),
        )


def drop_former(client: SyncPrefectClient, wiki: Wiki, dry_run: bool = False) -> tuple[Applied, ...]:
    """Delete what this wiki's folder had on the server under a name that it no longer has.

    On a server of the wiki's own that is all but the deployments of wikis whose settings send their runs there.
    """
    found = client.read_deployments(deployment_filter=DeploymentFilter(tags=DeploymentFilterTags(all_=[TAG])))
    own = wiki.settings.prefect.mode == "own"
    former = [
        one
        for one in found
        if one.name != wiki.name
        and ((folder := (one.parameters or {}).get("wiki")) == str(wiki.root) or (own and not _is_guest(str(folder))))
    ]
    for one in former:
        if not dry_run:
            client.delete_deployment(one.id)
    return tuple(Applied(f"{(one.entrypoint or '').rpartition('.')[2]}/{one.name}", "deleted") for one in former)


def _is_guest(folder: str) -> bool:
    """Whether a wiki lives there whose settings send its runs to a server that is not its own."""
    try:
        return open_wiki(Path(folder)).settings.prefect.mode == "existing"
    except NightwikiError:
        return False


def prepared(wiki: Wiki) -> tuple[RunnerDeployment, ...]:
    """What the settings ask for, with the pauses that a person made on the server, for a runner to put there.

    What the settings no longer have is taken from the server. Raises NightwikiError when a deployment of this name
    is another's.
    """
    with get_client(sync_client=True) as client:
        wanted = deployments(wiki)
        for one in wanted:
            there = known(client, wiki, one)
            if there is not None:
                _keep_pauses(one, there)
                _drop_schedules(client, one, there)
        drop_former(client, wiki)
        return wanted


def known(client: SyncPrefectClient, wiki: Wiki, wanted: RunnerDeployment) -> DeploymentResponse | None:
    """The deployment as the server has it. Raises NightwikiError when one of this name is another's.

    A server of the wiki's own has no others: there the folder may differ, for the wiki may have been moved.
    """
    try:
        there = client.read_deployment_by_name(wanted.full_name)
    except ObjectNotFound:
        return None
    folder = (there.parameters or {}).get("wiki")
    moved = folder != str(wiki.root) and wiki.settings.prefect.mode != "own"
    if TAG not in (there.tags or []) or moved:
        whose = f"belongs to the wiki in {folder}" if TAG in (there.tags or []) else "is not nightwiki's"
        step = "Set another `name` in nightwiki.yaml, or delete it in Prefect's console."
        raise NightwikiError(f"deployment {wanted.full_name}", whose, step)
    return there


def _apply(
    client: SyncPrefectClient, wanted: RunnerDeployment, there: DeploymentResponse | None, dry_run: bool
) -> Applied:
    if there is not None and _says(there) == _says(wanted):
        return Applied(wanted.full_name, "unchanged")
    if there is not None and not dry_run:
        _keep_pauses(wanted, there)
        _drop_schedules(client, wanted, there)
    if not dry_run:
        wanted.apply()
    return Applied(wanted.full_name, "updated" if there is not None else "created")


def _keep_pauses(wanted: RunnerDeployment, there: DeploymentResponse) -> None:
    active = {schedule.slug: schedule.active for schedule in there.schedules}
    for schedule in wanted.schedules or []:
        schedule.active = active.get(schedule.slug, True)
    wanted.paused = there.paused


def _drop_schedules(client: SyncPrefectClient, wanted: RunnerDeployment, there: DeploymentResponse) -> None:
    """Take entries away that the settings no longer have; `RunnerDeployment.apply` would leave them."""
    slugs = {schedule.slug for schedule in wanted.schedules or []}
    for schedule in there.schedules:
        if schedule.slug not in slugs:
            client.delete_deployment_schedule(there.id, schedule.id)


def _says(one: DeploymentResponse | RunnerDeployment) -> tuple[object, ...]:
    """What of a deployment the settings decide."""
    schedules = sorted(
        (schedule.slug or "", schedule.schedule.cron, schedule.schedule.timezone or "UTC")
        for schedule in one.schedules or []
        if isinstance(schedule.schedule, CronSchedule)
    )
    tags = sorted(one.tags or [])
    schema = one.parameter_openapi_schema if isinstance(one, DeploymentResponse) else one._parameter_openapi_schema
    shape = schema if isinstance(schema, dict) or schema is None else schema.model_dump(mode="json", exclude_unset=True)
    return schedules, len(one.schedules or []), tags, one.parameters, one.entrypoint, one.description, shape
