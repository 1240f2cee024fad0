"""Where blocks stand on a page: what moves, where new ones go, and the white space between them.

A person's blocks and what a person moved keep their place. Pipeline blocks follow the order of the proposal; as few of them
as possible are moved, and each takes along the person's blocks that hang on it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tasks import properties
from tasks.blocks import Block, split
from tasks.proposed import other_marker
from tasks.records import BlockKind, BlockRecord, Owner


@dataclass(frozen=True, slots=True)
class Item:
    """A block on its way into a page; `origin` is its place on disk, -1 for a new one."""

    record: BlockRecord
    text: str
    level: int = 0
    origin: int = -1

    @property
    def fixed(self) -> bool:
        """Whether the block stays where it stands."""
        return self.record.owner is Owner.PERSON or self.record.placed

    @property
    def foreign(self) -> bool:
        """Whether no proposal ever spoke of the block."""
        return self.record.id.startswith("u-")


Arrange = Callable[[Mapping[str, Item], Sequence[Item]], list[Item]]


def placed_items(present: Sequence[Item], added: Mapping[str, Item], order: Sequence[str]) -> list[Item]:
    """`present` and `added` in one sequence; `order` names the proposed ids, as far as they are in either."""
    rank = {name: number for number, name in enumerate(order)}
    staying = _staying(present, rank)
    found: list[Item] = []
    groups: dict[str, list[Item]] = {name: [item] for name, item in added.items()}
    group: list[Item] | None = None
    for item in present:
        if item.record.id in rank and item.record.id not in staying:
            group = groups[item.record.id] = [item]
        elif group is not None and item.foreign and item.record.kind is not BlockKind.HEADING:
            group.append(item)
        else:
            group = None
            found.append(item)
    for number, name in enumerate(order):
        if name in groups:
            at = _place(found, order[:number], order[number + 1 :])
            found[at:at] = groups[name]
    return found


def _staying(present: Sequence[Item], rank: Mapping[str, int]) -> set[str]:
    """Ids of the proposed blocks that need not move: the weightiest rising run, fixed ones weigh most."""
    items = [item for item in present if item.record.id in rank]
    ranks = [rank[item.record.id] for item in items]
    if all(one < two for one, two in zip(ranks, ranks[1:], strict=False)):
        return {item.record.id for item in items}
    best: list[int] = []
    before: list[int] = []
    for number, item in enumerate(items):
        weight = len(items) + 1 if item.fixed else 1
        options = [(best[k], -k) for k in range(number) if ranks[k] < ranks[number]]
        top = max(options, default=(0, 1))
        best.append(top[0] + weight)
        before.append(-top[1])
    chain = {item.record.id for item in items if item.fixed}
    at = max(range(len(items)), key=lambda k: best[k])
    while at >= 0:
        chain.add(items[at].record.id)
        at = before[at]
    return chain


def _place(found: Sequence[Item], earlier: Sequence[str], later: Sequence[str]) -> int:
    """Index for a new block: behind the nearest earlier proposed block and what hangs on it, else before a later one."""
    position = {item.record.id: number for number, item in enumerate(found)}
    for name in reversed(earlier):
        if name in position:
            at = position[name] + 1
            while at < len(found) and found[at].foreign and _hangs(found[at]):
                at += 1
            return at
    for name in later:
        if name in position:
            return position[name]
    at = len(found)
    while at and found[at - 1].record.kind is BlockKind.FOOTNOTE:
        at -= 1
    return at


def _hangs(item: Item) -> bool:
    return item.record.kind not in (BlockKind.HEADING, BlockKind.FOOTNOTE)


def without_empty_headings(items: Sequence[Item]) -> list[Item]:
    """The items without pipeline headings under which nothing is left; the page's title stays."""
    found: list[Item] = []
    for item in reversed(items):
        heading = item.record.kind is BlockKind.HEADING and item.record.owner is Owner.PIPELINE and item.level > 1
        following = found[-1] if found else None
        if heading and (
            following is None
            or following.record.kind is BlockKind.FOOTNOTE
            or (following.record.kind is BlockKind.HEADING and following.level <= item.level)
        ):
            continue
        found.append(item)
    return found[::-1]


