"""A word of the question that no page holds, taken for the known word that is one slip away.

A slip is a letter too many, too few, another one, or two that changed places, behind the first two letters. Short
words are left alone: too many of them are words of their own one letter apart.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tasks.search.postings import Postings

SHORTEST = 5
"""Letters of a stem that may be corrected, and of what it is corrected to."""
MOST_WORDS = 8
"""Words of one question that are looked at."""
_FIRST = 2


def corrected(terms: Sequence[str], postings: Postings) -> dict[str, str]:
    """The known term for each of these unknown ones that has one; of several the one that most documents hold."""
    found = {}
    for term in list(dict.fromkeys(terms))[:MOST_WORDS]:
        if len(term) >= SHORTEST and term.isascii() and term.isalpha():
            numbers = _one_slip_away(term.encode(), postings)
            if len(numbers):
                spread = postings.bounds[numbers + 1] - postings.bounds[numbers]
                found[term] = postings.terms[int(numbers[np.argmax(spread)])].decode()
    return found


def _one_slip_away(term: bytes, postings: Postings) -> NDArray[np.int64]:
    """Numbers of the terms with the same first letters that one slip turns into this one."""
    first = term[:_FIRST]
    start, end = postings.terms.between(first, first[:-1] + bytes([first[-1] + 1]))
    text, bounds = postings.terms.text, postings.terms.bounds
    lengths = bounds[start + 1 : end + 1] - bounds[start:end]
    letters = np.frombuffer(term, np.uint8)
    size = len(letters)
    found = []
    for length in range(max(SHORTEST, size - 1), size + 2):
        numbers = start + np.flatnonzero(lengths == length)
        rows = text[bounds[numbers][:, None] + np.arange(length)]
        shared = min(length, size)
        same_start = np.cumprod(rows[:, :shared] == letters[:shared], axis=1).sum(axis=1)
        same_end = np.cumprod((rows[:, length - shared :] == letters[size - shared :])[:, ::-1], axis=1).sum(axis=1)
        slip = same_start + same_end >= (shared if length != size else size - 1)
        if length == size:
            at = np.minimum(same_start, size - 2)
            each = np.arange(len(rows))
            swapped = (rows[each, at] == letters[at + 1]) & (rows[each, at + 1] == letters[at])
            slip |= swapped & (same_start + same_end == size - 2)
        letters_only = ((rows >= ord("a")) & (rows <= ord("z"))).all(axis=1)
        found.append(numbers[slip & letters_only])
    return np.concatenate(found)
