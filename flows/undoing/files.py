"""What an undo writes: files with their former bytes and the rows that go with them, and what must follow from it.

A page that goes leaves no dead link behind in what nightwiki wrote, a page that stays keeps the evidence it cites, and
a source falls silent, or says what it said before, until its bytes change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from flows.made_rows import MadeRows
from flows.night_steps.listing import ROUTING, index_path
from flows.night_steps.reading_in import VAULT
from flows.session import Session
from flows.undoing import lists
from flows.undoing.contradictions import reopen
from flows.undoing.sources import silence
from storage.history import ABSENT, Kept, Past, Restored, unwind
from storage.journal import Closed
from storage.readin import ReadIn, resolver
from storage.tables import Row
from tasks.commits import Changes, FileWrite
from tasks.pages import pages
from tasks.pages.linking import Names
from tasks.pages.relink import relink
from tasks.records import CandidateRecord, EmbeddingRecord, PageRecord
from tasks.review import candidate
from tasks.text_bytes import decode, digest, encode

_ANCHOR = re.compile(r" (\^p\d+)[ \t]*$", re.M)


@dataclass(frozen=True, slots=True)
class Returned:
    """The commit of an undo."""

    writes: tuple[FileWrite, ...]
    changes: Changes
    left: tuple[Kept, ...]
    sources: tuple[str, ...]   # locations
    pages: tuple[PageRecord, ...] = ()  # live ones afterwards
    fresh: tuple[PageRecord, ...] = ()  # of them those whose text is new


def take_back(session: Session, vault: ReadIn, commits: Sequence[Closed], later: Sequence[Closed]) -> Returned:
    """Plan how `commits` are taken back, while `later` ones stay. StateError when that past is no longer kept."""
    return _Undoing(session, vault, commits).plan(later)


class _Undoing:
    """Collects the writes of one undo."""

    def __init__(self, session: Session, vault: ReadIn, commits: Sequence[Closed]) -> None:
        self._session, self._vault, self._commits = session, vault, commits
        self._wiki, self._state = session.wiki, session.state
        self._past = Past(session.state)
        self._pages = {page.id: page for page in vault.pages.values() if not page.deleted}
        self._places: dict[str, list[str]] = {}
        for page in self._pages.values():
            self._places.setdefault(page.path, []).append(page.id)
        for waiting in vault.candidates.values():
            if waiting.state == "open":
                self._places.setdefault(waiting.path, []).append(waiting.id)
        self._writes: list[FileWrite] = []
        self._touched: set[str] = set()  # ids of pages whose rows change
        self._gone: list[PageRecord] = []
        self._back: list[PageRecord] = []
        self._fresh: list[PageRecord] = []

    def plan(self, later: Sequence[Closed]) -> Returned:
        """Everything that is written."""
        unwound = unwind(self._state, [self._decided(commit) for commit in self._commits], later)
        listed = {index_path(self._wiki), ROUTING}
        note = self._wiki.settings.digest.note
        evidence = [one for path, one in sorted(unwound.files.items()) if self._is_evidence(path)]
        self._return_pages([o for p, o in unwound.files.items() if p not in listed and not self._is_evidence(p)])
        self._unlink()
        cited = self._return_evidence(evidence)
        for path in sorted(listed):
            self._relist(path, unwound.files.get(path))
        silenced = silence(
            self._state.reader.current(), self._past, self._commits, self._pages, self._touched, cited
        )
        reopened = reopen(self._state.reader.current(), self._past, self._commits, self._pages)
        left = [one for path, one in sorted(unwound.kept.items()) if path not in listed and path != note]
        kept = [Kept(path, "a page that stays cites it") for path in sorted(cited)]
        return Returned(
            writes=tuple(self._writes),
            changes=replace(
                silenced.changes,
                contradictions=reopened.contradictions,
                drop_contradictions=reopened.drop_contradictions,
            ),
            left=(*left, *kept),
            sources=silenced.locations,
            pages=tuple(self._pages.values()),
            fresh=tuple(self._fresh),
        )

    def _decided(self, commit: Closed) -> Closed:
        """Of a commit that took a person's part in only what was decided on candidates: the rest followed the person,
        such as links to a page that they renamed, and would be wrong without it."""
        if commit.kind != VAULT:
            return commit
        taken = [one.path for one in commit.landed if self._is_candidate(one.path) and one.after == ABSENT]
        ids = [row_id for path in taken for row_id in self._past.ids_at(commit.parent, "candidates", path)]
        after = self._past.after(commit.snapshot) if ids else None
        rows = cast("tuple[CandidateRecord, ...]", after.rows("candidates", ids)) if after is not None else ()
        decided = {path for row in rows if row.state != "open" for path in (row.path, row.target)}
        decided |= self._merged(commit, [row.absorbs for row in rows if row.absorbs and row.state == "promoted"])
        return replace(commit, landed=tuple(one for one in commit.landed if one.path in decided))

    def _merged(self, commit: Closed, absorbed: Sequence[str]) -> set[str]:
        """Paths of pages that became part of others, and of those whose links were led from them."""
        gone = cast("Mapping[str, PageRecord]", self._past.rows(commit.parent, "pages", absorbed))
        names = [f"[[{page.slug}".casefold() for page in gone.values()]
        led = {
            one.path
            for one in commit.landed
            if names and one.before != ABSENT and one.after != ABSENT and one.path.endswith(".md")
            if any(name in decode(self._state.blobs.get(one.before)).casefold() for name in names)
        }
        return led | {page.path for page in gone.values()}

    def _is_evidence(self, path: str) -> bool:
        return path.startswith(self._wiki.evidence_dir + "/")

    # --- pages and candidates

    def _return_pages(self, files: Sequence[Restored]) -> None:
        """Files other than lists and evidence: each with the rows that are true once it has its former bytes."""
        for snapshot in sorted({one.of.parent for one in files}):
            group = [one for one in files if one.of.parent == snapshot]
            ids = {one.path: self._ids(one) for one in group}
            wanted = sorted({row_id for found in ids.values() for row_id in found})
            rows = {table: self._past.rows(snapshot, table, wanted) for table in ("pages", "candidates", "embeddings")}
            for one in group:
                content = self._content(one)
                changes = Changes()
                if self._is_candidate(one.path):
                    changes = _candidates(ids[one.path], rows["candidates"])
                    content = _unticked(content)
                elif ids[one.path]:
                    changes = self._pages_of(one, ids[one.path], content, rows)
                self._add(one, content, changes)

    def _ids(self, one: Restored) -> tuple[str, ...]:
        """Ids of the rows that the file has now, and of those that it had."""
        table = "candidates" if self._is_candidate(one.path) else "pages"
        former = self._past.ids_at(one.of.parent, table, one.path)
        return tuple(dict.fromkeys((*self._places.get(one.path, ()), *former)))

    def _is_candidate(self, path: str) -> bool:
        return path.startswith(self._wiki.candidates_dir + "/")

    def _pages_of(
        self, one: Restored, ids: Sequence[str], content: bytes | None, rows: Mapping[str, Mapping[str, Row]]
    ) -> Changes:
        back: list[PageRecord] = []
        for page_id in ids:
            self._touched.add(page_id)
            row = cast("PageRecord | None", rows["pages"].get(page_id))
            before = self._pages.pop(page_id, None)
            if row is None or row.deleted or row.path != one.path or content is None:
                if before is not None:
                    self._gone.append(before)
                if row is not None:
                    back.append(row)
                continue
            page = self._as_it_was(row, content)
            back.append(page)
            self._pages[page_id] = page
            if before is None:
                self._back.append(page)
            if page_id not in rows["embeddings"] or page is not row:
                self._fresh.append(page)
        gone = tuple(page_id for page_id in ids if page_id not in {page.id for page in back})
        vectors = {page.id for page in back if not page.deleted} & rows["embeddings"].keys()
        return Changes(
            pages=tuple(back),
            drop_pages=gone,
            embeddings=tuple(cast("EmbeddingRecord", rows["embeddings"][page_id]) for page_id in sorted(vectors)),
            drop_embeddings=tuple(page_id for page_id in ids if page_id not in vectors),
        )

    def _as_it_was(self, row: PageRecord, content: bytes) -> PageRecord:
        """The row of a page, or what reading the file in makes of it when its own snapshot is kept no longer."""
        if row.file_hash == digest(content):
            return row
        text = decode(content)
        page = pages.read_page(row.path, text, row, self._resolver())
        return replace(page, id=row.id, file_hash=digest(content), markdown=text)

    def _resolver(self) -> Callable[[str], str]:
        return resolver({page.path: page.id for page in self._pages.values()})

    def _add(self, one: Restored, content: bytes | None, changes: Changes) -> None:
        self._writes.append(FileWrite(one.path, one.current or None, content, changes))

    def _content(self, one: Restored) -> bytes | None:
        return None if one.before == ABSENT else self._state.blobs.get(one.before)

    # --- what follows

    def _unlink(self) -> None:
        """Links to pages that go become words again, in what the pipeline wrote on pages that stay."""
        standing = {page.slug for page in self._pages.values()}
        gone = sorted({page.slug for page in self._gone} - standing)
        written = {write.path for write in self._writes}
        resolve = self._resolver()
        for page in sorted(self._pages.values(), key=lambda page: page.id):
            if not gone or page.adopted or page.path in written:
                continue
            text = page.markdown.casefold()
            if any(slug.casefold() in text for slug in gone):
                fresh = relink(page, Names.of(()), gone, resolve)
                if fresh is not page:
                    content = encode(fresh.markdown)
                    self._writes.append(FileWrite(page.path, page.file_hash, content, Changes(pages=(fresh,))))
                    self._pages[page.id] = fresh
                    self._fresh.append(fresh)

    def _return_evidence(self, files: Sequence[Restored]) -> frozenset[str]:
        """Readable copies, but for those that a page which stays still leans on; the paths of these."""
        anchors: dict[str, set[str]] = {}
        for page in self._pages.values():
            for citation in page.citations:
                anchors.setdefault(citation.target, set()).add(citation.anchor)
        kept = set()
        for one in files:
            content = self._content(one)
            text = decode(content) if content is not None else ""
            standing = set(_ANCHOR.findall(text))
            if any(anchor.startswith("^") and anchor not in standing for anchor in anchors.get(one.path, ())):
                kept.add(one.path)
            else:
                self._add(one, content, Changes())
        return frozenset(kept)

    def _relist(self, path: str, one: Restored | None) -> None:
        """Bring a list of pages to what stands afterwards."""
        try:
            before = self._state.vault.read(path)
        except (FileNotFoundError, NotADirectoryError):
            if one is not None and one.before != ABSENT:
                self._add(one, self._content(one), Changes())
            return
        now = decode(before)
        former = None if one is None or one.before == ABSENT else decode(self._content(one) or b"")
        standing = {page.slug: page for page in self._pages.values() if not page.adopted}
        gone = [page.slug for page in self._gone]
        if path == ROUTING:
            text = lists.routing(now, former, standing, gone)
        else:
            ours = MadeRows(self._state.reader, [*self._vault.pages.values(), *self._gone])
            text = lists.index(now, former, standing, gone, self._back, ours)
        if one is not None and one.before == ABSENT and not standing:
            self._add(one, None, Changes())
        elif text != now:
            self._writes.append(FileWrite(path, digest(before), encode(text)))


def _candidates(ids: Sequence[str], rows: Mapping[str, Row]) -> Changes:
    back = tuple(cast("CandidateRecord", rows[row_id]) for row_id in ids if row_id in rows)
    return Changes(candidates=back, drop_candidates=tuple(row_id for row_id in ids if row_id not in rows))


def _unticked(content: bytes | None) -> bytes | None:
    """A candidate that comes back waits again: a box still ticked would be carried out at once."""
    if content is None:
        return None
    text = decode(content)
    return encode(candidate.unticked(text)) if candidate.ticked(text) else content
