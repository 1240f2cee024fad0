"""Candidates: pages and updates that wait for a person, and what promoting or discarding one writes.

A candidate is the full page plus `candidate_of, base_hash, reasons, promote, discard`; an update also shows its diff.
Promotion takes the bytes now on disk, so a person may edit a candidate first.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pydantic import TypeAdapter

from tasks.commits import NO_CHANGES, Changes, FileWrite, NewCandidate
from tasks.markdown import properties
from tasks.pages import pages
from tasks.pages.three_way import three_way
from tasks.records import CandidateRecord, PageRecord
from tasks.review.candidate import candidate_text, said_hash, shown_hash, strip_candidate, unreadable
from tasks.text_bytes import decode, digest, encode

_PAGE = TypeAdapter(PageRecord)
_DIFF_LINES = 60
ANSWER = "answer "
"""Begins the subject of a page that a person's question made: no night makes it, or finds that nothing says it now."""
_MOVED = "the page has changed since this update was made"


@dataclass(frozen=True, slots=True)
class Draft:
    """A page that is to wait: its text and what promotion would record."""

    page: PageRecord  # markdown is the page's text
    kind: str  # new | update
    target: str
    base_hash: str
    before: str  # text of the live page, for the diff; empty for a new page
    reasons: tuple[str, ...]
    proposal_hash: str
    subject: str
    absorbs: str = ""  # of a merge: id of the page that goes, and the hash of its file
    absorbs_hash: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a promotion or a discard writes. `problem` says why it was not carried out, whatever is written."""

    writes: tuple[FileWrite, ...] = ()
    changes: Changes = NO_CHANGES
    page: PageRecord | None = None
    problem: str = ""
    next_step: str = ""


def write_candidate(
    draft: Draft, folder: str, known: CandidateRecord | None, on_disk: str | None, now: str
) -> FileWrite | None:
    """Return the write that puts a draft up for review; None when it is there, was discarded, or a person edits it.

    `known` is the candidate of the same page, if there ever was one; `on_disk` the hash of its file now.
    """
    if (
        known is not None
        and known.proposal_hash == draft.proposal_hash
        and known.base_hash == draft.base_hash
        and (known.state == "discarded" or (known.state == "open" and on_disk is not None))
    ):
        return None
    if known is not None and known.state == "discarded" and known.proposal_hash == draft.proposal_hash:
        return None
    suffix = ".update.md" if draft.kind == "update" else ".md"
    path = known.path if known is not None and known.state == "open" else f"{folder}/{draft.page.slug}{suffix}"
    edited = known is not None and known.state == "open" and on_disk not in (None, known.file_hash)
    if edited:
        return None
    expected = on_disk if known is not None and known.state == "open" else None
    return _waiting(draft, path, expected, known.ingested if known is not None and known.state == "open" else now)


def candidate_of(new: NewCandidate) -> FileWrite:
    """Return the write that puts a new page up for review."""
    draft = Draft(new.page, "new", new.page.path, "", "", new.reasons, new.proposal_hash, new.subject)
    return _waiting(draft, new.path, None, new.ingested)


def _waiting(draft: Draft, path: str, expected: str | None, ingested: str) -> FileWrite:
    """The write of a candidate's file, with its row."""
    of = draft.page.slug if draft.kind == "update" else ""
    text = candidate_text(
        draft.page.markdown,
        draft.kind,
        of,
        draft.base_hash,
        draft.reasons,
        diff(draft.before, draft.page.markdown) if draft.kind == "update" else "",
    )
    content = encode(text)
    record = CandidateRecord(
        id=draft.page.id,
        path=path,
        slug=draft.page.slug,
        title=draft.page.title,
        kind=draft.kind,
        target=draft.target,
        base_hash=draft.base_hash,
        file_hash=digest(content),
        proposal_hash=draft.proposal_hash,
        confidence=draft.page.confidence or "medium",
        reasons=draft.reasons,
        sources=draft.page.sources,
        subject=draft.subject,
        ingested=ingested,
        page=json.dumps(_PAGE.dump_python(replace(draft.page, markdown=""), mode="json")),
        said_hash=said_hash(text),
        shown_hash=shown_hash(text) if draft.kind == "update" else "",
        absorbs=draft.absorbs,
        absorbs_hash=draft.absorbs_hash,
    )
    return FileWrite(path, expected, content, Changes(candidates=(record,)))


def moved_on(candidate: CandidateRecord, live: bytes | None) -> bool:
    """Whether the page of an update is no longer the one that the update was made of."""
    return candidate.kind == "update" and live is not None and digest(live) != candidate.base_hash


