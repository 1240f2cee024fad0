"""Whether a written sentence says no more than the words it cites: told without a model, by looking.

Looked at is whether the quoted words stand at the cited place, whether every number, name and other content word of
the sentence stands in the sentences quoted, and whether it relates them as these do (`relations`). Words that carry no
fact of their own (`words.GLUE`) are free. The check errs on the side of doubt: a faithful sentence in other words is
`uncovered`, and a person looks at it. A quotation too short to bear its sentence out becomes the whole sentence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tasks.coverage.names import missing_names
from tasks.coverage.negation import DENIAL, leaves_out_denial
from tasks.coverage.numbers import exact_numbers, plain_numbers, signs, western
from tasks.coverage.quotes import bare, locate, sentences_around, units
from tasks.coverage.relations import DENIES, doubt
from tasks.coverage.words import content_words, missing_poles

_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]*://|www\.|mailto:|javascript:|data:)[^\s)>\]]+|[\w.+-]+@[\w-]+\.\w+", re.I)
_RUN = 3  # words of which a loop is made
_LONGEST_QUOTE = 600  # characters of a quotation that is made whole
_INVENTED = 0.5
"""Below this share of content words found at the place, a sentence is not a paraphrase of it."""


class State(StrEnum):
    """What a sentence is worth."""

    COVERED = "covered"      # says what the cited words say
    UNCOVERED = "uncovered"  # its words stand there in part, or otherwise related: a person should look
    INVENTED = "invented"    # cites nothing that stands anywhere, or gives numbers and names that do not stand there


@dataclass(frozen=True, slots=True)
class Quoted:
    """Words that a sentence relies on, and the text of the place where they should stand."""

    quote: str
    place: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """The verdict; `quotes` are those that stand, as the place has them and made whole where need be, in order."""

    state: State
    missing: tuple[str, ...] = ()
    reason: str = ""
    quotes: tuple[str, ...] = ()


def check(sentence: str, cited: Sequence[Quoted], context: str = "", titles: str = "") -> Coverage:
    """What a sentence is worth by the words it cites.

    `context` are names that it may use besides, such as the page's title; `titles` words of which the place speaks,
    such as its headings: they lend words, but neither a name nor a number.
    """
    found = [(quote, one.place) for one in cited if (quote := locate(one.quote, one.place))]
    if not found:
        why = "it cites nothing" if not cited else "the words it cites do not stand at their place"
        return Coverage(State.INVENTED, (), why)
    spans = [sentences_around(quote, place) for quote, place in found]
    given = tuple(quote for quote, _ in found)
    if any(bare(sentence) == bare(unit) for quote in given for unit in (quote, *units(quote))):
        return Coverage(State.COVERED, (), "", given)
    own = _doubts(sentence, "\n".join(given), context, titles)
    quotes = given if not own else tuple(span if len(span) <= _LONGEST_QUOTE else quote
                                         for span, quote in zip(spans, given, strict=True))
    places = "\n".join(dict.fromkeys(place for _, place in found))
    state, missing, reason = _held_against(sentence, places, f"{context}\n{titles}")
    if state is State.COVERED:
        near = "\n".join(dict.fromkeys(spans))
        missing = _doubts(sentence, near, context, titles)
        reason = f"{_listed(missing)} does not stand in the cited sentence" if missing else ""
        cited_units = [one for span in spans for one in units(span)]
        reason = reason or doubt(sentence, cited_units, context)
        if not reason and (denial := leaves_out_denial(sentence, cited_units, DENIES)):
            reason = f"the cited sentence denies it with '{denial}'"
        state = State.UNCOVERED if reason else State.COVERED
    return Coverage(state, missing, reason, quotes)


def _held_against(sentence: str, places: str, context: str) -> tuple[State, tuple[str, ...], str]:
    """The verdict by the whole places: what does not even stand there is invented."""
    sentence, places = western(sentence), western(places)
    ground = f"{places}\n{context}"
    if loop := _loop(sentence, places):
        return State.INVENTED, (loop,), f"it says '{loop}' again and again"
    addresses = tuple(one for one in _ADDRESS.findall(sentence) if one.rstrip("/.,;:!?") not in ground)
    if addresses:
        return State.INVENTED, addresses, f"the address {_listed(addresses)} does not stand at the cited place"
    numbers = tuple(sorted(plain_numbers(sentence) - plain_numbers(ground)))
    if numbers:
        return State.INVENTED, numbers, f"{_listed(numbers)} does not stand at the cited place"
    names = missing_names(sentence, ground, alike=True)
    if names:
        return State.INVENTED, names, f"{_listed(names)} does not stand at the cited place"
    words = content_words(sentence, ground)
    missing = words.missing
    if missing and len(missing) > _INVENTED * words.count:
        return State.INVENTED, missing, f"{_listed(missing)} stands nowhere near the cited words"
    if missing:
        return State.UNCOVERED, missing, f"{_listed(missing)} does not stand at the cited place"
    denied = DENIAL.search(sentence)
    if denied and not DENIAL.search(places):
        return State.INVENTED, (denied[0],), f"it says '{denied[0]}', the cited place does not"
    return State.COVERED, (), ""


def _loop(sentence: str, places: str) -> str:
    """Words that a sentence says three times and more, and its place less often; '' for none."""
    words = sentence.split()
    runs = Counter(" ".join(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1))
    flat = " ".join(places.split())
    return next((run for run, count in runs.items() if count >= 3 and flat.count(run) < count), "")


def _doubts(sentence: str, near: str, context: str, titles: str) -> tuple[str, ...]:
    """What of a sentence does not stand in the cited words and the names it may use."""
    sentence, near = western(sentence), western(near)
    lent = f"{near}\n{context}"
    found = [*sorted(exact_numbers(sentence) - exact_numbers(lent)), *missing_names(sentence, lent, alike=False)]
    found += content_words(sentence, f"{lent}\n{titles}").missing
    found += missing_poles(sentence, lent)
    found += sorted(signs(sentence) - signs(lent))
    denied = DENIAL.search(sentence)
    if denied and not DENIAL.search(near):
        found.append(denied[0])
    return tuple(dict.fromkeys(found))


def _listed(words: Iterable[str]) -> str:
    shown = [f"'{word}'" for word in words]
    return ", ".join(shown[:4]) + (f" and {len(shown) - 4} more" if len(shown) > 4 else "")
