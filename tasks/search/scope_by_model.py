"""A language model's choice of the branches that a question is put to; without an answer of it the keywords choose."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from config.errors import NightwikiError
from tasks.llm.ask import Asker, Part, Prompt, Role
from tasks.search.scope import MOST_BRANCHES, BranchEvidence, ByKeywords

log = logging.getLogger(__name__)

_VERSION = "1"
_SECONDS = 10.0  # that a search waits for the model before it chooses the branches by keywords
_ORDERS = (
    f"A wiki's pages are grouped in branches. Name the branches, {MOST_BRANCHES} at most, whose pages answer the "
    "question, as they are spelt in the list. Name none when you are not sure, or when it belongs to more."
)


class _Choice(BaseModel):
    branches: list[str] = Field(description="Names from the list; empty for the whole wiki.")


@dataclass(frozen=True, slots=True)
class ByModel:
    """Asks the model that `connect` gives, once for equal questions; None, or a failure: as `ByKeywords`."""

    connect: Callable[[], Asker | None]

    def choose(self, question: str, covered: float, branches: Sequence[BranchEvidence]) -> tuple[str, ...]:
        """As `BranchChooser`."""
        names = {one.name for one in branches}
        listed = "\n".join(f"- {one.name} ({one.pages} pages)" for one in branches)
        parts = (Part("branches", listed), Part("question", question))
        prompt = Prompt(Role.ROUTE, _VERSION, _ORDERS, parts, seconds=_SECONDS)

        def accept(choice: _Choice) -> str:
            unknown = [name for name in choice.branches if name not in names]
            if unknown:
                return f"there is no branch {unknown[0]!r}"
            return "" if len(choice.branches) <= MOST_BRANCHES else f"name {MOST_BRANCHES} at most"

        try:
            asker = self.connect()
            if asker is not None:
                return tuple(asker.ask(prompt, _Choice, accept).branches)
        except NightwikiError as error:
            log.warning("the branches are chosen by keywords: %s", error)
        return ByKeywords().choose(question, covered, branches)
