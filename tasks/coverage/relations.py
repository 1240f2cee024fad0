"""What a bag of words cannot see: whether a sentence relates its names, numbers and denials as the cited sentence does.

Told by the order of words alone, so some faithful sentences in a new order are doubted as well. A doubt only keeps a
sentence back until a person has looked; what is let through here is published.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tasks.compiling.vocabulary import STOP_WORDS
from tasks.markdown import sentences
from tasks.search import tokens


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_TOKEN = re.compile(r"\d+(?:[.,:/\u202f'’]\d+)*|[^\W\d_][\w’'-]*|[,;:.()—–]")
_CLAUSE = re.compile(r"[,;:()—–，、；：]|\b(?:and|but|or|und|aber|oder|et|mais|ou|y|pero|и|но|а)\b")
_PLACES = _set("in at near from on since until to bei aus seit nach im à en au aux de a desde в на из с")
_AGENTS = _set("by von vom durch par por da dal dalla door av af")
_JOINS = _set("and or und oder et ou y o e и или , &")
_RELATIVES = _set("that which who whom whose der die das den dem que qui dont cui который которая")
_MONTHS = _set(
    """january february march april may june july august september october november december januar februar märz mai
    juni juli oktober dezember janvier février mars avril mai juin juillet août septembre octobre novembre décembre
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"""
)
DENIES = re.compile(
    r"\b(?:not|never|no|none|nor|neither|without|cannot|\w+n['’]t|fail(?:s|ed|ing)?|refus\w+|unable|hardly|barely|rarely|"
    r"seldom|nicht|nie|niemals|kein\w*|ohne|kaum|ne|pas|jamais|aucun\w*|sans|nunca|ningun\w*|sin|не|нет|без|никогда)\b",
    re.I,
)
_HEDGES = re.compile(
    r"\b(?:may|might|perhaps|possibly|probably|maybe|allegedly|reportedly|supposedly|apparently|rumou?r\w*|claim\w*|"
    r"alleg\w+|myth|legend|falsely|wrongly|mistaken\w*|nearly|almost|planned|intended|hoped|wanted|would|unless|if|"
    r"believ\w+|thought|vielleicht|angeblich|vermutlich|wahrscheinlich|fast|beinahe|falls|sollte\w*|würde\w*|wollte\w*|"
    r"peut-être|prétend\w*|presque|quizá\w*|casi|supuestamente|возможно|якобы|почти)\b|据称|據稱|可能|也许|也許|もし|かもしれ",
    re.I,
)


@dataclass(frozen=True, slots=True)
class _Token:
    word: str      # folded
    kind: str      # name | year | number | word | mark
    place: bool    # a preposition of place or time stands right before it


def doubt(sentence: str, cited: Sequence[str], names: str = "") -> str:
    """Why a sentence may say something else than the cited sentences, or ''. `names` are those of its page."""
    if not cited or sentences.is_cjk(sentence):
        return _hedged(sentence, "\n".join(cited))
    words = frozenset(sentences.words(sentence))
    unit = max(cited, key=lambda one: len(words.intersection(sentences.words(one))))
    if " ".join(sentence.split()).strip(" .") in " ".join(unit.split()):
        return _denied(sentence, unit) or _hedged(sentence, unit)
    said, there = _read(sentence), _read(unit)
    own = frozenset(tokens.name_words(names))
    return (
        _swapped_names(said, there)
        or _turned_span(said, there)
        or _other_partner(said, there)
        or _other_owner(said, there, own)
        or _other_subject(sentence, said, there, own)
        or _denied(sentence, unit)
        or _hedged(sentence, unit)
    )


def _read(text: str) -> list[_Token]:
    found: list[_Token] = []
    starts = True
    for match in _TOKEN.finditer(text):
        raw = match.group()
        word = tokens.fold(raw).removesuffix("'s")
        if raw[0].isdigit():
            kind = "year" if re.fullmatch(r"1\d{3}|20\d\d", raw) else "number"
        elif not raw[0].isalpha():
            kind = "mark"
        elif raw[0].isupper() and word not in _MONTHS and not (starts and word in STOP_WORDS):
            kind = "name"
        else:
            kind = "word"
        before = found[-1].word if found else ""
        run = bool(found) and found[-1].kind == "name" and kind == "name" and found[-1].place
        found.append(_Token(word, kind, before in _PLACES or run))
        starts = raw in ".:"
    return found


def _first(found: Sequence[_Token]) -> dict[str, int]:
    """Names that are no places, and where they first stand."""
    at: dict[str, int] = {}
    for number, one in enumerate(found):
        if one.kind == "name" and not one.place:
            at.setdefault(one.word, number)
    return at


def _swapped_names(said: Sequence[_Token], there: Sequence[_Token]) -> str:
    mine, theirs = _first(said), _first(there)
    common = sorted(mine.keys() & theirs.keys(), key=lambda name: mine[name])
    for one, other in pairwise(common):
        inverted = theirs[one] > theirs[other]
        low, high = sorted((theirs[one], theirs[other]))
        between = {token.word for token in there[low + 1 : high]}
        if between <= _JOINS or high == low + 1:
            continue
        here = {token.word for token in said[mine[one] + 1 : mine[other]]}
        turned = bool(here & _AGENTS) != bool(between & _AGENTS)
        if inverted and not turned and not between & _RELATIVES and not here & _RELATIVES:
            return f"it names '{one}' and '{other}' the other way round"
        if turned and not inverted and here & _AGENTS and not between & _RELATIVES:
            return f"it makes '{other}' the one who acts"
    return ""


def _numbers(found: Sequence[_Token]) -> Iterator[int]:
    return (number for number, one in enumerate(found) if one.kind in ("year", "number"))


def _spans(found: Sequence[_Token]) -> set[tuple[str, str]]:
    """Pairs of numbers with at most one word between them, as in 'from 1943 to 1945'; digits of formulas aside."""
    at = [number for number in _numbers(found) if len(found[number].word) > 1]
    return {(found[one].word, found[other].word) for one, other in pairwise(at) if other - one <= 2}


def _turned_span(said: Sequence[_Token], there: Sequence[_Token]) -> str:
    theirs = _spans(there)
    for low, high in sorted(_spans(said) - theirs):
        if (high, low) in theirs:
            return f"it turns '{high}' and '{low}' round"
    return ""


def _beside(found: Sequence[_Token], at: int, step: int) -> str:
    """The next content word before or after a number; before a year, day, month and place are passed over."""
    number = at + step
    while 0 <= number < len(found):
        one = found[number]
        date = found[at].kind == "year" and (one.word in _MONTHS or one.kind == "number" or (step < 0 and one.place))
        if one.kind == "mark" and step > 0:
            return ""
        if one.kind in ("word", "name") and one.word not in STOP_WORDS and not date:
            return sentences.stem(one.word)
        if one.kind in ("year", "number") and not date:
            return ""
        number += step
    return ""


def _other_partner(said: Sequence[_Token], there: Sequence[_Token]) -> str:
    """Whether a number stands beside a word beside which the cited sentence has another number of its kind."""
    for step in (1, -1):
        theirs = [(there[at].word, there[at].kind, _beside(there, at, step)) for at in _numbers(there)]
        for at in _numbers(said):
            number, kind, word = said[at].word, said[at].kind, _beside(said, at, step)
            own = [partner for value, _, partner in theirs if value == number]
            if word and own and word not in own:
                others = [value for value, other, partner in theirs if partner == word and other == kind]
                if others and number not in others:
                    return f"the cited sentence gives '{word}' with {others[0]}, not with {number}"
    return ""


def _owner(found: Sequence[_Token], at: int) -> frozenset[str]:
    """The run of names that stands nearest before a number."""
    while at > 0 and found[at].kind != "name":
        at -= 1
    run = []
    while at >= 0 and found[at].kind == "name":
        run.append(found[at].word)
        at -= 1
    return frozenset(run)


def _other_owner(said: Sequence[_Token], there: Sequence[_Token], own: frozenset[str]) -> str:
    """Whether a number is given to a name to which the cited sentence gives another one."""
    owners = {there[at].word: (_owner(there, at), there[at].kind) for at in _numbers(there)}
    mine = {said[at].word for at in _numbers(said)}
    named = frozenset(one.word for one in said if one.kind == "name") or own
    for at in _numbers(said):
        number = said[at].word
        if number not in owners or not owners[number][0]:
            continue
        owner, kind = owners[number]
        before = _owner(said, at)
        for other, (holder, its_kind) in owners.items():
            if other == number or its_kind != kind or not holder or holder == owner:
                continue
            alone = other not in mine and not owner & named and holder & named
            both = other in mine and before and before & holder and not before & owner
            if alone or both:
                return f"the cited sentence gives {number} to '{' '.join(sorted(owner))}'"
    return ""


def _other_subject(sentence: str, said: Sequence[_Token], there: Sequence[_Token], own: frozenset[str]) -> str:
    """Whether the page's own name, or a pronoun, stands where the cited sentence speaks of somebody else."""
    head: list[str] = []
    for one in there:
        if one.kind == "name" and not one.place:
            head.append(one.word)
        elif head or one.kind in ("year", "number", "mark") or one.word not in STOP_WORDS:
            break
    named = {one.word for one in said if one.kind == "name"}
    if not head or named.intersection(head) or own.intersection(head):
        return ""
    cited = {one.word for one in there}
    lent = bool(named & own) and not named & own & cited
    if lent or (not named and sentences.leans_back(sentence)):
        return f"the cited sentence speaks of '{' '.join(head)}'"
    return ""


