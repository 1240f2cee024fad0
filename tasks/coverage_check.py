"""Whether a written sentence says no more than the words it cites: told without a model, by looking.

Three things are looked at: that the quoted words stand at the cited place, that every number and name of the sentence
stands there too, and that its other content words do. Words that carry no fact of their own (`GLUE`) are free. The
check errs on the side of doubt: a faithful sentence in other words is `uncovered`, and a person looks at it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from tasks.compiling.vocabulary import STOP_WORDS
from tasks.markdown import sentences
from tasks.search import tokens

__all__ = ["Coverage", "Quoted", "State", "check", "locate"]

_SAME = str.maketrans(
    {
        **dict.fromkeys("‘’‛′`´", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒–—−", "-"),
        **dict.fromkeys("\u00a0\u2002\u2003\u2009\u202f\u3000\t\n\r", " "),
    }
)
_ENDS = " \"'“”„«»‘’.…,;:"
_NUMBER = re.compile(r"\d+(?:[.,:/\u202f'’]\d+)*")
_THOUSANDS = re.compile(r"(?<=\d)[,.'’\u202f](?=\d{3}(?!\d))")
_NAME = re.compile(r"(?<![.!?…。]\s)(?<!^)(?<=[\s(\[\"'“‘„«])[^\W\d_][\w'’-]*")
_SPELLED = {
    word: str(number)
    for number, words in enumerate(
        (
            "zero null",
            "one eins ein eine einen",
            "two zwei deux dos",
            "three drei trois tres",
            "four vier quatre cuatro",
            "five fünf cinq cinco",
            "six sechs seis",
            "seven sieben sept siete",
            "eight acht huit ocho",
            "nine neun neuf nueve",
            "ten zehn dix diez",
            "eleven elf onze once",
            "twelve zwölf douze doce",
        )
    )
    for word in words.split()
}
_ARTICLES = frozenset({"one", "ein", "eine", "einen", "once", "sept"})  # also words of other sense
_NEGATION = re.compile(
    r"\b(?:not|never|no|none|neither|nor|without|cannot|\w+n['’]t|nicht|nie|niemals|kein\w*|ohne|pas|jamais|aucun\w*|"
    r"sans|nunca|ningun\w*|не|никогда|нет|без)\b|不|没|沒|無|无|非|ない|ません|なし|않|없",
    re.I,
)
_PARTICLES = frozenset("的了是在和與与及之为為也都于於其有这這那個个はがをにのとでもやへただりれしている")
GLUE = frozenset(
    re.findall(
        r"\w+",
        """
    according account address allow also another appear around article as available base based because become begin
    being belong besides both bring call called carry case cause come common concern consist contain cover current
    describe description design detail differ different do document each earlier example exist explain far fact
    feature find first follow following form found further general get give given go great group have help hold
    however important include including introduce involve keep kind know known large later lead let like main make
    many mean means mention more most much name named need new note now number offer often one only other page part
    particular people place point possible present provide publish purpose put reach refer regard relate remain report
    result role run say see serve set several show side similar since single so some source state statement step such
    take tell term thing thus time together topic turn two type under use used user using usual various version way
    well when where whether while whole work write year
    auch dabei damit dazu etwa gilt haben heißen heute laut liegen machen nennen sein sowie weiter werden wurde zudem
    """,
    )
)
"""Words that a sentence may use although its source does not: they add no fact of their own."""
_GLUE_TERMS = frozenset(term for word in GLUE for term in tokens.terms(word))
_INVENTED = 0.5
"""Below this share of content words found at the place, a sentence is not a paraphrase of it."""
_STEM = 5  # letters from which two words with the same beginning count as forms of one


class State(StrEnum):
    """What a sentence is worth."""

    COVERED = "covered"      # says what the cited words say
    UNCOVERED = "uncovered"  # its words stand there in part: a person should look
    INVENTED = "invented"    # cites nothing that stands anywhere, or gives numbers and names that do not stand there


@dataclass(frozen=True, slots=True)
class Quoted:
    """Words that a sentence relies on, and the text of the place where they should stand."""

    quote: str
    place: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """The verdict; `quotes` are those that stand, exactly as the place has them, in the order given."""

    state: State
    missing: tuple[str, ...] = ()
    reason: str = ""
    quotes: tuple[str, ...] = ()


def locate(quote: str, place: str) -> str:
    """The words of `place` that `quote` gives, as they stand there, or '' when they do not stand there.

    White space, the shape of quotation marks and dashes, and marks around the quotation do not count.
    """
    whole = " ".join(quote.translate(_SAME).split())
    bare = whole.strip(_ENDS)
    return (_locate(whole, place) or _locate(bare, place)) if bare else ""


def _locate(wanted: str, place: str) -> str:
    at = place.find(wanted)
    if at >= 0:
        return place[at : at + len(wanted)]
    plain, starts = _plain(place)
    at = plain.find(wanted)
    if at < 0:
        at = plain.casefold().find(wanted.casefold()) if len(plain.casefold()) == len(plain) else -1
    if at < 0:
        return ""
    return place[starts[at] : starts[at + len(wanted) - 1] + 1]


@lru_cache(maxsize=512)
def _plain(text: str) -> tuple[str, tuple[int, ...]]:
    """The text with plain marks and single blanks, and where each of its characters stood."""
    letters: list[str] = []
    starts: list[int] = []
    for at, letter in enumerate(text.translate(_SAME)):
        if letter == " " and letters[-1:] == [" "]:
            continue
        letters.append(letter)
        starts.append(at)
    return "".join(letters), tuple(starts)


def check(sentence: str, cited: Sequence[Quoted], context: str = "") -> Coverage:
    """What a sentence is worth by the words it cites; `context` are words it may use besides, such as the title."""
    found = [(locate(one.quote, one.place), one.place) for one in cited]
    standing = tuple(quote for quote, _ in found if quote)
    if not standing:
        why = "it cites nothing" if not cited else "the words it cites do not stand at their place"
        return Coverage(State.INVENTED, (), why)
    places = "\n".join(dict.fromkeys(place for quote, place in found if quote))
    ground = f"{places}\n{context}"
    numbers = _numbers(sentence) - _numbers(ground)
    if numbers:
        shown = tuple(sorted(numbers))
        return Coverage(State.INVENTED, shown, f"{_listed(shown)} does not stand at the cited place", standing)
    names = _missing_names(sentence, ground)
    if names:
        return Coverage(State.INVENTED, names, f"{_listed(names)} does not stand at the cited place", standing)
    words, missing = _words(sentence, ground)
    if missing and len(missing) > _INVENTED * words:
        return Coverage(State.INVENTED, missing, f"{_listed(missing)} stands nowhere near the cited words", standing)
    if missing:
        return Coverage(State.UNCOVERED, missing, f"{_listed(missing)} does not stand at the cited place", standing)
    denied = _NEGATION.search(sentence)
    if denied and not _NEGATION.search(places):
        return Coverage(State.INVENTED, (denied[0],), f"it says '{denied[0]}', the cited place does not", standing)
    if not denied and all(_NEGATION.search(quote) for quote in standing):
        return Coverage(State.UNCOVERED, (), "the cited words deny something, the sentence does not", standing)
    return Coverage(State.COVERED, (), "", standing)


def _listed(words: Iterable[str]) -> str:
    shown = [f"'{word}'" for word in words]
    return ", ".join(shown[:4]) + (f" and {len(shown) - 4} more" if len(shown) > 4 else "")


def _numbers(text: str) -> set[str]:
    """Numbers as digits without separators of thousands; small ones in words count as well where text gives them."""
    found = {_THOUSANDS.sub("", match.group()) for match in _NUMBER.finditer(text)}
    found |= {number.lstrip("0") or "0" for number in found if number.isdigit()}
    words = re.findall(r"[^\W\d_]+", text.lower())
    return found | {_SPELLED[word] for word in words if word in _SPELLED and word not in _ARTICLES}


def _missing_names(sentence: str, ground: str) -> tuple[str, ...]:
    """Capitalised words inside the sentence that stand nowhere at the place; German nouns are words like others."""
    if sentences.CJK.search(sentence):
        return ()
    found = [match.group() for match in _NAME.finditer(sentence) if match.group()[0].isupper()]
    if len(found) > 0.3 * len(sentence.split()) and len(found) > 3:  # a title, or a language that capitalises nouns
        found = [name for name in found if not name[1:].islower()]
    have = set(tokens.terms(ground))
    folded = tokens.fold(ground)
    return tuple(
        dict.fromkeys(
            name
            for name in found
            if tokens.fold(name) not in folded and not any(_alike(term, have) for term in tokens.terms(name))
            and not set(tokens.terms(name)) <= _GLUE_TERMS
        )
    )


def _words(sentence: str, ground: str) -> tuple[int, tuple[str, ...]]:
    """How many content words the sentence has, and which of them do not stand at the place."""
    cjk = [letter for letter in sentence if sentences.CJK.match(letter) and letter not in _PARTICLES]
    lost = [letter for letter in dict.fromkeys(cjk) if letter not in ground]
    have = set(tokens.terms(ground))
    plain = sentences.CJK.sub(" ", sentence) if cjk else sentence
    count, missing = len(set(cjk)), list(lost)
    for word in dict.fromkeys(re.findall(r"[^\W_]+(?:['’.\-][^\W_]+)*", plain)):
        terms = tokens.terms(word)
        low = word.lower()
        if not terms or low in _SPELLED or low in STOP_WORDS or low.isdigit() or set(terms) <= _GLUE_TERMS:
            continue
        count += 1
        if not any(_alike(term, have) for term in terms):
            missing.append(word)
    return count, tuple(missing)


def _alike(term: str, have: set[str]) -> bool:
    """Whether a word stands in the text, itself or in another form."""
    if term in have:
        return True
    if len(term) < _STEM or not term.isalpha():
        return False
    return any(
        other[:_STEM] == term[:_STEM] and _common(term, other) >= 0.7 * max(len(term), len(other)) for other in have
    )


def _common(one: str, other: str) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count
