"""What a night tells its owner: what came in, what it became, what waits and why, what failed with the next step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from tasks.records import GOOD, Outcome

ROWS = 6
"""Rows of a table in the digest; the others are counted."""

_NAMED = 3  # sources of a group that are named
_REASONS = 2  # of a page that waits
_LONG_NAME = 40  # letters of a location from which it is shortened


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
class RoleCost:
    """The part of the cost that one kind of question has."""

    role: str
    calls: int
    tokens: int  # sent and received
    money: float


@dataclass(frozen=True, slots=True)
class Cost:
    """What a language model was asked in a run, and what that cost."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    money: float = 0.0  # dollars, by the price table
    cached: int = 0  # questions whose answers were already known
    expected: str = ""  # what was reckoned with beforehand, in a sentence
    roles: tuple[RoleCost, ...] = ()
    failed: tuple[tuple[str, int], ...] = ()  # calls without a usable reply, by what they failed of


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
    contradictions: int = 0  # between sources, that wait for a person's decision
    cost: Cost = Cost()


@dataclass(frozen=True, slots=True)
class SourceGroup:
    """Sources of which the same is to be said."""

    outcome: str
    reason: str
    next_step: str
    lines: tuple[SourceLine, ...]

    def names(self, shorten: Callable[[str], str] = str) -> str:
        """The first few by name, the others counted."""
        names = [shorten(line.location) for line in self.lines]
        shown = names if len(names) <= _NAMED + 1 else names[:_NAMED]
        more = f" and {len(names) - len(shown)} more" if len(shown) < len(names) else ""
        return f"{len(names)}: {', '.join(shown)}{more}" if len(names) > 1 else names[0]


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


def contradictions(report: NightReport) -> str:
    """How many contradictions wait for a decision."""
    return f"{_plural(report.contradictions, 'contradiction')} between sources to decide on"


def cost_lines(cost: Cost) -> tuple[str, ...]:
    """What the language model was asked and what that cost, in sentences; none when it was not asked."""
    if not cost.calls and not cost.cached:
        return ()
    price = f"${cost.money:,.2f}" if cost.money >= 0.01 else f"${cost.money:.4f}" if cost.money else "nothing"
    tokens = f"{cost.input_tokens:,} tokens sent and {cost.output_tokens:,} received"
    known = f"; {_plural(cost.cached, 'answer')} known from before" if cost.cached else ""
    asked = f"The model was asked {_plural(cost.calls, 'time')} ({tokens}), which cost {price}{known}."
    if len(cost.roles) > 1:
        by_role = (
            f"{one.role} {one.calls} ({one.tokens:,} tokens" + (f", ${one.money:.2f})" if one.money else ")")
            for one in sorted(cost.roles, key=lambda one: (-one.tokens, one.role))
        )
        asked += f" By role: {', '.join(by_role)}."
    if not cost.failed:
        return (asked,)
    kinds = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in cost.failed)
    failed = _plural(sum(count for _, count in cost.failed), "call")
    return (asked, f"{failed} brought no usable reply ({kinds}): made again, or named below with what it means.")


def grouped(lines: Iterable[SourceLine]) -> tuple[SourceGroup, ...]:
    """Sources with the same outcome, reason and next step together, the largest group first."""
    found: dict[tuple[str, str, str], list[SourceLine]] = {}
    for line in lines:
        found.setdefault((line.outcome.value, line.reason, line.next_step), []).append(line)
    groups = [SourceGroup(*key, tuple(members)) for key, members in found.items()]
    return tuple(sorted(groups, key=lambda group: (-len(group.lines), group.outcome, group.reason)))


