"""Evidence for an agent, inside a budget: search, then choose passages. No prose is written."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from config.errors import NightwikiError
from flows.answering.asked import look_up
from storage.search.engine import NO_FILTERS, Engine
from tasks.llm.ask import Asker
from tasks.packs.choice import MOST_A_PAGE, choose
from tasks.packs.pack import ContextPack, Form
from tasks.search.filters import Filters
from tasks.search.result import Degraded

TOKENS = 4000
"""The budget when none is named."""

LEAST_PAGES, MOST_PAGES = 12, 200
_TOKENS_A_PAGE = 150  # a budget asks for about as many pages as sections of this size would fill it


def build_pack(
    engine: Engine,
    goal: str,
    tokens: int = TOKENS,
    filters: Filters = NO_FILTERS,
    max_per_page: int = MOST_A_PAGE,
    exclude_ids: Collection[str] = (),
    as_of: str = "",
    asker: Asker | None = None,
    form: Form = "markdown",
    trouble: Sequence[Degraded] = (),
) -> ContextPack:
    """The pack for a goal; `pack.text`, in the form asked for, has at most `tokens` tokens.

    `exclude_ids` are ids or slugs of pages to leave out; `trouble` is what the caller met on its way here, to be said
    in the pack. With an asker, a goal of several parts is taken apart and one in another script than the wiki's is
    translated, and all are searched. The same snapshot and arguments give the same pack. Raises NightwikiError for an
    empty goal or a budget that holds nothing, StateError when nothing can be read.
    """
    if not goal.strip():
        raise NightwikiError(
            "goal", "is empty", 'Say what the pack is for: nightwiki context build "early computers"'
        )
    if tokens < 1:
        raise NightwikiError(f"a budget of {tokens} tokens", "holds nothing", f"Ask for {TOKENS} or so")
    count = min(MOST_PAGES, max(LEAST_PAGES, tokens // _TOKENS_A_PAGE))
    found = look_up(engine, goal, count, filters, exclude_ids, as_of, asker)
    told = replace(found.found, degraded=(*trouble, *found.found.degraded))
    return choose(goal, told, tokens, form, max_per_page)
