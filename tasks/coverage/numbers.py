"""Numbers of a text, as figures in any script or spelled out, and the signs that change what they mean."""

from __future__ import annotations

import re
import unicodedata

_DIGIT = re.compile(r"(?![0-9])\d")
_NUMBER = re.compile(r"\d+(?:[.,:/\u202f'’]\d+)*")
_THOUSANDS = re.compile(r"(?<=\d)[,.'’\u202f](?=\d{3}(?!\d))")
_COMMAS = re.compile(r"(?<=\d)[,'’\u202f](?=\d{3}(?!\d))")
_MINUS = re.compile(r"(?:^|[\s(])[-−–]$")
_SPELLED = {
    word: str(number)
    for number, words in enumerate(
        (
            "zero null",
            "one eins ein eine einen",
            "two zwei deux dos",
            "three drei trois tres",
            "four vier quatre cuatro",
            "five fünf cinq cinco",
            "six sechs seis",
            "seven sieben sept siete",
            "eight acht huit ocho",
            "nine neun neuf nueve",
            "ten zehn dix diez",
            "eleven elf onze once",
            "twelve zwölf douze doce",
        )
    )
    for word in words.split()
}
_ARTICLES = frozenset({"one", "ein", "eine", "einen", "once", "sept"})  # also words of other sense
_SIGNS = {
    **dict.fromkeys(("%", "percent", "per cent", "prozent", "pour cent", "por ciento"), "%"),
    **dict.fromkeys(("€", "euro"), "€"),
    **dict.fromkeys(("$", "dollar"), "$"),
    **dict.fromkeys(("£", "pound"), "£"),
    **dict.fromkeys(("¥", " yen"), "¥"),
    **dict.fromkeys(("°", "degree"), "°"),
    "‰": "‰",
}


def western(text: str) -> str:
    """The text with the decimal digits of every script as 0 to 9, so that '١٩٤١' is 1941."""
    if text.isascii() or not _DIGIT.search(text):
        return text
    return _DIGIT.sub(lambda match: str(unicodedata.decimal(match[0])), text)


def exact_numbers(text: str) -> set[str]:
    """Numbers with their sign; a point before three digits is no comma, so 3.141 is not 3,141."""
    found = set()
    for match in _NUMBER.finditer(text):
        plain = _COMMAS.sub("", match.group())
        sign = "-" if _MINUS.search(text[max(0, match.start() - 2) : match.start()]) else ""
        found.add(sign + (plain.lstrip("0") or "0" if plain.isdigit() else plain))
    return found | _spelled(text)


def plain_numbers(text: str) -> set[str]:
    """Numbers as digits without separators of thousands; small ones in words count as well where text gives them."""
    found = {_THOUSANDS.sub("", match.group()) for match in _NUMBER.finditer(text)}
    found |= {number.lstrip("0") or "0" for number in found if number.isdigit()}
    return found | _spelled(text)


def signs(text: str) -> set[str]:
    """Signs of money, shares and degrees, which change what a number means."""
    return {_SIGNS[sign] for sign in re.findall("|".join(map(re.escape, _SIGNS)), text.lower())}


def is_number_word(word: str) -> bool:
    """Whether a word in small letters spells a number or one of the signs, such as 'seven' or 'euros'."""
    return word in _SPELLED or word.removesuffix("s") in _SIGNS


def _spelled(text: str) -> set[str]:
    words = re.findall(r"[^\W\d_]+", text.lower())
    return {_SPELLED[word] for word in words if word in _SPELLED and word not in _ARTICLES}
