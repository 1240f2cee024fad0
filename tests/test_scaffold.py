"""The index made anew: categories stay, each page stands in one, and the user's text is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from tasks.navigation import index_page, scaffold
from tasks.navigation.index_page import MARKER, Entry
from tasks.navigation.scaffold import categories, sections, with_categories

Z3 = Entry("zuse-z3", "Zuse Z3", "A relay computer.", ("computers",))
ENIAC = Entry("eniac", "ENIAC", "A tube computer.", ("computers", "history"))
COBOL = Entry("cobol", "COBOL", "A language.", ("languages",))
ALGOL = Entry("algol", "ALGOL", "Another language.", ("languages",))


def regenerate(text: str, entries: Sequence[Entry], former: Mapping[str, str]) -> str:
    return with_categories(text, categories(text, entries, former))


def test_a_heading_that_a_person_renamed_stays() -> None:
    """Pages keep their category under its present name, and a page of its tag makes a new one only with others."""
    text = index_page.create("W", [Z3, ENIAC]).replace("## Computers", "## Old machines")
    assert sections(text) == {"Old machines": ("eniac", "zuse-z3")}
    grown = regenerate(text, [Z3, ENIAC, COBOL, ALGOL], {})
    assert {name: len(stems) for name, stems in sections(grown).items()} == {"Old machines": 2, "Languages": 2}


def test_empty_categories_go_and_new_ones_come() -> None:
    """A category lives as long as it has a page."""
    text = regenerate("# W\n", [Z3, ENIAC], {})
    assert sections(regenerate(text, [COBOL, ALGOL], {})) == {"Languages": ("algol", "cobol")}
    assert sections(regenerate(text, [Z3], {})) == {"Computers": ("zuse-z3",)}


def test_a_renamed_page_keeps_its_category() -> None:
    """Its former name in the index stands for it."""
    text = index_page.create("W", [Z3, ENIAC]).replace("## Computers", "## Mine")
    moved = Entry("z3", "Z3", "", ())
    assert categories(text, [moved, ENIAC], {"zuse-z3": "z3"}) == {"Mine": (ENIAC, moved)}


def test_windows_line_endings_stay() -> None:
    """The generated part ends its lines as the file does."""
    made = regenerate("# W\r\n\r\nMine\r\n", [Z3], {})
    assert made.replace("\r\n", "").count("\n") == 0 and made.startswith("# W\r\n\r\nMine\r\n")


entries = st.lists(
    st.builds(
        Entry,
        st.sampled_from([f"p{n}" for n in range(8)]),
        st.sampled_from(["Alpha", "Beta", "Gamma ray", "Delta wing"]),
        st.sampled_from(["", "A relay computer.", "A wing of an aircraft."]),
        st.lists(st.sampled_from(["a", "b-c", "d"]), max_size=2).map(tuple),
    ),
    max_size=8,
    unique_by=lambda entry: entry.stem,
)
LINES = ("# W", "## A", "## More pages", "- [[p1]]", "* [[p2|Two]] x", "words", "", MARKER, "```", "\u2028")
typed = st.lists(st.sampled_from(LINES), max_size=10)


@given(typed, entries, entries)
def test_scaffold_is_stable(lines: list[str], first: list[Entry], second: list[Entry]) -> None:
    """Each page in exactly one category, the text above byte for byte, and a second time nothing changes."""
    text = "\n".join(lines)
    for pages in (first, second):
        made = regenerate(text, pages, {})
        assert made.startswith(text.partition(MARKER)[0])
        stems = [stem for listed in sections(made).values() for stem in listed]
        assert sorted(stems) == sorted(page.stem for page in pages)
        assert all(sections(made).values())
        assert regenerate(made, pages, {}) == made
        text = made


@given(st.text(alphabet="ab .!#>-|`*\n1)[]", max_size=60))
def test_the_quick_summary_is_the_summary(body: str) -> None:
    """However a page begins, it says the same as the slow one."""
    for text in (body, f"---\ntitle: x\n---\n\n# T\n\n{body}"):
        assert scaffold.summary(text) == index_page.summary(text)
