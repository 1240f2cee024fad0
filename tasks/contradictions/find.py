"""Contradictions without a model: two sources that make one statement with another figure, date or negation.

The search proposes and never decides, and rather misses a contradiction than invents one. Two sentences are compared
only when they are nearly equal word by word, and what one has more than the other neither names another thing nor
another time. Rounded figures, ranges, other units and other points in time are no contradictions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from tasks.contradictions import cjk
from tasks.contradictions import words as known
from tasks.contradictions.claims import Claim, Clash, ClashKind, clash_id
from tasks.contradictions.form import Figure, Form, Token, When, form_of, needs_a_subject, plainly_said
from tasks.markdown import sentences

_DESCRIBES = re.compile(r"[,–—]\s+(?:a|an|the|which|who|ein|eine|der|die|das|un|une|le|la) |\b(?:and|und|et|y)\b")
_MOST_MORE = 12  # content words that one sentence may have more than the other


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a source, with what is known of its surroundings."""

    claim: Claim
    before: str = ""       # the sentence before it in its paragraph
    following: str = ""    # the sentence after it


@dataclass(frozen=True, slots=True)
class _Read:
    statement: Statement
    form: Form


def find(subject: str, statements: Sequence[Statement], names: frozenset[str]) -> tuple[Clash, ...]:
    """The contradictions between statements of different sources about one subject, by the order of statements.

    `names` are the stems of the subject's own names, which say nothing on its own page.
    """
    read = [one for statement in statements if (one := _read(statement, names)) is not None]
    by_word: dict[str, list[int]] = {}
    found: list[Clash] = []
    for place, one in enumerate(read):
        words = {token.word for token in one.form.tokens if token.figure is None}
        shared = Counter(other for word in words for other in by_word.get(word, ()))
        for other in sorted(shared):
            if 2 * shared[other] >= len(words) or shared[other] > 2:
                clash = _compare(subject, read[other], one)
                if clash is not None:
                    found.append(clash)
        for word in words:
            by_word.setdefault(word, []).append(place)
    return (*found, *_without_spaces(subject, statements))


def _without_spaces(subject: str, statements: Sequence[Statement]) -> Iterator[Clash]:
    """The contradictions between sentences in scripts that do not part words."""
    alike: dict[str, list[Claim]] = {}
    for statement in statements:
        claim = statement.claim
        form = cjk.skeleton(claim.quote) if sentences.is_cjk(claim.quote) else ""
        if not form:
            continue
        for other in alike.get(form, ()):
            told = cjk.told(other.quote, claim.quote) if other.source_id != claim.source_id else None
            if told is not None:
                yield _clash(subject, other, claim, *told)
        alike.setdefault(form, []).append(claim)


def _read(statement: Statement, names: frozenset[str]) -> _Read | None:
    text = " ".join(statement.claim.quote.split())
    if not plainly_said(text, statement.following):
        return None
    if needs_a_subject(text) and not _about(statement.before, names):
        return None
    form = form_of(text, names)
    if form is None or not any(token.figure is None for token in form.tokens):
        return None
    return _Read(statement, form)


def _about(before: str, names: frozenset[str]) -> bool:
    """Whether a sentence is about the page's subject, so that 'it' in the next one is."""
    opening = {sentences.stem(word) for word in sentences.words(" ".join(before.split()[:6]))}
    return bool(opening & names) or needs_a_subject(before)


def _compare(subject: str, one: _Read, other: _Read) -> Clash | None:
    first, second = one.statement.claim, other.statement.claim
    if first.source_id == second.source_id:
        return None
    told = _told(one.form, other.form)
    if told is None:
        return None
    return _clash(subject, first, second, *told)


def _clash(subject: str, first: Claim, second: Claim, kind: ClashKind, reason: str) -> Clash:
    """The record, the claim of the source that was published earlier as the old one."""
    old, new = first, second
    if first.published and second.published and first.published[:10] != second.published[:10]:
        old, new = sorted((first, second), key=lambda claim: claim.published[:10])
        reason += f"; the sources are of {old.published[:10]} and {new.published[:10]}"
    return Clash(clash_id(first, second), subject, first.page_id, kind, old, new, reason)


