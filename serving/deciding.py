"""Promoting and discarding candidates: one way for the terminal, REST and MCP, through the commit that nights use."""

from __future__ import annotations

from collections.abc import Sequence

from config.wiki import Wiki
from serving import look
from serving.schemas.review import ReviewAnswer
from tasks.digest import Problem
from tasks.records import CandidateRecord


def decide(
    wiki: Wiki,
    good: Sequence[CandidateRecord],
    bad: Sequence[CandidateRecord],
    reason: str = "",
    dry_run: bool = False,
) -> ReviewAnswer:
    """Promote the `good` and discard the `bad`; with `dry_run`, only what would be done. Raises BusyError."""
    if not (good or bad):
        return ReviewAnswer(run="", promoted=[], discarded=[], refused={})
    from flows import night
    from flows.night_steps.reading_in import Review, take_in
    from flows.session import looking
    from flows.steps import DirectRunner, utc_now

    reviews = [Review(one.slug, True) for one in good] + [Review(one.slug, False, reason) for one in bad]
    if dry_run:
        with looking(wiki, "review", utc_now()) as session:
            taken = take_in(session, reviews, ticks=False)
        promoted = [page.path for page in taken.promoted]
        return ReviewAnswer(
            run="", promoted=promoted, discarded=[*taken.discarded], refused=_refused(taken.problems)
        )
    report = night.review(wiki, DirectRunner(), utc_now(), reviews)
    waiting = {one.id for one in look.open_candidates(wiki)}
    return ReviewAnswer(
        run=report.run,
        promoted=[one.target for one in good if one.id not in waiting],
        discarded=[one.slug for one in bad if one.id not in waiting],
        refused=_refused(report.problems),
    )


def _refused(problems: Sequence[Problem]) -> dict[str, str]:
    """Why candidates were left, and what to do about it, by path."""
    return {one.subject: ". ".join(filter(None, (one.cause, one.next_step))) for one in problems}
