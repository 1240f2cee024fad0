"""The Prefect flows: what a deployment runs, by the module path of this file.

Each is async and hands its work to a thread: such a flow ends most of a second sooner than one that is not, and a
cancelled one is told to stop. The work itself is in the other modules of this folder, and knows nothing of Prefect.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, cast
from zoneinfo import ZoneInfo

from prefect import flow, tags
from prefect.client.schemas.objects import State
from prefect.context import TagsContext
from prefect.events.worker import EventsWorker
from prefect.logging.handlers import APILogHandler
from prefect.runtime import flow_run
from prefect.states import Completed, Failed

from config.errors import BusyError, NightwikiError
from config.wiki import Wiki
from flows import lint as lints
from flows import night as nights
from flows import routing as routes
from flows import scaffold as indexes
from flows import undo as undoing
from flows import weekly as weeks
from flows.console.artifacts import is_private, show_housework, show_night, show_undo
from flows.console.bars import Bars
from flows.console.catching_up import done_since
from flows.console.ends import announce_failure, announce_night, ending, honest, skipped
from flows.console.runner import PrefectRunner, threads
from flows.night_steps.reading_in import Review
from flows.service.kept_settings import open_by_kept
from flows.steps import Progress, silent, utc_now
from storage.runs import Runs
from tasks.digest import NightReport

LOGGERS = ("config", "tasks", "storage", "flows", "serving")

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Caller:
    """The terminal that started a flow in its own process: who hears of progress, and how the night ended."""

    listener: Progress
    ended: NightReport | NightwikiError | None = None


_caller: ContextVar[_Caller | None] = ContextVar("caller", default=None)


def _run_name() -> str:
    """Such as 'nightly my-wiki 2026-12-01', by the wiki's own date."""
    folder = str(flow_run.parameters.get("wiki", ""))
    try:
        wiki = open_by_kept(Path(folder))
        name, zone = wiki.name, ZoneInfo(wiki.settings.time_zone)
    except NightwikiError:
        name, zone = Path(folder).name, ZoneInfo("UTC")
    return f"{flow_run.flow_name} {name} {datetime.now(zone):%Y-%m-%d}"


@flow(name="nightly", flow_run_name=_run_name, task_runner=threads, persist_result=False, validate_parameters=True)
async def nightly(wiki: str, again: bool = False) -> State[None]:
    """The night: take in everything that is new since the last good one.

    Args:
        wiki: Folder of the wiki; it holds nightwiki.yaml.
        again: Set by the automation that tries a failed night once more; a second failure is not tried again.
    """
    return await _in_thread(lambda runner: _night(runner, wiki, "nightly", (), False, False, again))


@flow(name="ingest", flow_run_name=_run_name, task_runner=threads, persist_result=False, validate_parameters=True)
async def ingest(
    wiki: str, sources: list[str] | None = None, force: bool = False, dry_run: bool = False
) -> State[None]:
    """Read new sources into the wiki now.

    Args:
        wiki: Folder of the wiki; it holds nightwiki.yaml.
        sources: Locations (vault paths or addresses) to read; empty means all.
        force: Compile sources again even if they have not changed.
        dry_run: Say what would happen, and write nothing.
    """
    only = tuple(sources or ())
    return await _in_thread(lambda runner: _night(runner, wiki, "ingest", only, force, dry_run))


@flow(name="weekly", flow_run_name=_run_name, persist_result=False, validate_parameters=True)
async def weekly(wiki: str) -> State[None]:
    """The week's tidying: lint with its safe repairs, then scaffold, then routing-clean.

    Args:
        wiki: Folder of the wiki; it holds nightwiki.yaml.
    """
    return await _tidy(wiki, "weekly", lambda found, runner: weeks.weekly(found, runner, utc_now()).steps)


