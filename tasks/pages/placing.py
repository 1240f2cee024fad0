"""Where blocks stand on a page: what moves, where new ones go, and the white space between them.

A person's blocks and what a person moved keep their place. Pipeline blocks follow the order of the proposal; as few
of them as possible are moved, and each takes along the person's blocks that hang on it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from tasks.compiling.proposed import marker, other_marker
from tasks.markdown import properties
from tasks.markdown.blocks import Block, split
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
    """`present` and `added` in one sequence without empty headings; `order` names the proposed ids in either.

    A page whose order a person has changed keeps it. Arranging the outcome again changes nothing.
    """
    rank = {name: number for number, name in enumerate(order)}
    inserted = _inserted(present, {name: [item] for name, item in added.items()}, order)
    groups: dict[str, list[Item]] = {}
    rest = _without(inserted, _to_move(inserted, rank), groups)
    moved = _inserted(rest, groups, order) if groups else inserted
    ranks = [rank[item.record.id] for item in moved if item.record.id in rank]
    found = _without_empty_headings(moved if ranks == sorted(ranks) else inserted)
    known = {item.record.id: item for item in (*present, *added.values()) if item.record.id in rank}
    for _ in known:
        # a heading that stood over nothing may be wanted where its text stands
        left = {item.record.id for item in found}
        emptied = {name: [item] for name, item in known.items() if name not in left}
        again = _without_empty_headings(_inserted(found, emptied, order)) if emptied else found
        if len(again) == len(found):
            break
        found = again
    return _told_apart(found)


def _told_apart(items: Sequence[Item]) -> list[Item]:
    """The items with another bullet for a list of ours that would run into the list beside it."""
    found = list(items)
    for number in range(1, len(found)):
        one, two = found[number - 1], found[number]
        if one.record.kind is two.record.kind is BlockKind.LIST and marker(one.text) == marker(two.text):
            if two.record.owner is Owner.PIPELINE:
                found[number] = replace(two, text=other_marker(two.text))
            elif one.record.owner is Owner.PIPELINE:
                found[number - 1] = replace(one, text=other_marker(one.text))
    return found


def _inserted(present: Sequence[Item], groups: Mapping[str, Sequence[Item]], order: Sequence[str]) -> list[Item]:
    """`present` with each group put where its first block belongs."""
    headings = {item.record.id for item in (*present, *(group[0] for group in groups.values())) if _is_heading(item)}
    found = list(present)
    section = ""
    for number, name in enumerate(order):
        section = name if name in headings else section
        if name in groups:
            at = _place(found, order[:number], order[number + 1 :], section, name in headings)
            found[at:at] = groups[name]
    return found


def _to_move(present: Sequence[Item], rank: Mapping[str, int]) -> set[str]:
    """Ids of the fewest blocks whose move restores the proposal's order; none where a person's stands against it."""
    items = [item for item in present if item.record.id in rank]
    ranks = [rank[item.record.id] for item in items]
    theirs = [rank[item.record.id] for item in items if item.fixed]
    if ranks == sorted(ranks) or theirs != sorted(theirs) or any(item.record.placed for item in items):
        return set()
    weight: list[int] = []
    before: list[int] = []
    for number, item in enumerate(items):
        options = [(weight[k], k) for k in range(number) if ranks[k] < ranks[number]]
        best, at = max(options, default=(0, -1))
        weight.append(best + (len(items) + 1 if item.fixed else 1))
        before.append(at)
    staying: set[int] = set()
    at = max(range(len(items)), key=lambda k: weight[k])
    while at >= 0:
        staying.add(at)
        at = before[at]
    return {item.record.id for number, item in enumerate(items) if number not in staying}


def _without(present: Sequence[Item], moving: Collection[str], groups: dict[str, list[Item]]) -> list[Item]:
    """The blocks that stay; `groups` takes those that move, each with the person's blocks that hang on it."""
    found: list[Item] = []
    group: list[Item] | None = None
    for item in present:
        if item.record.id in moving:
            group = groups[item.record.id] = [item]
        elif group is not None and item.foreign and _hangs(item):
            group.append(item)
        else:
            group = None
            found.append(item)
    return found


