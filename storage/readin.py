"""Reads the vault in: what a person wrote, renamed, copied, deleted or ticked since the last run.

Identity first, text second. A page that the pipeline wrote is known by its `nightwiki_id`, wherever it is now; a
person's own note by its path, then by its exact bytes. A copied id stays with the recorded path. Only files whose size
or time changed are read.
"""

from __future__ import annotations

import hashlib
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from config.errors import StateError
from config.globs import matches
from config.wiki import Wiki
from storage.vault import Stat, Vault
from storage.waiting import Tick, page_id_of, read_candidates, within
from tasks.markdown.resolver import resolver as resolver
from tasks.pages import pages
from tasks.records import CandidateRecord, PageRecord
from tasks.text_bytes import decode

INDEX_NAME = "index.md"


@dataclass(frozen=True, slots=True)
class ReadIn:
    """The vault as it is now, and what of it is new to the ledger."""

    pages: Mapping[str, PageRecord]  # all, deleted ones included
    changed: tuple[PageRecord, ...]
    dropped: tuple[str, ...]  # rows that stand for nothing any more
    candidates: Mapping[str, CandidateRecord]  # all, decided ones included; a ticked box alone is no edit
    changed_candidates: tuple[CandidateRecord, ...]
    ticks: tuple[Tick, ...]
    files: Mapping[str, str]  # hash of the files of pages and candidates, as on disk
    basenames: frozenset[str]  # of all Markdown files in the vault, without suffix
    source_notes: tuple[str, ...]  # adopted notes that are compiled as sources


@dataclass(frozen=True, slots=True)
class Known:
    """What the ledger holds."""

    pages: Mapping[str, PageRecord]
    candidates: Mapping[str, CandidateRecord]


_PAUSES = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Seconds between two looks at a vault that does not stand still."""

Hashes = Callable[[Mapping[str, Stat]], Mapping[str, str]]
"""Hashes of scanned files by path; files that vanished meanwhile are left out."""


def read_in(wiki: Wiki, vault: Vault, hashes: Hashes, known: Known, run: str, now: str) -> ReadIn:
    """Return pages and candidates as a person left them. Reads only; StateError when the pages folder vanished.

    A sync tool takes files away and puts them back while we look: then we look again, a little later each time.
    """
    for pause in _PAUSES:
        try:
            return _look(wiki, vault, hashes, known, run, now)
        except (FileNotFoundError, NotADirectoryError) as error:
            lost = str(error.filename)
        time.sleep(pause)
    raise StateError(lost, "files go away while they are read", "Wait until your sync tool has come to rest.")


def _look(wiki: Wiki, vault: Vault, hashes: Hashes, known: Known, run: str, now: str) -> ReadIn:
    """The vault at one moment; FileNotFoundError when a file that was listed is no longer there to be read."""
    live = {record.path: record for record in known.pages.values() if not record.deleted}
    waiting = {record.path for record in known.candidates.values() if record.state == "open"}
    ours = {path for path, record in live.items() if not record.adopted}
    texts = _Texts(vault)
    scanned = _scan(wiki, vault, hashes, ours | waiting)
    files = {**scanned.files, **_moved_out(known.pages, scanned, hashes, texts)}
    page_files = {
        path: file for path, file in files.items() if path not in waiting and (path in ours or _is_page(wiki, path))
    }
    held = any(within(path, wiki.pages_dir) for path in live)
    if held and not (wiki.root / wiki.pages_dir).is_dir():
        raise StateError(
            str(wiki.root / wiki.pages_dir),
            "the folder of pages is gone, with all pages in it",
            "Bring it back (is the disk mounted?), or name the new place as pages.dir in nightwiki.yaml",
        )
    owners = _identify(page_files, known.pages, live, texts, run)
    resolve = resolver(owners)
    current: dict[str, PageRecord] = {}
    changed: list[PageRecord] = []
    for path, page_id in owners.items():
        record = known.pages.get(page_id)
        same = (
            record is not None and record.path == path and record.file_hash == page_files[path] and not record.deleted
        )
        if record is not None and same:
            current[page_id] = record
            continue
        fresh = _reread(path, page_id, texts(path), record, page_files[path], resolve, now)
        current[page_id] = fresh
        changed.append(fresh)
    for page_id, record in known.pages.items():
        if page_id not in current and not _hidden(record.path, scanned.unreadable):
            gone = record if record.deleted else replace(record, deleted=now)
            current[page_id] = gone
            if gone is not record:
                changed.append(gone)
        elif page_id not in current:
            current[page_id] = record
    dropped = tuple(page_id for page_id, record in current.items() if record.deleted and record.adopted)
    review = read_candidates(wiki, known.candidates, files, texts)
    waits = {**known.candidates, **{c.id: c for c in review.changed}}
    ticked = {name: replace(waits[name], file_hash=seen) for name, seen in review.only_ticked.items()}
    return ReadIn(
        pages={page_id: record for page_id, record in current.items() if page_id not in dropped},
        changed=tuple(record for record in changed if record.id not in dropped),
        dropped=tuple(page_id for page_id in dropped if page_id in known.pages),
        candidates={**waits, **ticked},
        changed_candidates=review.changed,
        ticks=review.ticks,
        files=files,
        basenames=scanned.basenames,
        source_notes=scanned.notes,
    )


class _Texts:
    """File texts, read at most once."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._read: dict[str, str] = {}

    def __call__(self, path: str) -> str:
        if path not in self._read:
            self._read[path] = decode(self._vault.read(path))
        return self._read[path]

    def if_there(self, path: str) -> str:
        try:
            return self(path)
        except OSError:
            return ""


