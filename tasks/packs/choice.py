"""Which passages go into a context pack: greedily by relevance, inside a budget that is hard.

Each page first offers the block that answers best, then the others; a block is worth its page's relevance times its
share of the page's best score. One passage takes at most `SHARE` of what is left of the budget, so that several pages
find a place in a small pack; a longer block is cut at sentence ends, and the cut is said. What a passage takes is
estimated while choosing; at the end the printed text itself is counted, and passages leave until it fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from config.errors import NightwikiError
from tasks.packs.pack import (
    ContextPack,
    Form,
    OmittedPage,
    counted,
    shown_goal,
)
from tasks.packs.passages import Piece, beginning, hidden_spans, whole, window
from tasks.packs.sections import cautioned, figures_of, packed_page, section_of, words_of
from tasks.packs.sizes import head_size, section_size
from tasks.packs.token_count import TokenCounter, count_tokens
from tasks.search.found import Found, FoundPage

MOST_A_PAGE = 20
"""Passages of one page, when nothing else is said."""

SHARE = 0.4
"""Share of the budget's rest that one passage may take while other pages wait."""

FLOOR = 0.35
"""Pages below this share of the best page's relevance are noise to an agent."""

BROAD = 0.5
"""Where not even the best page is as relevant as this, a goal that asks nothing is a broad one: every page that shares
a word with it may fill what is left of the budget, as in a small wiki that is all about the goal. A question has an
answer, and the rest of a page that comes near it holds that sooner than the best passage of a page that does not.
"""

_ASKS = ("?", "？", "؟", ";")  # the last is Greek
_FAINT = 0.05  # relevance of a packed page, at least: its best block comes before those of better ones that say nothing

ALIKE = 0.85
"""Share of a passage's words that stand in one that was taken before, from which on it says nothing new."""

MOST_OMITTED = 20
_OMITTED_SHARE = 20  # the list of what was left out takes a twentieth of the budget at most
_REST = 0.1  # worth of a block that shares no word with the goal, beside one that answers
_FAIR = 250  # tokens that a passage may take however little is left
_TELLING = 5  # words from which on two passages can be said to be alike
_LEAST = 8  # tokens below which no part of a block is looked for
_JOINT = 2  # tokens that two texts may have more when they are put together
_TRIALS = 20  # budgets that are tried before one is said to do
_TRIES = 4  # pages whose best block has no part that fits, after which no other is cut


@dataclass(frozen=True, slots=True)
class Unit:
    """A block that may be taken."""

    worth: float
    page: int
    block: int


@dataclass(frozen=True, slots=True)
class _Taken:
    """A passage in the pack."""

    page: int
    piece: Piece
    words: frozenset[int]  # hashes of its terms