@flow(name="lint", flow_run_name=_run_name, persist_result=False, validate_parameters=True)
async def lint(wiki: str, fix: bool = False) -> State[None]:
    """Check the pages: links, citations, properties, names, duplicates, orphans.

    Args:
        wiki: Folder of the wiki; it holds nightwiki.yaml.
        fix: Put right what is safe, in text that nightwiki wrote itself.
    """
    return await _tidy(wiki, "lint", lambda found, run: (weeks.of_lint(lints.lint(found, run, utc_now(), fix)),))


@flow(name="scaffold", flow_run_name=_run_name, persist_result=False, validate_parameters=True)
async def scaffold(wiki: str) -> State[None]:
    """Make index.md anew below its marker.

    Args:
        wiki: Folder of the wiki; it holds nightwiki.yaml.
    """
    return await _tidy(
        wiki, "scaffold", lambda found, run: (weeks.of_scaffold(indexes.scaffold(found, run, utc_now())),)
    )


@flow(name="routing-clean", flow_run_name=_run_name, persist_result=False, validate_parameters=True)
async def routing_clean(wiki: str) -> State[None]:
    """Remove the entries of ROUTING.md whose page is gone.

    Args:
        wiki: Folder of the wiki; it holds nightwiki.yaml.
    """
    return await _tidy(wiki, "routing", lambda found, run: (weeks.of_routing(routes.clean(found, run, utc_now())),))


@flow(name="promote", flow_run_name=_run_name, persist_result=False, validate_parameters=True)
async def promote(wiki: str, pages: list[str]) -> State[None]:
    """Make waiting pages part of the wiki, as they now lie on disk.

    Args:
        wiki: Folder of the wiki; it holds nightwiki.yaml.
        pages: Names of the candidates, as `nightwiki candidates list` shows them.
    """
    return await _in_thread(lambda runner: _review(runner, wiki, [Review(name, True) for name in pages]))


@flow(name="discard", flow_run_name=_run_name, persist_result=False, validate_parameters=True)
async def discard(wiki: str, pages: list[str], reason: str = "") -> State[None]:
    """Drop waiting pages; the same proposal is not made again.

    Args:
        wiki: Folder of the wiki; it holds nightwiki.yaml.
        pages: Names of the candidates, as `nightwiki candidates list` shows them.
        reason: Why; it is remembered with each page.
    """
    return await _in_thread(lambda runner: _review(runner, wiki, [Review(name, False, reason) for name in pages]))


@flow(name="undo", flow_run_name=_run_name, persist_result=False, validate_parameters=True)
async def undo(wiki: str, run: str, since: bool = False, dry_run: bool = False) -> State[None]:
    """Take a run back: its files are as they were before it. What you changed since stays, and is named.

    Args:
        wiki: Folder of the wiki; it holds nightwiki.yaml.
        run: Id of the run, or its beginning, as `nightwiki runs` and each digest show it.
        since: Take all later runs back, too.
        dry_run: Say what would happen, and write nothing.
    """
    return await _in_thread(lambda runner: _undo(wiki, run, since, dry_run))


async def _in_thread(work: Callable[[PrefectRunner], State[None]]) -> State[None]:
    """What the work returns; when this run is cancelled, the work stops at its next step."""
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.INFO)  # so that Prefect's handler hears of each step
    stop = threading.Event()
    caller = _caller.get()

    def carry_out() -> State[None]:
        # The tags are the run's: a task that had them would ask the server, before it begins, for limits by each.
        with TagsContext(current_tags=set()), Bars() as bars:
            return work(PrefectRunner(bars, stop, caller.listener if caller else silent))

    try:
        return await asyncio.to_thread(carry_out)
    finally:
        stop.set()


