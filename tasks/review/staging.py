"""Which proposals wait for a person."""

from __future__ import annotations

from config.settings import Staging
from tasks.compiling.confidence import LEVELS
from tasks.records import PageProposal


def hold_back(proposal: PageProposal, settings: Staging) -> tuple[str, ...]:
    """The reasons to hold a proposal back for review; empty means it may be published.

    What a compiler asks to stage (a source suspected of carrying instructions) waits under every policy.
    """
    if proposal.stage:
        return tuple(dict.fromkeys((*proposal.stage, *proposal.reasons)))
    if settings.policy == "all":
        return ("every page is reviewed", *proposal.reasons)
    if settings.policy == "threshold" and LEVELS.index(proposal.confidence) < LEVELS.index(settings.min_confidence):
        return (f"confidence is {proposal.confidence}, below {settings.min_confidence}", *proposal.reasons)
    return ()
