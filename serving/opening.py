"""A wiki made ready to be searched, from wherever a question comes: terminal, REST or MCP."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from config.wiki import Wiki, model_cache

if TYPE_CHECKING:
    from storage.engine import SearchedWiki


def ready(wiki: Wiki, cache: Path | None = None) -> SearchedWiki:
    """The wiki with its embedding model, and its language model where that chooses the branches."""
    from storage.engine import searched

    by_model = None
    if wiki.settings.search.routing == "model":
        from flows.asking import branch_chooser  # brings the ledger along, which no other search needs

        by_model = branch_chooser(wiki)
    return searched(wiki.state_dir, wiki.settings, cache or model_cache(), by_model)