def _told(one: Form, other: Form) -> tuple[ClashKind, str] | None:
    """How two statements contradict each other, or None."""
    aligned = _aligned(one, other)
    if aligned is None:
        return None
    pairs = aligned.pairs
    figures = [(a.figure, b.figure) for a, b in pairs if a.figure is not None and b.figure is not None]
    apart = [(a, b) for a, b in figures if a != b and not _agree(a, b)]
    near = all(a == b for a, b in figures)
    same_words = len(pairs) == len(one.tokens) == len(other.tokens)
    if one.negated != other.negated:
        times = one.whens == other.whens and (one.tense == other.tense or not (one.tense and other.tense))
        same = same_words and near and times
        long_enough = sum(a.figure is None for a, _ in pairs) >= 2
        said = "one says that it is so, the other that it is not"
        return (ClashKind.NEGATION, said) if same and long_enough else None
    if apart:
        if len(apart) > 1 or aligned.scoped or not _one_time(one, other) or _operating_points(pairs, apart[0]):
            return None
        (a, b), = apart
        return ClashKind.NUMBER, f"{_shown(a)} and {_shown(b)} for the same thing"
    return _dates(one, other, [a for a, _ in pairs]) if near else None


@dataclass(frozen=True, slots=True)
class _Aligned:
    """The words that two sentences share, in order; `scoped` when one adds what may hold for its figure alone."""

    pairs: list[tuple[Token, Token]]
    scoped: bool


def _aligned(one: Form, other: Form) -> _Aligned | None:
    """The words that two sentences share, in order; None when one names something that the other does not."""
    base = _base if one.negated != other.negated else _as_is
    left, right = ([base(token.word) for token in form.tokens] for form in (one, other))
    if min(len(set(left) - set(right)), len(set(right) - set(left))) > 1:
        return None  # each has words of its own; aligning would come to the same, at a price
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    pairs: list[tuple[Token, Token]] = []
    more, scoped = 0, False
    for what, a, b, c, d in matcher.get_opcodes():
        if what == "equal":
            pairs += zip(one.tokens[a:b], other.tokens[c:d], strict=True)
        elif what == "replace":
            return None
        else:
            form, start, end = (one, a, b) if what == "delete" else (other, c, d)
            more += end - start
            if more > _MOST_MORE or not _aside(form, start, end):
                return None
            scoped = scoped or not _apposition(form, start, end)
    words = sum(token.figure is None for token, _ in pairs)
    if words < 1 or (words < 2 and more):
        return None
    return _Aligned(pairs, scoped) if 2 * words >= more else None


def _as_is(word: str) -> str:
    return word


def _base(word: str) -> str:
    """A verb without its ending, for 'did not use' and 'used'."""
    return re.sub(r"(?:ed|es|e|s)$", "", word) if len(word) > 4 else word


def _aside(form: Form, start: int, end: int) -> bool:
    """Whether some words of a sentence only add to it: an aside, the tail behind a comma, a longer name."""
    tokens = form.tokens
    if any(token.word in known.NARROWS for token in tokens[start:end]):
        return False
    opens = start == 0 or _breaks(tokens[start].after)
    closes = end == len(tokens) or _breaks(tokens[end].after)
    if start == 0 and end < len(tokens):
        return "," in tokens[end].after and not any(token.figure for token in tokens[:end])
    if opens and closes:
        return True
    name = all(token.name for token in tokens[start:end])
    beside = (end < len(tokens) and tokens[end].name and not tokens[end].after.strip())
    if name and beside:  # 'Harvard Mark II' for 'Mark II'
        return True
    return end == len(tokens) and not any(token.figure for token in tokens[start:end]) and _adds(form, start, end)


def _apposition(form: Form, start: int, end: int) -> bool:
    """Whether some words only name or describe: a longer name, ', a steel arch,', ', which has …', 'and …'."""
    if all(token.name for token in form.tokens[start:end]):
        return True
    before = form.tokens[start].after
    return _breaks(before) and _DESCRIBES.search(before) is not None


def _operating_points(pairs: Sequence[tuple[Token, Token]], apart: tuple[Figure, Figure]) -> bool:
    """Whether the figures that differ say at which point the others hold, as in '100 kW at 5000 rpm'."""
    several = sum(token.figure is not None for token, _ in pairs) > 1
    return several and any(" at " in token.after for token, _ in pairs if token.figure is apart[0])


