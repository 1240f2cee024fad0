"""Readable copies of sources that a person moved, edited or deleted: followed, kept as they are, or told of."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import PurePosixPath

from flows.night_steps.gathering import Gathering
from flows.session import Session
from storage.vault import Vault
from tasks.digest import Problem
from tasks.pages.slugs import fold
from tasks.records import SourceRecord
from tasks.text_bytes import digest


def follow_copies(session: Session, gathering: Gathering) -> None:
    """Note where copies are that are not where they were; citations follow those that were moved.

    A deleted copy stays deleted until its source is read anew, and is told of once.
    """
    root = session.wiki.root
    records = gathering.records
    cited = [record for record in records.values() if record.evidence and record.id not in gathering.left]
    lost = [record for record in cited if not (root / record.evidence).is_file()]
    if not lost:
        return
    held = {record.evidence for record in records.values()}
    by_name: dict[str, list[str]] = defaultdict(list)
    for path in session.state.vault.stat():
        if path not in held:
            by_name[fold(PurePosixPath(path).name)].append(path)
    for record in lost:
        place = _place(session, record, by_name)
        if place:
            records[record.id] = replace(record, evidence=place)
            gathering.moved.add(record.id)
        elif record.evidence_hash:
            records[record.id] = replace(record, evidence_hash="")
            cause = "this readable copy was deleted; citations of it lead nowhere"
            step = f"To have it back: nightwiki ingest --force {record.location}"
            gathering.problems.append(Problem(record.evidence, cause, step))
    gathering.jobs[:] = [replace(job, evidence=records[job.source_id].evidence) for job in gathering.jobs]


def _place(session: Session, record: SourceRecord, by_name: dict[str, list[str]]) -> str:
    """Where a copy was moved to: a file of its name, the one with its bytes first; else its bytes among the copies."""
    vault = session.state.vault
    named = by_name.get(fold(PurePosixPath(record.evidence).name), [])
    folder = session.wiki.evidence_dir + "/"
    others = [path for paths in by_name.values() for path in paths if path.startswith(folder)]
    exact = (path for path in (*named, *others) if record.evidence_hash and vault.hash(path) == record.evidence_hash)
    return next(exact, min(named, default=""))


def place_for(session: Session, path: str, known_hash: str, text_hash: str) -> tuple[str, str | None]:
    """Where a copy is written, and the hash that its file has there now (None: there is none).

    `known_hash` is that of the copy as last written. One that a person wrote into stays: the new copy goes beside it.
    """
    wiki, vault = session.wiki, session.state.vault
    if wiki.pages_dir != "." and path.startswith(wiki.pages_dir + "/"):
        path = f"{wiki.evidence_dir}/{PurePosixPath(path).name}"
    now = vault.hash(path)
    if now is None or now == text_hash or _is_ours(vault, path, now, known_hash):
        return path, now
    beside = f"{path[: -len('.md')]}-{text_hash[:6]}.md"
    return beside, vault.hash(beside)


def _is_ours(vault: Vault, path: str, now: str, known_hash: str) -> bool:
    """Whether a file is as it was written, but for line endings that a syncing program changed."""
    if known_hash == now:
        return True
    try:
        return known_hash == digest(vault.read(path).replace(b"\r\n", b"\n"))
    except OSError:  # gone since
        return False
