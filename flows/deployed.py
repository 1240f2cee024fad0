"""The night as Prefect flows: runs, schedules, artifacts and end states that Prefect's console shows.

The only module that imports Prefect. The work is in `flows.night`; here it is handed a runner that makes a task
of each step. What a task works on is wrapped in `quote`, for Prefect would else walk through all sources.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar, cast
from uuid import UUID
from zoneinfo import ZoneInfo

from prefect import flow, serve, task
from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)
from prefect.cache_policies import NO_CACHE
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import (
    ConcurrencyLimitConfig,
    ConcurrencyLimitStrategy,
    State,
    StateType,
    TaskRun,
)
from prefect.deployments.runner import RunnerDeployment
from prefect.events.actions import ChangeFlowRunState
from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture
from prefect.events.schemas.events import ResourceSpecification
from prefect.flows import Flow
from prefect.futures import PrefectFuture
from prefect.logging.handlers import APILogHandler
from prefect.runtime import flow_run
from prefect.schedules import Cron
from prefect.states import Completed, Failed
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner
from prefect.tasks import Task
from prefect.types.entrypoint import EntrypointType
from prefect.utilities.annotations import quote

from config.errors import BusyError, NightwikiError
from config.wiki import Wiki, open_wiki
from flows import lint as lints
from flows import night as nights
from flows import routing as routes
from flows import scaffold as indexes
from flows import weekly as weeks
from flows.reading_in import Review
from flows.steps import THREADS, Progress, silent, utc_now
from tasks.digest import NightReport, headline, markdown

S = TypeVar("S")
T = TypeVar("T")

LOGGERS = ("config", "tasks", "storage", "flows", "serving")
RETRIES = 2
RETRY_SECONDS = [1, 10]
DEAD_AFTER_SECONDS = 90
"""Three heartbeats; each comes after 30 seconds."""

PROGRESS_SECONDS = 2.0
"""Pause between two updates of a progress bar; each costs a call of the server."""

log = logging.getLogger(__name__)
_threads = cast("TaskRunner[PrefectFuture[Any]]", ThreadPoolTaskRunner(max_workers=THREADS))  # invariant


@dataclass(slots=True)
class _Caller:
    """The terminal that started a flow in its own process: who hears of progress, and how the night ended."""

    listener: Progress
    ended: NightReport | NightwikiError | None = None


_caller: ContextVar[_Caller | None] = ContextVar("caller", default=None)


def _call(work: Callable[[], T]) -> T:
    return work()


def _is_passing(step: Task[Any, Any], run: TaskRun, state: State[Any]) -> bool:
    """Retry what the machine or the network may do better at the next try; our own errors are final."""
    try:
        state.result()
    except (OSError, MemoryError) as error:
        return not isinstance(error, FileNotFoundError | PermissionError)
    except Exception:
        return False
    return False


class PrefectRunner:
    """Carries out each step as a Prefect task, and the batches of a step as tasks in threads."""

    def __init__(self, listener: Progress = silent) -> None:
        self._listener = listener
        self._bars: dict[str, tuple[UUID, float]] = {}

    def run(self, name: str, function: Callable[..., T], *args: Any) -> T:
        return cast(T, _step(name)(quote(functools.partial(function, *args))))

    def map(self, name: str, function: Callable[[S], T], items: Sequence[S]) -> list[T]:
        step = _step(name)
        futures = [step.submit(quote(functools.partial(function, item))) for item in items]
        results = []
        for done, future in enumerate(futures, start=1):
            results.append(future.result())
            self.progress(name, done, len(items))
        return results

    def progress(self, name: str, done: int, total: int) -> None:
        self._listener(name, done, total)
        bar = self._bars.get(name)
        now = time.monotonic()
        if total < 1 or (bar and done < total and now - bar[1] < PROGRESS_SECONDS):
            return
        percent = round(100 * done / total, 1)
        with contextlib.suppress(Exception):  # a bar is a courtesy; the night goes on without it
            if bar is None:
                made = create_progress_artifact(percent, key=artifact_key("progress", name), description=name)
                self._bars[name] = (made, now)  # type: ignore[assignment]  # typed for both sync and async callers
            else:
                update_progress_artifact(bar[0], percent)
                self._bars[name] = (bar[0], now)


def _step(name: str) -> Task[Any, Any]:
    return task(
        name=name,
        task_run_name=name,
        retries=RETRIES,
        retry_delay_seconds=list(RETRY_SECONDS),
        retry_condition_fn=_is_passing,
        cache_policy=NO_CACHE,
        persist_result=False,
    )(_call)


def artifact_key(*parts: str) -> str:
    """A key as Prefect accepts it: lower-case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", "-".join(parts).lower()).strip("-") or "nightwiki"


