"""index.md: what stands above the marker is the user's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.navigation import index_page, scaffold
from tasks.navigation.index_page import MARKER, Entry

Z3 = Entry("zuse-z3", "Zuse Z3", "A relay computer.", ("computers",))
ENIAC = Entry("eniac", "ENIAC", "A tube computer.", ("computers", "history"))
COBOL = Entry("cobol", "COBOL", "A language.", ("languages",))


def test_every_page_stands_in_exactly_one_category() -> None:
    """Shared tags make categories; the rest is gathered at the end."""
    assert index_page.categories([COBOL, Z3, ENIAC]) == {"Computers": (ENIAC, Z3), "More pages": (COBOL,)}


def test_a_new_page_joins_the_category_of_its_tag() -> None:
    """The line is added below its category's last line; all else stays."""
    text = index_page.create("Wiki", [Z3, ENIAC])
    grown = index_page.add(text, [Entry("colossus", "Colossus", "", ("computers",))])
    assert grown.replace("- [[colossus|Colossus]]\n", "") == text
    assert grown.index("[[zuse-z3") < grown.index("[[colossus")


def test_a_page_like_no_category_goes_to_the_rest() -> None:
    """A category for the rest is made when it is needed, and used again."""
    text = index_page.create("Wiki", [Z3, ENIAC])
    grown = index_page.add(index_page.add(text, [COBOL]), [Entry("soup", "Soup", "", ())])
    assert grown.count("## More pages") == 1
    assert grown.endswith("- [[cobol|COBOL]] — A language.\n- [[soup|Soup]]\n")


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=80))
def test_the_users_text_is_kept_byte_for_byte(mine: str) -> None:
    """Whatever stands in a file without a marker stays above it as it is."""
    grown = index_page.add(mine, [Z3])
    assert grown.startswith(mine) and (MARKER in mine or grown.count(MARKER) == 1)
    assert index_page.line(Z3) in grown


def test_lines_of_pages_that_are_gone_leave_only_below_the_marker() -> None:
    """A mention above the marker is the user's and stays."""
    text = f"- [[eniac]] is my favourite\n{MARKER}\n\n## Computers\n\n{index_page.line(ENIAC)}\n{index_page.line(Z3)}\n"
    assert index_page.drop(text, ["eniac"]) == text.replace(index_page.line(ENIAC) + "\n", "")


SHOWN = (
    f"```html\n{MARKER}\n```\n",
    f"Lists begin at `{MARKER}`.\n", f"> {MARKER}\n", f"{MARKER}\n\nThe other half.\n")


@pytest.mark.parametrize("above", SHOWN, ids=["fence", "code", "quote", "twice"])
def test_a_marker_that_a_person_shows_is_text(above: str) -> None:
    """Only the last one that stands alone parts what is theirs from what is made."""
    text = f"# Mine\n\n{above}\nMore of mine.\n\n{MARKER}\n\n## Computers\n\n{index_page.line(Z3)}\n"
    grown = index_page.drop(index_page.add(text, [ENIAC]), ["z3"])
    made = scaffold.with_categories(grown, {"Computers": (ENIAC,)})
    assert grown.startswith(text.partition("## Computers")[0])
    assert made == text.replace(index_page.line(Z3), index_page.line(ENIAC))


def test_what_a_person_wrote_among_the_lists_moves_above_them() -> None:
    """No word of theirs goes with the lists, a fence's lines that look like lists neither, nor a remark on a page."""
    remark = f"- [[{Z3.stem}|{Z3.title}]] my remark"
    mine = ("A word on these:", "| a |\n|---|", "```\n## no heading\n- [[nothing]]\n```", remark)
    text = f"# W\n\n{MARKER}\n\n## A\n\n{index_page.line(ENIAC)}\n\n" + "\n\n".join(mine) + "\n"
    assert index_page.drop(text, [Z3.stem]) == text
    made = scaffold.with_categories(text, {"A": (ENIAC,)})
    assert made == "# W\n\n" + "\n\n".join(mine) + f"\n\n{MARKER}\n\n## A\n\n{index_page.line(ENIAC)}\n"
    assert scaffold.with_categories(made, {"A": (ENIAC,)}) == made
