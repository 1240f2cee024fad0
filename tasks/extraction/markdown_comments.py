"""Obsidian's `%%` and HTML's comments out of a note: what its reader does not see is not what it says.

Whichever begins first holds: a fence inside a comment is commented out, a comment mark inside code is code.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict

_MARK = re.compile(r"^[ ]{0,3}(?:[-*+>] ?)*(?P<fence>`{3,}|~{3,})|(?P<ticks>`+)|%%|<!--", re.MULTILINE)
_TICKS = re.compile(r"`+")
_ALONE = re.compile(r"^[ \t]*%%[ \t]*$", re.MULTILINE)
_BLANK = re.compile(r"\n[ \t]*\n")


def without_comments(body: str) -> tuple[str, list[str]]:
    """The body without comments, code left alone, and the comments' words."""
    if "%%" not in body and "<!--" not in body:
        return body, []
    hidden: list[str] = []
    pieces: list[str] = []
    spans = _Spans(body)
    unclosed: set[str] = set()
    kept = position = 0
    while mark := _MARK.search(body, position):
        opening = mark.group()
        if mark["fence"]:
            position = _end_of_fence(body, mark["fence"], mark.end())
        elif mark["ticks"]:
            position = spans.end(mark.start(), mark.end())
        elif opening in unclosed:
            position = mark.end()
        else:
            closing = "-->" if opening == "<!--" else "%%"
            end = body.find(closing, mark.end())
            if end < 0 and opening == "%%" and _alone(body, mark.start()):
                end = len(body)  # Obsidian hides all that follows
            if end < 0:
                unclosed.add(opening)
                position = mark.end()
                continue
            comment = body[mark.end() : end]
            if comment.strip():
                hidden.append(comment.strip())
            pieces.append(body[kept : mark.start()] + ("\n" if "\n" in comment else ""))
            kept = position = end + len(closing)
    return "".join((*pieces, body[kept:])), hidden


def _alone(body: str, place: int) -> bool:
    """Whether a mark is all that its line holds."""
    return _ALONE.match(body, body.rfind("\n", 0, place) + 1) is not None


def _end_of_fence(body: str, fence: str, place: int) -> int:
    """Where a fenced block ends; one that is never closed goes to the end."""
    closing = re.compile(rf"^[ ]{{0,3}}(?:[-*+>] ?)*{fence[0]}{{{len(fence)},}}[ \t]*$", re.MULTILINE)
    line = body.find("\n", place)
    found = closing.search(body, line) if line >= 0 else None
    return found.end() if found else len(body)


class _Spans:
    """Where inline code ends: at the next run of as many ticks in the same paragraph. Looked up, for notes may be
    made of ticks.
    """

    def __init__(self, body: str) -> None:
        self._runs: defaultdict[int, list[int]] = defaultdict(list)
        for run in _TICKS.finditer(body):
            self._runs[len(run.group())].append(run.start())
        self._blank = [match.start() for match in _BLANK.finditer(body)]
        self._end = len(body)

    def end(self, start: int, stop: int) -> int:
        """The end of the code span that begins with the ticks from `start` to `stop`, or `stop` when none does."""
        runs = self._runs[stop - start]
        later = bisect_right(runs, start)
        border = bisect_right(self._blank, start)
        limit = self._blank[border] if border < len(self._blank) else self._end
        return runs[later] + stop - start if later < len(runs) and runs[later] < limit else stop
