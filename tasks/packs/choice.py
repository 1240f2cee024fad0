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
    block_json,
    citation_json,
    compact,
    counted,
    page_json,
    page_markdown,
    quoted,
    shown_goal,
)
from tasks.packs.passages import Piece, beginning, hidden_spans, whole, window
from tasks.packs.sections import cautioned, packed_page, section_of, words_of
from tasks.packs.token_count import TokenCounter, count_tokens
from tasks.search.found import Found, FoundPage

MOST_A_PAGE = 20
"""Passages of one page, when nothing else is said."""

SHARE = 0.4
"""Share of the budget's rest that one passage may take while other pages wait."""

FLOOR = 0.35
"""Pages below this share of the best page's relevance are noise to an agent."""

ALIKE = 0.85
"""Share of a passage's words that stand in one that was taken before, from which on it says nothing new."""

MOST_OMITTED = 20
_OMITTED_SHARE = 20  # the list of what was left out takes a twentieth of the budget at most
_REST = 0.1  # worth of a block that shares no word with the goal, beside one that answers
_FAIR = 250  # tokens that a passage may take however little is left
_TELLING = 5  # words from which on two passages can be said to be alike
_LEAST = 8  # tokens below which no part of a block is looked for
_JOINT = 2  # tokens that two texts may have more when they are put together


@dataclass(frozen=True, slots=True)
class Unit:
    """A block that may be taken."""

    worth: float
    page: int
    block: int


@dataclass(frozen=True, slots=True)
class _Sized:
    """A passage, its words, and about how many tokens it takes on its page."""

    piece: Piece
    words: frozenset[str]
    figures: frozenset[str]  # those of its words that hold a digit
    size: int


