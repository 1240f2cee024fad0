"""What is said without the word that denied it, or with one more: in every language a turned statement."""

from __future__ import annotations

import pytest

from tasks.coverage.check import Quoted, State, check
from tasks.coverage.negation import DENIAL

PAIRS = {
    "en": ("The bridge was opened in 1974.", "The bridge was not opened in 1974."),
    "de": ("Die Brücke wurde 1974 eröffnet.", "Die Brücke wurde 1974 nicht eröffnet."),
    "fr": ("Le pont a été ouvert en 1974.", "Le pont n'a pas été ouvert en 1974."),
    "es": ("El puente fue inaugurado en 1974.", "El puente no fue inaugurado en 1974."),
    "it": ("Il ponte è stato aperto nel 1974.", "Il ponte non è stato aperto nel 1974."),
    "pt": ("A ponte foi aberta em 1974.", "A ponte não foi aberta em 1974."),
    "nl": ("De brug werd in 1974 geopend.", "De brug werd in 1974 niet geopend."),
    "sv": ("Bron öppnades 1974.", "Bron öppnades inte 1974."),
    "da": ("Broen blev åbnet i 1974.", "Broen blev ikke åbnet i 1974."),
    "pl": ("Most został otwarty w 1974.", "Most nie został otwarty w 1974."),
    "cs": ("Most byl otevřen v roce 1974.", "Most nebyl otevřen v roce 1974."),
    "ru": ("Мост был открыт в 1974 году.", "Мост не был открыт в 1974 году."),
    "el": ("Η γέφυρα άνοιξε το 1974.", "Η γέφυρα δεν άνοιξε το 1974."),
    "tr": ("Köprü 1974'te açık idi.", "Köprü 1974'te açık değil idi."),
    "ar": ("افتتح الجسر عام 1974.", "لم افتتح الجسر عام 1974."),
    "he": ("הגשר נפתח בשנת 1974.", "הגשר לא נפתח בשנת 1974."),
    "hi": ("पुल 1974 में खोला गया था।", "पुल 1974 में नहीं खोला गया था।"),
    "vi": ("Cây cầu được mở năm 1974.", "Cây cầu không được mở năm 1974."),
    "id": ("Jembatan itu dibuka pada 1974.", "Jembatan itu tidak dibuka pada 1974."),
    "zh": ("这座桥在1974年开放。", "这座桥在1974年没有开放。"),
    "ja": ("橋は1974年に開通しました。", "橋は1974年に開通しませんでした。"),
    "ko": ("다리는 1974년에 개통되었다.", "다리는 1974년에 개통되지 않았다."),
    "th": ("สะพานเปิดในปี 1974", "สะพานไม่ได้เปิดในปี 1974"),
}


@pytest.mark.parametrize("language", PAIRS)
def test_a_denial_may_neither_be_added_nor_left_out(language: str) -> None:
    """Neither is covered by the other; each is covered by itself."""
    plain, denied = PAIRS[language]
    for sentence, place in ((plain, denied), (denied, plain)):
        assert check(sentence, [Quoted(place, place)]).state is not State.COVERED
    for one in PAIRS[language]:
        assert check(one, [Quoted(one, one)]).state is State.COVERED


@pytest.mark.parametrize(
    ("sentence", "place"),
    [
        ("Il ponte è stato aperto nel 1974.", "Il ponte, non ancora dipinto, è stato aperto nel 1974."),
        ("该机于1941年完成。", "该机于1941年完成，没有投入使用。"),
        ("这座桥在1974年开放。", "这座非常长的桥在1974年不仅开放，而且免费。"),
        ("De brug werd in 1974 geopend.", "De brug werd in 1974 geopend. Er was geen tol."),
        ("สะพานเปิดในปี 1974", "สะพานเปิดในปี 1974 แต่ไม่มีค่าผ่านทาง"),
    ],
)
def test_a_denial_of_something_else_denies_nothing(sentence: str, place: str) -> None:
    """Another clause or sentence, or an idiom that only looks like one."""
    assert check(sentence, [Quoted(place, place)]).state is State.COVERED


@pytest.mark.parametrize("text", ["非常に", "不仅如此", "不过", "无线", "未来", "không gian", "non-volatile", "Das Ei"])
def test_idioms_deny_nothing(text: str) -> None:
    """Though one of their parts does elsewhere."""
    assert DENIAL.search(text) is None


@pytest.mark.parametrize(
    ("sentence", "state"),
    [
        ("กรุงเทพก่อตั้งเมื่อ พ.ศ. 2325", State.COVERED),
        ("กรุงเทพก่อตั้งเมื่อ พ.ศ. ๒๓๒๕", State.COVERED),
        ("กรุงเทพก่อตั้งเมื่อ พ.ศ. 2335", State.INVENTED),
        ("ชาวญี่ปุ่นสร้างเชียงใหม่", State.INVENTED),
    ],
)
def test_words_without_blanks_are_held_against_the_place_too(sentence: str, state: State) -> None:
    """Thai is read in threes of letters, its digits as any others."""
    place = "กรุงเทพก่อตั้งเมื่อ พ.ศ. 2325 โดยพระบาทสมเด็จพระพุทธยอดฟ้า"
    assert check(sentence, [Quoted(place, place)]).state is state
