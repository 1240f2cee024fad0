"""How a run's report is shown: in a terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence

import click

from config.wiki import Wiki
from serving.schemas.runs import Cost, IngestAnswer, PageCounts
from tasks.digest import NightReport, contradictions, cost_lines, failures, grouped, headline

_SHOWN = 10  # groups of failures, and problems


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
    else:
        for sentence in cost_lines(report.cost):
            click.echo(sentence)
    if report.waiting:
        click.echo(f"{len(report.waiting)} waiting for review: nightwiki candidates list")
    if report.contradictions:
        click.echo(f"{contradictions(report)}: nightwiki contradictions list")
    groups = grouped(failures(report))
    for group in groups[:_SHOWN]:
        _say(f"{group.outcome}: {group.names()}", group.reason, group.next_step)
    if len(groups) > _SHOWN:
        left = sum(len(group.lines) for group in groups[_SHOWN:])
        click.echo(f"and {left} more: nightwiki sources list", err=True)
    if report.known:
        known = ", ".join(f"{count} {outcome}" for outcome, count in report.known)
        click.echo(f"As before: {known} (nightwiki sources list).", err=True)
    problems = (*report.degraded, *report.problems)
    for problem in problems[:_SHOWN]:
        _say(problem.subject, problem.cause, problem.next_step)
    if len(problems) > _SHOWN:
        where = wiki.state_dir / "runs" / "reports" / f"{report.run}.json"
        click.echo(f"and {len(problems) - _SHOWN} more: {where}", err=True)


def _say(subject: str, cause: str, next_step: str) -> None:
    line = f"{subject}: {cause}" if cause else subject
    click.echo(f"{line}. {next_step}" if next_step else line, err=True)