@dataclass(slots=True)
class _Packing:
    """A pack while it is being filled."""

    pages: Sequence[FoundPage]
    weights: Mapping[str, float]
    form: Form
    count: TokenCounter
    name_wiki: bool
    left: int  # tokens
    taken: list[tuple[int, _Sized]] = field(default_factory=list)  # page and passage, in the order taken
    held: dict[int, int] = field(default_factory=dict)  # passages of each page
    heads: dict[int, int] = field(default_factory=dict)  # tokens of each page's section without passages
    hidden: dict[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    repeating: set[int] = field(default_factory=set)  # pages of which a passage was left out as said before

    def head(self, page: int) -> int:
        """Tokens of a page's section beside its passages; 0 once it is in the pack."""
        if self.held.get(page):
            return 0
        if page not in self.heads:
            empty = packed_page(self.pages[page], ())
            text = compact(page_json(empty)) if self.form == "json" else page_markdown(empty, self.name_wiki, set())
            self.heads[page] = self.count(text) + _JOINT
        return self.heads[page]

    def whole(self, page: int, block: int) -> Piece:
        """A block of a page as it is shown."""
        if page not in self.hidden:
            self.hidden[page] = hidden_spans(self.pages[page].text)
        return whole(self.pages[page], block, self.hidden[page])

    def sized(self, page: int, piece: Piece) -> _Sized:
        """A passage with what it adds to its page's section: its text, its place and its citations."""
        section = section_of(self.pages[page], (piece,))
        if self.form == "json":  # cut as the whole is, so that its pieces are counted once
            size = self.count(f'":{compact(section.excerpt)},"source') - self.count('":"","source')
            blocks = [block_json(one) for one in section.blocks]
            size += self.count(compact([blocks, [citation_json(one) for one in section.citations]]))
        else:
            notes = "".join(f"[^{one.label}]: {one.location}#{one.place}\n" for one in section.citations)
            size = self.count(f"{quoted(section.excerpt)}\n\n{notes}")
        return _Sized(piece, *words_of(piece.text), size + _JOINT)

    def part(self, page: int, piece: Piece, limit: int) -> _Sized | None:
        """The best part of a block that takes at most `limit` tokens, or None."""
        room = limit
        for _ in range(3):  # the citations of a part are known only once it is chosen
            if room < _LEAST:
                return None
            found = window(self.pages[page], piece.block, self.hidden[page], room, self.weights, self.count)
            if found is None:
                return None
            sized = self.sized(page, found)
            if sized.size <= limit:
                return sized
            room -= max(1, sized.size - limit)
        return None

    def take(self, page: int, sized: _Sized) -> None:
        """Add a passage."""
        self.left -= sized.size + self.head(page)
        self.taken.append((page, sized))
        self.held[page] = self.held.get(page, 0) + 1

    def drop_last(self) -> None:
        """Take the passage out that was added last."""
        page, _ = self.taken.pop()
        self.held[page] -= 1

    def said(self, sized: _Sized) -> bool:
        """Whether a passage taken before says the same; another figure is another statement."""
        words = sized.words
        size = len(words)
        if size < _TELLING:
            return False
        some = tuple(islice(words, int((1 - ALIKE) * size) + 1))  # more words than two that are alike may differ in
        for _, one in self.taken:
            if one.words.isdisjoint(some) or not sized.figures <= one.figures:
                continue
            if len(words & one.words) >= ALIKE * max(size, len(one.words)):
                return True
        return False

    def pieces(self) -> dict[int, list[Piece]]:
        """The passages of each page."""
        found: dict[int, list[Piece]] = {}
        for page, sized in self.taken:
            found.setdefault(page, []).append(sized.piece)
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
    pages = [page for page in found.pages if page.relevance >= FLOOR * best]
    empty = _pack(goal, found, budget, form, {}, pages, (), len(pages))
    frame = counted(empty, count).tokens_used
    packing = _Packing(pages, found.weights, form, count, len(found.wikis) > 1, budget - frame)
    packing.left -= min(budget // _OMITTED_SHARE, 12 * len(pages))
    if frame <= budget:
        _fill(packing, max_per_page)
        pack = _fitting(goal, found, budget, packing)
        if pack is not None and (pack.pages or not pages or max_per_page < 1):
            return pack
    least = frame + (_least(packing) + _LEAST if pages else 0)
    least += least // (_OMITTED_SHARE - 1) + 1  # beside the list of what was left out
    raise NightwikiError(
        f"a budget of {budget} tokens", "is too small for a pack that holds anything", f"Ask for {least} or more"
    )


def _fill(packing: _Packing, max_per_page: int) -> None:
    for unit in offered(packing.pages):
        if packing.held.get(unit.page, 0) >= max_per_page or packing.left < _LEAST:
            continue
        piece = packing.whole(unit.page, unit.block)
        if not piece.text.strip():
            continue
        first, head = not packing.held.get(unit.page), packing.head(unit.page)
        limit = packing.left - head
        if len(packing.pages) > 1:
            limit = min(limit, max(int(SHARE * packing.left), _FAIR))
        if not first and len(piece.text) > 12 * limit:
            continue  # surely too long, so it need not be counted
        sized: _Sized | None = packing.sized(unit.page, piece)
        if sized is not None and packing.said(sized):
            packing.repeating.add(unit.page)
            continue
        if sized is not None and sized.size > limit:
            sized = packing.part(unit.page, piece, limit) if first else None
        if sized is not None:
            packing.take(unit.page, sized)
    if not packing.taken and packing.pages and max_per_page > 0:
        _take_beginning(packing)


def _take_beginning(packing: _Packing) -> None:
    """Of text without sentences that is longer than the budget: as much of the best block as fits."""
    for unit in offered(packing.pages)[:1]:
        piece = packing.whole(unit.page, unit.block)
        room = packing.left - packing.head(unit.page) - packing.sized(unit.page, replace(piece, text="")).size
        part = beginning(packing.pages[unit.page], unit.block, packing.hidden[unit.page], room, packing.count)
        if part is not None:
            packing.take(unit.page, packing.sized(unit.page, part))


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
        size = packing.sized(page, packing.whole(page, firsts[page])).size + packing.head(page)
        found.append(OmittedPage(packing.pages[page].hit.slug, size))
    return tuple(found)


def _least(packing: _Packing) -> int:
    """Tokens of the shortest section that any of the best pages could have."""
    sizes = []
    for page in range(min(5, len(packing.pages))):
        for block in packing.pages[page].blocks:
            if block.level:
                continue
            piece = packing.whole(page, block.number)
            part = window(packing.pages[page], block.number, packing.hidden[page], 60, packing.weights, packing.count)
            found = [packing.sized(page, one).size for one in (piece, part) if one is not None and one.text.strip()]
            sizes.append(packing.head(page) + min(found, default=60))
    return min(sizes, default=0)


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
