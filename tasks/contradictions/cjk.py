"""Contradictions in Chinese, Japanese and Korean: one sentence twice, letter for letter, with another figure or year.

Words are not parted by spaces there, so nothing less than equal text around the one figure counts.
"""

from __future__ import annotations

import re
import unicodedata

from tasks.contradictions.claims import ClashKind

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_YEAR = re.compile(r"(?:1\d|20)\d\d")
_NOT_ITS_OWN = re.compile(
    r"据说|据称|據說|據稱|传说|傳說|声称|聲稱|谣|謠|误|誤|可能|也许|或许|大概|大约|大約|约|約|左右|前后|前後|预计|預計|计划|計劃|将|將|"
    r"认为|認為|表示|指出|なら|もし|という|と言わ|といわ|とされ|らしい|だろう|ほど|くらい|ごろ|頃|予定|見込|"
    r"약|대략|정도|쯤|예정|계획|것이다|라고|다는|추정|알려져|[?？「『“\"‘]"
)
_PRONOUN = re.compile(r"它|他|她|这|這|该|該|其|此|本文|本研究|我|これ|それ|この|その|彼|私|我々|그|이것|저는|우리")
_ONCE = re.compile(
    r"建成|成立|建立|创立|創立|创建|創建|设立|設立|出生|生于|生於|诞生|誕生|去世|逝世|死亡|死去|发明|發明|発明|发现|發現|発見|竣工|完工|"
    r"完成|落成|开通|開通|通车|通車|开业|開業|出版|发表|發表|発表|发布|發布|発売|上映|公開|生まれ|没し|建設|"
    r"설립|창립|건설|완공|출생|태어|사망|발명|발견|개통|출판|출시|준공"
)


def skeleton(text: str) -> str:
    """The sentence with its figures taken out; '' when it has none, or is not plainly its source's own statement."""
    flat = "".join(unicodedata.normalize("NFKC", text).split())
    if _NOT_ITS_OWN.search(flat) or _PRONOUN.match(flat) or not _NUMBER.search(flat):
        return ""
    return _NUMBER.sub("#", flat)


def told(one: str, other: str) -> tuple[ClashKind, str] | None:
    """How two sentences of one skeleton contradict each other, or None."""
    figures = [_NUMBER.findall("".join(unicodedata.normalize("NFKC", text).split())) for text in (one, other)]
    apart = [(a, b) for a, b in zip(*figures, strict=True) if a.replace(",", "") != b.replace(",", "")]
    if len(apart) != 1:
        return None
    ((a, b),) = apart
    if _YEAR.fullmatch(a) and _YEAR.fullmatch(b) and re.search(rf"{a}(?:年|년)", "".join(one.split())):
        return (ClashKind.DATE, f"{a} and {b} for the same event") if _ONCE.search(one) else None
    return ClashKind.NUMBER, f"{a} and {b} for the same thing"