def _scope(text: str, at: int) -> frozenset[str]:
    """The two content words after a place in a text, up to the end of its clause."""
    end = _CLAUSE.search(text, at)
    return frozenset(sentences.words(text[at : end.start() if end else len(text)])[:2])


def _denied(sentence: str, unit: str) -> str:
    """Whether a denial of one of the two is about a word that the other leaves undenied."""
    words = frozenset(sentences.words(sentence))
    mine = [_scope(sentence, match.end()) for match in DENIES.finditer(sentence)]
    theirs = [_scope(unit, match.end()) for match in DENIES.finditer(unit)]
    if not mine:
        lost = next((scope for scope in theirs if scope and scope <= words), None)
        return f"the cited sentence denies '{' '.join(sorted(lost))}'" if lost else ""
    if theirs and all(scope for scope in mine) and not any(one & other for one in mine for other in theirs):
        return f"it denies '{' '.join(sorted(mine[0]))}', the cited sentence something else"
    return ""


def _hedged(sentence: str, unit: str) -> str:
    """Whether the cited sentence says only perhaps, or in another's name, what the sentence says outright."""
    if _HEDGES.search(sentence):
        return ""
    words = frozenset(sentences.words(sentence))
    for match in _HEDGES.finditer(unit):
        scope = _scope(unit, match.end())
        if (scope and scope <= words) or (not scope and sentences.is_cjk(unit)):
            return f"the cited sentence says it with '{match.group()}'"
    return ""
