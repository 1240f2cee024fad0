"""What a night tells its owner: what came in, what it became, what waits and why, what failed with the next step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from tasks.records import GOOD, Outcome


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One source that this run touched."""

    id: str
    location: str
    title: str
    outcome: Outcome
    reason: str
    next_step: str
    pages: tuple[str, ...]  # stems of the pages it became
    waiting: tuple[str, ...]  # stems of the candidates it became


@dataclass(frozen=True, slots=True)
class StagedLine:
    """One page that waits for review."""

    slug: str
    title: str
    kind: str  # new | update
    confidence: str
    reasons: tuple[str, ...]
    sources: tuple[str, ...]  # locations


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is not a source's outcome: a line of a list that cannot be read, a write that was refused."""

    subject: str
    cause: str
    next_step: str = ""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a language model was asked in a run, and what that cost."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    money: float = 0.0  # dollars, by the price table
    cached: int = 0  # questions whose answers were already known
    expected: str = ""  # what was reckoned with beforehand, in a sentence


@dataclass(frozen=True, slots=True)
class NightReport:
    """The result of a run. Counts are of sources and of pages."""

    run: str
    kind: str
    state: str  # ok | partial | failed
    started: str
    finished: str
    sources: tuple[tuple[str, int], ...]  # outcome and count over all sources, by name
    created: int = 0
    updated: int = 0
    staged: int = 0
    removed: int = 0
    changed: tuple[str, ...] = ()  # vault paths written
    lines: tuple[SourceLine, ...] = ()  # sources this run touched
    known: tuple[tuple[str, int], ...] = ()  # failures of former nights that stand, by outcome
    waiting: tuple[StagedLine, ...] = ()  # all that waits for review, this night's first
    problems: tuple[Problem, ...] = ()
    degraded: tuple[Problem, ...] = ()
    snapshot: str = ""
    dry_run: bool = False
    lint: str = ""  # what the last lint found, in a sentence
    cost: Cost = Cost()


def failures(report: NightReport) -> tuple[SourceLine, ...]:
    """The touched sources that need somebody, or another night."""
    return tuple(line for line in report.lines if line.outcome not in GOOD)


def count(outcomes: Sequence[Outcome]) -> tuple[tuple[str, int], ...]:
    """Outcomes counted, in the order of their names."""
    return tuple(sorted((outcome.value, n) for outcome, n in Counter(outcomes).items()))


def headline(report: NightReport) -> str:
    """The night in one line."""
    parts = [_plural(report.created, "new page"), f"{report.updated} updated", f"{report.staged} held back for review"]
    if report.removed:
        parts.append(f"{report.removed} removed")
    failed = len(failures(report))
    return ", ".join(parts) + (f"; {_plural(failed, 'source')} could not be used" if failed else "")


def markdown(report: NightReport, zone_name: str = "UTC", linked: bool = True) -> str:
    """The digest as Markdown for Obsidian; without `linked`, for a reader that knows no wikilinks."""
    zone = ZoneInfo(zone_name)
    out = [f"# Night of {_local(report.started, zone):%Y-%m-%d}", "", f"{headline(report)}.", ""]
    begun, ended = (f"{_local(time, zone):%Y-%m-%d %H:%M:%S}" for time in (report.started, report.finished))
    times = f"started {begun} · finished {ended} ({zone_name})"
    out.append(f"Run `{report.run}` · {report.state} · {times}")
    if report.lint:
        out += ["", report.lint]
    asked = cost_line(report.cost)
    if asked:
        out += ["", asked]
    out += _table(
        "What came in",
        ("Source", "Became", "Waits for review"),
        [
            (_cell(_name(line)), _stems(line.pages, linked) or _cell(line.reason), _stems(line.waiting, linked=False))
            for line in report.lines
            if line.outcome is Outcome.OK
        ],
    )
    out += _table(
        "Waits for review",
        ("Page", "Confidence", "Why"),
        [
            (f"{_cell(line.title)} ({line.kind})", line.confidence, _cell("; ".join(line.reasons)))
            for line in report.waiting
        ],
    )
    out += _table(
        "Could not be used",
        ("Source", "Outcome", "Why", "Next step"),
        [
            (_cell(_name(line)), line.outcome.value, _cell(line.reason), _cell(line.next_step))
            for line in failures(report)
        ],
    )
    aside = [
        line for line in report.lines if line.outcome in GOOD and line.outcome not in (Outcome.OK, Outcome.UNCHANGED)
    ]
    out += _table(
        "Set aside",
        ("Source", "Outcome", "Why"),
        [(_cell(_name(line)), line.outcome.value, _cell(line.reason)) for line in aside],
    )
    if report.known:
        known = ", ".join(f"{n} {outcome}" for outcome, n in report.known)
        out += ["", f"Known from former nights and unchanged: {known} (`nightwiki sources list` names them)."]
    out += _table(
        "To look at",
        ("What", "Why", "Next step"),
        [(_cell(p.subject), _cell(p.cause), _cell(p.next_step)) for p in (*report.degraded, *report.problems)],
    )
    return "\n".join(out).rstrip() + "\n"


def cost_line(cost: Cost) -> str:
    """What the language model was asked and what that cost, in a sentence; '' when it was not asked."""
    if not cost.calls and not cost.cached:
        return ""
    price = f"${cost.money:,.2f}" if cost.money else "nothing"
    tokens = f"{cost.input_tokens:,} tokens sent and {cost.output_tokens:,} received"
    known = f"; {_plural(cost.cached, 'answer')} known from before" if cost.cached else ""
    return f"The model was asked {_plural(cost.calls, 'time')} ({tokens}), which cost {price}{known}."


def _local(time: str, zone: ZoneInfo) -> datetime:
    return datetime.fromisoformat(time.replace("Z", "+00:00")).astimezone(zone)


def _plural(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _name(line: SourceLine) -> str:
    return line.location if not line.title or line.title in line.location else f"{line.title} ({line.location})"


def _stems(stems: tuple[str, ...], linked: bool = True) -> str:
    return ", ".join(f"[[{stem}]]" if linked else stem for stem in stems)


def _cell(text: str) -> str:
    """Text that cannot break out of its cell or become markup."""
    flat = " ".join(text.split()).replace("\\", "\\\\")
    for mark in "|[]<>*_`#":
        flat = flat.replace(mark, "\\" + mark)
    return flat


def _table(title: str, header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    if not rows:
        return []
    lines = ["", f"## {title}", "", "| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]
