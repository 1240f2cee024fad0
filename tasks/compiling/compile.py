"""The seam between the night and a compiler: what changed, what is known, and the pages that should be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tasks.compiling.analysis import Analysis
from tasks.records import Chunk, Document, Outcome, PageProposal


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
class Material:
    """What a compiler with a model needs beside the notes. Sources are live ones, by id."""

    asked: frozenset[str]  # sources that are new, corrected, or were compiled for other prompts or another purpose
    document: Callable[[str], Document]
    written: Callable[[str], bytes]  # what was decided on a source before, as `Contribution`
    subjects: Mapping[str, tuple[str, ...]]  # subject keys of the pages that a source was written onto
    waiting: Sequence[KnownPage]  # new pages that wait for review
    search: Callable[[str], Sequence[str]]  # ids of published pages for a question, best first
    opening: Callable[[str], str]  # the first words of a published page
    persons: Callable[[str], tuple[str, ...]]  # the blocks of a page that a person wrote
    purpose: str = ""  # what the wiki is for, as its owner wrote it


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a source while it was compiled."""

    outcome: Outcome
    reason: str
    next_step: str = ""


@dataclass(frozen=True, slots=True)
class Given:
    """What a source gave: its contribution for the next night, and the subject keys of the pages it is on."""

    written: bytes
    basis: str
    subjects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that a person should know of a compiled source: a sentence left out, a page it would link to."""

    source_id: str
    text: str


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """What a compiler needs; `notes` is asked only for sources of subjects that the changes concern."""

    changed: frozenset[str]  # new, corrected, withdrawn or gone sources
    topics: Mapping[str, tuple[str, ...]]  # of all live sources, as `Analysis.topics`
    notes: Callable[[str], SourceNotes]
    pages: Sequence[KnownPage]
    material: Material | None = None  # for a compiler with a model


@dataclass(frozen=True, slots=True)
class Compilation:
    """The pages that should change. A source in `skipped` became no page of its own, for the reason given."""

    proposals: tuple[PageProposal, ...] = ()
    retired: tuple[str, ...] = ()  # ids of pages whose last source left
    skipped: Mapping[str, str] = field(default_factory=dict)
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)  # of sources that did not come through
    given: Mapping[str, Given] = field(default_factory=dict)  # by source, where a model decided anew
    remarks: tuple[Remark, ...] = ()
    chunks: Mapping[str, tuple[Chunk, ...]] = field(default_factory=dict)  # of sources that a model cut by topics
    told: frozenset[str] = frozenset()  # sources of which all that they say now stands in the proposals


class Compiler(Protocol):
    """Turns the notes on sources into proposals for pages; the result depends on the set of live sources alone."""

    def compile(self, request: CompileRequest) -> Compilation: ...
