"""The week's tidying: lint mends dead links, then the index is made anew, then ROUTING.md loses what is gone.

The order matters: each step leaves the next one less to trip over. All three go under one run lock; a step that fails
is told and does not keep the others from being done. In the end go the answers that Prefect kept past their time.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from config.errors import BusyError, NightwikiError
from config.wiki import Wiki
from flows.lint import LintReport, lint
from flows.routing import RoutingReport, clean
from flows.scaffold import UNNAMED, ScaffoldReport, scaffold
from flows.service import server
from flows.service.expired_results import drop_expired
from flows.session import open_state, parse_moment
from flows.steps import StepRunner
from tasks.records import Finding
from tasks.text_bytes import shown

T = TypeVar("T")

_SHOWN = 500  # findings that a report lists

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Tidied:
    """How one piece of housework ended."""

    step: str
    said: str  # in a sentence, without names of pages
    detail: str = ""  # Markdown, with names of pages
    failed: bool = False


@dataclass(frozen=True, slots=True)
class WeeklyReport:
    """What the week's tidying did, step by step."""

    steps: tuple[Tidied, ...]
    lint: LintReport | None
    scaffold: ScaffoldReport | None
    routing: RoutingReport | None

    @property
    def failed(self) -> bool:
        return any(step.failed for step in self.steps)


def weekly(wiki: Wiki, runner: StepRunner, now: str) -> WeeklyReport:
    """Lint with its safe repairs, scaffold, routing clean, in this order. Raises BusyError when a run is under way."""
    steps: list[Tidied] = []

    def carried_out(name: str, work: Callable[[], T], told: Callable[[T], Tidied]) -> T | None:
        try:
            report = work()
        except BusyError:
            raise
        except NightwikiError as error:
            steps.append(Tidied(name, " ".join(str(error).split()), failed=True))
            return None
        steps.append(told(report))
        return report

    with open_state(wiki).run_lock(kind="weekly"):
        linted = carried_out("lint", lambda: lint(wiki, runner, now, fix=True), of_lint)
        drawn = carried_out("scaffold", lambda: scaffold(wiki, runner, now, make=False), of_scaffold)
        cleaned = carried_out("routing-clean", lambda: clean(wiki, runner, now), of_routing)
    if gone := drop_expired(server.home(wiki) / "storage", parse_moment(now)):
        log.info("%s of answers and packs that were kept have passed their time", gone)
    return WeeklyReport(tuple(steps), linted, drawn, cleaned)


def of_lint(report: LintReport) -> Tidied:
    """What lint found and mended."""
    counts = Counter(finding.check for finding in report.findings)
    kinds = ", ".join(f"{number} {check}" for check, number in sorted(counts.items()))
    grave = Counter(finding.severity for finding in report.findings)
    by_severity = ", ".join(_many(grave[name], name) for name in ("error", "warning") if grave[name])
    new = f", {report.fresh} of them new" if report.fresh else ""
    said = f"{by_severity or 'nothing is wrong'}{new}{f' ({kinds})' if kinds else ''}; {len(report.fixed)} mended"
    return Tidied("lint", said, findings_table(report.findings))


def of_scaffold(report: ScaffoldReport) -> Tidied:
    """What the index holds now."""
    pages = sum(number for _, number in report.categories)
    said = report.left or f"{_many(pages, 'page')} in {_many(len(report.categories), 'category', 'categories')}"
    said += f" ({UNNAMED})" if report.note else ""
    note = f"{_cell(report.note)}\n\n" if report.note else ""
    rows = "\n".join(f"- {_cell(name)}: {number}" for name, number in report.categories)
    return Tidied("scaffold", said, note + rows)


def of_routing(report: RoutingReport) -> Tidied:
    """What ROUTING.md lost."""
    renamed = f", {len(report.renamed)} renamed" if report.renamed else ""
    said = report.left or f"{_many(len(report.removed), 'entry', 'entries')} removed{renamed}"
    return Tidied("routing-clean", said, "\n".join(f"- {_cell(target)}" for target in report.removed))


def message(steps: tuple[Tidied, ...]) -> str:
    """All steps in a line."""
    return "; ".join(f"{step.step}: {step.said}" for step in steps)


def markdown(steps: tuple[Tidied, ...], private: bool = False) -> str:
    """The steps as a note; `private` leaves the names of pages out."""
    parts = [f"## {step.step}\n\n{_cell(step.said)}.\n" + ("" if private else f"\n{step.detail}\n") for step in steps]
    return "\n".join(parts)


def findings_table(findings: tuple[Finding, ...]) -> str:
    """Findings as a Markdown table, the first ones if they are many."""
    if not findings:
        return ""
    rows = ["| check | page | line | what | fix |", "|---|---|---|---|---|"]
    for one in findings[:_SHOWN]:
        cells = (one.check, one.page, str(one.line or ""), one.message, one.fix)
        rows.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    if len(findings) > _SHOWN:
        rows.append(f"\nand {len(findings) - _SHOWN} more: nightwiki lint")
    return "\n".join(rows)


def _cell(text: str) -> str:
    escaped = shown(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("[", "\\[")
    return " ".join(escaped.split())


def _many(number: int, noun: str, nouns: str = "") -> str:
    return f"{number} {noun if number == 1 else nouns or noun + 's'}"
