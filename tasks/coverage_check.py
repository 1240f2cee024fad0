"""Whether a written sentence says no more than the words it cites: told without a model, by looking.

Looked at is whether the quoted words stand at the cited place, whether every number, name and other content word of
the sentence stands in the sentences quoted, and whether it relates them as these do (`coverage_relations`). Words that
carry no fact of their own (`GLUE`) are free. The check errs on the side of doubt: a faithful sentence in other words is
`uncovered`, and a person looks at it. A quotation too short to bear its sentence out becomes the whole sentence.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from tasks.compiling.vocabulary import STOP_WORDS
from tasks.coverage_relations import DENIES, doubt
from tasks.markdown import sentences
from tasks.negation import DENIAL, leaves_out_denial, unspaced_runs
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
_DIGIT = re.compile(r"(?![0-9])\d")
_NUMBER = re.compile(r"\d+(?:[.,:/\u202f'’]\d+)*")
_THOUSANDS = re.compile(r"(?<=\d)[,.'’\u202f](?=\d{3}(?!\d))")
_COMMAS = re.compile(r"(?<=\d)[,'’\u202f](?=\d{3}(?!\d))")
_MINUS = re.compile(r"(?:^|[\s(])[-−–]$")
_ITEM = re.compile(r"\n(?=\s*(?:[-*+•|]|\d{1,3}[.)])\s)")
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]*://|www\.|mailto:|javascript:|data:)[^\s)>\]]+|[\w.+-]+@[\w-]+\.\w+", re.I)
_BETWEEN = re.compile(r"[\s/—–…,;:()\[\]{}<>|\"“”„«»‹›¿¡!?؟،؛।]+")
_EDGES = ".'’‘-*=_+~^`"
_LETTERS = re.compile(r"[^\W\d_]+")
_RUN = 3  # words of which a loop is made
_LONGEST_QUOTE = 600  # characters of a quotation that is made whole
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
_PARTICLES = frozenset("的了是在和與与及之为為也都于於其有这這那個个はがをにのとでもやへただりれしている")
GLUE = frozenset(
    re.findall(
        r"\w+",
        """
    according account address allow also another appear around article as available base based because become begin
    being belong besides both bring call called carry case cause come common concern consist contain cover current
    describe description design detail differ do document each example exist explain far fact feature find follow
    following form found further general get give given go group have help hold however include including introduce
    involve keep kind know known lead let like make mean means mention name named need new note now number offer
    often one other page part particular people place point possible present provide publish purpose put reach refer
    regard relate remain report result role run say see serve set show side since so some source state statement
    step such take tell term thing thus time together topic turn type under use used user using usual various
    version way well when where whether while whole work write year
    auch dabei damit dazu etwa gilt haben heißen heute laut liegen machen nennen sein sowie weiter werden wurde zudem
    """,
    )
)
"""Words that a sentence may use although its source does not: they add no fact of their own."""
_GLUE_TERMS = frozenset(term for word in GLUE for term in tokens.terms(word))
_POLES = {
    word: group.split()[0]
    for group in (
        "before prior vor avant antes prima до",
        "after following nach après después dopo после",
        "over above exceeded exceeding über plus",
        "under below fewer less unter moins menos",
        "until bis hasta fino",
        "since seit depuis desde",
        "against gegen contre contra contro против",
        "first erste erster erstes ersten première premier primera primero primo prima первый первая",
        "last final letzte letzter letztes letzten dernier dernière último última ultimo последний",
        "only sole solely nur einzige einziger einziges seul seule solo sólo única único только единственный",
        "all every each alle jeder jede jedes tous toutes todos todas tutti все",
        "few little wenige peu pocos pochi мало",
        "most meiste meisten plupart mayoría большинство",
        "always immer toujours siempre sempre всегда",
        "earlier früher", "later später", "inside within innerhalb", "outside außerhalb",
        "large larger largest big bigger biggest", "small smaller smallest", "similar alike same", "different unlike",
    )
    for word in group.split()
}
"""Words without which a sentence says something else although all others stand there, by what they mean."""
_SIGNS = {
    **dict.fromkeys(("%", "percent", "per cent", "prozent", "pour cent", "por ciento"), "%"),
    **dict.fromkeys(("€", "euro"), "€"),
    **dict.fromkeys(("$", "dollar"), "$"),
    **dict.fromkeys(("£", "pound"), "£"),
    **dict.fromkeys(("¥", " yen"), "¥"),
    **dict.fromkeys(("°", "degree"), "°"),
    "‰": "‰",
}
_INVENTED = 0.5
"""Below this share of content words found at the place, a sentence is not a paraphrase of it."""
_UNSPACED_WORD = 4  # letters of a word in scripts without blanks, about
_STEM = 5  # letters from which two words with the same beginning count as forms of one


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


def locate(quote: str, place: str) -> str:
    """The words of `place` that `quote` gives, as they stand there, or '' when they do not stand there.

    White space, the shape of quotation marks and dashes, and marks around the quotation do not count.
    """
    whole, bare = " ".join(quote.translate(_SAME).split()), _bare(quote)
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


def check(sentence: str, cited: Sequence[Quoted], context: str = "", titles: str = "") -> Coverage:
    """What a sentence is worth by the words it cites.

    `context` are names that it may use besides, such as the page's title; `titles` words of which the place speaks,
    such as its headings: they lend words, but neither a name nor a number.
    """
    found = [(quote, one.place) for one in cited if (quote := locate(one.quote, one.place))]
    if not found:
        why = "it cites nothing" if not cited else "the words it cites do not stand at their place"
        return Coverage(State.INVENTED, (), why)
    spans = [_sentences_around(quote, place) for quote, place in found]
    given = tuple(quote for quote, _ in found)
    if any(_bare(sentence) == _bare(unit) for quote in given for unit in (quote, *_units(quote))):
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
        units = [one for span in spans for one in _units(span)]
        reason = reason or doubt(sentence, units, context)
        if not reason and (denial := leaves_out_denial(sentence, units, DENIES)):
            reason = f"the cited sentence denies it with '{denial}'"
        state = State.UNCOVERED if reason else State.COVERED
    return Coverage(state, missing, reason, quotes)


def _held_against(sentence: str, places: str, context: str) -> tuple[State, tuple[str, ...], str]:
    """The verdict by the whole places: what does not even stand there is invented."""
    sentence, places = _western(sentence), _western(places)
    ground = f"{places}\n{context}"
    if loop := _loop(sentence, places):
        return State.INVENTED, (loop,), f"it says '{loop}' again and again"
    addresses = tuple(one for one in _ADDRESS.findall(sentence) if one.rstrip("/.,;:!?") not in ground)
    if addresses:
        return State.INVENTED, addresses, f"the address {_listed(addresses)} does not stand at the cited place"
    numbers = tuple(sorted(_numbers(sentence) - _numbers(ground)))
    if numbers:
        return State.INVENTED, numbers, f"{_listed(numbers)} does not stand at the cited place"
    names = _missing_names(sentence, ground, alike=True)
    if names:
        return State.INVENTED, names, f"{_listed(names)} does not stand at the cited place"
    words, missing = _words(sentence, ground)
    if missing and len(missing) > _INVENTED * words:
        return State.INVENTED, missing, f"{_listed(missing)} stands nowhere near the cited words"
    if missing:
        return State.UNCOVERED, missing, f"{_listed(missing)} does not stand at the cited place"
    denied = DENIAL.search(sentence)
    if denied and not DENIAL.search(places):
        return State.INVENTED, (denied[0],), f"it says '{denied[0]}', the cited place does not"
    return State.COVERED, (), ""


def _western(text: str) -> str:
    """The text with the decimal digits of every script as 0 to 9, so that '١٩٤١' is 1941."""
    if text.isascii() or not _DIGIT.search(text):
        return text
    return _DIGIT.sub(lambda match: str(unicodedata.decimal(match[0])), text)


def _loop(sentence: str, places: str) -> str:
    """Words that a sentence says three times and more, and its place less often; '' for none."""
    words = sentence.split()
    runs = Counter(" ".join(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1))
    flat = " ".join(places.split())
    return next((run for run, count in runs.items() if count >= 3 and flat.count(run) < count), "")


def _doubts(sentence: str, near: str, context: str, titles: str) -> tuple[str, ...]:
    """What of a sentence does not stand in the cited words and the names it may use."""
    sentence, near = _western(sentence), _western(near)
    lent = f"{near}\n{context}"
    found = [*sorted(_exact_numbers(sentence) - _exact_numbers(lent)), *_missing_names(sentence, lent, alike=False)]
    found += _words(sentence, f"{lent}\n{titles}")[1]
    have = frozenset(_POLES.get(word, word) for word in _LETTERS.findall(lent.lower()))
    poles = [word for word in _LETTERS.findall(sentence.lower()) if word in _POLES and _POLES[word] not in have]
    found += poles
    found += sorted(_signs(sentence) - _signs(lent))
    denied = DENIAL.search(sentence)
    if denied and not DENIAL.search(near):
        found.append(denied[0])
    return tuple(dict.fromkeys(found))


def _bare(text: str) -> str:
    return " ".join(text.translate(_SAME).split()).strip(_ENDS)


def _sentences_around(quote: str, place: str) -> str:
    """The whole sentences of a place in which a quotation stands."""
    start = place.find(quote)
    end, at, first, last = start + len(quote), 0, start, start + len(quote)
    for unit in _units(place):
        begins = place.find(unit, at)
        if begins < 0:
            continue
        at = begins + len(unit)
        if begins <= start < at:
            first = begins
        if begins < end <= at:
            last = at
    return place[first:last]


def _units(text: str) -> list[str]:
    """Sentences, and items of lists and rows of tables as such."""
    return [unit for part in _ITEM.split(text) for unit in sentences.split(part)]


def _listed(words: Iterable[str]) -> str:
    shown = [f"'{word}'" for word in words]
    return ", ".join(shown[:4]) + (f" and {len(shown) - 4} more" if len(shown) > 4 else "")


def _exact_numbers(text: str) -> set[str]:
    """Numbers with their sign; a point before three digits is no comma, so 3.141 is not 3,141."""
    found = set()
    for match in _NUMBER.finditer(text):
        plain = _COMMAS.sub("", match.group())
        sign = "-" if _MINUS.search(text[max(0, match.start() - 2) : match.start()]) else ""
        found.add(sign + (plain.lstrip("0") or "0" if plain.isdigit() else plain))
    words = re.findall(r"[^\W\d_]+", text.lower())
    return found | {_SPELLED[word] for word in words if word in _SPELLED and word not in _ARTICLES}


def _signs(text: str) -> set[str]:
    """Signs of money, shares and degrees, which change what a number means."""
    return {_SIGNS[sign] for sign in re.findall("|".join(map(re.escape, _SIGNS)), text.lower())}


def _numbers(text: str) -> set[str]:
    """Numbers as digits without separators of thousands; small ones in words count as well where text gives them."""
    found = {_THOUSANDS.sub("", match.group()) for match in _NUMBER.finditer(text)}
    found |= {number.lstrip("0") or "0" for number in found if number.isdigit()}
    words = re.findall(r"[^\W\d_]+", text.lower())
    return found | {_SPELLED[word] for word in words if word in _SPELLED and word not in _ARTICLES}


def _missing_names(sentence: str, ground: str, alike: bool) -> tuple[str, ...]:
    """Capitalised words inside the sentence that stand nowhere at the place; German nouns are words like others.

    With `alike` a name of the same beginning counts as another form of it.
    """
    if sentences.CJK.search(sentence):
        return ()
    found = [match.group() for match in _NAME.finditer(sentence) if match.group()[0].isupper()]
    if len(found) > 0.3 * len(sentence.split()) and len(found) > 3:  # a title, or a language that capitalises nouns
        found = [name for name in found if not name[1:].islower()]
    have = set(tokens.terms(ground))
    words = frozenset(word.rstrip("+#") for word in tokens.name_words(ground))
    return tuple(
        dict.fromkeys(
            name
            for name in found
            if not _stands_as_name(name, words)
            and not ((alike or not name.isascii()) and any(_alike(term, have) for term in tokens.terms(name)))
            and not set(tokens.terms(name)) <= _GLUE_TERMS
        )
    )


def _stands_as_name(name: str, words: frozenset[str]) -> bool:
    """Whether all parts of a name are words of the text, an ending of possession or plural apart."""
    parts = [part.rstrip("+#") for part in tokens.name_words(name) if part != "s"]
    return all(
        any(form in words for form in (part, part + "s", part + "es", part.removesuffix("s"), part.removesuffix("es")))
        for part in parts
    )


def _words(sentence: str, ground: str) -> tuple[int, tuple[str, ...]]:
    """How many content words the sentence has, and which of them do not stand at the place."""
    cjk = [letter for letter in sentence if sentences.CJK.match(letter) and letter not in _PARTICLES]
    lost = [letter for letter in dict.fromkeys(cjk) if letter not in ground]
    have = set(tokens.terms(ground))
    plain = sentences.CJK.sub(" ", sentence) if cjk else sentence
    count, missing = len(set(cjk)), list(lost)
    for run in unspaced_runs(plain):
        plain = plain.replace(run, " ")
        count += max(1, len(run) // _UNSPACED_WORD)
        missing += _strange(run, ground)
    for word in dict.fromkeys(piece.strip(_EDGES) for piece in _BETWEEN.split(plain)):
        terms = tokens.terms(word)
        low = word.lower()
        free = low in _SPELLED or low in STOP_WORDS or low.isdigit() or low.removesuffix("s") in _SIGNS
        if not terms or free or set(terms) <= _GLUE_TERMS:
            continue
        count += 1
        if not _stands(terms, have):
            missing.append(word)
    return count, tuple(missing)


def _strange(run: str, ground: str) -> list[str]:
    """What of a run of letters without blanks does not stand in the text in threes, in pieces as long as a word."""
    size = min(3, len(run))
    known = [False] * len(run)
    for at in range(len(run) - size + 1):
        if run[at : at + size] in ground:
            known[at : at + size] = [True] * size
    found = "".join(letter if not there else " " for letter, there in zip(run, known, strict=True))
    size = _UNSPACED_WORD
    return [piece[at : at + size] for piece in found.split() for at in range(0, len(piece), size)]


def _stands(terms: Sequence[str], have: set[str]) -> bool:
    """Whether a word stands in the text as it is written, or all of its parts do, however they are joined."""
    if terms[0] in have:
        return True
    parts = [term for term in terms if not any(other != term and term in other and len(term) == 1 for other in terms)]
    return all(_alike(term, have) for term in (parts[1:] if len(parts) > 1 else parts))


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