def _place(found: Sequence[Item], earlier: Sequence[str], later: Sequence[str], section: str, heading: bool) -> int:
    """Index for a new block: behind the nearest earlier one and what hangs on it, else before a later one."""
    position = {item.record.id: number for number, item in enumerate(found)}
    if not heading and section in position:
        earlier = earlier[earlier.index(section) :]
    for name in reversed(earlier):
        if name in position:
            at = position[name] + 1
            while at < len(found) and _hangs(found[at]) and _passes(found[at], heading, later):
                at += 1
            return at
    for name in later:
        if name in position:
            return position[name]
    at = len(found)
    while at and found[at - 1].record.kind is BlockKind.FOOTNOTE:
        at -= 1
    return at


def _passes(item: Item, heading: bool, later: Sequence[str]) -> bool:
    return item.foreign or (heading and item.record.id not in later)


def _is_heading(item: Item) -> bool:
    return item.record.kind is BlockKind.HEADING and item.level > 1


def _hangs(item: Item) -> bool:
    return item.record.kind not in (BlockKind.HEADING, BlockKind.FOOTNOTE)


def _without_empty_headings(items: Sequence[Item]) -> list[Item]:
    """The items without pipeline headings under which nothing is left; the page's title stays."""
    found: list[Item] = []
    following: Item | None = None
    for item in reversed(items):
        over = following is None or (following.record.kind is BlockKind.HEADING and following.level <= item.level)
        if _is_heading(item) and not item.fixed and over:
            continue
        if item.record.kind is not BlockKind.FOOTNOTE:
            following = item
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
    if not on_disk and head:
        # pieces of a proposal are one block each wherever they stand
        return items, _as_blocks(items, text), text
    blocks = _read_back(text, items, head)
    return (items, blocks, text) if blocks is not None else _step_by_step(body, on_disk, disk, items, head)


def _as_blocks(items: Sequence[Item], text: str) -> tuple[Block, ...]:
    found = []
    end = 0
    for item in items:
        start = text.index(item.text, end)
        end = start + len(item.text)
        found.append(Block(item.record.kind, item.text, start, end, item.level))
    return tuple(found)


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

    if not attempt([item for item in goal if item.origin >= 0]):
        attempt([wanted.get(old.origin, old) for old in disk])
    for old in disk:
        new = wanted.get(old.origin)
        if new is not None and new not in current:
            any(attempt([form if item.origin == old.origin else item for item in current]) for form in _forms(new))
    leaving = [item.origin for item in current if item.origin not in wanted]
    for origin in leaving:
        attempt([item for item in current if item.origin != origin])
    for number, item in enumerate(goal):
        if item.origin >= 0:
            continue
        before = {other.record.id for other in goal[:number]}
        first = max((n + 1 for n, other in enumerate(current) if other.record.id in before), default=0)
        places = sorted(range(len(current) + 1), key=lambda n: (abs(n - first), n))
        options = [(place, form) for place in places for form in _forms(item)]
        any(attempt([*current[:place], option, *current[place:]]) for place, option in options)
    for origin in leaving:
        attempt([item for item in current if item.origin != origin])
    text = _joined(body, on_disk, current, head)
    return current, split(text), text


def _forms(item: Item) -> tuple[Item, ...]:
    """The item, and a list with the other bullet besides: beside another list it would else run into it."""
    if item.record.kind is not BlockKind.LIST:
        return (item,)
    return (item, replace(item, text=other_marker(item.text)))


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
    if (not on_disk or previous.origin != len(on_disk) - 1) and not last.strip(" \t"):
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
    notes = item.record.kind is BlockKind.FOOTNOTE is previous.record.kind
    if notes and "\n" not in previous.text and "\r" not in previous.text:
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
