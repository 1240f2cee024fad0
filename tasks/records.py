"""The records that cross module borders: frozen, slotted, and nothing but data.

Conventions. `path` is relative to the vault, with forward slashes. Hashes are sha256 in hex. Times are ISO 8601 in
UTC with a trailing Z, to the second. Rows that are stored (`*Record`) have a string `id` as their only key.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from operator import attrgetter
from typing import TypeVar

from tasks.contradictions.claims import Clash

T = TypeVar("T")


def _small(record: type[T]) -> type[T]:
    """Have a record that comes in dozens a page pickled as a call of its class, in a quarter of the usual time."""
    values = attrgetter(*(field.name for field in fields(record)))  # type: ignore[arg-type]  # it is a dataclass
    record.__reduce__ = lambda self: (record, values(self))  # type: ignore[method-assign]
    return record


class Outcome(StrEnum):
    """What became of a source in a run; the same words everywhere."""

    OK = "ok"
    UNCHANGED = "unchanged"
    DUPLICATE = "duplicate"
    NO_TEXT = "no_text"
    NEEDS_PASSWORD = "needs_password"
    NEEDS_BROWSER = "needs_browser"
    NO_CONTENT = "no_content"
    PAYWALLED = "paywalled"
    NO_TRANSCRIPT = "no_transcript"
    BLOCKED = "blocked"
    REFUSED = "refused"
    UNSUPPORTED = "unsupported"
    UNREADABLE = "unreadable"
    TIMED_OUT = "timed_out"
    GONE = "gone"
    OUT_OF_SCOPE = "out_of_scope"
    DEFERRED_BUDGET = "deferred_budget"
    MODEL_FAILED = "model_failed"
    WITHDRAWN = "withdrawn"
    UNDONE = "undone"


GOOD = frozenset(
    {Outcome.OK, Outcome.UNCHANGED, Outcome.DUPLICATE, Outcome.OUT_OF_SCOPE, Outcome.WITHDRAWN, Outcome.UNDONE}
)
"""Outcomes that need nobody's attention."""

TRANSIENT = frozenset({Outcome.BLOCKED, Outcome.TIMED_OUT, Outcome.DEFERRED_BUDGET, Outcome.MODEL_FAILED})
"""Outcomes that are tried again by themselves."""


class SourceKind(StrEnum):
    FILE = "file"    # a file in the sources folder, or an adopted note that is compiled
    WEB = "web"      # an address of a page or a file
    VIDEO = "video"  # a YouTube video
    FEED = "feed"    # an RSS or Atom feed; its entries are sources of their own
    CLIP = "clip"    # a Web Clipper note; its `source:` property is the address


class Owner(StrEnum):
    PIPELINE = "pipeline"
    PERSON = "person"


class BlockKind(StrEnum):
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CODE = "code"
    QUOTE = "quote"
    FOOTNOTE = "footnote"
    HTML = "html"
    RULE = "rule"


# --- sources ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Found:
    """A source that collect saw: a file with its stat, or an address."""

    kind: SourceKind
    location: str             # file: vault path; else the canonical address (video: https://www.youtube.com/watch?v=ID)
    path: str = ""            # vault path of the file or clip; empty for addresses
    size: int = 0
    mtime_ns: int = 0
    listed_in: str = ""       # vault path of the note or list that names the address
    title: str = ""           # a title given beside the address, if any
    url: str = ""             # clip: the address it was taken from


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """What is known of a source between runs."""

    id: str                   # first 12 hex digits of sha256 of the first location; kept when a file moves
    kind: SourceKind
    location: str
    outcome: Outcome
    reason: str = ""
    next_step: str = ""
    title: str = ""
    content_hash: str = ""    # of the file's bytes or the answer's body
    etag: str = ""
    last_modified: str = ""
    topics: tuple[str, ...] = ()   # subject keys this source may speak of (main, aliases, section headings)
    evidence: str = ""        # vault path of the readable copy; empty for PDFs and the user's Markdown
    evidence_hash: str = ""   # of that file's bytes as written
    pages: tuple[str, ...] = ()    # ids of pages that cite it
    first_seen: str = ""
    read_at: str = ""         # when its bytes were last read and had changed
    retry_at: str = ""        # not before this time; empty: next run
    failures: int = 0
    ignored: bool = False     # by `sources ignore`
    listed_in: str = ""
    size: int = 0             # of the file when it was last read; with `mtime_ns` tells that nobody wrote to it since
    mtime_ns: int = 0
    url: str = ""             # clip: the address it was taken from
    final_url: str = ""       # where redirects led; `etag` and `last_modified` belong to this address
    compiled_for: str = ""    # prompts and purpose under which a model compiled it; empty: none did
    subjects: tuple[str, ...] = ()  # subject keys of the pages that a model wrote it onto


