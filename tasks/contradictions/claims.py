"""Two sentences that contradict each other, as every module hands them about, and what a person decided on them.

A pair is known by its two sentences and their sources alone, so that a decision holds wherever the pair turns up
again, and no longer than both sentences stand as they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class ClashKind(StrEnum):
    NUMBER = "number"      # another figure of the same thing
    DATE = "date"          # another day or year of the same event
    NEGATION = "negation"  # one says that it is so, the other that it is not
    STATED = "stated"      # a compiler with a model says so


class Decision(StrEnum):
    """What became of a contradiction."""

    OPEN = "open"
    KEEP_OLD = "keep-old"
    TAKE_NEW = "take-new"
    BOTH = "both"            # both hold, each at its time
    DISMISSED = "dismissed"  # they only seem to contradict each other


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of a source that a page relies on, word for word, and where it stands."""

    page_id: str
    source_id: str
    target: str          # as `Citation.target`
    anchor: str          # as `Citation.anchor`
    quote: str
    published: str = ""  # date of the source, if it says so


@dataclass(frozen=True, slots=True)
class Clash:
    """Two claims about one subject that cannot both be right, or not at the same time."""

    id: str              # of `clash_id`
    subject: str         # subject key of the page
    page_id: str         # empty while the page is new
    kind: ClashKind
    old: Claim           # published, else known first
    new: Claim
    reason: str          # why they clash, in words a person understands


@dataclass(frozen=True, slots=True)
class ContradictionRecord:
    """A contradiction between runs. It is of these two sentences: when one of them changes it is another one."""

    id: str
    subject: str
    page_id: str
    kind: ClashKind
    old: Claim
    new: Claim
    reason: str
    state: Decision = Decision.OPEN
    opened: str = ""     # when it was found
    decided: str = ""    # when a person decided
    note: str = ""       # the reason that they gave
    old_when: str = ""   # of `both`: the time at which the old claim holds, in the person's words
    new_when: str = ""


def claim_hash(claim: Claim) -> str:
    """16 hex digits over a sentence, white space aside, and the source that says it."""
    words = " ".join(claim.quote.split())
    return hashlib.sha256(f"{claim.source_id}\x1f{words}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def clash_id(one: Claim, other: Claim) -> str:
    """The id of a pair of claims, in whatever order: 10 hex digits."""
    both = "\x1e".join(sorted((claim_hash(one), claim_hash(other))))
    return hashlib.sha256(both.encode()).hexdigest()[:10]


def known_as(clash: Clash, records: Mapping[str, ContradictionRecord]) -> ContradictionRecord | None:
    """The record of a clash: of the same sentences, or of the same two sources with more or less of a sentence."""
    if clash.id in records:
        return records[clash.id]
    return next((row for _, row in sorted(records.items()) if _same_pair(clash, row)), None)


def _same_pair(clash: Clash, row: ContradictionRecord) -> bool:
    straight = _within(clash.old, row.old) and _within(clash.new, row.new)
    return straight or (_within(clash.old, row.new) and _within(clash.new, row.old))


def _within(one: Claim, other: Claim) -> bool:
    """Whether two claims are of one source and one holds the other's words."""
    if one.source_id != other.source_id:
        return False
    first, second = (" ".join(claim.quote.split()) for claim in (one, other))
    return first in second or second in first
