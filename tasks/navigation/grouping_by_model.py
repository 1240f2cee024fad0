"""A language model's word on where pages belong that stand in no category yet: one question for all of them.

It sees titles and first sentences, which are data. It may name a category that stands or a new one; it can rename,
empty or remove none, so that the index stays as it is from week to week.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from tasks.llm.ask import Asker, Part, Prompt, Role
from tasks.navigation.grouping import Bundle
from tasks.navigation.index_page import REST
from tasks.pages.slugs import fold

MOST_NEW = 30
"""New categories that one answer may make."""

_LONGEST = 50       # characters of a category's name
_TITLES = 5         # shown of a bundle or a category
_TITLE = 80         # characters of a title shown
_MOST_STANDING = 60  # categories shown, the largest ones
_VERSION = "1"
_ORDERS = f"""You arrange the index of a personal wiki. You are given its categories, each with some of its pages, and
bundles of pages that are in no category yet. For each bundle say which category it belongs to: one of the list, spelt
exactly as there, if it fits; else a new one. Bundles that belong together get the same new name. A new name is a noun
or a short noun phrase of one to four words, in the language of the titles, such as a library would use: not so broad
that every page fits, not so narrow that one page alone does. Leave a bundle out if it fits nowhere. Make as few new
categories as serve a reader, {MOST_NEW} at most. Use plain words without signs or markup."""
_MARKUP = re.compile(r"[\[\]|<>#^`*_~$%={}\\]|://")


class _Placed(BaseModel):
    bundle: str = Field(description="Such as b1.")
    category: str = Field(description="Name of the category.")


class _Arrangement(BaseModel):
    placed: list[_Placed] = Field(max_length=400)


@dataclass(frozen=True, slots=True)
class ByModel:
    """Implements `Grouper` with a language model."""

    asker: Asker

    def group(self, bundles: Sequence[Bundle], standing: Mapping[str, Sequence[str]]) -> Sequence[str]:
        """As `Grouper`. Raises ModelError when there is no usable answer."""
        names = [f"b{number}" for number in range(1, len(bundles) + 1)]
        shown = sorted(standing, key=lambda name: (-len(standing[name]), name))[:_MOST_STANDING]
        known = "\n".join(f"- {_short(name)}: {_listed(standing[name])}" for name in shown) or "(none yet)"
        loose = "\n".join(_told(name, bundle) for name, bundle in zip(names, bundles, strict=True))
        prompt = Prompt(Role.DECIDE, f"group-{_VERSION}", _ORDERS, (Part("categories", known), Part("bundles", loose)))
        exact = {fold(name): name for name in standing}

        def accept(reply: _Arrangement) -> str:
            said = [one.bundle for one in reply.placed]
            strange = next((name for name in said if name not in names), "")
            twice = next((name for name in said if said.count(name) > 1), "")
            if strange or twice:
                return f"there is no bundle {strange[:20]!r}" if strange else f"bundle {twice} stands twice"
            new = {fold(name): name for one in reply.placed if fold(name := _clean(one.category)) not in exact}
            wrong = next((why for name in new.values() if (why := _unfit(name))), "")
            if wrong:
                return wrong
            return f"{len(new)} new categories are too many: {MOST_NEW} at most" if len(new) > MOST_NEW else ""

        reply = self.asker.ask(prompt, _Arrangement, accept)
        chosen = {one.bundle: _clean(one.category) for one in reply.placed}
        return [exact.get(fold(said), said) if (said := chosen.get(name, "")) else "" for name in names]


def _unfit(name: str) -> str:
    """Why a name cannot be a heading; '' when it can, or when it stands for no category at all."""
    if not name or fold(name) == fold(REST):
        return ""
    if len(name) > _LONGEST:
        return f"the name {name[:20]!r}... is longer than {_LONGEST} characters"
    if _MARKUP.search(name) or not any(letter.isalpha() for letter in name):
        return f"the name {name!r} is no plain words"
    seen = name.replace("\u200c", "").replace("\u200d", "")  # joiners belong to the spelling of some scripts
    hidden = any(unicodedata.category(letter) in ("Cc", "Cf", "Co", "Cs", "Cn") for letter in seen)
    return f"the name {name!r} has letters that nobody sees" if hidden else ""


def _clean(name: str) -> str:
    """A name as a heading shows it."""
    return " ".join(unicodedata.normalize("NFC", name).split())


def _told(name: str, bundle: Bundle) -> str:
    if len(bundle.pages) == 1:
        page = bundle.pages[0]
        return f"{name} (1 page): {_short(page.title)}{f' - {_short(page.summary, 160)}' if page.summary else ''}"
    hint = f"; their words: {_short(bundle.hint)}" if bundle.hint else ""
    return f"{name} ({len(bundle.pages)} pages{hint}): {_listed([page.title for page in bundle.pages])}"


def _listed(titles: Sequence[str]) -> str:
    """Some of the titles, from all over the list."""
    step = max(1, len(titles) // _TITLES)
    return "; ".join(_short(title) for title in [*titles[::step]][:_TITLES])


def _short(text: str, most: int = _TITLE) -> str:
    return " ".join(text.split())[:most]
