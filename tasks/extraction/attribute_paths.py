"""XPaths that ask only of names of elements and of attributes, as most of trafilatura's do, in a tenth of their time.

libxml2 calls into Python for each regular expression in a path, at each element. Here one walk over the elements asks
one regular expression for each attribute, and what it said of a value is remembered: a page repeats its classes.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Finder = Callable[[Any], list[Any]]

_QUOTED = re.compile(r"'([^']*)'")
_BLANKS = re.compile(r" ?([\[\],]) ?")
_STEP = re.compile(r"(\( ?)?\.//(\*|\w+)((?:\[[^\[\]]+\])*?)(?(1)\))(\[1\])?")  # in it numbers stand for quoted texts
_PREDICATE = re.compile(r"\[([^\[\]]+)\]")
_NAMES = re.compile(r"self::\w+(?: or self::\w+)*")
_TEST = re.compile(
    r"(?:(?P<function>contains|starts-with|re:test)\()?"
    r"(?P<folded>translate\()?@(?P<name>[\w-]+)(?:\|@(?P<other>[\w-]+))?"
    r"(?(folded),'(?P<upper>\d+)','(?P<lower>\d+)'\))"
    r"(?:[=,]'(?P<value>\d+)')?(?P<flags>,'\d+')?\)?"
)
_MOST = 1_000  # values that a pattern remembers
_LONGEST = 200  # characters of one


def translated(path: Any, namespaces: dict[str, str]) -> Finder:
    """What finds the elements that an `etree.XPath` finds; the path itself when it asks of something else.

    Of a path with alternatives, the elements of one come before those of the next; `[1]` means the first of the page.
    """
    quoted = _QUOTED.findall(path.path)
    numbers = iter(range(len(quoted)))
    plain = " ".join(_QUOTED.sub(lambda _: f"'{next(numbers)}'", path.path).split())
    steps = [_step(step, quoted, namespaces) for step in re.split(r"\|(?=\.//)", _BLANKS.sub(r"\1", plain))]
    whole = [step for step in steps if step is not None]
    if len(whole) < len(steps) or (len(steps) > 1 and any(step.first for step in whole)):
        as_given: Finder = path
        return as_given
    return whole[0].find if len(whole) == 1 else lambda tree: [found for step in whole for found in step.find(tree)]


class _Answers(dict[str, bool]):
    """Whether one of some patterns is found in a value."""

    def __init__(self, patterns: list[str]) -> None:
        super().__init__()
        self._search = re.compile("|".join(patterns)).search

    def __missing__(self, value: str) -> bool:
        answer = self._search(value) is not None
        if len(value) <= _LONGEST:
            if len(self) >= _MOST:
                self.clear()
            self[value] = answer
        return answer


@dataclass(frozen=True, slots=True, repr=False)  # trafilatura spells out the paths that it uses, for a log
class _Step:
    """The elements of some names that pass one of the tests, or all of them where there is no test."""

    names: tuple[str, ...]
    tests: dict[str, _Answers]  # by attribute
    tests_of_two: tuple[tuple[tuple[str, str], _Answers], ...]  # of that of two attributes which is stated first
    closer: Callable[[Any], list[Any]] | None  # what else is asked of those that pass
    first: bool  # ... of which only the first is meant

    def find(self, tree: Any) -> list[Any]:
        passed = (element for element in tree.iterdescendants(*self.names) if self._passes(element.items()))
        if self.closer is not None:
            passed = (element for element in passed if self.closer(element))
        return [element for element, _ in zip(passed, "1", strict=False)] if self.first else list(passed)

    def _passes(self, attributes: list[tuple[str, str]]) -> bool:
        for name, value in attributes:
            if name in self.tests and self.tests[name][value]:
                return True
        for names, answers in self.tests_of_two:
            for name, value in attributes:
                if name in names:
                    if answers[value]:
                        return True
                    break
        return not self.tests and not self.tests_of_two


def _step(plain: str, quoted: list[str], namespaces: dict[str, str]) -> _Step | None:
    """One alternative of a path, None when it asks of more than attributes from the beginning."""
    from lxml import etree

    parts = _STEP.fullmatch(plain)
    if parts is None:
        return None
    predicates = _PREDICATE.findall(parts[3])
    named = predicates and _NAMES.fullmatch(predicates[0])
    names = tuple(re.findall(r"self::(\w+)", predicates.pop(0))) if named else (parts[2],)
    patterns: dict[tuple[str, str | None], list[str]] = defaultdict(list)
    for term in predicates.pop(0).split(" or ") if predicates else ():
        test = _TEST.fullmatch(term.strip())
        if test is None:
            return None
        patterns[test["name"], test["other"]].append(_pattern(test, quoted))
    rest = "".join(f"[{predicate}]" for predicate in predicates)
    rest = re.sub(r"'(\d+)'", lambda number: f"'{quoted[int(number[1])]}'", rest)
    return _Step(
        names,
        {name: _Answers(texts) for (name, other), texts in patterns.items() if other is None},
        tuple(((name, other), _Answers(texts)) for (name, other), texts in patterns.items() if other is not None),
        etree.XPath(f"self::*{rest}", namespaces=namespaces) if rest else None,
        first=parts[4] is not None,
    )


def _pattern(test: re.Match[str], quoted: list[str]) -> str:
    """The regular expression that a test of a path comes to; without a value, as for `@hidden`, that of any text."""
    value = quoted[int(test["value"])] if test["value"] else ""
    if test["function"] == "re:test":
        return f"(?i:{value})" if test["flags"] else f"(?:{value})"
    folds = zip(quoted[int(test["lower"])], quoted[int(test["upper"])], strict=True) if test["folded"] else ()
    either = {lower: f"[{lower}{upper}]" for lower, upper in folds}
    literal = "".join(either.get(letter) or re.escape(letter) for letter in value)
    if test["value"] and not test["function"]:
        return rf"\A{literal}\Z"
    return rf"\A{literal}" if test["function"] == "starts-with" else literal
