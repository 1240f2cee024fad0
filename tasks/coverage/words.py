"""Words of a sentence that carry its facts, and which of them a text has: as written, or in another form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tasks.compiling.vocabulary import STOP_WORDS
from tasks.coverage.negation import unspaced_runs
from tasks.coverage.numbers import is_number_word
from tasks.markdown import sentences
from tasks.search import tokens

_BETWEEN = re.compile(r"[\s/—–…,;:()\[\]{}<>|\"“”„«»‹›¿¡!?؟،؛।]+")
_EDGES = ".'’‘-*=_+~^`"
_LETTERS = re.compile(r"[^\W\d_]+")
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
GLUE_TERMS = frozenset(term for word in GLUE for term in tokens.terms(word))
"""The same words as search folds them."""
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
_UNSPACED_WORD = 4  # letters of a word in scripts without blanks, about
_STEM = 5  # letters from which two words with the same beginning count as forms of one


@dataclass(frozen=True, slots=True)
class ContentWords:
    """How many words of a sentence carry facts of their own, and which of them do not stand in a text."""

    count: int
    missing: tuple[str, ...]


def content_words(sentence: str, ground: str) -> ContentWords:
    """The content words of a sentence held against a text, letter by letter where a script sets no words apart."""
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
        free = low in STOP_WORDS or low.isdigit() or is_number_word(low)
        if not terms or free or set(terms) <= GLUE_TERMS:
            continue
        count += 1
        if not _stands(terms, have):
            missing.append(word)
    return ContentWords(count, tuple(missing))


def missing_poles(sentence: str, ground: str) -> list[str]:
    """Words of a sentence such as 'before' and 'only' for which the text has none of the same meaning."""
    have = frozenset(_POLES.get(word, word) for word in _LETTERS.findall(ground.lower()))
    return [word for word in _LETTERS.findall(sentence.lower()) if word in _POLES and _POLES[word] not in have]


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
    return all(has_form(term, have) for term in (parts[1:] if len(parts) > 1 else parts))


def has_form(term: str, have: set[str]) -> bool:
    """Whether a term stands among those of a text, itself or in another form of the word."""
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
