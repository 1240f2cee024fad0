"""Whether two sentences that a model sets against each other really contradict each other: told by looking at them.

Both must stand word for word at their places, speak of the same thing at the same time, be said in the source's own
name, and differ in a figure, a name or a denial. What only seems to clash is refused, with the reason.
"""

from __future__ import annotations

import re

from tasks.compiling.overlap import figures
from tasks.contradictions.claims import Claim, Clash, ClashKind, clash_id
from tasks.coverage.negation import DENIAL
from tasks.markdown import sentences

_REPORTED = re.compile(
    r"\b(?:claim(?:s|ed|ing)?|alleg\w+|myth|legend|rumou?r\w*|suppos\w+|wrongly|mistaken\w*|falsely|erroneous\w*|"
    r"incorrect\w*|so-called|contrary to|once (?:thought|believed)|(?:was|were|is|are) (?:long )?(?:thought|believed)|"
    r"critics|opponents|skeptics|sceptics|some (?:say|argue|believe|think)|denie[sd]|reject\w*|disput\w+|"
    r"angeblich|fälschlich\w*|irrtümlich\w*|behaupte\w+|prétend\w*|à tort)\b|"
    r"据称|據稱|误以为|誤以為|谣|謠|传说|とされていた|誤って",
    re.I,
)
_YEAR = re.compile(r"(?<!\d)(?:1[0-9]|20)\d\d(?!\d)")
_MONTHS = frozenset(
    re.findall(
        r"\w+",
        "January February March April May June July August September October November December "
        "Januar Februar März Mai Juni Juli Oktober Dezember",
    )
)
_NAME = re.compile(r"(?<=\s)[A-ZÀ-ÞА-Я][^\W_][\w’'-]*")


def refused(
    old: str, new: str, title: str, scopes: tuple[str, str] = ("", ""), dates: tuple[str, str] = ("", "")
) -> str:
    """Why two sentences are no contradiction, or ''. `scopes` and `dates` are what the model read out of them."""
    if " ".join(old.split()) == " ".join(new.split()):
        return "both say the same"
    for text in (old, new):
        if text.rstrip().endswith(("?", "？")):
            return "one of them is a question"
        if _REPORTED.search(text):
            return "one of them reports what others say"
    if all(dates) and _moments(dates[0]) != _moments(dates[1]):
        return f"they hold at different times: {dates[0]} and {dates[1]}"
    first, second = (set(sentences.words(text)) for text in (old, new))
    own = set(sentences.words(title))
    common = {word for word in first & second if not word[0].isdigit()}
    if not common - own or len(common) < 2:
        return "they do not speak of the same thing"
    if all(scopes) and not set(sentences.words(scopes[0])) & set(sentences.words(scopes[1])):
        return f"they speak of different things: {scopes[0]} and {scopes[1]}"
    numbers, others = figures(old), figures(new)
    names = [{match.group() for match in _NAME.finditer(text)} for text in (old, new)]
    apart = bool(names[0] - names[1]) and bool(names[1] - names[0])
    denied = (DENIAL.search(old) is None) != (DENIAL.search(new) is None)
    smaller = min(len(first - own), len(second - own)) or 1
    alike = len(common - own) / smaller
    if numbers - others or others - numbers:
        if apart and not (names[0] | names[1]) <= _MONTHS:
            return "each names somebody or something that the other does not"
        years = [set(_YEAR.findall(text)) for text in (old, new)]
        rest = [numbers - years[0], others - years[1]]
        if all(years) and years[0].isdisjoint(years[1]) and all(rest) and rest[0] != rest[1]:
            return "each gives its own figure for its own year"
        return "" if alike >= 0.3 else "they have too little in common to be about the same thing"
    if denied:
        return "" if alike >= 0.4 else "they have too little in common to be about the same thing"
    if apart:
        return "" if alike >= 0.5 else "they have too little in common to be about the same thing"
    differs = first - second and second - first
    return "" if differs and alike >= 0.5 else "nothing in the two sentences differs"


def clash(subject: str, old: Claim, new: Claim, reason: str) -> Clash:
    """The record of a contradiction that a model found, kept because `refused` found nothing against it."""
    kind = ClashKind.STATED
    if figures(old.quote) != figures(new.quote):
        years = [set(_YEAR.findall(claim.quote)) for claim in (old, new)]
        kind = ClashKind.DATE if years[0] != years[1] and all(years) else ClashKind.NUMBER
    elif (DENIAL.search(old.quote) is None) != (DENIAL.search(new.quote) is None):
        kind = ClashKind.NEGATION
    return Clash(clash_id(old, new), subject, old.page_id, kind, old, new, reason)


def _moments(text: str) -> frozenset[str]:
    return frozenset(figures(text)) or frozenset({" ".join(text.lower().split())})
