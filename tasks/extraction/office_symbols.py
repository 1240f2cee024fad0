"""Letters that old office files set in the font Symbol: there `m` is µ and `°` has a number of its own.

The font's own order of signs (Adobe's Symbol encoding); without it "5 µm at 20 °C" would be read as "5 m at 20 C".
"""

from __future__ import annotations

import re

_FROM_SPACE = " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
_FROM_A0 = "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ 〉∫"
_PRIVATE = re.compile("[\uf020-\uf0ff]")
_BULLETS = ("wingdings", "webdings")


def symbol(font: str, code: str) -> str:
    """The sign that a font shows for a hexadecimal code; '' where it is a bullet or unknown."""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    if 0xF000 <= number <= 0xF0FF:
        number -= 0xF000
    name = font.lower()
    if name.startswith(_BULLETS):
        return ""
    if name.startswith("symbol"):
        signs, first = (_FROM_SPACE, 0x20) if number < 0xA0 else (_FROM_A0, 0xA0)
        return signs[number - first] if 0 <= number - first < len(signs) else ""
    return chr(number) if 0x20 <= number < 0xE000 and chr(number).isprintable() else ""


def spelt(text: str) -> str:
    """A text whose signs of that font, which stand among the private characters of Unicode, are real ones."""
    return _PRIVATE.sub(lambda sign: symbol("Symbol", f"{ord(sign[0]):x}"), text) if not text.isascii() else text
