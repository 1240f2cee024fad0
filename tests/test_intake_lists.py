"""Lists of addresses as people write them without knowing YAML: blocks of lines, lost dashes, addresses as keys."""

from __future__ import annotations

import pytest

from tasks.sources.source_list import read_inbox, read_list


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


@pytest.mark.parametrize(
    "note",
    [
        "读 https://a.org/路，然后（https://b.org/）。",
        "==https://a.org/路== and ~~https://b.org/~~",
        "\\_ https://a.org/路 <a class=x href='https://b.org/'>B</a>",
    ],
    ids=["wide stops", "marks", "tags"],
)
def test_addresses_in_all_kinds_of_text(note: str) -> None:
    """What stands around an address, and right behind it, is no part of it, and the next one is seen."""
    listing = read_inbox(note.encode(), "inbox.md")
    assert [one.location for one in listing.found] == ["https://a.org/%E8%B7%AF", "https://b.org/"]


def test_escaped_marks_belong_to_an_address() -> None:
    """Some editors write a backslash before every underscore."""
    listing = read_inbox(b"- https://a.org/the\\_old\\_lamp by Ida\n", "inbox.md")
    assert [(one.location, one.title) for one in listing.found] == [("https://a.org/the_old_lamp", "by Ida")]
