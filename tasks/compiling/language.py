"""Which language a text is in when its document does not say: by script, or by the small words of a few languages."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
)
_SMALL = {
    "en": "the of and to was were is that with for by which from are at as it this be has have had not or an its on"
    " but they their than",
    "de": "der die das und ist wurde war mit von den dem ein eine einer nicht auf für sich auch im am sind wird wurden"
    " bei nach aus nur als oder wie zum zur durch hat werden er sie dass aber noch vom beim über des einem einen",
    "fr": "le les des et est dans une du pour par sur qui était avec été pas aux au il elle ce cette ont sont ne leur"
    " mais ses plus",
    "es": "el los las y es una del por con para que en fue su como más se al lo son pero sus desde muy tiene fueron"
    " este esta",
    "it": "il gli di e è una della del che per con nel sono stato anche fu dei delle alla dal nella si ha più degli suo"
    " sua",
    "pt": "o os as e é uma do da que em com para não foi dos ao no na nos nas pelo pela mais seu sua são foram por se",
    "nl": "de het een en van is was met op voor niet dat aan zijn werd die door naar bij ook om uit nog maar dit deze"
    " worden heeft wordt",
}
_HOLDERS: dict[str, tuple[str, ...]] = {
    word: tuple(language for language, words in _SMALL.items() if word in words.split())
    for word in " ".join(_SMALL.values()).split()
}
_WORDS = 300  # of a text that are counted
_SHARE = 0.12  # of them that are small words of the language, at least
_LEAD = 1.3  # times as many as of the next language


def guess(texts: Sequence[str]) -> str:
    """The language (ISO 639-1), or '' when it is not plain."""
    text = " ".join(texts)
    if not text.isascii():
        for language, letters in _SCRIPTS:
            if len(letters.findall(text)) > 0.15 * len(text):
                return language
    words = text.lower().split(None, _WORDS)[:_WORDS]
    counts = dict.fromkeys(_SMALL, 0)
    for word in words:
        for language in _HOLDERS.get(word.strip(".,;:!?()\"'»«„“"), ()):
            counts[language] += 1
    ranked = sorted(counts, key=lambda language: -counts[language])
    best, second = ranked[0], ranked[1]
    plain = counts[best] >= max(3.0, _SHARE * len(words)) and counts[best] >= _LEAD * counts[second]
    return best if plain else ""
