"""Candidates as a person left them: moved, edited, ticked, deleted, or back again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from config.wiki import Wiki
from tasks.markdown import properties
from tasks.records import CandidateRecord
from tasks.review import candidate

_DELETED = "its file was deleted"  # noted with a candidate, which waits again when the file is back


@dataclass(frozen=True, slots=True)
class Tick:
    """A box that a person ticked in a candidate; `problem` says why what they ticked cannot be read."""

    id: str
    promote: bool
    discard: bool
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """What is new of candidates: rows, boxes to carry out, and hashes of files of which only a box changed, by id."""

    changed: tuple[CandidateRecord, ...]
    ticks: tuple[Tick, ...]
    only_ticked: Mapping[str, str]


def within(path: str, folder: str) -> bool:
    """Whether a vault path lies in a folder; all do in '.'."""
    return folder == "." or path.startswith(folder + "/")


def page_id_of(text: str) -> str:
    """Return the `nightwiki_id` of a text's property block, or ''."""
    if "nightwiki_id" not in text[:8000].lower():
        return ""
    return properties.string(properties.read(text).values, "nightwiki_id")


def read_candidates(
    wiki: Wiki, known: Mapping[str, CandidateRecord], files: Mapping[str, str], text_of: Callable[[str], str]
) -> Waiting:
    """What became of the `known` candidates; `files` are hashes by path, `text_of` reads one of them.

    A file that a person renamed is followed; one that they removed counts as discarded until it is back.
    """
    changed: list[CandidateRecord] = []
    ticks: list[Tick] = []
    only_ticked: dict[str, str] = {}
    waiting = {record.id: record for record in known.values() if record.state == "open"}
    gone = (record for record in known.values() if record.state == "discarded" and record.note == _DELETED)
    deleted = {record.id: record for record in gone}
    moved = _moved_candidates(wiki, waiting, deleted, files, text_of)
    back = [replace(record, state="open", note="") for record in deleted.values() if record.id in moved]
    for record in (*waiting.values(), *back):
        if record.id in moved:
            record = replace(record, path=moved[record.id])
            changed.append(record)
        file = files.get(record.path)
        if file is None:
            changed.append(replace(record, state="discarded", note=_DELETED))
        elif file != record.file_hash:
            text = text_of(record.path)
            boxes = candidate.ticked(text)
            problem = candidate.unreadable(text)
            if boxes or problem:
                ticks.append(Tick(record.id, "promote" in boxes, "discard" in boxes, problem))
            if candidate.said_hash(text) == record.said_hash:
                only_ticked[record.id] = file
    return Waiting(tuple(changed), tuple(ticks), only_ticked)


def _moved_candidates(
    wiki: Wiki,
    waiting: Mapping[str, CandidateRecord],
    deleted: Mapping[str, CandidateRecord],
    files: Mapping[str, str],
    text_of: Callable[[str], str],
) -> Mapping[str, str]:
    """Where candidates are that are not where they were, or are there again, by id: the first file with that id."""
    lost = deleted.keys() | {record.id for record in waiting.values() if record.path not in files}
    held = {record.path for record in waiting.values()}
    found: dict[str, str] = {}
    for path in sorted(files) if lost else ():
        if path not in held and within(path, wiki.candidates_dir):
            name = page_id_of(_text_if_there(text_of, path))
            if name in lost:
                found.setdefault(name, path)
    return found


def _text_if_there(text_of: Callable[[str], str], path: str) -> str:
    try:
        return text_of(path)
    except OSError:
        return ""