@dataclass(frozen=True, slots=True)
class _Scanned:
    """What lies in the vault."""

    files: Mapping[str, str]  # hash of pages, candidates and adopted notes
    notes: tuple[str, ...]  # adopted notes that are compiled as sources
    basenames: frozenset[str]  # names taken, without suffix
    others: Mapping[str, Stat]  # notes that take no part
    unreadable: tuple[str, ...]  # folders and files of which nothing is known


def _scan(wiki: Wiki, vault: Vault, hashes: Hashes, ours: Collection[str]) -> _Scanned:
    """`ours` are paths of pages and candidates, which take part wherever they lie."""
    adopt = wiki.settings.adopt
    scan = vault.scan(".", (".md",))
    chosen: dict[str, Stat] = {}
    notes: list[str] = []
    others: dict[str, Stat] = {}
    for path, stat in scan.files.items():
        if _outside(wiki, path) or matches(path, adopt.ignored):
            continue
        if matches(path, adopt.sources):
            notes.append(path)
        elif _takes_part(wiki, path) or path in ours:
            chosen[path] = stat
        else:
            others[path] = stat
    return _Scanned(
        hashes(chosen),
        tuple(notes),
        frozenset(path.rpartition("/")[2][:-3] for path in scan.files),
        others,
        tuple(problem.path for problem in scan.problems),
    )


def _takes_part(wiki: Wiki, path: str) -> bool:
    folders = (wiki.pages_dir, wiki.candidates_dir)
    return any(within(path, folder) for folder in folders) or matches(path, wiki.settings.adopt.pages)


def _moved_out(
    known: Mapping[str, PageRecord], scanned: _Scanned, hashes: Hashes, texts: _Texts
) -> Mapping[str, str]:
    """Hashes of pages that a person moved out of the pages folder, by path: their id tells which they are."""
    lost = {
        record.id
        for record in known.values()
        if not record.deleted and not record.adopted and record.path not in scanned.files
    }
    if not lost:
        return {}
    found = {path: stat for path, stat in scanned.others.items() if page_id_of(texts.if_there(path)) in lost}
    return hashes(found)


