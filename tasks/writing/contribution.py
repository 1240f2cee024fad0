"""What one source gives to the wiki by a model's decisions: kept with the source, so that pages are put together again.

A page is the contributions of its live sources. When a source is corrected or leaves, only its own sentences change;
what it had put in the place of others' comes back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from tasks.contradictions.claims import Clash
from tasks.records import Citation

FORM = 1  # raised when contributions of an older form cannot be read

Verdict = Literal["ok", "out_of_scope", "skipped"]
Action = Literal["create", "update", "flag", "contradiction"]


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence as the model wrote it, plain text, with the words it relies on exactly as they stand there."""

    text: str
    citations: tuple[Citation, ...]
    covered: bool = True
    reason: str = ""  # why it is not covered


@dataclass(frozen=True, slots=True)
class OwnBlock:
    """A paragraph or list of one source on a page; `key` stays the same for as long as the block lives."""

    key: str
    section: str  # heading, empty for the lead
    kind: Literal["paragraph", "list"]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Superseded:
    """A sentence of another source that this one takes the place of, for as long as both stand as they are."""

    block: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Share:
    """What a source gives to one page."""

    subject: str  # subject key of the page
    title: str
    action: Action
    reason: str = ""
    aliases: tuple[str, ...] = ()
    type: str = ""
    tags: tuple[str, ...] = ()
    doubt: str = ""
    rivals: tuple[str, ...] = ()  # titles of what the subject could be instead
    blocks: tuple[OwnBlock, ...] = ()
    superseded: tuple[Superseded, ...] = ()
    left_out: tuple[str, ...] = ()  # invented sentences, each with the reason
    wanted: tuple[str, ...] = ()  # titles it would link to that are no pages
    clashes: tuple[Clash, ...] = ()
    refused: tuple[str, ...] = ()  # contradictions that were none, each with the reason


@dataclass(frozen=True, slots=True)
class Contribution:
    """All that came of one source."""

    source_id: str
    digest: str  # of the passages it was made from
    basis: str  # prompts and purpose it was decided for
    verdict: Verdict
    reason: str = ""
    shares: tuple[Share, ...] = ()
    cut: str = ""  # what of the source was not read, in words


@dataclass(frozen=True, slots=True)
class _Stored:
    form: int
    contribution: Contribution


_STORED = TypeAdapter(_Stored)


def encode(contribution: Contribution) -> bytes:
    """The contribution as JSON bytes, always the same for the same contribution."""
    return _STORED.dump_json(_Stored(FORM, contribution))


def decode(data: bytes) -> Contribution | None:
    """A contribution from JSON bytes, or None when there is none, or one of another form."""
    if not data:
        return None
    try:
        stored = _STORED.validate_json(data)
    except ValidationError:
        return None
    return stored.contribution if stored.form == FORM else None