def _night(
    runner: PrefectRunner,
    folder: str,
    kind: str,
    only: tuple[str, ...],
    force: bool,
    dry_run: bool,
    again: bool = False,
) -> State[None]:
    """Run the night and say honestly how it ended."""
    caller = _caller.get() or _Caller(silent)
    name = Path(folder).name
    with honest(folder) as ended:
        wiki = open_by_kept(Path(folder))
        name = wiki.name
        if other := done_since():
            return skipped(f"'{other}' has taken in everything since this run was due")
        if again and _failed_twice(wiki):
            return skipped("two nights in a row have failed; see the last one, and nightwiki runs")
        caller.ended = report = nights.night(wiki, runner, utc_now(), only, force, dry_run, kind)
        show_night(wiki, kind, report)
        ended.state = ending(report)
        if not dry_run:
            announce_night(wiki, report)
    if ended.error is not None:
        caller.ended = ended.error
        if not isinstance(ended.error, BusyError):
            announce_failure(name, kind, again, str(ended.error))
    return ended.state


def _failed_twice(wiki: Wiki) -> bool:
    nightly_runs = [run.state for run in Runs(wiki.state_dir).all() if run.kind == "nightly"]
    return len(nightly_runs) > 1 and set(nightly_runs[-2:]) <= {"failed", "crashed"}


async def _tidy(
    folder: str, kind: str, work: Callable[[Wiki, PrefectRunner], tuple[weeks.Tidied, ...]]
) -> State[None]:
    """Do housework, show its report, and say honestly how it ended. Findings are a result, not a failure."""

    def tidy(runner: PrefectRunner) -> State[None]:
        with honest(folder) as ended:
            wiki = open_by_kept(Path(folder))
            if other := done_since():
                return skipped(f"'{other}' has done it since this run was due")
            steps = work(wiki, runner)
            show_housework(wiki, kind, steps)
            failed = any(step.failed for step in steps)
            ended.state = Failed(message=weeks.message(steps)) if failed else Completed(message=weeks.message(steps))
        return ended.state

    return await _in_thread(tidy)


def _review(runner: PrefectRunner, folder: str, reviews: list[Review]) -> State[None]:
    """Carry out decisions on candidates; one that cannot be carried out makes the run Partial."""
    with honest(folder) as ended:
        wiki = open_by_kept(Path(folder))
        report = nights.review(wiki, runner, utc_now(), reviews)
        refused = [one.cause if is_private(wiki) else f"{one.subject}: {one.cause}" for one in report.problems]
        show_night(wiki, "review", report)
        done = f"{len(reviews) - len(refused)} of {len(reviews)} decisions carried out"
        ended.state = (
            Failed(name="Partial", message="; ".join((done, *refused))) if refused else Completed(message=done)
        )
    return ended.state


def _undo(folder: str, run: str, since: bool, dry_run: bool) -> State[None]:
    """Take a run back; files that had to be left make the run Partial."""
    with honest(folder) as ended:
        wiki = open_by_kept(Path(folder))
        done = undoing.undo(wiki, run, utc_now(), since, dry_run)
        show_undo(wiki, done)
        would = "would be " if dry_run else ""
        said = f"{', '.join(done.undone)}: {len(done.changed)} files {would}changed, {len(done.left)} left"
        ended.state = Failed(name="Partial", message=said) if done.left else Completed(message=said)
    return ended.state


# --- from the terminal -----------------------------------------------------------------------------------


def run_here(wiki: Wiki, kind: str, listener: Progress, only: tuple[str, ...] = (), force: bool = False) -> NightReport:
    """Run a flow in this process, on the server that the environment names; raises what the night raised."""
    caller = _Caller(listener)
    token = _caller.set(caller)
    try:
        if kind == "nightly":
            begun = nightly(str(wiki.root), return_state=True)
        else:
            begun = ingest(str(wiki.root), list(only), force, return_state=True)
        with tags("nightwiki", wiki.name):
            state = asyncio.run(cast("Coroutine[Any, Any, State[Any]]", begun))  # typed as no more than awaitable
    finally:
        _caller.reset(token)
        APILogHandler.flush(APILogHandler())  # the server may be stopped next
        EventsWorker.drain_all(timeout=5)
    if isinstance(caller.ended, NightwikiError):
        raise caller.ended
    if caller.ended is None:
        state.result()  # raises what kept the flow from ending
        raise NightwikiError(str(wiki.root), f"the flow ended as {state.name}", "See its page in Prefect.")
    return caller.ended
