"""The versions of one page, over the snapshots that are kept and the audit of what runs wrote."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from config.errors import NightwikiError
from config.load import nearest
from storage.reader import Layout, Manifest, Reader, Segment, Snapshot
from storage.runs import AuditRow, Runs
from tasks.pages.slugs import fold
from tasks.records import PageRecord

Change = Literal["created", "changed", "renamed", "deleted"]


@dataclass(frozen=True, slots=True)
class Version:
    """A page as it was from a moment on. Of one that only the audit knows, no text is kept."""

    run: str
    at: str
    who: str                   # run | person
    change: Change
    path: str
    size: int = 0              # bytes; 0: not known, or deleted
    added: int = 0             # lines, against the version before
    removed: int = 0
    diff: str = ""
    snapshot: str = ""         # empty: only the audit knows it


@dataclass(frozen=True, slots=True)
class History:
    """A page and its versions, newest first."""

    page: PageRecord
    versions: tuple[Version, ...]


def history(state_dir: Path, name: str) -> History:
    """The versions of the page of a slug (present or former), a path or an id. NightwikiError when there is none."""
    reader = Reader(state_dir)
    manifests = reader.history()
    layout = Layout(state_dir / "snapshots")
    page = _named(reader, manifests, layout, name)
    rows = _rows(manifests, layout, page.id)
    paths = {page.path, *(row.path for _, row in rows if row is not None)}
    audit = [row for row in Runs(state_dir).audit() if row.path in paths]
    lost, kept = _lost(audit, rows), _kept(rows, {(row.run, row.after) for row in audit})
    if lost and lost[-1].change != "deleted" and kept:
        kept[0] = replace(kept[0], change="changed", added=0, removed=0, diff="")  # from a text that is gone
    return History(page, tuple(reversed([*lost, *kept])))


def _named(reader: Reader, manifests: Sequence[Manifest], layout: Layout, name: str) -> PageRecord:
    """The page that a person means; a live one before a deleted one, a present name before a former one."""
    current = reader.current()
    pages = list(current.pages()) if current is not None else []
    wanted = fold(name.removesuffix(".md"))
    for live in (True, False):
        for former in (False, True):
            for page in pages:
                names = page.former_slugs if former else (page.slug, page.id, page.path.removesuffix(".md"))
                if bool(page.deleted) is not live and wanted in map(fold, names):
                    return page
    for manifest in reversed(manifests):  # a page that a run took out has no row any more
        table = Snapshot(layout, manifest).table("pages", ["id", "slug"]).to_pylist()
        ids = [row["id"] for row in table if wanted in (fold(row["slug"]), row["id"])]
        if ids:
            return next(page for page in Snapshot(layout, manifest).rows("pages", ids) if isinstance(page, PageRecord))
    hint = nearest(name, [page.slug for page in pages])
    step = f"Did you mean '{hint}'?" if hint else "See: nightwiki search"
    raise NightwikiError(name, "there is no page of this name, and none is remembered", step)


def _rows(
    manifests: Sequence[Manifest], layout: Layout, page_id: str
) -> list[tuple[Manifest, PageRecord | None]]:
    """The page's row in each snapshot where it may have changed, oldest first."""
    found: list[tuple[Manifest, PageRecord | None]] = []
    before: tuple[Segment, ...] | None = None
    for manifest in manifests:
        segments = manifest.tables.get("pages", ())
        if segments != before:
            rows = Snapshot(layout, manifest).rows("pages", [page_id])
            found.append((manifest, next((row for row in rows if isinstance(row, PageRecord)), None)))
        before = segments
    return found


def _kept(rows: Sequence[tuple[Manifest, PageRecord | None]], written: set[tuple[str, str]]) -> list[Version]:
    versions: list[Version] = []
    last: PageRecord | None = None
    for manifest, row in rows:
        now = row if row is not None and not row.deleted else None
        if now is None and last is None:
            continue
        if now is not None and last is not None and (now.file_hash, now.path) == (last.file_hash, last.path):
            continue
        text, former = (page.markdown if page is not None else "" for page in (now, last))
        diff = _diff(former, text)
        by_run = (manifest.run, now.file_hash if now is not None else "") in written
        versions.append(
            Version(
                run=manifest.run,
                at=manifest.created,
                who="run" if by_run else "person",
                change=_change(last, now),
                path=(now or last).path,  # type: ignore[union-attr]  # one of them is there
                size=len(text.encode("utf-8", "surrogateescape")),
                added=sum(line.startswith("+") for line in diff),
                removed=sum(line.startswith("-") for line in diff),
                diff="\n".join(diff),
                snapshot=manifest.id,
            )
        )
        last = now
    return versions


def _change(before: PageRecord | None, now: PageRecord | None) -> Change:
    if before is None:
        return "created"
    if now is None:
        return "deleted"
    return "changed" if before.path == now.path else "renamed"


def _diff(before: str, now: str) -> list[str]:
    return list(difflib.unified_diff(before.splitlines(), now.splitlines(), lineterm="", n=1))[2:]


def _lost(audit: Sequence[AuditRow], rows: Sequence[tuple[Manifest, PageRecord | None]]) -> list[Version]:
    """Versions that runs wrote before the oldest snapshot that is kept."""
    oldest = rows[0][0].created if rows else ""
    return [Version(row.run, row.at, "run", _did(row), row.path) for row in audit if row.at < oldest]


def _did(row: AuditRow) -> Change:
    if not row.before:
        return "created"
    return "changed" if row.after else "deleted"
