"""The seam between the night and a compiler: what changed, what is known, and the pages that should be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tasks.analysis import Analysis
from tasks.records import PageProposal


@dataclass(frozen=True, slots=True)
class SourceNotes:
    """The notes on one live source, with where it is now (a file may have moved since it was read)."""

    source_id: str
    location: str
    target: str  # vault path that citations point into
    analysis: Analysis | bytes  # bytes are those of `analysis.encode`, to be decoded where they are used


@dataclass(frozen=True, slots=True)
class KnownPage:
    """A page there is, or that a person deleted (`deleted`), or a person's own note (`adopted`)."""

    id: str
    slug: str
    title: str
    aliases: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    deleted: bool = False
    adopted: bool = False


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """What a compiler needs; `notes` is asked only for sources of subjects that the changes concern."""

    changed: frozenset[str]  # new, corrected, withdrawn or gone sources
    topics: Mapping[str, tuple[str, ...]]  # of all live sources, as `Analysis.topics`
    notes: Callable[[str], SourceNotes]
    pages: Sequence[KnownPage]


@dataclass(frozen=True, slots=True)
class Compilation:
    """The pages that should change. A source in `skipped` became no page of its own, for the reason given."""

    proposals: tuple[PageProposal, ...] = ()
    retired: tuple[str, ...] = ()  # ids of pages whose last source left
    skipped: Mapping[str, str] = field(default_factory=dict)


class Compiler(Protocol):
    """Turns the notes on sources into proposals for pages; the result depends on the set of live sources alone."""

    def compile(self, request: CompileRequest) -> Compilation: ...
