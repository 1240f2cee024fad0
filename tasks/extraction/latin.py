"""Which encoding a text of the Latin script was saved with, told by the letters of its language.

A guess by frequencies takes Swedish for Hungarian and Turkish for Lithuanian, for a page has few letters beyond ASCII.
But each language has only some of them: under the right encoding, and hardly under another, nearly all belong to one
alphabet, and none of those inside a word is a mark.
"""

from __future__ import annotations

import re
from collections import Counter

_ENCODINGS = ("cp1252", "cp1254", "cp1250", "iso8859_2", "cp1257", "cp850", "cp852", "mac_roman", "cp857")
_ALPHABETS = (
    "äöüß",  # German
    "àâæçéèêëîïôœùûüÿ",  # French
    "áéíñóúüïç",  # Spanish, Catalan
    "ãõáâàçéêíóôúü",  # Portuguese
    "àèéìíîòóùú",  # Italian
    "åäöéü",  # Swedish, Finnish
    "æøåéòôü",  # Danish, Norwegian
    "áæðéíóöúýþ",  # Icelandic
    "ëïéèöüçáóê",  # Dutch
    "ąćęłńóśźż",  # Polish
    "áčďéěíňóřšťúůýž",  # Czech
    "áäčďéíĺľňóôŕšťúýž",  # Slovak
    "áéíóöőúüű",  # Hungarian
    "ăâîşţșț",  # Romanian
    "čćđšž",  # Croatian, Slovene
    "çğıöşüİâîû",  # Turkish
    "ąčęėįšųūž",  # Lithuanian
    "āčēģīķļņšūž",  # Latvian
    "äõöüšž",  # Estonian
)
_SEVERAL = "àáâãäåæçèéêëìíîïñòóôõöøùúûüœß"  # names and words of several western languages
_MARKS = frozenset("„“”‚‘’«»‹›–—…·•°§€£¥©®™¿¡ªº½¼¾²³±×÷µ¶†‡\u00a0\u00ad")
_INSIDE = re.compile(rb"(?<=[a-z])[\x80-\xff](?=[a-z])")
_APOSTROPHES = frozenset("’·")  # also stand inside words: l’eau, col·lecció
_RUN = re.compile(rb"[\x80-\xff]{3,}")  # most letters of other scripts stand in these
CERTAIN = 0.9  # share of the letters beyond ASCII that one alphabet must explain


def encoding(data: bytes) -> str:
    """The encoding under which one alphabet explains the text best; '' when none does, as for other scripts."""
    high = Counter(byte for byte in data if byte > 127)
    count = high.total()
    if not count or 2 * sum(map(len, _RUN.findall(data))) > count:
        return ""
    inside = Counter(match[0][0] for match in _INSIDE.finditer(data))
    best, found = CERTAIN, ""
    for name in _ENCODINGS:
        letters = {byte: bytes([byte]).decode(name, "replace") for byte in high}
        for letters_of, weight in (*((alphabet, 1.0) for alphabet in _ALPHABETS), (_SEVERAL, 0.97)):
            known = frozenset(letters_of + letters_of.upper()) | _MARKS
            within = frozenset(letters_of) | _APOSTROPHES
            good = sum(number for byte, number in high.items() if letters[byte] in known)
            good += sum(number for byte, number in inside.items() if letters[byte] in within)
            share = weight * good / (count + inside.total())
            if share > best:
                best, found = share, name
    return found
