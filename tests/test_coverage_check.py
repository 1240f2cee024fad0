"""Whether a sentence says what the words it cites say: the ways in which it may say something else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.coverage.check import Quoted, State, check
from tasks.markdown import sentences

COVERED, UNCOVERED, INVENTED = State.COVERED, State.UNCOVERED, State.INVENTED
BELL = "Anna Bell lives in Kent and runs a bakery. It opened in 2011 with 1,200 pounds of flour."
HINDI, ARABIC = "यह मशीन बर्लिन में बनाई गई थी।", "وهذا أيضًا صحيحٌ في لندن."
CASES = [  # sentence, quotation, place, names of the page, verdict
    (
        "The Z3 was built in 1945.",
        "The Z3 was built in 1941.",
        "The Z3 was built in 1941. The Z4 was built in 1945.",
        "Zuse",
        UNCOVERED,
    ),
    ("Bob paid Alice 100 pounds.", "Alice paid Bob 100 pounds", "In 1950 Alice paid Bob 100 pounds.", "", UNCOVERED),
    ("Bob was paid by Alice.", "Bob paid Alice 100 pounds", "In 1950 Bob paid Alice 100 pounds.", "", UNCOVERED),
    ("Bob was paid by Alice.", "Alice paid Bob", "In 1950 Alice paid Bob 100 pounds.", "", COVERED),
    ("It has 5 wheels and 3 doors.", "It has 3 wheels and 5 doors", "It has 3 wheels and 5 doors.", "Car", UNCOVERED),
    (
        "She was born in 1852.",
        "She was born",
        "She was born in London on 10 December 1815, and died on 27 November 1852.",
        "Ada",
        UNCOVERED,
    ),
    (
        "She was born in London on 10 December 1815 and died in 1852.",
        "She was born",
        "She was born in London on 10 December 1815, and died on 27 November 1852.",
        "Ada",
        COVERED,
    ),
    (
        "The Z1 ran reliably.",
        "ran reliably",
        "His first machine, the Z1, was mechanical and never ran reliably.",
        "Z1",
        UNCOVERED,
    ),
    (
        "It was taken apart after the war.",
        "it was taken apart after the war",
        "The machine could not be programmed, and it was taken apart after the war.",
        "ABC",
        COVERED,
    ),
    (
        "It was taken apart before the war.",
        "it was taken apart after the war",
        "The machine could not be programmed, and it was taken apart after the war.",
        "ABC",
        UNCOVERED,
    ),
    ("He won the prize.", "He may have won the prize", "He may have won the prize in 1950.", "", UNCOVERED),
    ("He won the prize.", "Critics claim he won the prize", "Critics claim he won the prize in 1950.", "", UNCOVERED),
    ("Ada Lovelace was a poet.", "Lord Byron was a poet.", "Lord Byron was a poet.", "Ada Lovelace", UNCOVERED),
    ("It was destroyed in 1943.", "The Z1 was destroyed in 1943.", "The Z1 was destroyed in 1943.", "Z3", UNCOVERED),
    ("It was destroyed in 1943.", "The Z3 was destroyed in 1943.", "The Z3 was destroyed in 1943.", "Z3", COVERED),
    ("Anna Bell runs a bakery.", "runs a bakery", BELL, "Anna Bell", COVERED),
    ("Anna Bell opened a bakery with 1,200 pounds of flour.", "It opened in 2011", BELL, "Anna Bell", UNCOVERED),
    ("It cost 3,141 dollars.", "It cost 3.141 dollars", "It cost 3.141 dollars.", "X", UNCOVERED),
    ("It cost 1200 dollars.", "It cost 1,200 dollars", "It cost 1,200 dollars.", "X", COVERED),
    ("It is priced at $399.", "priced at €399", "It is priced at €399.", "X", UNCOVERED),
    ("It costs €399.", "priced at €399", "It is priced at €399.", "X", UNCOVERED),
    ("It grew by 5 percent.", "It grew by 5%", "It grew by 5%.", "X", COVERED),
    ("It grew by 5 percent.", "It grew by 5", "It grew by 5.", "X", UNCOVERED),
    ("It was 5 °C.", "It was -5 °C", "It was -5 °C.", "X", UNCOVERED),
    ("Henry VII built it.", "Henry VIII built it", "Henry VIII built it in 1500.", "X", INVENTED),
    ("In 1500 Henry VII built it.", "Henry VIII built it", "Henry VIII built it in 1500.", "X", INVENTED),
    ("It was the first computer.", "It was the computer", "It was the computer of the army.", "X", UNCOVERED),
    (
        "In 1941 Konrad Zuse presented the Z3 in Berlin.",
        "Konrad Zuse presented",
        "Konrad Zuse presented the Z3 in Berlin in 1941.",
        "Z3",
        COVERED,
    ),
    (
        "The Z3 was presented by Konrad Zuse in Berlin in 1941.",
        "Konrad Zuse presented",
        "Konrad Zuse presented the Z3 in Berlin in 1941.",
        "Z3",
        COVERED,
    ),
    (
        "The Pascaline was built by Blaise Pascal from 1642 on.",
        "The Pascaline was",
        "The Pascaline was a mechanical calculator that Blaise Pascal built from 1642 on.",
        "Pascaline",
        COVERED,
    ),
    (
        "Zuse sold the Z4 in 1950.",
        "sold the Z4 in 1950",
        "Zuse finished the Z3 in 1941 and sold the Z4 in 1950.",
        "Z4",
        COVERED,
    ),
    (
        "The Z3 was sold in 1950.",
        "sold the Z4 in 1950",
        "Zuse finished the Z3 in 1941 and sold the Z4 in 1950.",
        "Z4",
        UNCOVERED,
    ),
    (
        "He did not fund it.",
        "He did not build it but he funded it.",
        "He did not build it but he funded it.",
        "X",
        UNCOVERED,
    ),
    ("She was not married.", "runs a bakery", "She runs a bakery. He was not married.", "X", UNCOVERED),
    (
        "The fee is 10 euros for all members.",
        "The fee is 10 euros for members",
        "The fee is 10 euros for members.",
        "",
        UNCOVERED,
    ),
    (
        "Die Z3 wurde 1941 in Berlin von Konrad Zuse vorgestellt.",
        "Konrad Zuse stellte",
        "Konrad Zuse stellte die Z3 1941 in Berlin vor.",
        "Z3",
        UNCOVERED,
    ),
    (
        "Mauchly and Eckert built ENIAC.",
        "Eckert and Mauchly built ENIAC",
        "Eckert and Mauchly built ENIAC in 1945.",
        "ENIAC",
        COVERED,
    ),
    ("Paula Bell lives in Kent.", "lives in Kent", "Paul Bell lives in Kent.", "Bell", UNCOVERED),
    ("The engineer Peterson left.", "The engineer Petersen left", "The engineer Petersen left.", "Bell", UNCOVERED),
    ("它不是計算機。", "它是計算機", "它是計算機。他不住在這裡。", "", UNCOVERED),
    ("它是計算機。", "它可能是計算機", "它可能是計算機。", "", UNCOVERED),
    ("The limit is 10 million.", "The limit is 10 billion", "The limit is 10 billion.", "", UNCOVERED),
    (
        "Машина была построена в 1945 году.",
        "Машина была построена в 1941 году",
        "Машина была построена в 1941 году. Другая в 1945 году.",
        "",
        UNCOVERED,
    ),
    ("Ran reliably.", "ran reliably", "The Z1 never ran reliably.", "Z1", UNCOVERED),
    ("The wax is non-toxic.", "The wax is toxic.", "The wax is toxic.", "Wax", UNCOVERED),
    ("It runs IT-644.", "It runs IT-645.", "It runs IT-645.", "", INVENTED),
    ("The state-of-the-art machine ran.", "machine ran", "The state of the art machine ran.", "", COVERED),
    (HINDI.replace("यह ", ""), HINDI, HINDI, "", COVERED),
    (ARABIC.replace("وهذا ", ""), ARABIC, ARABIC, "", COVERED),
    ("The Z1 ran, see https://evil.example/.", "The Z1 ran", "The Z1 ran.", "", INVENTED),
    ("The Z1 is at https://z1.example/.", "is at https://z1", "The Z1 is at https://z1.example/ now.", "", COVERED),
    ("It was built from 1945 to 1943.", "built from 1943 to 1945", "It was built from 1943 to 1945.", "", UNCOVERED),
    ("It ran and it ran. " * 4, "It ran", "It ran and it ran.", "", INVENTED),
    ("It was slow, very very slow.", "very very slow", "It was slow, very very slow.", "", COVERED),
]


@pytest.mark.parametrize(("sentence", "quote", "place", "names", "state"), CASES)
def test_what_the_cited_sentence_does_not_say_is_not_covered(
    sentence: str, quote: str, place: str, names: str, state: State
) -> None:
    """Names, numbers, dates, signs, denials and hedges are looked at in the cited sentence, not in its neighbours."""
    assert check(sentence, [Quoted(quote, place)], names).state is state


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([place for _, _, place, _, _ in CASES]), min_size=1, max_size=4))
def test_a_sentence_that_stands_there_word_for_word_is_covered(places: list[str]) -> None:
    """Whatever it says, and whatever stands around it."""
    place = " ".join(places)
    for one in sentences.split(place):
        assert check(one, [Quoted(one, place)]).state is COVERED


def test_a_quotation_too_short_to_bear_its_sentence_out_is_made_whole() -> None:
    """What is published under a sentence holds all of its words; one that does already stays as it is."""
    short = check("Anna Bell runs a bakery in Kent.", [Quoted("lives in Kent", BELL)], "Anna Bell")
    assert short.quotes == ("Anna Bell lives in Kent and runs a bakery.",)
    assert check("It runs a bakery.", [Quoted("runs a bakery", BELL)]).quotes == ("runs a bakery",)


def test_several_quotations_bear_a_sentence_out_together() -> None:
    """A sentence may rest on two places."""
    both = [Quoted("runs a bakery", BELL), Quoted("It opened in 2011", BELL)]
    assert check("Anna Bell runs a bakery that opened in 2011.", both, "Anna Bell").state is COVERED


def test_headings_lend_words_but_neither_names_nor_numbers() -> None:
    """What only a heading says is no fact of the sentence below it."""
    place = [Quoted("The fee is 10 euros", "The fee is 10 euros.")]
    assert check("The membership fee is 10 euros.", place, "", "Membership 2024").state is COVERED
    assert check("The fee in 2024 is 10 euros.", place, "", "Membership 2024").state is UNCOVERED
