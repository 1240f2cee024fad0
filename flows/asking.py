"""The language model of a wiki, ready to be asked: its settings, its budget on disk, and the answers it gave before."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from config.settings import Settings
from config.wiki import Wiki
from flows.session import Session
from flows.steps import utc_now
from storage.decisions import Decisions
from storage.spending import Spending
from tasks.llm.cached import CachedAsker
from tasks.llm.client import Client, connect
from tasks.llm.estimate import PlannedCalls, estimate, worth_asking
from tasks.records import DecisionRecord
from tasks.search.scope_by_model import ByModel

log = logging.getLogger(__name__)


class WikiAsker(CachedAsker):
    """Answers from what is known, else from the model; `decisions` holds what the next commit is to record."""

    def __init__(self, client: Client, decisions: Decisions) -> None:
        super().__init__(client, decisions)
        self.client, self.decisions = client, decisions


class _Place(NamedTuple):
    state_dir: Path
    settings: Settings


_readers: dict[_Place, WikiAsker] = {}
_guard = threading.Lock()


def branch_chooser(wiki: Wiki) -> ByModel:
    """Chooses branches by the wiki's language model, which is reached at the first question."""
    return ByModel(lambda: asker(wiki))


def asker(where: Session | Wiki) -> WikiAsker | None:
    """The asker of a run (its own; close it in the end) or of a wiki (shared by this process); None without a model.

    Raises MissingExtraError when the provider's library is not installed, ModelError when no key is found.
    """
    if isinstance(where, Session):
        decisions = Decisions(where.wiki.state_dir, where.now, where.state.blobs)
        return _connected(where.wiki, where.run, decisions)
    place = _Place(where.state_dir, where.settings)
    with _guard:
        found = _readers.get(place)
        if found is not None and not found.client.stopped:
            return found
        for old in [one for one in _readers if one.state_dir == place.state_dir]:  # its settings or its luck changed
            _readers.pop(old).close()
        made = _connected(where, "reading", Decisions(where.state_dir, utc_now()))
        if made is not None:
            _readers[place] = made
        return made


def _connected(wiki: Wiki, run: str, decisions: Decisions) -> WikiAsker | None:
    settings = wiki.settings
    client = connect(settings, Spending(wiki.state_dir, run, settings.budget, settings.time_zone))
    return WikiAsker(client, decisions) if client is not None else None


# --- what a commit records


def pending_decisions(session: Session) -> tuple[DecisionRecord, ...]:
    """What models decided and no snapshot holds yet, also in runs that were cut off and in questions of readers."""
    return Decisions(session.wiki.state_dir, session.now, session.state.blobs).pending()


def decisions_published(session: Session) -> None:
    """Drop the logs of decisions that the commit has published."""
    Decisions(session.wiki.state_dir, session.now, session.state.blobs).drop_published()


def go_ahead(session: Session, planned: Iterable[PlannedCalls], sources: int) -> bool:
    """Whether a run may make these calls: it asks whoever started it when they are worth asking about."""
    settings = session.wiki.settings
    expected = estimate(settings, planned, sources)
    log.info("The model is asked: %s", expected.sentence())
    return not worth_asking(settings, expected) or session.approve(expected)
