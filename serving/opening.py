"""A wiki made ready to be searched, from wherever a question comes: terminal, REST or MCP."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from config.errors import NightwikiError
from config.wiki import Wiki, model_cache
from tasks.search.result import Degraded

if TYPE_CHECKING:
    from storage.search.engine import SearchedWiki
    from tasks.llm.ask import Asker


def ready(wiki: Wiki, cache: Path | None = None) -> SearchedWiki:
    """The wiki with its embedding model, and its language model where that chooses the branches."""
    from storage.search.engine import searched

    by_model = None
    if wiki.settings.search.routing == "model":
        from flows.asking import branch_chooser  # brings the ledger along, which no other search needs

        by_model = branch_chooser(wiki)
    return searched(wiki.state_dir, wiki.settings, cache or model_cache(), by_model)


def answering_model(wikis: Mapping[str, Wiki]) -> tuple[Asker | None, tuple[Degraded, ...]]:
    """The language model that answers from these wikis (by name) together; None, and why where one could be asked.

    What a wiki says is shown to no other model than the one that its own settings name. So where they do not all name
    the same, none is asked, and passages are quoted.
    """
    choices = [
        (wiki.settings.roles.answer or wiki.settings.model, wiki.settings.endpoint.base_url) for wiki in wikis.values()
    ]
    if not any(model for model, _ in choices):
        return None, ()
    if any(one != choices[0] for one in choices):
        models = ", ".join(f"{name}: {model or 'none'}" for name, (model, _) in zip(wikis, choices, strict=True))
        cause = f"the wikis do not name the same one ({models}), so it is not asked"
        return None, (Degraded("model", cause, "Ask one wiki alone, for its model's answer"),)
    from flows.asking import asker

    try:
        return asker(next(iter(wikis.values()))), ()
    except NightwikiError as error:
        return None, (Degraded("model", f"{error.subject}: {error.cause}", error.next_step),)