def _run_name() -> str:
    """Such as 'nightly my-wiki 2026-12-01', by the wiki's own date."""
    folder = str(flow_run.parameters.get("wiki", ""))
    try:
        wiki = open_wiki(Path(folder))
        name, zone = wiki.name, ZoneInfo(wiki.settings.time_zone)
    except NightwikiError:
        name, zone = Path(folder).name, ZoneInfo("UTC")
    return f"{flow_run.flow_name} {name} {datetime.now(zone):%Y-%m-%d}"


@flow(
    name="nightly",
    flow_run_name=_run_name,
    task_runner=_threads,
    persist_result=False,
    validate_parameters=True,
)
def nightly(wiki: str) -> State[None]:
    """The night: take in everything that is new since the last good one.

    Args:
        wiki: Folder of the wiki; it holds nightwiki.yaml.
    """
    return _carry_out(wiki, "nightly", (), False, False)


@flow(
    name="ingest",
    flow_run_name=_run_name,
    task_runner=_threads,
    persist_result=False,
    validate_parameters=True,
)
def ingest(wiki: str, sources: list[str] | None = None, force: bool = False, dry_run: bool = False) -> State[None]:
    """Read new sources into the wiki now.

    Args:
        wiki: Folder of the wiki; it holds nightwiki.yaml.
        sources: Locations (vault paths or addresses) to read; empty means all.
        force: Compile sources again even if they have not changed.
        dry_run: Say what would happen, and write nothing.
    """
    return _carry_out(wiki, "ingest", tuple(sources or ()), force, dry_run)


@flow(name="weekly", flow_run_name=_run_name, persist_result=False, validate_parameters=True)
def weekly(wiki: str) -> State[None]:
    """The week's tidying: lint with its safe repairs, then scaffold, then routing-clean.

    Args:
        wiki: Folder of the wiki; it holds nightwiki.yaml.
    """
    return _tidy(wiki, "weekly", lambda found, runner: weeks.weekly(found, runner, utc_now()).steps)


@flow(name="lint", flow_run_name=_run_name, persist_result=False, validate_parameters=True)
def lint(wiki: str, fix: bool = False) -> State[None]:
    """Check the pages: links, citations, properties, names, duplicates, orphans.

    Args:
        wiki: Folder of the wiki; it holds nightwiki.yaml.
        fix: Put right what is safe, in text that nightwiki wrote itself.
    """
    return _tidy(wiki, "lint", lambda found, runner: (weeks.of_lint(lints.lint(found, runner, utc_now(), fix)),))


@flow(name="scaffold", flow_run_name=_run_name, persist_result=False, validate_parameters=True)
def scaffold(wiki: str) -> State[None]:
    """Make index.md anew below its marker.

    Args:
        wiki: Folder of the wiki; it holds nightwiki.yaml.
    """
    return _tidy(wiki, "scaffold", lambda found, run: (weeks.of_scaffold(indexes.scaffold(found, run, utc_now())),))


@flow(name="routing-clean", flow_run_name=_run_name, persist_result=False, validate_parameters=True)
def routing_clean(wiki: str) -> State[None]:
    """Remove the entries of ROUTING.md whose page is gone.

    Args:
        wiki: Folder of the wiki; it holds nightwiki.yaml.
    """
    return _tidy(wiki, "routing", lambda found, run: (weeks.of_routing(routes.clean(found, run, utc_now())),))


@flow(name="promote", flow_run_name=_run_name, persist_result=False, validate_parameters=True)
def promote(wiki: str, pages: list[str]) -> State[None]:
    """Make waiting pages part of the wiki, as they now lie on disk.

    Args:
        wiki: Folder of the wiki; it holds nightwiki.yaml.
        pages: Names of the candidates, as `nightwiki candidates list` shows them.
    """
    return _review(wiki, [Review(name, True) for name in pages])


