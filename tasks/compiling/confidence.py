"""How far a page can be trusted, computed, and why not further, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.markdown import sentences

MANY_WORDS = 120
"""Words from which a page is not short."""

LEVELS = ("low", "medium", "high")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a judgement rests on."""

    quality: float = 1.0  # the best source's extraction quality, 0 to 1
    quality_reasons: tuple[str, ...] = ()
    supported: float = 1.0  # share of sentences whose content words stand at the cited place
    sentences: int = 0  # quoted on the page
    words: int = 0  # quoted on the page, cells of tables included; of many words only that there are as many
    sources: int = 1  # independent sources that say something of their own
    agreed: int = 0  # sentences that a second source also says
    defines: bool = False  # a source says what the subject is
    ambiguous: tuple[str, ...] = ()  # other pages or subjects it could belong to
    injection: bool = False  # a source carries instructions to a machine


@dataclass(frozen=True, slots=True)
class Judgement:
    """A level and the reasons why it is not higher."""

    level: str  # high | medium | low
    reasons: tuple[str, ...]


def judge(evidence: Evidence) -> Judgement:
    """The confidence in a page: each doubt caps the level, and is said."""
    cap, reasons = 2, []
    for level, reason in _doubts(evidence):
        cap = min(cap, level)
        reasons.append(reason)
    return Judgement(LEVELS[cap], tuple(reasons))


def _doubts(evidence: Evidence) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    if evidence.injection:
        found.append((0, "a source carries instructions to a machine"))
    if evidence.quality < 0.5:
        why = "; ".join(evidence.quality_reasons)
        found.append((0, f"the text of the source is doubtful{': ' + why if why else ''}"))
    elif evidence.quality < 0.8:
        why = "; ".join(evidence.quality_reasons)
        found.append((1, f"the text of the source is not clean{': ' + why if why else ''}"))
    if evidence.supported < 0.9:
        found.append((0, f"only {evidence.supported:.0%} of the sentences stand word for word at the cited place"))
    elif evidence.supported < 0.98:
        found.append((1, f"{evidence.supported:.0%} of the sentences stand word for word at the cited place"))
    if evidence.ambiguous:
        found.append((0, "the subject could also be " + " or ".join(evidence.ambiguous)))
    if evidence.words < 40:
        found.append((0, f"thin: {evidence.words} words in {_count(evidence.sentences, 'sentence')}"))
    elif evidence.words < MANY_WORDS:
        found.append((1, f"short: {evidence.words} words in {_count(evidence.sentences, 'sentence')}"))
    if evidence.sources < 2:
        found.append((1, "a single source"))
    elif not evidence.defines and evidence.agreed == 0:
        found.append((1, "no source defines the subject and no two of them agree"))
    return found


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def stands(sentence: str, place: str) -> float:
    """The share of a sentence's content words that stand in the text of the place it cites, 0 to 1."""
    wanted = set(sentences.words(sentence))
    return len(wanted & set(sentences.words(place))) / len(wanted) if wanted else 1.0


def supported_share(pairs: Sequence[tuple[str, str]], threshold: float = 0.9) -> float:
    """The share of (sentence, place) pairs where at least `threshold` of the content words stand at the place."""
    good = sum(sentence in place or stands(sentence, place) >= threshold for sentence, place in pairs)
    return good / len(pairs) if pairs else 1.0
