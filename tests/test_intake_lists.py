"""Lists of addresses as people write them without knowing YAML: blocks of lines, lost dashes, addresses as keys."""

from __future__ import annotations

import pytest

from tasks.sources.source_list import read_list


@pytest.mark.parametrize(
    "text",
    [
        "web: |\n  https://a.org/\n  https://b.org/\n",
        "web: >\n  https://a.org/\n  https://b.org/\n",
        "- https://a.org/\n  https://b.org/\n",
        "https://a.org/ https://b.org/\n",
        "https://a.org/:\nhttps://b.org/:\n",
    ],
    ids=["block", "folded", "lost dash", "one line", "keys"],
)
def test_several_addresses_are_never_one(text: str) -> None:
    """Joined they would be an address that nobody listed."""
    listing = read_list(text.encode(), "s.yaml")
    assert [one.location for one in listing.found] == ["https://a.org/", "https://b.org/"]
    assert listing.problems == ()


def test_a_title_may_stand_after_its_address() -> None:
    """Whichever of the two is written first."""
    listing = read_list(b"https://a.org/: The lamp\nThe tower: https://b.org/\n", "s.yaml")
    assert [(one.location, one.title) for one in listing.found] == [
        ("https://a.org/", "The lamp"),
        ("https://b.org/", "The tower"),
    ]


def test_an_empty_group_is_no_mistake() -> None:
    """A person may keep headings for what comes later."""
    listing = read_list(b"web:\nfeeds:\n- https://a.org/feed.xml\nvideos: ~\n", "s.yaml")
    assert len(listing.found) == 1 and listing.problems == ()


def test_a_tab_is_named_as_the_cause() -> None:
    """The step helps with what is wrong there."""
    (problem,) = read_list(b"web:\n\t- https://a.org/\n", "s.yaml").problems
    assert (problem.line, problem.next_step) == (2, "Indent with blanks, not with tabs.")
