"""What a commit is asked to write, and what it did.

Paths, hashes and times are as in `tasks.records`.
"""

from __future__ import annotations

from dataclasses import dataclass

from tasks.contradictions.claims import ContradictionRecord
from tasks.records import (
    CandidateRecord,
    ChunksRecord,
    DecisionRecord,
    DocumentRecord,
    EmbeddingRecord,
    PageRecord,
    SourceRecord,
)


@dataclass(frozen=True, slots=True)
class Changes:
    """Rows to set and rows to drop, table by table."""

    pages: tuple[PageRecord, ...] = ()
    sources: tuple[SourceRecord, ...] = ()
    documents: tuple[DocumentRecord, ...] = ()
    chunks: tuple[ChunksRecord, ...] = ()
    candidates: tuple[CandidateRecord, ...] = ()
    embeddings: tuple[EmbeddingRecord, ...] = ()
    contradictions: tuple[ContradictionRecord, ...] = ()
    decisions: tuple[DecisionRecord, ...] = ()
    drop_pages: tuple[str, ...] = ()
    drop_sources: tuple[str, ...] = ()
    drop_documents: tuple[str, ...] = ()
    drop_chunks: tuple[str, ...] = ()
    drop_candidates: tuple[str, ...] = ()
    drop_embeddings: tuple[str, ...] = ()
    drop_contradictions: tuple[str, ...] = ()
    drop_decisions: tuple[str, ...] = ()


NO_CHANGES = Changes()


@dataclass(frozen=True, slots=True)
class NewCandidate:
    """A new page as a candidate whose file is made when it is needed: hardly ever, and a night plans very many."""

    path: str
    page: PageRecord                    # as the write whose place it takes would record it
    reasons: tuple[str, ...]
    proposal_hash: str
    subject: str
    ingested: str


@dataclass(frozen=True, slots=True)
class FileWrite:
    """One file to bring from known bytes to new bytes, and what is true once that has happened."""

    path: str
    expected: str | None                # hash the file must still have; None: it must not exist
    content: bytes | None               # None: remove (the old bytes are kept as a blob)
    changes: Changes = NO_CHANGES       # recorded only if this write lands
    otherwise: FileWrite | NewCandidate | None = None  # tried in its place when the file has other bytes than expected
    after: str = ""                     # path of a write of the same commit that must have landed first


@dataclass(frozen=True, slots=True)
class Refusal:
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class CommitResult:
    """What a commit did."""

    landed: tuple[str, ...]             # paths, in order
    refused: tuple[Refusal, ...]
    snapshot: str                       # id of the current snapshot
    published: bool                     # False: nothing changed, the former snapshot stays
    messages: tuple[str, ...] = ()      # what a person should know: a ledger rebuilt, an index not built