def _adds(form: Form, start: int, end: int) -> bool:
    """Whether the tail of a sentence about an event tells more of it, and does not narrow it down."""
    said = {token.word for token in form.tokens[:start]}
    once = said & _STEMMED
    named = any(token.name for token in form.tokens[start:end])
    return bool(once) and bool(form.whens) and not (named and said & _STEMMED_BY_PLACE)


def _breaks(gap: str) -> bool:
    return any(mark in gap for mark in ",;:–—()") or " and " in gap or " und " in gap


def _one_time(one: Form, other: Form) -> bool:
    """Whether two figures are of one time: of the same, of none, or one holds since then and the other still."""
    if one.tense != other.tense:
        return False
    if one.whens == other.whens:
        return True
    if one.whens and other.whens:
        return False
    whens = one.whens or other.whens
    return all(when.role == "since" for when in whens) and one.tense != "past"


def _dates(one: Form, other: Form, shared: Sequence[Token]) -> tuple[ClashKind, str] | None:
    if len(one.whens) != 1 or len(other.whens) != 1 or not any(token.word in _STEMMED for token in shared):
        return None
    (a,), (b,) = one.whens, other.whens
    if a.role != b.role or a.role in ("before", "after") or one.tense != other.tense or _same_day(a, b):
        return None
    return ClashKind.DATE, f"{_day(a)} and {_day(b)} for the same event"


def _same_day(a: When, b: When) -> bool:
    """Whether two dates can be one: equal as far as both go, within a decade, or nearly when one is rough."""
    if not a.year or not b.year:
        return (a.month, a.day) == (b.month, b.day) or a.year != b.year
    low, high = max(a.year, b.year), min(a.year + a.span, b.year + b.span)
    slack = 5 if a.about or b.about else 0
    if low >= high + slack:
        return False
    if a.year != b.year or a.about or b.about or a.span > 1 or b.span > 1:
        return True
    return not (a.month and b.month) or (a.month == b.month and (not (a.day and b.day) or a.day == b.day))


def _agree(a: Figure, b: Figure) -> bool:
    """Whether two figures can be one: of other units nothing is known, rounded ones are near, a limit has room."""
    if a.unit != b.unit:
        return True
    if a.value == b.value:
        return True
    if a.bound != b.bound:
        if "about" in (a.bound, b.bound):
            return abs(a.value - b.value) <= 0.15 * max(a.value, b.value) or bool({a.bound, b.bound} - {"about", ""})
        return True  # 'more than 20' and '31': a limit is no count
    if a.bound == "about":
        return abs(a.value - b.value) <= 0.3 * max(a.value, b.value)
    rough, exact = sorted((a, b), key=lambda one: one.digits + one.places)
    if rough.digits == exact.digits and rough.places == exact.places:
        return False
    if exact.places > rough.places and round(exact.value, rough.places) == rough.value:
        return True
    if exact.value < 100 or rough.digits >= exact.digits:
        return False  # small numbers are counted
    unit = 10 ** (len(f"{rough.value:.0f}") - rough.digits)
    near = abs(a.value - b.value) <= 0.04 * max(a.value, b.value)
    return round(exact.value / unit) * unit == rough.value or (exact.value >= 1000 and rough.digits <= 2 and near)


def _shown(figure: Figure) -> str:
    return " ".join(filter(None, (figure.bound, figure.shown)))


def _day(when: When) -> str:
    parts = [str(when.year) if when.year else "", f"{when.month:02d}" if when.month else "",
             f"{when.day:02d}" if when.day else ""]
    return ("about " if when.about else "") + "-".join(filter(None, parts)) + ("s" if when.span > 1 else "")


def _stems(words: frozenset[str]) -> frozenset[str]:
    return frozenset(sentences.stem(word) for word in words)


_STEMMED, _STEMMED_BY_PLACE = _stems(known.ONCE), _stems(known.BY_PLACE)


def named(keys: Sequence[str]) -> frozenset[str]:
    """The stems of a subject's names, given as subject keys."""
    return frozenset(sentences.stem(word) for key in keys for word in key.split("-") if word)