@flow(name="discard", flow_run_name=_run_name, persist_result=False, validate_parameters=True)
def discard(wiki: str, pages: list[str], reason: str = "") -> State[None]:
    """Drop waiting pages; the same proposal is not made again.

    Args:
        wiki: Folder of the wiki; it holds nightwiki.yaml.
        pages: Names of the candidates, as `nightwiki candidates list` shows them.
        reason: Why; it is remembered with each page.
    """
    return _review(wiki, [Review(name, False, reason) for name in pages])


def _tidy(folder: str, kind: str, work: Callable[[Wiki, PrefectRunner], tuple[weeks.Tidied, ...]]) -> State[None]:
    """Do housework, show its report, and say honestly how it ended. Findings are a result, not a failure."""
    with _honest(folder) as ended:
        wiki = open_wiki(Path(folder))
        steps = work(wiki, PrefectRunner())
        with contextlib.suppress(Exception):  # a server that refuses the report spoils nothing
            text = weeks.markdown(steps, _private(wiki))
            create_markdown_artifact(text, key=artifact_key(kind, wiki.name), description=f"{kind} of {wiki.name}")
        failed = any(step.failed for step in steps)
        ended.state = Failed(message=weeks.message(steps)) if failed else Completed(message=weeks.message(steps))
    return ended.state


def _review(folder: str, reviews: list[Review]) -> State[None]:
    """Carry out decisions on candidates; one that cannot be carried out makes the run Partial."""
    with _honest(folder) as ended:
        wiki = open_wiki(Path(folder))
        report = nights.review(wiki, PrefectRunner(), utc_now(), reviews)
        refused = [one.cause if _private(wiki) else f"{one.subject}: {one.cause}" for one in report.problems]
        _publish(wiki, "review", report)
        done = f"{len(reviews) - len(refused)} of {len(reviews)} decisions carried out"
        ended.state = (
            Failed(name="Partial", message="; ".join((done, *refused))) if refused else Completed(message=done)
        )
    return ended.state


@dataclass(slots=True)
class _Ended:
    """How a flow ended."""

    state: State[None]


@contextlib.contextmanager
def _honest(folder: str) -> Iterator[_Ended]:
    """Turn our own errors into end states: Skipped when another run holds the lock, else Failed."""
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.INFO)
    ended = _Ended(Failed(message=f"{folder}: the run did not end"))
    try:
        yield ended
    except BusyError as error:
        ended.state = State(type=StateType.CANCELLED, name="Skipped", message=str(error))
    except NightwikiError as error:
        log.error("%s", error)
        ended.state = Failed(message=str(error))


def _private(wiki: Wiki) -> bool:
    """Whether names and texts of pages stay out of what the server shows."""
    return wiki.settings.prefect.mode == "existing" and not wiki.settings.prefect.show_page_text


def _carry_out(folder: str, kind: str, only: tuple[str, ...], force: bool, dry_run: bool) -> State[None]:
    """Run the night and say honestly how it ended."""
    caller = _caller.get() or _Caller(silent)
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.INFO)  # so that Prefect's handler hears of each step
    try:
        wiki = open_wiki(Path(folder))
        runner = PrefectRunner(caller.listener)
        caller.ended = report = nights.night(wiki, runner, utc_now(), only, force, dry_run, kind)
    except BusyError as error:
        caller.ended = error
        return State(type=StateType.CANCELLED, name="Skipped", message=str(error))
    except NightwikiError as error:
        caller.ended = error
        log.error("%s", error)
        return Failed(message=str(error))
    _publish(wiki, kind, report)
    return ending(report)


def ending(report: NightReport) -> State[None]:
    """The final state of a run: green only for a night that needs nobody."""
    if report.state == "ok":
        return Completed(message=headline(report))
    return Failed(name="Partial" if report.state == "partial" else "Failed", message=headline(report))


