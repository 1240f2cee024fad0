"""What the server does by itself: marks runs dead whose process was killed, and tries a failed night once more.

Each automation is of one wiki alone, by the wiki's name as a tag. One that is there is left as it is, so that a
person may change it or switch it off.
"""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.objects import StateType
from prefect.events.actions import ChangeFlowRunState, RunDeployment
from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture
from prefect.events.schemas.events import ResourceSpecification

from config.wiki import Wiki
from flows.console.ends import EVENTS, resource_id

DEAD_AFTER = timedelta(seconds=90)
"""Three heartbeats; each comes after 30 seconds."""

AGAIN_AFTER = timedelta(minutes=10)
"""Pause before a failed night is tried once more."""

_BEAT = "prefect.flow-run.heartbeat"
_ENDS = ("Completed", "Failed", "Cancelled", "Crashed", "Partial", "Skipped")


def automate(wiki: Wiki, nightly: UUID) -> None:
    """See to it that the server has this wiki's automations; `nightly` is the id of the night's deployment."""
    with get_client(sync_client=True) as client:
        for wanted in (mark_dead_runs(wiki), try_again(wiki, nightly), try_again_after_crash(wiki, nightly)):
            _ensure(client, wanted, str(nightly))


def mark_dead_runs(wiki: Wiki, within: timedelta = DEAD_AFTER) -> AutomationCore:
    """Mark a run as crashed whose process sends no heartbeat any more, so that it does not look alive for ever."""
    trigger = EventTrigger(
        after={_BEAT},
        expect={_BEAT, *(f"prefect.flow-run.{state}" for state in _ENDS)},
        match=ResourceSpecification({"prefect.resource.id": ["prefect.flow-run.*"]}),
        match_related=ResourceSpecification(
            {"prefect.resource.role": ["tag"], "prefect.resource.id": [f"prefect.tag.{wiki.name}"]}
        ),
        for_each={"prefect.resource.id"},
        posture=Posture.Proactive,
        threshold=1,
        within=within,
    )
    action = ChangeFlowRunState(state=StateType.CRASHED, message="Its process sends no heartbeat any more.")
    return AutomationCore(name=f"nightwiki {wiki.name}: mark dead runs as crashed", trigger=trigger, actions=[action])


def try_again(wiki: Wiki, nightly: UUID, after: timedelta = AGAIN_AFTER) -> AutomationCore:
    """Run the night once more after one that failed; the second failure's event has another name."""
    trigger = EventTrigger(
        expect={EVENTS["failed"]},
        match=ResourceSpecification({"prefect.resource.id": [resource_id(wiki.name)]}),
        posture=Posture.Reactive,
        threshold=1,
        within=timedelta(0),
    )
    return AutomationCore(
        name=f"nightwiki {wiki.name}: try a failed night again", trigger=trigger, actions=[_once_more(nightly, after)]
    )


def try_again_after_crash(wiki: Wiki, nightly: UUID, after: timedelta = AGAIN_AFTER) -> AutomationCore:
    """Run the night once more after one whose process died."""
    trigger = EventTrigger(
        expect={"prefect.flow-run.Crashed"},
        match=ResourceSpecification({"prefect.resource.id": ["prefect.flow-run.*"]}),
        match_related=ResourceSpecification(
            {"prefect.resource.role": ["deployment"], "prefect.resource.id": [f"prefect.deployment.{nightly}"]}
        ),
        posture=Posture.Reactive,
        threshold=1,
        within=timedelta(0),
    )
    return AutomationCore(
        name=f"nightwiki {wiki.name}: try a crashed night again", trigger=trigger, actions=[_once_more(nightly, after)]
    )


def _once_more(nightly: UUID, after: timedelta) -> RunDeployment:
    return RunDeployment(deployment_id=nightly, parameters={"again": True}, schedule_after=after)


def _ensure(client: SyncPrefectClient, wanted: AutomationCore, nightly: str) -> None:
    known = client.read_automations_by_name(wanted.name)
    actions = [action for action in wanted.actions if isinstance(action, RunDeployment)]
    for one in known:
        if not actions or nightly in one.model_dump_json():
            return
        client.delete_automation(one.id)  # it runs a deployment that is gone
    client.create_automation(wanted)
