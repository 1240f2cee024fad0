"""Postings that follow the pages."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tasks.search.postings import Postings, count
from tasks.search.ragged import Ragged

DOCUMENT = st.lists(st.sampled_from(["a", "b", "cc", "é", "漢", "x-1"]), max_size=6)


def same(one: Postings, other: Postings) -> bool:
    fields = ("bounds", "docs", "counts", "lengths")
    return one.terms.all() == other.terms.all() and all(
        getattr(one, name).tolist() == getattr(other, name).tolist() for name in fields
    )


@given(
    st.dictionaries(st.integers(0, 9), DOCUMENT),
    st.dictionaries(st.integers(0, 9), st.one_of(st.none(), DOCUMENT)),
)
def test_an_update_equals_building_anew(
    before: dict[int, list[str]], edits: dict[int, list[str] | None]
) -> None:
    """Whatever is added, changed or dropped, the arrays come out the same."""
    after = {key: value for key, value in (before | edits).items() if value is not None}
    keys = sorted(after)
    moves = np.array([-1 if key in edits else keys.index(key) for key in sorted(before)], np.int64)
    new = {keys.index(key): count(after[key]) for key in keys if key in edits}
    old = Postings.of([count(before[key]) for key in sorted(before)])
    assert same(old.updated(moves, new, len(keys)), Postings.of([count(after[key]) for key in keys]))


@given(st.lists(st.binary(max_size=5), max_size=8), st.data())
def test_rows_follow_too(rows: list[bytes], data: st.DataObject) -> None:
    """Ragged rows keep their order, lose what is gone and take in what is new."""
    gone = data.draw(st.sets(st.integers(0, max(0, len(rows) - 1))))
    kept = [row for number, row in enumerate(rows) if number not in gone]
    after = [*kept, b"new"]
    moves = np.array([-1 if n in gone else kept_number(n, gone) for n in range(len(rows))], np.int64)
    new = {len(kept): np.frombuffer(b"new", np.uint8)}
    updated = Ragged.of([np.frombuffer(row, np.uint8) for row in rows], np.uint8).updated(moves, new, len(after))
    assert [updated.row(number).tobytes() for number in range(len(updated))] == after


def kept_number(number: int, gone: set[int]) -> int:
    return number - sum(one < number for one in gone)


def test_an_unknown_term_has_no_postings() -> None:
    """Looking for a term before, between and behind the known ones."""
    postings = Postings.of([count(["b", "d"])])
    assert [len(postings.of_term(term)[0]) for term in ("a", "b", "c", "d", "e")] == [0, 1, 0, 1, 0]


def test_a_sign_between_terms_in_a_term() -> None:
    """A person's tag may hold the very sign that ends a term: it is left out, and no other term is cut."""
    postings = Postings.of([count(["tag:a\0b", "tag:a\0b", "path:x"])])
    assert postings.terms.all() == [b"path:x", b"tag:ab"]
    assert (postings.counts.tolist(), postings.lengths.tolist()) == ([1, 2], [3])