def renew(
    candidate: CandidateRecord, content: bytes, base: PageRecord, live: PageRecord, resolve: Callable[[str], str]
) -> Decision:
    """Refuse to promote an update whose page has moved on, and write it anew for the page as it is now.

    `content` is the candidate's file, what a person wrote into it included; `base` the page that it was made of.
    """
    if refused := _unfit(candidate, decode(content)):
        return refused
    written = _PAGE.validate_python(json.loads(candidate.page), strict=False)
    text = strip_candidate(decode(content))
    if _head(text) not in (_head(base.markdown), _head(live.markdown)) and (problem := properties.read(text).problem):
        step = "Mend that line, or take what you wrote over into the page and tick discard"
        return Decision(problem=f"{_MOVED}, and {problem}", next_step=step)
    proposed = replace(pages.read_page(live.path, text, written, resolve), markdown=text, sources=written.sources)
    merged = three_way(base, live, proposed, resolve, properties.comments(decode(content)))
    if merged.page.markdown == live.markdown:
        done = replace(candidate, state="discarded", note="the page has what it proposed", page="")
        gone = FileWrite(candidate.path, digest(content), None, Changes(candidates=(done,)))
        return Decision((gone,), problem=f"{_MOVED}, and has all that it proposed", next_step="Nothing is left to do")
    kept = tuple(reason for reason in candidate.reasons if not reason.startswith("you have changed"))
    draft = Draft(
        page=merged.page,
        kind="update",
        target=live.path,
        base_hash=live.file_hash,
        before=live.markdown,
        reasons=(*kept, *merged.conflicts),
        proposal_hash=candidate.proposal_hash,
        subject=candidate.subject,
        absorbs=candidate.absorbs,
        absorbs_hash=candidate.absorbs_hash,
    )
    step = f"It was made anew from both; look at it: nightwiki candidates diff {candidate.slug}"
    fresh = _waiting(draft, candidate.path, digest(content), candidate.ingested)
    if said_hash(decode(content)) != candidate.said_hash:
        fresh = _still_edited(fresh, candidate)
    return Decision((fresh,), problem=_MOVED, next_step=step)


def _still_edited(write: FileWrite, candidate: CandidateRecord) -> FileWrite:
    """The write of a candidate that holds a person's words, which no later proposal may take the place of."""
    (row,) = write.changes.candidates
    kept = replace(row, file_hash=candidate.file_hash, said_hash=candidate.said_hash)
    return replace(write, changes=replace(write.changes, candidates=(kept,)))


def _head(text: str) -> str:
    """A page's property block, also one that cannot be read."""
    return text[: properties.body_start(text)]


def promote(
    candidate: CandidateRecord,
    content: bytes,
    live: bytes | None,
    namesake: str,
    resolve: Callable[[str], str],
) -> Decision:
    """Return what promoting a candidate writes: its page from the bytes on disk, and the candidate's file gone.

    `namesake` is the path of another note of the name that the page is to get; empty when there is none.
    """
    if candidate.kind == "new" and (live is not None or namesake):
        taken = namesake or candidate.target
        return Decision(problem=f"{taken} exists already", next_step="Rename that note, or discard the candidate")
    if candidate.kind == "update" and live is None:
        return Decision(problem="its page was deleted", next_step="Bring the page back, or tick discard")
    if moved_on(candidate, live):
        edited = digest(content) != candidate.file_hash
        mine = "Take what you wrote here over into the page, and tick discard"
        return Decision(
            problem=_MOVED, next_step=mine if edited else "The next night compares again and makes a fresh candidate"
        )
    if refused := _unfit(candidate, decode(content)):
        return refused
    written = _PAGE.validate_python(json.loads(candidate.page), strict=False)
    text = strip_candidate(decode(content))
    page_bytes = encode(text)
    page = pages.read_page(candidate.target, text, written, resolve)
    page = replace(
        page,
        id=candidate.id,
        adopted=False,
        file_hash=digest(page_bytes),
        markdown=text,
        deleted="",
        sources=written.sources,
        subjects=written.subjects,
        former_slugs=written.former_slugs,
    )
    done = replace(candidate, state="promoted", page="")
    writes = (
        FileWrite(candidate.target, digest(live) if live is not None else None, page_bytes, Changes(pages=(page,))),
        FileWrite(candidate.path, digest(content), None, Changes(candidates=(done,)), after=candidate.target),
    )
    return Decision(writes=writes, page=page)


def _unfit(candidate: CandidateRecord, text: str) -> Decision | None:
    """Why a candidate's file cannot become a page as it is: nothing stands in it, or something would be lost."""
    if not strip_candidate(text).strip():
        return Decision(problem="the candidate's file is empty", next_step="Bring its text back, or discard it")
    if problem := unreadable(text):
        return Decision(problem=problem, next_step="Mend that line, or discard the candidate")
    if candidate.shown_hash and shown_hash(text) not in ("", candidate.shown_hash):
        cause = "you have written into its diff, which is not part of the page"
        return Decision(problem=cause, next_step="Write it into the page below instead, and delete the diff")
    return None


def discard(candidate: CandidateRecord, content: bytes | None, reason: str) -> Decision:
    """Return what discarding writes: the file gone (its bytes are kept as a blob), the reason remembered."""
    done = replace(candidate, state="discarded", note=reason)
    if content is None:
        return Decision(changes=Changes(candidates=(done,)))
    return Decision(writes=(FileWrite(candidate.path, digest(content), None, Changes(candidates=(done,))),))


def diff(before: str, after: str) -> str:
    """Return a unified diff without its header, cut with a sentence when it is long."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1))[2:]
    if len(lines) > _DIFF_LINES:
        lines = [*lines[:_DIFF_LINES], f"… and {len(lines) - _DIFF_LINES} more lines"]
    return "\n".join(lines)


def by_slug(candidates: Sequence[CandidateRecord], name: str, state: str = "open") -> CandidateRecord | None:
    """Return the candidate in this state that a person means by a slug, a path or an id."""
    wanted = name.strip().removesuffix(".md").removesuffix(".update")
    for candidate in candidates:
        if candidate.state == state and wanted in (
            candidate.slug,
            candidate.id,
            candidate.path.removesuffix(".md").removesuffix(".update"),
        ):
            return candidate
    return None