def _hidden(path: str, unreadable: Sequence[str]) -> bool:
    """Whether a path lies where nothing could be looked at, so that its absence says nothing."""
    return any(path == place or place == "." or path.startswith(place + "/") for place in unreadable)


def _outside(wiki: Wiki, path: str) -> bool:
    """Whether a path is in a folder that never holds pages."""
    user_files = {wiki.inbox, "ROUTING.md", "purpose.md"}
    if path in user_files or any(part.startswith(".") for part in path.split("/")):
        return True
    return any(within(path, folder) for folder in (wiki.sources_dir, wiki.evidence_dir, *wiki.settings.sources.clips))


def _is_page(wiki: Wiki, path: str) -> bool:
    index = INDEX_NAME if wiki.pages_dir == "." else f"{wiki.pages_dir}/{INDEX_NAME}"
    return not within(path, wiki.candidates_dir) and path not in (index, wiki.settings.digest.note)


def _identify(
    files: Mapping[str, str], known: Mapping[str, PageRecord], live: Mapping[str, PageRecord], texts: _Texts, run: str
) -> dict[str, str]:
    """Return the page id of each file."""
    owners: dict[str, str] = {}
    claims: dict[str, list[str]] = defaultdict(list)
    unclaimed: list[str] = []
    for path, file in files.items():
        at = live.get(path)
        if at is not None and (at.adopted or at.file_hash == file):
            owners[path] = at.id
            continue
        claimed = page_id_of(texts(path))
        if claimed in known and not known[claimed].adopted:
            claims[claimed].append(path)
        elif at is not None:
            owners[path] = at.id
        else:
            unclaimed.append(path)
    taken = set(owners.values())
    for page_id, paths in sorted(claims.items()):
        keeper = _keeper(known[page_id], paths, files) if page_id not in taken else ""
        for path in paths:
            at = live.get(path)
            if path == keeper:
                owners[path] = page_id
            elif at is not None and at.id not in taken and at.id not in claims:
                owners[path] = at.id
            else:
                unclaimed.append(path)
        taken.update(owners[path] for path in paths if path in owners)
    vanished: dict[str, list[str]] = defaultdict(list)
    for record in live.values():
        if record.path not in files and record.id not in taken:
            vanished[record.file_hash].append(record.id)
    arrived: dict[str, list[str]] = defaultdict(list)
    for path in unclaimed:
        arrived[files[path]].append(path)
    for content, paths in arrived.items():
        moved = vanished.get(content, [])
        for path in paths:
            owners[path] = moved[0] if len(moved) == 1 and len(paths) == 1 else note_id(run, path)
    return dict(sorted(owners.items()))


def _keeper(record: PageRecord, paths: Sequence[str], files: Mapping[str, str]) -> str:
    """The path that an id belongs to: where it was, else the exact bytes, else the first by name."""
    if record.path in paths:
        return record.path
    exact = [path for path in paths if files[path] == record.file_hash]
    return min(exact or paths)


def note_id(run: str, subject: str) -> str:
    """Return the id of a page or note that appears in a run; the same run gives the same id again."""
    return hashlib.sha256(f"{run}\x1f{subject}".encode()).hexdigest()[:12]


def _reread(
    path: str,
    page_id: str,
    text: str,
    record: PageRecord | None,
    file_hash: str,
    resolve: Callable[[str], str],
    now: str,
) -> PageRecord:
    before = record if record is not None and not record.deleted else (replace(record, deleted="") if record else None)
    fresh = pages.read_page(path, text, before, resolve)
    former = () if record is None else record.former_slugs
    if record is not None and record.slug != fresh.slug and record.slug not in former:
        former = (*former, record.slug)
    return replace(
        fresh,
        id=page_id,
        file_hash=file_hash,
        markdown=text,
        former_slugs=former,
        deleted="",
        adopted=record.adopted if record is not None else True,
        updated=fresh.updated or now[:10],
    )
