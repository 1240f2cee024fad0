"""What can be checked of a sentence in another script than what it cites: its figures, and names in Latin letters."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from tasks.search import tokens

_FIGURE = re.compile(r"(?<![A-Za-z\d])\d+(?:[.,’'\u202f]\d+)*")
_HAN = {sign: value for value, sign in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2}
_HAN_UNITS = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "萬": 10_000, "億": 10**8, "亿": 10**8}
_DIGITS, _UNITS = "".join(_HAN), "".join(_HAN_UNITS)
_HAN_NUMBER = re.compile(f"[{_DIGITS}]{{3,}}|十[{_DIGITS}]|[{_DIGITS}][{_UNITS}][{_DIGITS}{_UNITS}]*")  # not 万一, 十分
_MIXED = re.compile(r"(\d+(?:[.,]\d+)*)\s*([百千万萬億亿]+)")
_CJK = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "KATAKANA-HIRAGANA")
_LATIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9.'’-]+")


def script(text: str) -> str:
    """The script of most letters of a text, '' without letters; Chinese, Japanese and Korean count as one."""
    found: Counter[str] = Counter()
    for letter, count in Counter(text).items():
        if letter.isalpha():
            word = "LATIN" if letter.isascii() else unicodedata.name(letter, "UNKNOWN").split()[0]
            # One letter of these says as much as a word of the others.
            found["CJK" if word in _CJK else word] += 3 * count if word in _CJK else count
    return max(found, key=lambda name: (found[name], name), default="")


def not_carried(sentence: str, passages: str, names: str = "") -> str:
    """The first figure or Latin name of a sentence that does not stand in what it cites, '' when all do.

    `names` may be used besides, such as titles and the question.
    """
    lost: list[str] = sorted(figures(sentence) - figures(passages))
    if lost:
        return lost[0]
    if not any(sign.isalpha() and sign > "\u024f" for sign in sentence):
        return ""  # all Latin: its names are written otherwise there
    known = set(tokens.terms(f"{passages} {names}"))
    latin = [match.group() for match in _LATIN_NAME.finditer(sentence)]
    return next((name for name in latin if name[0].isupper() and not set(tokens.terms(name)) <= known), "")


def figures(text: str) -> set[str]:
    """The numbers of a text without separators, in Western digits: also '１９４１', '١٩٤١', '一九四一' and '1万8千'."""
    plain = western(text)
    found = set()
    for match in _MIXED.finditer(plain):
        found.add(_shown(float(_bare(match[1])) * _product(match[2])))
    plain = _MIXED.sub(" ", plain)
    found |= {_bare(match.group()) for match in _FIGURE.finditer(plain)}
    found |= {str(_han(match.group())) for match in _HAN_NUMBER.finditer(plain)}
    return found


def western(text: str) -> str:
    """The text with decimal digits of every script as 0 to 9."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(sign)) if sign.isdecimal() else sign for sign in text)


def _bare(figure: str) -> str:
    """'18,000' and '18.000' as '18000'; '83.6' and '83,6' as '83.6'."""
    joined = re.sub(r"[,.’'\u202f](?=\d{3}(?!\d))", "", figure)
    return re.sub(r"[,’'\u202f]", ".", joined)


def _product(units: str) -> int:
    number = 1
    for unit in units:
        number *= _HAN_UNITS[unit]
    return number


def _shown(number: float) -> str:
    return str(int(number)) if number == int(number) else f"{number:g}"


def _han(text: str) -> int:
    if not any(sign in _HAN_UNITS for sign in text):
        return int("".join(str(_HAN[sign]) for sign in text))
    total = section = digit = 0
    for sign in text:
        unit = _HAN_UNITS.get(sign)
        if unit is None:
            digit = 10 * digit + _HAN[sign]
        elif unit >= 10_000:
            total += (section + digit or 1) * unit
            section = digit = 0
        else:
            section += (digit or 1) * unit
            digit = 0
    return total + section + digit
