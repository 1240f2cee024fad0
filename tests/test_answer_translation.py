"""What is checked of an answer in another script than the pages it cites."""

from __future__ import annotations

import pytest

from tasks.answers.translation import figures, not_carried, script, western


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("１９４１年", {"1941"}), ("عام ١٩٤١", {"1941"}), ("พ.ศ. ๒๔๘๔", {"2484"}), ("一九四一年", {"1941"}),
        ("五十三", {"53"}), ("三千二百", {"3200"}), ("十二", {"12"}), ("两百", {"200"}), ("2.6万", {"26000"}),
        ("18,000", {"18000"}), ("18.000", {"18000"}), ("83,6 kg", {"83.6"}),
        ("万一、十分、一个、Z3、B52s", set()), ("none", set()),
    ],
)  # fmt: skip
def test_numbers_of_all_scripts_are_the_same_numbers(text: str, wanted: set[str]) -> None:
    """Idioms made of numerals are no numbers."""
    assert figures(text) == wanted


@pytest.mark.parametrize(
    ("sentence", "lost"),
    [
        ("Z3 于1941年完成。", ""), ("Z3 于一九五五年完成。", "1955"), ("Z3 由 Konrad Zuse 建造。", ""),
        ("Z3 由 Alan Turing 建造。", "Alan"), ("تم الانتهاء من Z3 في عام ١٩٤١.", ""), ("في عام ١٩٥٥.", "1955"),
        ("Машина Z3 была построена в 1941 году.", ""), ("Машина весила 41 тонну.", "41"),
    ],
)  # fmt: skip
def test_what_can_be_compared_is_compared(sentence: str, lost: str) -> None:
    """Figures whole, not as parts of others; names that are written alike in both."""
    assert not_carried(sentence, "Konrad Zuse finished it in 1941.", "Zuse Z3") == lost


def test_the_script_is_that_of_most_letters() -> None:
    """A letter of Chinese says as much as a word of others."""
    assert [script(text) for text in ("Z3 于1941年", "hello", "Когда Z3?", "متى", "12", "はい")] == [
        "CJK", "LATIN", "CYRILLIC", "ARABIC", "", "CJK"
    ]  # fmt: skip
    assert western("١٢ ab ３") == "12 ab 3"
