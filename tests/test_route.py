"""ROUTING.md is the user's file: read generously, edited by whole lines only."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tasks.navigation import route

TABLE = """My own words first.

## People
- [[alan-turing]]
- [[grace-hopper|Grace Hopper]] the admiral

Some thoughts between.

## Hardware
* [[eniac]]
"""


def test_branches_and_entries_are_read_in_order() -> None:
    """Branches keep their order, and entries know their line."""
    people, hardware = route.parse(TABLE)
    assert (people.name, [e.target for e in people.entries]) == ("People", ["alan-turing", "grace-hopper"])
    assert (hardware.name, [e.line for e in hardware.entries]) == ("Hardware", [10])


def test_code_fences_hold_no_branches() -> None:
    """A heading inside a code fence is text."""
    assert route.parse("```\n## No\n- [[x]]\n```\n## Yes\n- [[y]]\n") == (
        route.Branch("Yes", 5, (route.Entry("y", 6),)),
    )


def test_place_adds_one_line_below_the_last_entry() -> None:
    """A new page goes below the branch's last entry and nothing else moves."""
    placed = route.place(TABLE, "People", "- [[ada-lovelace|Ada Lovelace]]")
    assert placed.replace("- [[ada-lovelace|Ada Lovelace]]\n", "") == TABLE
    assert [e.target for e in route.parse(placed)[0].entries] == ["alan-turing", "grace-hopper", "ada-lovelace"]


def test_place_into_an_empty_branch_at_the_end_of_a_file() -> None:
    """A heading without a final line break takes an entry too."""
    assert route.place("## New", "New", "- [[a]]") == "## New\n- [[a]]\n"


def test_place_keeps_windows_line_endings() -> None:
    """The added line ends as the file's other lines do."""
    assert route.place("## A\r\n- [[a]]\r\n", "A", "- [[b]]") == "## A\r\n- [[a]]\r\n- [[b]]\r\n"


def test_an_unknown_branch_changes_nothing() -> None:
    """A branch that is not there is not invented."""
    assert route.place(TABLE, "Software", "- [[unix]]") == TABLE


@given(
    st.lists(st.sampled_from(["## A", "## B", "- [[x]]", "- [[y]] note", "prose", "", "~~~", "> quote"]), max_size=12)
)
def test_removing_what_was_placed_gives_the_file_back(lines: list[str]) -> None:
    """Placing a new entry and removing it again is no change, whatever else stands in the file."""
    text = "\n".join(lines) + "\n"
    for branch in route.parse(text):
        assert route.remove(route.place(text, branch.name, "- [[brand-new]]"), {"brand-new"}) == text


def test_best_branch_is_the_one_with_like_pages() -> None:
    """A page goes where the words of the pages are its own; to no branch when none is alike."""
    branches = {"Machines": ["relay computer with punched tape", "vacuum tube computer"], "Cooking": ["soup and bread"]}
    assert route.best_branch("a computer built from relays", branches) == "Machines"
    assert route.best_branch("quantum chromodynamics", branches) == ""


def test_an_entry_with_words_of_a_persons_becomes_words_when_its_page_goes() -> None:
    """A bare entry goes; a remark, another link and lines that hang on it stay."""
    text = "## A\r\n- [[x|X one]] my remark\r\n* [[x]]\r\n- [[x]] and [[y]]\r\n- [ ] [[x]]\r\n- [[x]]\r\n\t- [[y]]\r\n"
    kept = "## A\r\n- X one my remark\r\n- x and [[y]]\r\n- x\r\n\t- [[y]]\r\n"
    assert route.remove(text, {"x"}) == kept


def test_a_new_entry_does_not_come_between_an_entry_and_its_text() -> None:
    """Lines that hang on the last entry, and its own further lines, stay with it."""
    text = "## A\n- [[x]]\n  and so on\nlazily\n\n## B\n- [[y]]\n    - of it"
    assert route.place(text, "A", "- [[n]]") == text.replace("lazily\n", "lazily\n- [[n]]\n")
    assert route.place(text, "B", "- [[n]]") == text + "\n- [[n]]\n"
