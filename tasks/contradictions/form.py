"""A sentence taken apart for the search of contradictions: what it says, when, with which figures, and how firmly.

A sentence that its source does not plainly state (a question, a rumour, a plan, a quotation, one about the source
itself) is left out, and so is text without spaces between words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from tasks.compiling.vocabulary import STOP_WORDS
from tasks.contradictions import words as known
from tasks.markdown import sentences


@dataclass(frozen=True, slots=True)
class When:
    """A point in time or a decade: `role` is at, since, until, before or after; 0 stands for what is not said."""

    role: str
    year: int
    month: int = 0
    day: int = 0
    span: int = 1         # years: 10 of a decade
    about: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """A number that counts or measures something."""

    value: float
    digits: int           # significant ones
    places: int           # after the point
    unit: str             # what is written to it, such as '%', '€' or 'kB'
    bound: str = ""       # 'about', or the words that make it a limit
    shown: str = field(default="", compare=False)  # as it is written


@dataclass(frozen=True, slots=True)
class Token:
    """A content word of a sentence, or one of its figures."""

    word: str             # stem; '#' for a figure
    name: bool = False    # written with a capital, or a designation such as Z3
    figure: Figure | None = None
    after: str = ""       # punctuation and the like that stands before it, with the function words in between


@dataclass(frozen=True, slots=True)
class Form:
    """What a sentence says, in the order in which it says it."""

    tokens: tuple[Token, ...]
    whens: tuple[When, ...]
    negated: bool
    tense: str            # past, present, future, or '' where no auxiliary tells
    rest: str = ""        # what stands behind the last token

_DIGIT = re.compile(r"\d")
_LONGEST, _SHORTEST = 320, 12  # characters of a sentence that is looked at


def plainly_said(text: str, following: str = "") -> bool:
    """Whether a sentence is its source's own plain statement; `following` is the sentence after it, if known."""
    if not _SHORTEST <= len(text) <= _LONGEST or sentences.is_cjk(text) or "://" in text:
        return False
    if text.rstrip("\"'”’)").endswith(("?", "!", "…", ":")) or known.QUOTED.search(text) or "`" in text:
        return False
    if known.NOT_ITS_OWN.search(text) or known.LOWER_CASE.search(text):
        return False
    return not (following and known.REJECTED_NEXT.match(following))


def needs_a_subject(text: str) -> bool:
    """Whether a sentence is about what the sentence before it names."""
    return known.PRONOUN.match(text) is not None


def form_of(text: str, own: frozenset[str]) -> Form | None:
    """A sentence taken apart, or None when it cannot be done with certainty; `own` are stems of its subject's names."""
    text = re.sub(r"\([^()]*\)|\[[^\[\]]*\]", " ", sentences.unmarked(text))
    whens, rest = _whens(text)
    if known.RANGE.search(rest) or known.PARTIAL.search(rest):
        return None
    negated = known.NEGATED.search(rest)
    if negated:
        verb = known.DENIES.sub(" ", negated.group())
        rest = rest[: negated.start()] + verb + rest[negated.end() :]
    if known.OTHER_NEGATION.search(rest):
        return None
    tense = next((name for name, found in known.TENSES if found.search(text)), "")
    tokens, tail = _tokens(rest, own)
    return Form(tuple(tokens), tuple(sorted(whens, key=repr)), negated is not None, tense, tail)


def _whens(text: str) -> tuple[list[When], str]:
    """The points in time that a text names, and the text without them."""
    if not _DIGIT.search(text):
        return [], text
    found: list[When] = []
    pieces, at = [], 0
    for match in known.DATE.finditer(text):
        part = match.groupdict()
        year = int(part["y1"] or part["y2"] or part["y3"] or part["iy"] or part["y4"] or 0)
        only_year = part["y4"] is not None
        role = " ".join((part["role"] or "").lower().split())
        if only_year and not (role or part["about"] or part["decade"] or _stands_alone(text, match)):
            continue
        month = known.MONTHS.get((part["month"] or part["month2"] or part["month3"] or "").lower(), 0)
        day = int(part["day"] or part["day2"] or part["iday"] or 0)
        span = 10 if part["decade"] else 1
        month = int(part["imonth"]) if part["imonth"] else month
        found.append(When(known.ROLE_OF.get(role, "at"), year, month, day, span, bool(part["about"])))
        pieces.append(text[at : match.start()])
        at = match.end()
    return found, " ".join([*pieces, text[at:]])


