"""Does a text read like text?"""

from __future__ import annotations

import pytest

from tasks.reading.quality import judge

GOOD = {
    "English": "This chapter deals with the graphical user interface of early machines and how people used it. " * 3,
    "German": "Die Geschwindigkeitsbegrenzungsverordnung gilt für Rechenmaschinen und Programmierer seit 1941. "
    * 3,
    "Finnish": "Tietokoneohjelmointikielten kehityshistoria alkoi sotavuosien laskulaitteista ja niiden käyttäjistä. "
    * 3,
    "Chinese": "计算机的历史可以追溯到很久以前，当时人们使用算盘进行计算，后来出现了机械计算器。" * 3,
    "Japanese": "コンピュータの歴史はとても長く、機械式計算機から始まりました。Zuse Z3は1941年に完成した。" * 3,
    "Korean": "컴퓨터의 역사는 매우 길며 기계식 계산기에서 시작되었다. 초기의 컴퓨터는 방 하나를 차지했다. " * 3,
    "Thai": "ประวัติของคอมพิวเตอร์เริ่มต้นจากเครื่องคำนวณเชิงกลซึ่งมีมานานแล้วและพัฒนาต่อเนื่องเรื่อยมา" * 3,
    "Arabic": "تعود نشأة الحاسوب إلى الآلات الحاسبة الميكانيكية التي ظهرت في القرن السابع عشر وتطورت بعد ذلك. " * 3,
    "addresses": "See https://example.org/a/very/long/path/to/some/document/that/goes/on?and=on for the details of it. "
    * 3,
    "short": "Z3, 1941",
}


@pytest.mark.parametrize("name", GOOD)
def test_sound_text(name: str) -> None:
    """Sound text of any language gets the full score."""
    assert judge(GOOD[name]).score == 1.0, judge(GOOD[name])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Thischapterdealswiththegraphicaluserinterface" * 3, "glued"),
        (
            "Thischapterdealswith thegraphicaluserinterface ofearlymachines andhowpeopleusedthem inthosedays. " * 4,
            "glued",
        ),
        (("T h i s   c h a p t e r   d e a l s   w i t h   t h e   i n t e r f a c e " * 3), "apart"),
        (
            "Thi\ufffd ch\ufffdpter d\ufffdals with th\ufffd graph\ufffdcal user int\ufffdrface of machines" * 3,
            "unreadable",
        ),
        ("ӝ߸ࣿചীࠁې޷ܲٮউӝࣿ੹ࠁݎҊࢲ ࠁউ࠙ ǐې޷Ҵо੿ࠁࠁউӝߊࣿ੹ߑೱ" * 4, "scripts"),
        ("(cid:12)(cid:7)(cid:9) and (cid:1)(cid:2)(cid:33) words " * 6, "unreadable"),
    ],
)
def test_broken_text(text: str, reason: str) -> None:
    """Glued words, spread letters and broken letter tables fall below one half and say why."""
    judged = judge(text)
    assert judged.score < 0.5, judged
    assert reason in " ".join(judged.reasons)
