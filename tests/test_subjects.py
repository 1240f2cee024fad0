"""What a source is about: titles, keys and names."""

from __future__ import annotations

import pytest

from tasks.compiling import subjects


@pytest.mark.parametrize(
    ("given", "url", "expected"),
    [
        ("ENIAC - Wikipedia", "", "ENIAC"),
        ("Prison reform stalls again - The Guardian", "https://www.theguardian.com/x", "Prison reform stalls again"),
        ("BBC News - A headline of the day", "https://www.bbc.co.uk/x", "A headline of the day"),
        ("Opinion | Trains Are Good", "", "Trains Are Good"),
        ("report_on_relays_final_v2 (1).pdf", "", "report on relays"),
        ("Microsoft Word - Annual plan.docx", "", "Annual plan"),
        ("Z3 – A short history", "", "Z3 – A short history"),
        ("C++", "", "C++"),
        ("图灵机 - 维基百科", "", "图灵机"),
        ("untitled", "", ""),
        ("***", "", ""),
    ],
)
def test_clean_title(given: str, url: str, expected: str) -> None:
    """Site names, file endings and version marks leave a title; its own words stay."""
    assert subjects.clean_title(given, url, "html") == expected


def test_an_article_does_not_change_the_subject() -> None:
    """'The Zuse Z3' and 'Zuse Z3' are one subject, 'Z3' is another."""
    assert subjects.key_of("The Zuse Z3") == subjects.key_of("Zuse Z3") != subjects.key_of("Z3")


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        (
            "Electronic Numerical Integrator and Computer (ENIAC)",
            ("Electronic Numerical Integrator and Computer", ("ENIAC",)),
        ),
        ("Z3 (computer)", ("Z3 (computer)", ("Z3",))),
        ("Konrad Zuse's Z3", ("Konrad Zuse's Z3", ("Zuse Z3",))),
        ("Ford's plan for 2020", ("Ford's plan for 2020", ())),
        ("War (Song)", ("War (Song)", ())),
    ],
)
def test_names_in_a_title(title: str, expected: tuple[str, tuple[str, ...]]) -> None:
    """A title gives its abbreviation, its bare form, and the short form of a possessive; nothing else."""
    assert subjects.title_aliases(title) == expected


@pytest.mark.parametrize(
    ("title", "sentence", "expected"),
    [
        (
            "ENIAC",
            "ENIAC (Electronic Numerical Integrator and Computer) was a machine.",
            "Electronic Numerical Integrator and Computer",
        ),
        (
            "ENIAC",
            "The Electronic Numerical Integrator and Computer (ENIAC) was a machine.",
            "Electronic Numerical Integrator and Computer",
        ),
        (
            "Manchester Baby",
            "The Manchester Baby, also known as the Small-Scale Experimental Machine, ran.",
            "Small-Scale Experimental Machine",
        ),
        ("Zuse Z3", "The Zuse Z3, or Z3, was a computer.", "Z3"),
        ("电子计算机", "电子计算机，又称电脑，是一种机器。", "电脑"),
    ],
)
def test_names_in_the_opening(title: str, sentence: str, expected: str) -> None:
    """The opening sentence names the subject otherwise, in the ways encyclopedias do."""
    assert expected in subjects.fit_aliases(title, subjects.text_aliases(title, [sentence]))


def test_what_cannot_be_an_alias() -> None:
    """The title itself, generic words, dates and single common words serve nobody as a name."""
    assert (
        subjects.fit_aliases("ENIAC", ["ENIAC", "the ENIAC", "Introduction", "machine", "1945", "in 1945", "", "Eniac"])
        == ()
    )


@pytest.mark.parametrize(
    ("short", "long", "expected"),
    [
        ("ENIAC", "Electronic Numerical Integrator and Computer", True),
        ("UNESCO", "United Nations Educational, Scientific and Cultural Organization", True),
        ("CERN", "European Organization for Nuclear Research", False),
        ("computer", "Zuse computer", False),
    ],
)
def test_abbreviations(short: str, long: str, expected: bool) -> None:
    """An abbreviation takes its letters from the words it stands for."""
    assert subjects.stands_for(short, long) is expected


def test_headings_that_name_no_subject() -> None:
    """'History' or '3. Results' never collect sections of other sources; 'Zuse Z3' does."""
    assert [subjects.heading_subject(heading) for heading in ("History", "3. Results", "2.1 Zuse Z3")] == [
        "",
        "",
        "zuse-z3",
    ]
