"""Links from words to pages."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.pages.linking import Names, link_block, mentions, unlink

PAGES = [
    ("zuse-z3", "Zuse Z3", ("Z3",)),
    ("eniac", "ENIAC", ("Electronic Numerical Integrator and Computer",)),
    ("relay", "relay", ()),
    ("grace-hopper", "Grace Hopper", ()),
    ("cpp", "C++", ()),
    ("tu-ling-ji", "图灵机", ("チューリングマシン",)),
    ("masina", "Машина Тьюринга", ()),
    ("the", "The", ()),
]
NAMES = Names.of(PAGES)


def link(text: str) -> str:
    return link_block(text, NAMES, set())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Zuse Z3 ran; the Z3 burnt.", "The [[zuse-z3|Zuse Z3]] ran; the Z3 burnt."),
        ("ENIAC's tubes. ENIAC again.", "[[eniac|ENIAC]]'s tubes. ENIAC again."),
        (
            "the electronic numerical integrator and computer",
            "the [[eniac|electronic numerical integrator and computer]]",
        ),
        ("a relay, not a Relay or relays", "a [[relay]], not a Relay or relays"),
        ("GRACE HOPPER and grace hopper", "[[grace-hopper|GRACE HOPPER]] and grace hopper"),
        ("Grace\nHopper spoke", "[[grace-hopper|Grace Hopper]] spoke"),
        ("in C++.", "in [[cpp|C++]]."),
        ("a eniac, ENIACs, post-ENIAC, ENIAC-like", "a eniac, ENIACs, post-ENIAC, ENIAC-like"),
        ("他研究图灵机的理论", "他研究[[tu-ling-ji|图灵机]]的理论"),
        ("使用ENIAC计算", "使用[[eniac|ENIAC]]计算"),
        ("これはチューリングマシンです", "これは[[tu-ling-ji|チューリングマシン]]です"),
        ("チューリングマシンズ", "チューリングマシンズ"),
        ("машина тьюринга проста", "[[masina|машина тьюринга]] проста"),
        ("| ENIAC | 1945 |", "| [[eniac\\|ENIAC]] | 1945 |"),
        ("The end.", "The end."),
        ("ENIAC.[^nw-12345678] Z3", "[[eniac|ENIAC]].[^nw-12345678] [[zuse-z3|Z3]]"),
    ],
)
def test_first_mention_is_linked(text: str, expected: str) -> None:
    """The first whole-word mention of a page becomes a link, in every script and in tables."""
    assert link(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "`ENIAC` and ``a ` ENIAC``",
        "```\nENIAC\n```",
        "    ENIAC as code",
        "## ENIAC",
        '[^nw-1]: [[x]] "ENIAC"',
        "[ENIAC](https://x.org)",
        "![ENIAC](a.png)",
        "![[ENIAC.png]]",
        "https://x.org/ENIAC?q=ENIAC",
        '<a title="ENIAC">',
        "$ENIAC$ and $$ENIAC$$",
        "#ENIAC",
        "%%ENIAC%%",
        "mail ENIAC@x.org",
        "[^ENIAC]",
        "<!-- ENIAC -->",
    ],
)
def test_where_nothing_is_linked(text: str) -> None:
    """Code, headings, definitions, links, addresses, formulas, tags and comments are left alone."""
    assert link(text) == text


def test_one_link_a_page_and_none_to_itself() -> None:
    """Over all blocks a page is linked once; a link that stands already counts, and the own stem is never linked."""
    texts = ["See [[grace-hopper|her page]].", "ENIAC and Grace Hopper.", "# ENIAC", "ENIAC and Zuse Z3."]
    expected = ["See [[grace-hopper|her page]].", "[[eniac|ENIAC]] and Grace Hopper.", "# ENIAC", "ENIAC and Zuse Z3."]
    already = {"zuse-z3"}
    assert [link_block(text, NAMES, already) for text in texts] == expected


def test_linking_again_changes_nothing() -> None:
    """A linked text stays as it is."""
    once = link("ENIAC and the Zuse Z3 by Grace Hopper.")
    assert link(once) == once


def test_a_name_of_two_pages_links_to_neither() -> None:
    """A title wins over an alias; an alias that two pages claim is nobody's."""
    names = Names.of([("a", "Alpha One", ("Shared Name", "Beta Two")), ("b", "Beta Two", ("Shared Name",))])
    assert link_block("Shared Name, Beta Two", names, set()) == "Shared Name, [[b|Beta Two]]"


def test_unlink_leaves_the_words() -> None:
    """Links to pages that are gone become the words they showed; code and other links stay."""
    text = "[[eniac|The ENIAC]], [[wiki/eniac#History]], [[zuse-z3]] `[[eniac]]` ![[eniac]] | [[eniac\\|E]] |"
    assert unlink(text, ["eniac"]) == "The ENIAC, eniac, [[zuse-z3]] `[[eniac]]` ![[eniac]] | E |"


def test_mentions_finds_pages_that_could_link() -> None:
    """The stems of all pages that running text names."""
    assert mentions("# ENIAC\n\nGrace Hopper used `Z3`.\n\nThe Z3.", NAMES) == {"grace-hopper", "zuse-z3"}


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.sampled_from(["ENIAC", "Zuse Z3", "`", "```", "[[", "]]", "|", "$", "#", " ", "\n", "[^a]", "图灵机", "x"]),
        max_size=14,
    )
)
def test_linking_only_adds_links(pieces: list[str]) -> None:
    """Taking the links away again gives the text as it was."""
    text = "".join(pieces)
    linked = link(text)
    if "[[" not in text and "\n" not in text:
        assert unlink(linked, [stem for stem, _, _ in PAGES]) == text


def test_many_names_are_found_quickly() -> None:
    """Ten thousand names over a page cost a few milliseconds."""
    names = Names.of([(f"p{i}", f"Subject {i} of the catalogue", (f"Alias{i}x",)) for i in range(5000)])
    page = ["Nothing here names a page, but Alias77x and subject 4 of the catalogue do, once in a while."] * 50
    start = time.process_time()
    already: set[str] = set()
    linked = [link_block(text, names, already) for text in page]
    assert time.process_time() - start < 3
    assert linked[0].count("[[") == 2
