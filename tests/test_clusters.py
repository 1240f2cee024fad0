"""Categories of pages that mean alike, where no tag says so."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.navigation.clusters import Space
from tasks.navigation.index_page import REST, Entry
from tasks.navigation.scaffold import categories, with_categories

SHIPS = [Entry(f"s{n}", f"{name} of the harbour", "", ()) for n, name in enumerate(["Tug", "Crane", "Pilot", "Quay"])]
BIRDS = [Entry(f"b{n}", f"{name} in the garden", "", ()) for n, name in enumerate(["Finch", "Robin", "Wren"])]
ODD = [Entry("odd", "Tea", "", ())]


def vector(*values: float) -> bytes:
    return np.array(values, dtype="<f4").tobytes()


def vectors() -> dict[str, bytes]:
    near = {entry.stem: vector(1, 0.02 * n, 0, 0) for n, entry in enumerate(SHIPS)}
    near |= {entry.stem: vector(0, 0, 1, 0.02 * n) for n, entry in enumerate(BIRDS)}
    return near | {"odd": vector(-0.7, 0.7, -0.7, 0)}


def test_pages_that_mean_alike_make_a_category() -> None:
    """It is named by the word they share; a page of its own stays with the rest."""
    groups = categories("# W\n", [*ODD, *SHIPS, *BIRDS], {}, vectors)
    assert {name: len(members) for name, members in groups.items()} == {"Harbour": 4, "Garden": 3, REST: 1}


def test_they_stay_from_week_to_week() -> None:
    """The same pages give the same index, and a new one joins its kind."""
    text = with_categories("# W\n", categories("# W\n", [*ODD, *SHIPS, *BIRDS], {}, vectors))
    assert with_categories(text, categories(text, [*ODD, *SHIPS, *BIRDS], {}, vectors)) == text
    grown = categories(text, [*ODD, *SHIPS, *BIRDS, Entry("b9", "Jay in the garden", "", ())], {}, vectors)
    assert len(grown["Garden"]) == 4 and len(grown["Harbour"]) == 4


def test_without_embeddings_they_are_left_together() -> None:
    """Nothing is guessed."""
    assert set(categories("# W\n", [*ODD, *SHIPS, *BIRDS], {})) == {REST}


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(*[st.floats(-1, 1, width=32)] * 3), max_size=40))
def test_any_vectors_give_the_same_groups_again(rows: list[tuple[float, float, float]]) -> None:
    """No page in two groups, and the order in which pages come does not matter."""
    held = {f"p{n:02d}": vector(*row) for n, row in enumerate(rows)}
    found = Space(held).groups([*held])
    members = [name for group in found for name in group]
    assert len(members) == len(set(members)) and found == Space(held).groups([*reversed([*held])])
