"""What a person says about single sources: leave this one out, or try this one again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from config.errors import NotFoundError
from config.wiki import Wiki
from flows.session import looking, writing
from flows.steps import utc_now
from storage.commit import commit
from tasks.commits import Changes
from tasks.records import SourceRecord

_Change = Callable[[SourceRecord], SourceRecord]


@dataclass(frozen=True, slots=True)
class Marked:
    """The sources as they are after the mark, and the run that set it."""

    run: str
    sources: tuple[SourceRecord, ...]


def ignore(wiki: Wiki, names: Sequence[str], now: str, dry_run: bool = False) -> Marked:
    """Leave sources out of every later run. Names are ids or locations; raises NotFoundError for an unknown one."""
    return _mark(wiki, names, now, dry_run, _ignored)


def retry(wiki: Wiki, names: Sequence[str], now: str, dry_run: bool = False) -> Marked:
    """Have the next run read sources again, whatever became of them before; an ignored one takes part again."""
    return _mark(wiki, names, now, dry_run, _fresh)


def _ignored(source: SourceRecord) -> SourceRecord:
    return replace(source, ignored=True)


def _fresh(source: SourceRecord) -> SourceRecord:
    """Without what would let the next run pass it over: hash, size, time, conditional headers, waiting time."""
    unread = replace(source, content_hash="", size=0, mtime_ns=0, etag="", last_modified="")
    return replace(unread, ignored=False, retry_at="", failures=0)


def _mark(wiki: Wiki, names: Sequence[str], now: str, dry_run: bool, change: _Change) -> Marked:
    with (looking if dry_run else writing)(wiki, "sources", now) as session:
        marked = tuple(change(source) for source in _named(session.rows.sources.values(), names))
        if not dry_run:
            commit(session.state, session.run, "sources", (), Changes(sources=marked), session.now)
            session.state.runs.finish(session.run, "ok", utc_now())
        return Marked(session.run, marked)


def _named(sources: Iterable[SourceRecord], names: Sequence[str]) -> tuple[SourceRecord, ...]:
    known = {key: source for source in sources for key in (source.location, source.id)}
    for name in names:
        if name not in known:
            raise NotFoundError(name, "is no source of this wiki", "See: nightwiki sources list")
    return tuple({known[name].id: known[name] for name in names}.values())