@dataclass(slots=True)
class _Packing:
    """A pack while it is being filled."""

    pages: Sequence[FoundPage]
    weights: Mapping[str, float]
    form: Form
    count: TokenCounter
    name_wiki: bool
    left: int  # tokens
    frame: int  # tokens of the pack without any passage
    taken: list[_Taken] = field(default_factory=list)  # in the order in which they were taken
    held: dict[int, int] = field(default_factory=dict)  # passages of each page
    heads: dict[int, int] = field(default_factory=dict)  # tokens of each page's section without passages
    sizes: dict[tuple[int, int], int] = field(default_factory=dict)  # tokens of whole blocks by page and number
    hidden: dict[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    repeating: set[int] = field(default_factory=set)  # pages of which a passage was left out as said before
    missed: int = 0  # pages of whose best block no part fitted

    def head(self, page: int) -> int:
        """Tokens of a page's section beside its passages; 0 once it is in the pack."""
        if self.held.get(page):
            return 0
        if page not in self.heads:
            empty = packed_page(self.pages[page], ())
            self.heads[page] = head_size(empty, self.form, self.name_wiki, self.count) + _JOINT
        return self.heads[page]

    def whole(self, page: int, block: int) -> Piece:
        """A block of a page as it is shown."""
        if page not in self.hidden:
            self.hidden[page] = hidden_spans(self.pages[page].text)
        return whole(self.pages[page], block, self.hidden[page])

    def size(self, page: int, piece: Piece) -> int:
        """About how many tokens a passage adds to its page's section: its text, its place and its citations."""
        key = (page, piece.block)
        if piece.cut or key not in self.sizes:
            size = section_size(section_of(self.pages[page], (piece,)), self.form, self.count) + _JOINT
            if piece.cut:
                return size
            self.sizes[key] = size
        return self.sizes[key]

    def words(self, page: int, piece: Piece) -> frozenset[int]:
        """Hashes of a passage's terms."""
        return words_of(self.pages[page], piece)

    def part(self, page: int, piece: Piece, limit: int) -> Piece | None:
        """The best part of a block that takes at most `limit` tokens, or None."""
        room = limit
        for _ in range(3):  # the citations of a part are known only once it is chosen
            if room < _LEAST:
                return None
            found = window(self.pages[page], piece.block, self.hidden[page], room, self.weights, self.count)
            if found is None:
                return None
            size = self.size(page, found)
            if size <= limit:
                return found
            room -= max(1, size - limit)
        return None

    def take(self, page: int, piece: Piece) -> None:
        """Add a passage."""
        self.left -= self.size(page, piece) + self.head(page)
        self.taken.append(_Taken(page, piece, self.words(page, piece)))
        self.held[page] = self.held.get(page, 0) + 1

    def drop_last(self) -> None:
        """Take the passage out that was added last."""
        self.held[self.taken.pop().page] -= 1

    def said(self, page: int, piece: Piece) -> bool:
        """Whether a passage taken before says the same; another figure is another statement."""
        words = self.words(page, piece)
        size = len(words)
        if size < _TELLING:
            return False
        some = tuple(islice(words, int((1 - ALIKE) * size) + 1))  # more words than two that are alike may differ in
        for one in self.taken:
            if one.words.isdisjoint(some) or len(words & one.words) < ALIKE * max(size, len(one.words)):
                continue
            if figures_of(piece.text) <= figures_of(one.piece.text):
                return True
        return False

    def pieces(self) -> dict[int, list[Piece]]:
        """The passages of each page."""
        found: dict[int, list[Piece]] = {}
        for one in self.taken:
            found.setdefault(one.page, []).append(one.piece)
        return found


def choose(
    goal: str,
    found: Found,
    budget: int,
    form: Form = "markdown",
    max_per_page: int = MOST_A_PAGE,
    count: TokenCounter = count_tokens,
) -> ContextPack:
    """The pack for a goal: its text has at most `budget` tokens by `count`.

    Raises NightwikiError when the budget holds not even the shortest passage of what was found; it says how many
    tokens would do.
    """
    best = max((page.relevance for page in found.pages), default=0.0)
    broad = best < BROAD and not goal.rstrip().endswith(_ASKS)
    pages = _worth_packing(found.pages, FLOOR * best, broad)
    packing = _begun(goal, found, budget, pages, form, count)
    pack = _packed(goal, found, budget, packing, max_per_page)
    if pack is not None:
        return pack
    least = _least(packing, budget)
    for _ in range(_TRIALS):  # what is said to do, must do
        if _packed(goal, found, least, _begun(goal, found, least, pages, form, count), max_per_page) is not None:
            break
        least += max(_LEAST, least // 20)
    raise NightwikiError(
        f"a budget of {budget} token{'' if budget == 1 else 's'}",
        "is too small for a pack that holds anything",
        f"Ask for {least} or more",
    )


def _begun(
    goal: str, found: Found, budget: int, pages: Sequence[FoundPage], form: Form, count: TokenCounter
) -> _Packing:
    """A pack that holds no passage yet; what is left of its budget is less than nothing when its frame is too large."""
    frame = counted(_pack(goal, found, budget, form, {}, pages, (), len(pages)), count).tokens_used
    listed = min(budget // _OMITTED_SHARE, 12 * len(pages))
    return _Packing(pages, found.weights, form, count, len(found.wikis) > 1, budget - frame - listed, frame)


def _packed(
    goal: str, found: Found, budget: int, packing: _Packing, max_per_page: int
) -> ContextPack | None:
    """The pack, or None when the budget holds not even one passage of what was found."""
    if packing.frame > budget:
        return None
    _fill(packing, max_per_page)
    pack = _fitting(goal, found, budget, packing)
    held = pack is not None and (pack.pages or not packing.pages or max_per_page < 1)
    return pack if held else None


def _worth_packing(pages: Sequence[FoundPage], floor: float, broad: bool) -> list[FoundPage]:
    """The pages that may be packed, most relevant first: from `floor` on, for a broad goal all that share a word.

    Those of several wikis, or parts of a goal, come interleaved by rank.
    """
    chosen = [
        replace(page, relevance=max(page.relevance, _FAINT))
        for page in pages
        if page.relevance >= floor or (broad and any(block.score > 0 for block in page.blocks))
    ]
    return sorted(chosen, key=lambda page: -page.relevance)


def _fill(packing: _Packing, max_per_page: int) -> None:
    for unit in offered(packing.pages):
        if packing.held.get(unit.page, 0) >= max_per_page or packing.left < _LEAST:
            continue
        piece: Piece | None = packing.whole(unit.page, unit.block)
        if piece is None or not piece.text.strip():
            continue
        if packing.said(unit.page, piece):
            packing.repeating.add(unit.page)
            continue
        first, head = not packing.held.get(unit.page), packing.head(unit.page)
        limit = packing.left - head
        if len(packing.pages) > 1:
            limit = min(limit, max(int(SHARE * packing.left), _FAIR))
        if limit < _LEAST:
            continue
        # What is surely too long need not be counted.
        if len(piece.text) > 12 * limit or packing.size(unit.page, piece) > limit:
            piece = packing.part(unit.page, piece, limit) if first and packing.missed < _TRIES else None
            packing.missed += first and piece is None
        if piece is not None:
            packing.take(unit.page, piece)
    if not packing.taken and packing.pages and max_per_page > 0:
        _take_beginning(packing)


def _take_beginning(packing: _Packing) -> None:
    """Of text without sentences that is longer than the budget: as much of the best block as fits."""
    for unit in offered(packing.pages)[:1]:
        piece = packing.whole(unit.page, unit.block)
        room = packing.left - packing.head(unit.page) - packing.size(unit.page, replace(piece, text="", cut=True))
        part = beginning(packing.pages[unit.page], unit.block, packing.hidden[unit.page], room, packing.count)
        if part is not None:
            packing.take(unit.page, part)


def offered(pages: Sequence[FoundPage]) -> list[Unit]:
    """Every block in the order in which it is offered: by worth, then page, then place."""
    found = []
    for number, page in enumerate(pages):
        body = [block for block in page.blocks if not block.level]
        best = max((block.score for block in body), default=0.0)
        for place, block in enumerate(body):
            if best > 0:
                share = 0.3 + 0.7 * block.score / best if block.score > 0 else _REST
            else:
                share = 1.0 if place == 0 else _REST  # found by its meaning alone: what it begins with
            found.append(Unit(page.relevance * share, number, block.number))
    return sorted(found, key=lambda unit: (-unit.worth, unit.page, unit.block))


def _fitting(goal: str, found: Found, budget: int, packing: _Packing) -> ContextPack | None:
    """The pack of what was taken, counted as printed; passages leave, last ones first, until it fits."""
    while True:
        pieces = packing.pieces()
        omitted = len(packing.pages) - len(packing.repeating.union(pieces))
        left = _left_out(packing, budget // _OMITTED_SHARE)
        pack = _pack(goal, found, budget, packing.form, pieces, packing.pages, left, omitted)
        pack = counted(pack, packing.count)
        if pack.tokens_used > budget and left:  # the list of what was left out goes before a passage does
            pack = counted(replace(pack, omitted=()), packing.count)
        if pack.tokens_used <= budget:
            return pack
        if not packing.taken:
            return None
        packing.drop_last()


def _left_out(packing: _Packing, room: int) -> tuple[OmittedPage, ...]:
    """The first pages with no passage in the pack, and the tokens that the best one of each would have taken."""
    row = 14 if packing.form == "json" else 12
    firsts: dict[int, int] = {}
    for unit in offered(packing.pages):
        if not packing.held.get(unit.page) and unit.page not in packing.repeating:
            firsts.setdefault(unit.page, unit.block)
    found = []
    for page in sorted(firsts)[: min(MOST_OMITTED, room // row)]:
        size = packing.size(page, packing.whole(page, firsts[page])) + packing.head(page)
        found.append(OmittedPage(packing.pages[page].hit.slug, size))
    return tuple(found)


def _least(packing: _Packing, budget: int) -> int:
    """About how many tokens would do, more than `budget`: with the shortest section of any of the best pages."""
    sizes = []
    for page in range(min(5, len(packing.pages))):
        for block in packing.pages[page].blocks:
            if block.level:
                continue
            piece = packing.whole(page, block.number)
            part = window(packing.pages[page], block.number, packing.hidden[page], 60, packing.weights, packing.count)
            texts = [one for one in (piece, part) if one is not None and one.text.strip()]
            found = [packing.size(page, one) for one in texts]
            sizes.append(packing.head(page) + min(found, default=60))
    least = packing.frame + (min(sizes, default=0) + _LEAST if packing.pages else 0)
    return max(budget + 1, least + least // (_OMITTED_SHARE - 1) + 1)  # beside the list of what was left out


def _pack(
    goal: str,
    found: Found,
    budget: int,
    form: Form,
    pieces: Mapping[int, Sequence[Piece]],
    pages: Sequence[FoundPage],
    left: tuple[OmittedPage, ...],
    omitted: int,
) -> ContextPack:
    return ContextPack(
        shown_goal(goal, budget),
        budget,
        budget,
        tuple(cautioned(packed_page(pages[number], pieces[number])) for number in sorted(pieces)),
        left,
        omitted,
        found.snapshot,
        found.generated,
        found.gap,
        found.unknown,
        found.degraded,
        form,
    )