def markdown(report: NightReport, zone_name: str = "UTC", linked: bool = True) -> str:
    """The digest as Markdown for Obsidian, counts and cost first, long lists folded; without `linked`, for a reader
    that knows no wikilinks."""
    zone = ZoneInfo(zone_name)
    out = [f"# Night of {_local(report.started, zone):%Y-%m-%d}", "", f"{headline(report)}.", ""]
    begun, ended = (f"{_local(time, zone):%Y-%m-%d %H:%M:%S}" for time in (report.started, report.finished))
    times = f"started {begun} · finished {ended} ({zone_name})"
    out.append(f"Run `{report.run}` · {report.state} · {times}")
    if report.contradictions:
        out += ["", f"{contradictions(report)} (`nightwiki contradictions list`)."]
    if report.lint:
        out += ["", report.lint]
    for sentence in cost_lines(report.cost):
        out += ["", sentence]
    out += _table(
        "Waits for review",
        ("Page", "Confidence", "Why"),
        [
            (f"{_cell(line.title)} ({line.kind})", line.confidence, _cell("; ".join(line.reasons[:_REASONS])))
            for line in report.waiting
        ],
        "`nightwiki candidates list`",
    )
    out += _groups("Could not be used", failures(report))
    if report.known:
        known = ", ".join(f"{n} {outcome}" for outcome, n in report.known)
        out += ["", f"Known from former nights and unchanged: {known} (`nightwiki sources list` names them)."]
    out += _table(
        "To look at",
        ("What", "Why", "Next step"),
        [
            (_cell(_short(p.subject)), _cell(p.cause), _cell(p.next_step))
            for p in (*report.degraded, *report.problems)
        ],
        f"the report of the run, `runs/reports/{report.run}.json`",
    )
    out += _groups("Set aside", [line for line in report.lines if _is_aside(line)])
    out += _table(
        "What came in",
        ("Source", "Became", "Waits for review"),
        [
            (_cell(_name(line)), _stems(line.pages, linked), _stems(line.waiting, linked=False))
            for line in report.lines
            if line.outcome is Outcome.OK and (line.pages or line.waiting)
        ],
        "`nightwiki sources list`",
    )
    return "\n".join(out).rstrip() + "\n"


def _is_aside(line: SourceLine) -> bool:
    """Whether a source is in order and yet became nothing: a duplicate, out of scope, without a fact worth a page."""
    if line.outcome is Outcome.OK:
        return not line.pages and not line.waiting
    return line.outcome in GOOD and line.outcome is not Outcome.UNCHANGED


def _local(time: str, zone: ZoneInfo) -> datetime:
    return datetime.fromisoformat(time.replace("Z", "+00:00")).astimezone(zone)


def _plural(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _name(line: SourceLine) -> str:
    place = _short(line.location)
    return place if not line.title or line.title in line.location else f"{line.title} ({place})"


def _short(location: str) -> str:
    """The last part of a long path, cut in its middle when it is long itself; an address as it is."""
    if "://" in location or len(location) <= _LONG_NAME:
        return location
    name = location.rpartition("/")[2]
    return name if len(name) <= _LONG_NAME else f"{name[:_LONG_NAME // 2]}…{name[-_LONG_NAME // 3:]}"


def _stems(stems: tuple[str, ...], linked: bool = True) -> str:
    return ", ".join(f"[[{stem}]]" if linked else stem for stem in stems)


def _cell(text: str) -> str:
    """Text that cannot break out of its cell or become markup."""
    flat = " ".join(text.split()).replace("\\", "\\\\")
    for mark in "|[]<>*_`#":
        flat = flat.replace(mark, "\\" + mark)
    return flat


def _groups(title: str, lines: Sequence[SourceLine]) -> list[str]:
    rows = [
        (_cell(group.names(_short)), group.outcome, _cell(group.reason), _cell(group.next_step))
        for group in grouped(lines)
    ]
    header = ("Source", "Outcome", "Why", "Next step")
    return _table(title, header, rows, "`nightwiki sources list`", len(lines))


def _table(
    title: str, header: tuple[str, ...], rows: Sequence[tuple[str, ...]], rest: str, count: int | None = None
) -> list[str]:
    """A table of at most `ROWS` rows under a heading with the count; `rest` says where the others are named."""
    if not rows:
        return []
    counted = count if count is not None else len(rows)
    heading = f"## {title}" + (f" ({counted})" if counted > 1 else "")
    lines = ["", heading, "", "| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    shown = rows if len(rows) <= ROWS + 1 else rows[:ROWS]
    lines += ["| " + " | ".join(row) + " |" for row in shown]
    return lines if len(shown) == len(rows) else [*lines, "", f"And {len(rows) - len(shown)} more: {rest}."]