def _publish(wiki: Wiki, kind: str, report: NightReport) -> None:
    """The digest and the table of waiting pages as artifacts; a server that refuses them spoils no night."""
    private = _private(wiki)
    try:
        text = f"{headline(report)}.\n" if private else markdown(report, wiki.settings.time_zone, linked=False)
        create_markdown_artifact(text, key=artifact_key("digest", wiki.name), description=f"{kind} of {wiki.name}")
        if report.waiting and not private:
            rows = [
                {
                    "page": line.title,
                    "kind": line.kind,
                    "confidence": line.confidence,
                    "why": "; ".join(line.reasons),
                    "sources": ", ".join(line.sources),
                }
                for line in report.waiting
            ]
            create_table_artifact(
                rows, key=artifact_key("waiting", wiki.name), description="Pages that wait for review"
            )
    except Exception as error:
        log.warning("the digest could not be shown in Prefect: %s", error)


# --- from the terminal -----------------------------------------------------------------------------------


def run_here(wiki: Wiki, kind: str, listener: Progress, only: tuple[str, ...] = (), force: bool = False) -> NightReport:
    """Run a flow in this process, on the server that the environment names; raises what the night raised."""
    caller = _Caller(listener)
    token = _caller.set(caller)
    try:
        if kind == "nightly":
            state = nightly(str(wiki.root), return_state=True)
        else:
            state = ingest(str(wiki.root), list(only), force, return_state=True)
    finally:
        _caller.reset(token)
        APILogHandler.flush(APILogHandler())  # the server may be stopped next
    if isinstance(caller.ended, NightwikiError):
        raise caller.ended
    if caller.ended is None:
        state.result()  # raises what kept the flow from ending
        raise NightwikiError(str(wiki.root), f"the flow ended as {state.name}", "See its page in Prefect.")
    return caller.ended


# --- deployments -----------------------------------------------------------------------------------------


def deployments(wiki: Wiki) -> tuple[RunnerDeployment, ...]:
    """What `nightwiki up` serves: the wiki's flows by module path, with their schedules."""
    schedule, zone = wiki.settings.schedule, wiki.settings.time_zone
    one_at_a_time = ConcurrencyLimitConfig(limit=1, collision_strategy=ConcurrencyLimitStrategy.CANCEL_NEW)
    served = (
        (nightly, schedule.nightly, f"The night of {wiki.root}"),
        (weekly, schedule.weekly, f"The week's tidying of {wiki.root}"),
        (ingest, "", f"Read sources into {wiki.root} now"),
        (lint, "", f"Check the pages of {wiki.root}"),
        (scaffold, "", f"Make the index of {wiki.root} anew"),
        (routing_clean, "", f"Clean ROUTING.md of {wiki.root}"),
        (promote, "", f"Publish waiting pages of {wiki.root}"),
        (discard, "", f"Drop waiting pages of {wiki.root}"),
    )
    return tuple(
        RunnerDeployment.from_flow(
            cast("Flow[Any, Any]", served_flow),
            name=wiki.name,
            schedule=Cron(cron, timezone=zone) if cron else None,
            parameters={"wiki": str(wiki.root)},
            description=description,
            tags=["nightwiki", wiki.name],
            concurrency_limit=one_at_a_time,
            entrypoint_type=EntrypointType.MODULE_PATH,
        )
        for served_flow, cron, description in served
    )


def serve_deployments(wiki: Wiki) -> None:
    """Serve the wiki's deployments until SIGTERM or SIGINT; schedules stay on when this ends."""
    if wiki.settings.prefect.mode == "own":
        _mark_dead_runs()
    serve(*deployments(wiki), limit=2, pause_on_shutdown=False, print_starting_message=False)


def _mark_dead_runs() -> None:
    """Have the server mark a run whose process was killed as crashed, so that it does not look alive for ever."""
    beat, name = "prefect.flow-run.heartbeat", "nightwiki: mark dead runs as crashed"
    ended = {
        f"prefect.flow-run.{state}" for state in ("Completed", "Failed", "Cancelled", "Crashed", "Partial", "Skipped")
    }
    trigger = EventTrigger(
        after={beat},
        expect={beat, *ended},
        match=ResourceSpecification({"prefect.resource.id": ["prefect.flow-run.*"]}),
        for_each={"prefect.resource.id"},
        posture=Posture.Proactive,
        threshold=1,
        within=timedelta(seconds=DEAD_AFTER_SECONDS),
    )
    action = ChangeFlowRunState(state=StateType.CRASHED, message="Its process sends no heartbeat any more.")
    with get_client(sync_client=True) as client:
        if not client.read_automations_by_name(name):
            client.create_automation(AutomationCore(name=name, trigger=trigger, actions=[action]))