def _stands_alone(text: str, match: re.Match[str]) -> bool:
    """Whether a bare number between 1000 and 2099 is a year: after a German auxiliary, or between punctuation."""
    before, after = text[: match.start()].rstrip(), text[match.end() :].lstrip()
    if re.search(r"\b(?:wurde|wurden|war|waren|ist|and|und|et|y)$", before, re.I):
        return before[-3:].lower() not in ("and", "und") or not re.match(r"[^\W\d_]", after)
    return (not before or before[-1] in ",;:") and (not after or after[0] in ",;.:")


def _tokens(text: str, own: frozenset[str]) -> tuple[list[Token], str]:
    found: list[Token] = []
    gap = ""
    for match in known.TOKEN.finditer(text):
        if match["mark"]:
            gap += match["mark"]
            continue
        if match["number"]:
            figure = _figure(text, match)
            if _designates(text, match, found, gap):
                found.append(Token(match["number"], True, None, gap))
            elif match["stuck"] and match["stuck"].lower() in ("st", "nd", "rd", "th"):
                found.append(Token(match["number"] + "th", True, None, gap))
            else:
                found.append(Token("#", False, figure, gap))
            gap = ""
            continue
        word = match["word"]
        low = word.lower()
        if low in known.NUMBER_WORDS:
            value = float(known.NUMBER_WORDS[low])
            digits = len(str(int(value)).strip("0"))
            found.append(Token("#", False, Figure(value, digits, 0, "", _bound(text, match.start()), word), gap))
            gap = ""
        elif low in known.SCALES and found and found[-1].figure is not None and not gap.strip():
            last = found[-1].figure
            scaled = replace(last, value=last.value * known.SCALES[low], shown=f"{last.shown} {word}")
            found[-1] = replace(found[-1], figure=scaled)
        elif low in STOP_WORDS or (len(low) == 1 and not word.isupper()):
            gap += f" {low} "
        elif sentences.stem(low) not in own:
            name = word[0].isupper() and match.start() > 0 and text[: match.start()].strip() != ""
            name = name or (len(word) > 1 and word.isupper()) or any(char.isdigit() for char in word)
            found.append(Token(sentences.stem(low), name, None, gap))
            gap = ""
    return found, gap


def _designates(text: str, match: re.Match[str], found: list[Token], gap: str) -> bool:
    """Whether a number is part of a name, as in 'Apollo 11' or 'version 2'."""
    if not found or gap.strip() or match["money"] or match["stuck"]:
        return False
    before = re.search(r"([^\W\d_][\w'’-]*)\s$", text[: match.start()])
    return before is not None and (before[1][0].isupper() or before[1].lower() in known.NUMBERED)


def _figure(text: str, match: re.Match[str]) -> Figure:
    written = re.sub(r"[,\u202f\u00a0' ]", "", match["number"])
    whole, _, places = written.partition(".")
    digits = len((whole + places).lstrip("0")) if places else len(whole.strip("0") or "0")
    unit = (match["money"] or "").strip() + (match["stuck"] or "").lower()
    return Figure(float(written), digits, len(places), unit, _bound(text, match.start()), match.group().strip())


def _bound(text: str, at: int) -> str:
    before = text[max(0, at - 24) : at]
    limit = known.BOUND.search(before)
    return limit[1].lower() if limit else "about" if known.ROUGHLY.search(before) else ""
