"""Is the state sound? Verifies hashes, pointer, journal, ledger and identities; repairs only what can be derived
again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from config.errors import NightwikiError, StateError
from storage.durable import sha256
from storage.reader import Manifest, Segment, Snapshot, read_manifest
from storage.tables import TABLES
from tasks.markdown import properties
from tasks.records import Finding

if TYPE_CHECKING:
    from storage.state import WikiState

ERROR, WARNING = "error", "warning"
_REPAIR = "nightwiki check --repair"


def check(state: WikiState) -> tuple[Finding, ...]:
    """Everything that is wrong with a wiki's state, worst first; empty when it is sound. Takes the write lock.

    A wiki without state yet is sound. BusyError when another process is writing.
    """
    if not state.root.is_dir():
        return ()
    with state.write_lock():
        parts = (_journal, _snapshots, _ledger, _blobs, _identities, _rests)
        found = [finding for part in parts for finding in part(state)]
    return tuple(sorted(found, key=lambda one: (one.severity != ERROR, one.check, one.page, one.message)))


def repair(state: WikiState) -> tuple[str, ...]:
    """Make derived things anew (pointer, ledger, search index, rests of writes); what was done, in sentences.

    Vault files, blobs and snapshots are never touched.
    """
    if not state.root.is_dir():
        return ()
    done: list[str] = []
    with state.write_lock():
        done += _repair_pointer(state)
        recovered = state.recover()
        if recovered.commit is not None:
            done.append("The commit that was left open was finished.")
        done += recovered.messages
        if any(_ledger(state)):
            state.ledger.set_aside("it differed from the snapshot")
            state.ledger.reconcile()
            done += state.ledger.take_messages()
        rests = state.vault.clean_temp(_folders(state))
        if rests:
            done.append(f"{len(rests)} left-over temp file(s) were removed.")
    return tuple(done)


def _finding(check: str, severity: str, message: str, fix: str = "", page: str = "") -> Finding:
    return Finding(check, severity, page, 0, message, fix)


def _journal(state: WikiState) -> Iterator[Finding]:
    if state.journal.is_open():
        try:
            plan = state.journal.read()
        except StateError as error:
            yield _finding("journal", ERROR, str(error), _REPAIR)
        else:
            yield _finding("journal", WARNING, f"the commit of run {plan.run} was not finished",
                           "The next run finishes it.")
    for file in sorted(state.journal.folder.glob("damaged-*")):
        yield _finding("journal", WARNING, f"{file.name} was set aside: it could not be replayed",
                       "Delete it when you have looked at the files of that run.")


def _snapshots(state: WikiState) -> Iterator[Finding]:
    layout = state.snapshots.layout
    current: Manifest | None = None
    try:
        current = state.snapshots.current()
    except StateError as error:
        yield _finding("pointer", ERROR, str(error), _REPAIR)
    seen: set[str] = set()
    for snapshot in layout.listed():
        try:
            manifest = read_manifest(layout, snapshot)
        except StateError as error:
            yield _finding("manifest", ERROR, str(error), "Restore it from a backup; the others are not affected.")
            continue
        for segment in _segments(manifest):
            if segment.file in seen:
                continue
            seen.add(segment.file)
            problem = _segment_problem(state, segment)
            if problem:
                yield _finding("segment", ERROR, f"{layout.segment(segment)}: {problem}",
                               f"Snapshot {snapshot} and others that share it need it; restore it from a backup.")
    if current is not None and (trouble := state.snapshots.index_damage()):
        yield _finding("index", WARNING, trouble, _REPAIR)


def _segments(manifest: Manifest) -> Iterator[Segment]:
    return (one for segments in manifest.tables.values() for one in segments if one.file)


def _segment_problem(state: WikiState, segment: Segment) -> str:
    try:
        content = state.snapshots.layout.segment(segment).read_bytes()
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return "" if f"{sha256(content)}.parquet" == segment.file else "its bytes do not match its name"


def _ledger(state: WikiState) -> Iterator[Finding]:
    """Whether the ledger holds what the snapshot holds. A missing one is no finding: it is made at the next use."""
    if state.journal.is_open() or not state.ledger.path.exists():
        return
    try:
        manifest = state.snapshots.current()
        snapshot = Snapshot(state.snapshots.layout, manifest) if manifest else None
    except StateError:
        return  # told as 'pointer' or 'segment'
    with state.ledger.session():
        yield from (_finding("ledger", ERROR, message, _REPAIR) for message in state.ledger.take_messages())
        if state.ledger.head() != (manifest.commit if manifest else ""):
            yield _finding("ledger", ERROR, "the ledger is not at the current snapshot", _REPAIR)
            return
        for name in TABLES:
            try:
                want = snapshot.rows(name) if snapshot else ()
            except StateError:
                continue
            if state.ledger.rows(name) != want:
                yield _finding("ledger", ERROR, f"the ledger's {name} differ from the snapshot's", _REPAIR)
        for message in state.ledger.take_messages():
            yield _finding("ledger", WARNING, message, "Nothing: it was rebuilt.")


def _blobs(state: WikiState) -> Iterator[Finding]:
    damaged = dict(state.blobs.damaged())
    for digest, file in sorted(damaged.items()):
        yield _finding("blob", ERROR, f"{file}: blob {digest} is damaged", "Restore it from a backup.")
    for commit in state.journal.closed():
        lost = [one.path for one in commit.landed if one.before and one.before not in state.blobs]
        for path in lost:
            message = f"its bytes from before run {commit.run} are missing, so undo cannot bring them back"
            yield _finding("blob", WARNING, message, "", path)


def _identities(state: WikiState) -> Iterator[Finding]:
    try:
        manifest = state.snapshots.current()
        snapshot = Snapshot(state.snapshots.layout, manifest) if manifest else None
        rows = snapshot.table("pages", ["id", "path", "deleted"]).to_pylist() if snapshot else []
        candidates = snapshot.table("candidates", ["path"])["path"].to_pylist() if snapshot else []
    except StateError:
        return
    living = [row for row in rows if not row["deleted"]]
    paths: dict[str, list[str]] = defaultdict(list)
    for row in living:
        paths[row["path"]].append(row["id"])
        if not (state.vault.root / row["path"]).is_file():
            yield _finding("page-file", WARNING, "the page's file is gone",
                           "The next run records that you deleted or moved it.", row["path"])
    for path, ids in sorted(paths.items()):
        if len(ids) > 1:
            yield _finding("identity", ERROR, f"{len(ids)} rows claim this file: {', '.join(sorted(ids))}", "", path)
    recorded = {row["id"]: row["path"] for row in living}
    for page_id, files in sorted(_claimed(state, frozenset(candidates)).items()):
        if len(files) > 1:
            kept = recorded.get(page_id, "")
            for file in files:
                if file != kept:
                    yield _finding("identity", WARNING, f"its nightwiki_id {page_id} is also in {kept or files[0]}",
                                   "The recorded file keeps the id; remove the line from the copy.", file)


def _claimed(state: WikiState, candidates: frozenset[str]) -> dict[str, list[str]]:
    """The files that carry each page id as a property. Candidates carry the id of the page they will become."""
    claimed: dict[str, list[str]] = defaultdict(list)
    for path in state.vault.scan().files:
        try:
            content = state.vault.read(path)
        except OSError:
            continue
        if b"nightwiki_id" in content and path not in candidates:
            values = properties.read(content.decode("utf-8", "replace")).values
            if values.get("nightwiki_id") and "candidate_of" not in values:
                claimed[str(values["nightwiki_id"])].append(path)
    return claimed


def _rests(state: WikiState) -> Iterator[Finding]:
    for path in state.vault.temp_files(_folders(state)):
        yield _finding("temp-file", WARNING, "a killed write left this temp file", _REPAIR, path)
    if not (state.root / ".gitignore").exists():
        yield _finding("state-folder", WARNING, f"{state.root} has no .gitignore, so git may take it in",
                       "The next run writes it.")


def _folders(state: WikiState) -> set[str]:
    """Every folder of the vault that holds a note, and the folders above."""
    folders = {"."}
    for path in state.vault.scan(suffixes=()).files:
        folders.update(str(parent) for parent in PurePosixPath(path).parents)
    return folders


def _repair_pointer(state: WikiState) -> list[str]:
    """Point at the newest sound snapshot if the pointer names none. A commit left open is replayed on top of it."""
    layout = state.snapshots.layout
    try:
        state.snapshots.current()
        return []
    except StateError:
        pass
    for snapshot in reversed(layout.listed()):
        try:
            manifest = read_manifest(layout, snapshot)
        except NightwikiError:
            continue
        if not any(_segment_problem(state, one) for one in _segments(manifest)):
            state.snapshots.set_pointer(manifest)
            return [f"The pointer was damaged; it now names the newest sound snapshot, of {manifest.created}."]
    return ["The pointer is damaged and no snapshot is sound: restore a backup."]

