"""How a run's report is shown: in a terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence

import click

from config.wiki import Wiki
from serving.schemas.runs import Cost, IngestAnswer, PageCounts
from tasks.digest import NightReport, cost_line, failures, headline

_SHOWN = 20


def ingest_answer(report: NightReport, more: Sequence[str] = ()) -> IngestAnswer:
    """The report as JSON; `more` are paths that a dry run would write besides."""
    return IngestAnswer(
        run="" if report.dry_run else report.run,
        state="ok" if report.state == "ok" else "partial" if report.state == "partial" else "failed",
        sources=dict(report.sources),
        pages=PageCounts(created=report.created, updated=report.updated, staged=report.staged),
        changed=[*more, *report.changed],
        cost=Cost(
            tokens=report.cost.input_tokens + report.cost.output_tokens,
            money=report.cost.money,
            calls=report.cost.calls,
            expected=report.cost.expected,
        ),
    )


def show_report(report: NightReport, wiki: Wiki) -> None:
    """What happened, what waits, what failed and what to do about it."""
    if report.dry_run:
        for path in report.changed:
            click.echo(f"would write {path}")
    click.echo(f"{'Would be: ' if report.dry_run else ''}{headline(report)}.")
    if report.dry_run and report.cost.expected:
        click.echo(f"The model would be asked: {report.cost.expected}.")
    elif asked := cost_line(report.cost):
        click.echo(asked)
    if report.waiting:
        click.echo(f"{len(report.waiting)} waiting for review: nightwiki candidates list")
    failed = failures(report)
    for line in failed[:_SHOWN]:
        _say(f"{line.outcome.value}: {line.location}", line.reason, line.next_step)
    if len(failed) > _SHOWN:
        click.echo(f"and {len(failed) - _SHOWN} more: nightwiki sources list", err=True)
    if report.known:
        known = ", ".join(f"{count} {outcome}" for outcome, count in report.known)
        click.echo(f"As before: {known} (nightwiki sources list).", err=True)
    for problem in (*report.problems, *report.degraded):
        _say(problem.subject, problem.cause, problem.next_step)


def _say(subject: str, cause: str, next_step: str) -> None:
    line = f"{subject}: {cause}" if cause else subject
    click.echo(f"{line}. {next_step}" if next_step else line, err=True)
