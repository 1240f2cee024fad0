"""What there is to read tonight: files dropped in, clipped notes, adopted notes, and listed addresses.

Only names, sizes and times are looked at, so that a night over thousands of unchanged sources reads none of
them. Files are opened for two reasons: the head of a new note in a clip folder, and one that may be a known
file under a new name.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from config.errors import SourceError
from config.settings import Settings
from tasks.clock import Clock, SystemClock
from tasks.markdown.properties import read as read_properties
from tasks.pages.slugs import fold
from tasks.records import Found, Outcome, SourceKind, SourceRecord
from tasks.sources.addresses import canonical
from tasks.sources.source_list import Listing, Problem, read_inbox, read_list
from tasks.sources.walk import Walk, clean

_ON_DISK = frozenset({SourceKind.FILE, SourceKind.CLIP})
_OVER = frozenset({Outcome.GONE, Outcome.WITHDRAWN})
_HEAD_BYTES = 65_536
_LIST_BYTES = 20_000_000


@dataclass(frozen=True, slots=True)
class Collected:
    """What collect saw.

    `moved` leads from a known location to the new one of the same bytes; such a file is among `found` too.
    `vanished` are ids of known sources that are no longer there, moved ones and doubtful cases left out.
    `duplicates` leads from a listed address, which is not among `found`, to the clipped note taken from it.
    """

    found: tuple[Found, ...]
    moved: Mapping[str, str]
    vanished: tuple[str, ...]
    unsettled: tuple[str, ...]
    duplicates: Mapping[str, str]
    problems: tuple[Problem, ...]


def collect(
    vault: Path,
    settings: Settings,
    known: Collection[SourceRecord],
    adopted: Sequence[str] = (),
    clock: Clock | None = None,
) -> Collected:
    """Everything there is to read, in the order of locations.

    `known` are the records of former runs, `adopted` vault paths of the person's notes that are compiled as sources.
    When files are fresh it waits once, `settle_seconds`, to see whether they still grow.
    """
    clock = clock or SystemClock()
    walk = Walk(vault, settings)
    for folder in settings.sources.clips:
        walk.folder(folder, SourceKind.CLIP)
    walk.folder(settings.sources.dir, SourceKind.FILE)
    for path in adopted:
        walk.file(path)
    records = {record.location: record for record in known}
    settled, unsettled = _settled(vault, walk.files, records, settings.sources.settle_seconds, clock)
    files = _with_addresses(vault, settled, records)
    there = {*files, *unsettled}
    gone = [
        record
        for record in known
        if record.kind in _ON_DISK and record.location not in there and not walk.is_doubtful(record.location)
    ]
    appeared = [one for path, one in files.items() if path not in records]
    moves = match_moves(gone, appeared, lambda one: _hash(vault / one.path))
    if any(path not in records for path in unsettled):
        gone = [record for record in gone if record.id in moves]  # the others may be what is still being copied
    problems = list(walk.problems)
    listings = _listings(vault, settings, problems)
    listed: dict[str, Found] = {}
    for listing in listings.values():
        for one in listing.found:
            listed.setdefault(one.location, one)
    unlisted = [
        record
        for record in known
        if record.kind not in _ON_DISK
        and record.location not in listed
        and record.listed_in in listings
        and listings[record.listed_in].complete
    ]
    clipped = {one.url: one.location for one in files.values() if one.url}
    lost = [record for record in [*gone, *unlisted] if record.id not in moves and record.outcome not in _OVER]
    found = [*files.values(), *(one for one in listed.values() if one.location not in clipped)]
    return Collected(
        tuple(sorted(found, key=lambda one: one.location)),
        {record.location: moves[record.id].location for record in gone if record.id in moves},
        tuple(sorted(record.id for record in lost)),
        tuple(sorted(unsettled)),
        {address: clipped[address] for address in sorted(listed) if address in clipped},
        tuple(problems),
    )


def match_moves(
    vanished: Iterable[SourceRecord], appeared: Iterable[Found], hash_of: Callable[[Found], str]
) -> dict[str, Found]:
    """Which known files reappeared under another name, by bytes: record id to the new file.

    Only files of a size that vanished are hashed. Of several with the same bytes the one with the most
    alike name is taken; empty files are all alike, and move only when their name stays.
    """
    by_hash: dict[str, list[SourceRecord]] = defaultdict(list)
    sizes: set[int] = set()
    sizes_known = True
    for record in vanished:
        if record.content_hash:
            by_hash[record.content_hash].append(record)
            sizes.add(record.size)
            sizes_known = sizes_known and record.mtime_ns != 0
    moves: dict[str, Found] = {}
    new: dict[str, list[Found]] = defaultdict(list)
    for one in appeared if by_hash else ():
        if not sizes_known or one.size in sizes:
            new[hash_of(one)].append(one)
    for content, records in by_hash.items():
        pairs = sorted(
            (
                (_likeness(record.location, one.location), record.location, one.location, record, one)
                for record in records
                for one in new.get(content, ())
            ),
            key=lambda pair: pair[:3],
        )
        taken: set[str] = set()
        for likeness, _, location, record, one in pairs:
            if record.id not in moves and location not in taken and (one.size or likeness < 2):
                moves[record.id] = one
                taken.add(location)
    return moves


def _likeness(old: str, new: str) -> int:
    """How alike two paths are, from 0: same but for letter case, same name, same folder, neither."""
    a, b = PurePosixPath(fold(old)), PurePosixPath(fold(new))
    if a == b:
        return 0
    return 1 if a.name == b.name else 2 if a.parent == b.parent else 3


def _settled(
    vault: Path, files: Mapping[str, Found], records: Mapping[str, SourceRecord], seconds: float, clock: Clock
) -> tuple[dict[str, Found], list[str]]:
    """The files that nobody is writing to, and the paths of those that are still growing or went away
    meanwhile.
    """
    now = clock.now()
    fresh = [
        path
        for path, one in files.items()
        if not 0 <= one.mtime_ns <= (now - seconds) * 1e9
        and not (path in records and (records[path].size, records[path].mtime_ns) == (one.size, one.mtime_ns))
    ]
    settled = dict(files)
    unsettled: list[str] = []
    if not fresh:
        return settled, unsettled
    clock.sleep(seconds)
    for path in fresh:
        one = files[path]
        try:
            info = (vault / path).stat()
        except OSError:
            info = None
        if info is None or (info.st_size, info.st_mtime_ns) != (one.size, one.mtime_ns):
            unsettled.append(path)
            del settled[path]
    return settled, unsettled


def _with_addresses(vault: Path, files: Mapping[str, Found], records: Mapping[str, SourceRecord]) -> dict[str, Found]:
    """The files, clips with the address they were taken from; a note without one in a clip folder is no
    source.
    """
    out: dict[str, Found] = {}
    for path, one in files.items():
        if one.kind is not SourceKind.CLIP:
            out[path] = one
            continue
        record = records.get(path)
        same = record is not None and record.url and (record.size, record.mtime_ns) == (one.size, one.mtime_ns)
        address = record.url if same and record is not None else clip_address(vault / path)
        if address:
            out[path] = replace(one, url=address)
    return out


def clip_address(path: Path) -> str:
    """The canonical address in the `source` property of a clipped note, or ''."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
    value = read_properties(head).values.get("source", "")
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    if not isinstance(first, str) or not first.strip().lower().startswith(("http://", "https://")):
        return ""
    try:
        return canonical(first)
    except SourceError:
        return ""


def _listings(vault: Path, settings: Settings, problems: list[Problem]) -> dict[str, Listing]:
    """What the list and the inbox say, by path; their problems are added to `problems`."""
    listings = {
        clean(path): _listing(vault, clean(path), read)
        for path, read in ((settings.sources.list, read_list), (settings.sources.inbox, read_inbox))
        if path
    }
    for listing in listings.values():
        problems.extend(listing.problems)
    return listings


def _listing(vault: Path, path: str, read: Callable[[bytes, str], Listing]) -> Listing:
    """What one file lists; a file that cannot be read proves nothing about its addresses."""
    try:
        with (vault / path).open("rb") as file:
            data = file.read(_LIST_BYTES + 1)
    except FileNotFoundError:
        return Listing((), (), complete=(vault / path).parent.is_dir())
    except OSError as error:
        return Listing((), (Problem(path, 0, f"it cannot be read: {error.strerror}"),), complete=False)
    if len(data) > _LIST_BYTES:
        cause = f"a list larger than {_LIST_BYTES // 1_000_000} MB is not read"
        return Listing((), (Problem(path, 0, cause, "Split it."),), complete=False)
    return read(data, path)


def _hash(path: Path) -> str:
    """sha256 of a file's bytes; '' when it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