def compose(
    body: str,
    on_disk: Sequence[Block],
    disk: Sequence[Item],
    kept: Sequence[Item],
    added: Mapping[str, Item],
    arranged: Arrange,
    head: str,
) -> tuple[list[Item], tuple[Block, ...], str]:
    """The items that will stand on the page, and the blocks and the body they make; reads back as exactly these blocks.

    When the whole does not, changes are made one by one, each where the page still reads as intended, or not at all.
    """
    items = arranged(added, kept)
    text = _joined(body, on_disk, items, head)
    blocks = _read_back(text, items, head)
    return (items, blocks, text) if blocks is not None else _step_by_step(body, on_disk, disk, items, head)


def _step_by_step(
    body: str, on_disk: Sequence[Block], disk: Sequence[Item], goal: Sequence[Item], head: str
) -> tuple[list[Item], tuple[Block, ...], str]:
    current = list(disk)
    wanted = {item.origin: item for item in goal if item.origin >= 0}

    def attempt(trial: list[Item]) -> bool:
        nonlocal current
        if _read_back(_joined(body, on_disk, trial, head), trial, head) is not None:
            current = trial
            return True
        return False

    for old in disk:
        new = wanted.get(old.origin)
        if new is not None and new != old:
            attempt([new if item.origin == old.origin else item for item in current])
    for number, item in enumerate(goal):
        if item.origin >= 0:
            continue
        before = {other.record.id for other in goal[:number]}
        first = max((n + 1 for n, other in enumerate(current) if other.record.id in before), default=0)
        places = sorted(range(len(current) + 1), key=lambda n: (abs(n - first), n))
        texts = [item.text, other_marker(item.text)] if item.record.kind is BlockKind.LIST else [item.text]
        any(
            attempt([*current[:place], replace(item, text=text), *current[place:]]) for place in places for text in texts
        )
    for old in disk:
        if old.origin not in wanted and old.record.owner is Owner.PIPELINE:
            attempt([item for item in current if item.origin != old.origin])
    text = _joined(body, on_disk, current, head)
    return current, split(text), text


def _joined(body: str, on_disk: Sequence[Block], items: Sequence[Item], head: str) -> str:
    """The body that the items make; untouched stretches keep every byte, white space included."""
    ends = [0, *(block.end for block in on_disk)]
    starts = [*(block.start for block in on_disk), len(body)]
    gaps = [body[end:start] for end, start in zip(ends, starts, strict=True)]
    newline = _newline(head + body)
    pieces: list[str] = []
    previous: Item | None = None
    for item in items:
        pieces += [_gap(previous, item, gaps, on_disk, newline), _written(item, on_disk, newline)]
        previous = item
    if previous is None:
        return body if not on_disk else ""
    last = gaps[-1]
    if previous.origin != len(on_disk) - 1 and not last.strip(" \t"):
        last = newline
    return "".join([*pieces, last])


def _written(item: Item, on_disk: Sequence[Block], newline: str) -> str:
    if item.origin >= 0 and on_disk[item.origin].text == item.text:
        return item.text
    return item.text.replace("\n", newline)


def _gap(previous: Item | None, item: Item, gaps: Sequence[str], on_disk: Sequence[Block], newline: str) -> str:
    before = -1 if previous is None else previous.origin
    touched = item.origin < 0 or on_disk[item.origin].text != item.text
    if previous is not None:
        touched = touched or before < 0 or on_disk[before].text != previous.text
    if item.origin >= 0 and (previous is None or before >= 0) and item.origin == before + 1 and not touched:
        return gaps[item.origin]
    if previous is None:
        return gaps[0] if on_disk else newline
    if item.record.kind is BlockKind.FOOTNOTE is previous.record.kind and "\n" not in previous.text and "\r" not in previous.text:
        return gaps[item.origin] if item.origin >= 0 and item.origin == before + 1 else newline
    options = [newline * 2]
    if item.origin >= 0 and before >= 0 and item.origin > before:
        options += gaps[before + 1 : item.origin + 1]
    return max(options, key=lambda gap: gap.count(newline[-1]))


def _newline(text: str) -> str:
    at = text.find("\n")
    if at < 0:
        return "\r" if "\r" in text else "\n"
    return "\r\n" if at and text[at - 1] == "\r" else "\n"


def _read_back(body: str, items: Sequence[Item], head: str) -> tuple[Block, ...] | None:
    """The blocks of the body when they are the items and the properties end where they did, else None."""
    found = split(body)
    if len(found) != len(items):
        return None
    if head in ("", properties.BOM) and body.startswith("---") and properties.body_start(head + body) != len(head):
        return None
    for block, item in zip(found, items, strict=True):
        if block.text != item.text and re.sub(r"\r\n?", "\n", block.text) != item.text:
            return None
    return found