# --- documents -------------------------------------------------------------------------------------------------------


@_small
@dataclass(frozen=True, slots=True)
class Part:
    """One block of a document, without its anchor.

    Headings, paragraphs and quotes are plain words without Markdown marks, code is bare, lists are `- item` or
    `1. item` lines (four spaces a level), tables are Markdown tables whose cells hold plain words (`\\|` for a pipe).
    """

    kind: BlockKind
    text: str
    level: int = 0            # of a heading, 1 to 6
    anchor: str = ""          # what stands behind '#' in a link to it: '^p7', 'page=3', or a heading's text
    time: str = ""            # when a transcript's paragraph begins, as '12:34'; shown in the copy, never quoted


@dataclass(frozen=True, slots=True)
class Document:
    """The readable text of one source."""

    source_id: str
    title: str
    parts: tuple[Part, ...]
    media: str                # pdf, html, markdown, text, docx, pptx, xlsx, transcript
    target: str = ""          # vault path that anchors belong to (evidence copy, PDF or the user's Markdown)
    url: str = ""
    author: str = ""
    published: str = ""       # date as ISO 8601, if the source says so
    language: str = ""        # ISO 639-1 guess, empty when unsure
    quality: float = 1.0      # 0 to 1; below 0.5 the text is doubtful
    quality_reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()        # facts for provenance: 'encrypted: owner-only', 'pages without text: 3, 4'
    hidden_removed: int = 0            # hidden or invisible pieces of text that were taken out
    injection_suspected: bool = False  # the text carries instructions to a machine
    location: str = ""                 # vault path of the file it was read from; empty for addresses
    last_anchor: int = 0               # highest paragraph number ever given out, so that none is used twice


@_small
@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of evidence that search can return."""

    position: int             # from 0 within its source
    title_path: tuple[str, ...]
    text: str
    anchor: str               # of its first part


@dataclass(frozen=True, slots=True)
class ChunksRecord:
    """All chunks of one source; `id` is the source's."""

    id: str
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """What was read out of one source, so that a page is put together again without reading; `id` is the source's."""

    id: str
    document: bytes           # a `Document` as JSON
    analysis: bytes           # the compiler's notes on it as JSON
    written: bytes = b""      # what a model decided and wrote of it, a `Contribution` as JSON


# --- pages -----------------------------------------------------------------------------------------------------------


@_small
@dataclass(frozen=True, slots=True)
class Citation:
    """The words of a source that a sentence relies on."""

    source_id: str
    target: str               # vault path of the PDF, evidence copy or note, as `Document.target`
    anchor: str               # as `Part.anchor`
    quote: str
    label: str = ""           # 'nw-' and 8 hex digits of sha256 over source id, anchor and quote


@_small
@dataclass(frozen=True, slots=True)
class ProposedBlock:
    """A block that a compiler wants on a page. `key` names its role and stays the same from night to night."""

    key: str                  # 'lead', 'facts', 'h:history', 'history:ab12cd34ef56:0'
    kind: BlockKind
    text: str                 # Markdown, footnote references included, no trailing newline
    citations: tuple[Citation, ...] = ()
    level: int = 0


