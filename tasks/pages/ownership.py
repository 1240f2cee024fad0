"""Who wrote which block of a page: the stored list of blocks against the blocks that are on disk now.

Equal hashes in the same order come first, then equal hashes elsewhere (moved blocks), then blocks that are alike
enough to be an edit of the one that stood there. What a person wrote, changed or copied is theirs; a pipeline block
that is gone counts as removed by a person. In doubt a block is the person's.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from tasks.markdown.blocks import Block, Resolve, normal_hash
from tasks.records import BlockKind, BlockRecord, Owner

ALIKE = 0.45
"""Share of common words from which a block is an edit of another one (Dice's coefficient)."""

ALIKE_ELSEWHERE = 0.7
"""The same for a block that was moved and edited at once."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+")


@dataclass(frozen=True, slots=True)
class Alignment:
    """The blocks on disk with their ids and owners, and the ids of pipeline blocks that are gone."""

    blocks: tuple[BlockRecord, ...]
    removed: tuple[str, ...]
    lost: tuple[BlockRecord, ...] = ()


def align(
    record: Sequence[BlockRecord],
    blocks: Sequence[Block],
    resolve: Resolve,
    before: Sequence[Block] = (),
    lost: Sequence[BlockRecord] = (),
) -> Alignment:
    """Ids and owners of `blocks`; `before` are the blocks that `record` was made of, where they are known.

    With `before`, a link that no longer resolves as it did (its page came or went) is no change either. `lost` are
    blocks that went earlier: one that is back unchanged (an undone deletion, a fence that was closed) is known again.
    """
    hashes = [normal_hash(block.kind, block.text, resolve) for block in blocks]
    present = set(hashes)
    known = []
    for number, old in enumerate(record):
        now = old.hash
        if len(before) == len(record):
            now = normal_hash(before[number].kind, before[number].text, resolve)
        known.append(now if now in present else old.hash)
    owners: dict[int, int] = {}
    for match in SequenceMatcher(None, known, hashes, autojunk=False).get_matching_blocks():
        owners.update(zip(range(match.b, match.b + match.size), range(match.a, match.a + match.size), strict=True))
    moved = _moved(known, hashes, owners)
    edited = _edited(record, blocks, before, owners | moved)
    found: list[BlockRecord] = []
    taken = {old.id for old in record}
    back = {old.hash: old for old in lost if old.id not in taken}
    copies: Counter[str] = Counter()  # equal blocks named so far: a log may hold thousands
    for number, block in enumerate(blocks):
        if number in owners:
            found.append(replace(record[owners[number]], kind=block.kind, hash=hashes[number]))
        elif number in moved:
            found.append(replace(record[moved[number]], kind=block.kind, hash=hashes[number], placed=True))
        elif number in edited:
            found.append(replace(record[edited[number]], kind=block.kind, hash=hashes[number], owner=Owner.PERSON))
        elif hashes[number] in back:
            found.append(replace(back.pop(hashes[number]), kind=block.kind))
        else:
            name = new_id(hashes[number], taken, copies[hashes[number]])
            copies[hashes[number]] += 1
            taken.add(name)
            found.append(BlockRecord(name, block.kind, hashes[number], Owner.PERSON))
    left = {block.id for block in found}
    gone = {old.id: old for old in (*lost, *record) if old.id not in left and is_pipeline_id(old.id)}
    return Alignment(tuple(found), tuple(gone), tuple(gone.values()))


def new_id(text_hash: str, taken: Collection[str], copies: int = 0) -> str:
    """An id for a person's block: 'u-' and 10 hex digits, not in `taken`; `copies` equal blocks have theirs already."""
    for number in range(copies, copies + len(taken) + 1):
        name = "u-" + hashlib.sha256(f"{text_hash}:{number}".encode()).hexdigest()[:10]
        if name not in taken:
            return name
    raise AssertionError("more ids than blocks")


def is_pipeline_id(name: str) -> bool:
    """Whether a block's id was given by a proposal."""
    return not name.startswith("u-")


def _moved(known: Sequence[str], hashes: Sequence[str], owners: dict[int, int]) -> dict[int, int]:
    """New position to old position of equal blocks that stand elsewhere; of several copies the first."""
    matched = set(owners.values())
    free: dict[str, list[int]] = {}
    for number, text_hash in enumerate(known):
        if number not in matched:
            free.setdefault(text_hash, []).append(number)
    found = {}
    for number, text_hash in enumerate(hashes):
        if number not in owners and free.get(text_hash):
            found[number] = free[text_hash].pop(0)
    return found


def _edited(
    record: Sequence[BlockRecord], blocks: Sequence[Block], before: Sequence[Block], matched: dict[int, int]
) -> dict[int, int]:
    """New position to old position of blocks that were changed: the most alike first, each block once."""
    old_left = sorted(set(range(len(record))) - set(matched.values()))
    new_left = sorted(set(range(len(blocks))) - set(matched))
    if not old_left or not new_left or len(before) != len(record):
        return {}
    words_old = {number: Counter(_WORD.findall(before[number].text.lower())) for number in old_left}
    words_new = {number: Counter(_WORD.findall(blocks[number].text.lower())) for number in new_left}
    back = {old: new for new, old in matched.items()}
    pairs = []
    for old in old_left:
        low = max((back[number] for number in range(old) if number in back), default=-1)
        high = min((back[number] for number in range(old + 1, len(record)) if number in back), default=len(blocks))
        for new in new_left:
            score = _dice(words_old[old], words_new[new])
            if record[old].kind is not blocks[new].kind and BlockKind.FOOTNOTE in (record[old].kind, blocks[new].kind):
                continue
            if score >= (ALIKE if low < new < high else ALIKE_ELSEWHERE):
                pairs.append((-score, abs(old - new), old, new))
    found: dict[int, int] = {}
    used: set[int] = set()
    for _, _, old, new in sorted(pairs):
        if new not in found and old not in used:
            found[new] = old
            used.add(old)
    return found


def _dice(one: Counter[str], other: Counter[str]) -> float:
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 0.0