@dataclass(frozen=True, slots=True)
class PageProposal:
    """The page a compiler wants for a subject, as a whole; merging decides what of it may be written."""

    subject: str              # subject key
    page_id: str              # of the page it updates, or empty for a new one
    title: str
    blocks: tuple[ProposedBlock, ...]
    sources: tuple[str, ...]  # source ids, best first
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    type: str = "note"
    status: str = "active"
    confidence: str = "medium"
    reasons: tuple[str, ...] = ()      # why not higher, in words a person understands
    stage: tuple[str, ...] = ()        # reasons to hold it back whatever its confidence ('injection_suspected')
    clashes: tuple[Clash, ...] = ()    # sentences of its sources that contradict each other
    language: str = ""                 # of most of its sources, as `Document.language`


@_small
@dataclass(frozen=True, slots=True)
class BlockRecord:
    """A block of a page as last seen on disk."""

    id: str                   # a proposed block's key, or 'u-' and 10 hex digits for a person's
    kind: BlockKind
    hash: str                 # of the normalised text on disk
    owner: Owner
    written: str = ""         # hash of what the pipeline last wrote or proposed under this id
    placed: bool = False      # a person moved it to where it stands, so it stays there


@_small
@dataclass(frozen=True, slots=True)
class PropertyRecord:
    """A property that the pipeline wrote: its value's hash then. A different value on disk is the person's."""

    key: str
    written: str


@dataclass(frozen=True, slots=True)
class PageRecord:
    """A page of the wiki: written by the pipeline, or a person's own note that takes part."""

    id: str
    path: str
    slug: str
    title: str
    adopted: bool                       # a person's own note: searched and linked to, never written
    file_hash: str                      # of the file's bytes as last written or seen
    markdown: str                       # the file's text as last written or seen
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    type: str = ""
    status: str = "active"
    confidence: str = ""
    created: str = ""
    updated: str = ""
    branch: str = ""
    subjects: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()       # source ids
    citations: tuple[Citation, ...] = ()
    blocks: tuple[BlockRecord, ...] = ()
    removed: tuple[str, ...] = ()       # ids of pipeline blocks that a person took out
    lost: tuple[BlockRecord, ...] = ()  # these blocks as they were: one that is put back unchanged is known again
    properties: tuple[PropertyRecord, ...] = ()
    removed_properties: tuple[str, ...] = ()
    former_slugs: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    deleted: str = ""                   # when a person deleted the file; the row stays, so it stays deleted
    apart: tuple[str, ...] = ()         # ids of pages that are alike, and that a person does not want merged with it


@dataclass(frozen=True, slots=True)
class CandidateRecord:
    """A page, or an update of one, that waits for a person."""

    id: str                             # id of the page it is or will be
    path: str                           # of the candidate's file
    slug: str
    title: str
    kind: str                           # new | update
    target: str                         # vault path of the page it updates or will become
    base_hash: str                      # of the page's file when an update was made; empty for a new page
    file_hash: str                      # of the candidate's bytes as written, before a person edited them
    proposal_hash: str                  # of the proposal's content: a discarded one is not made again
    confidence: str
    reasons: tuple[str, ...]
    sources: tuple[str, ...]
    subject: str
    ingested: str
    state: str = "open"                 # open | promoted | discarded
    note: str = ""                      # reason given with discard
    page: str = ""                      # JSON of the PageRecord that promotion would record
    said_hash: str = ""                 # of what its file says, boxes and the spelling of properties aside
    shown_hash: str = ""                # of the words in the diff that it shows
    absorbs: str = ""                   # id of a page that becomes part of this one
    absorbs_hash: str = ""              # of that page's file when the merge was proposed


@dataclass(frozen=True, slots=True)
class EmbeddingRecord:
    """The embedding of one page; `id` is the page's."""

    id: str
    text_hash: str
    model: str
    vector: bytes                       # float32, little-endian, unit length


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """A model's validated reply, so that the same question is never paid for twice; `id` is the question's key."""

    id: str
    role: str
    model: str
    version: str                        # of the prompt
    reply: str                          # hash of the blob that holds it
    made: str


# --- findings --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong, in the state (`check`) or in the content (`lint`)."""

    check: str                          # name of the rule
    severity: str                       # error | warning
    page: str                           # vault path it concerns, or empty
    line: int                           # from 1; 0: the whole file
    message: str
    fix: str                            # what to do, or the command that does it
