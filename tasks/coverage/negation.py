"""Words that deny, in many languages: what a sentence says is turned round by one that is added or left out.

Idioms in which such a word denies nothing (不仅, 非常) are not counted. Negation within the ending of a verb is known
only where it has a form of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tasks.markdown import sentences

_SPACED = (
    # English, German, French, Spanish, Italian, Portuguese
    r"not|never|none|neither|nor|without|cannot|\w+n['’]t|no|nicht|nie|niemals|kein\w*|ohne|pas|jamais|aucun\w*|sans|"
    r"nunca|ningun\w*|non(?!-)|nessun\w*|senza|não|nenhum\w*|sem|nem|"
    # Dutch, Swedish, Danish, Norwegian
    r"niet|geen|nooit|zonder|inte|ej|aldrig|aldri|ingen|inga|inget|utan|ikke|ikkje|uden|uten|"
    # Polish, Czech, Russian, Ukrainian, Greek, Romanian
    r"nigdy|żad\w+|bez|není|neb[yu]l\w*|nem[áě]\w*|nikdy|не|никогда|нет|без|ні|немає|ніколи|δεν|μην|όχι|ούτε|χωρίς|"
    r"nu(?=\s+(?:a|au|este|e|era|erau|s-a|s-au|sunt|are|avea|poate|fost)\b)|fără|niciodată|"
    # Turkish, Hungarian, Finnish, Indonesian, Vietnamese
    r"değil|hiçbir|asla|nincs\w*|nélkül|soha|(?-i:ei)|(?-i:eivät)|ilman|tidak|bukan|belum|tanpa|"
    r"(?<!hàng )không(?! gian| khí| quân)|chẳng|chưa|"
    # Arabic, Persian, Hebrew
    r"[وف]?(?:لا|لم|لن|ليس|ليست|ليسوا|غير|بدون|دون)|ن(?:یست|بود|شد|کرد|می\w*)|ו?ש?(?:לא|אין|ללא|בלי)"
)
_UNSPACED = (
    r"不(?!仅|僅|但|只|过|過|同|断|斷|久|少|错|錯|论|論|管)|没|沒|无(?!线|限|论|数|人机)|無(?!線|限|論|數|料|人機)|非(?!常|洲|凡)|未(?!来|來)|"
    r"ない|なかっ|ません|なし|않|없|못|아니|नहीं|बिना|ไม่|มิได้|มิใช่|ไร้|ปราศจาก|ບໍ່|មិន|ពុំ|គ្មាន|ဘူး|မဟုတ်"
)
DENIAL = re.compile(rf"\b(?:{_SPACED})\b|{_UNSPACED}", re.I)

_CLAUSE = re.compile(r"[,;:()—–，、；：؛،。.]\s*")
_SCRIPT_RUN = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+")
_RUN = re.compile(rf"(?:{sentences.CJK.pattern})+|{_SCRIPT_RUN.pattern}")
_MOSTLY = 0.6


def leaves_out_denial(sentence: str, units: Sequence[str], known: re.Pattern[str] | None = None) -> str:
    """The word by which the cited sentences deny what a sentence says without denying it; '' for none.

    A clause that denies something else is let pass, and one with a word that is `known` otherwise; so is a sentence
    that another cited one bears out.
    """
    if DENIAL.search(sentence):
        return ""
    said = set(_parts(sentence))
    lost = ""
    for unit in units:
        denied = _denied(said, unit, known)
        if not denied and said and len(said & set(_parts(unit))) >= _MOSTLY * len(said):
            return ""
        lost = lost or denied
    return lost


def _denied(said: set[str], unit: str, known: re.Pattern[str] | None) -> str:
    for clause in _CLAUSE.split(unit):
        denial = DENIAL.search(clause)
        if denial is None or (known is not None and known.search(clause)):
            continue
        rest = set(_parts(DENIAL.sub(" ", clause)))
        if rest and len(rest & said) >= _MOSTLY * len(rest):
            return denial.group()
    return ""


def unspaced_runs(text: str) -> list[str]:
    """The stretches of a text in scripts that put no blanks between words, Chinese, Japanese and Korean apart."""
    return _SCRIPT_RUN.findall(text)


def _parts(text: str) -> list[str]:
    """Content words, or pairs and triples of letters where words are not set apart."""
    found = sentences.words(_RUN.sub(" ", text))
    for run in _RUN.findall(text):
        size = 2 if sentences.CJK.match(run) else 3
        found += [run[at : at + size] for at in range(max(1, len(run) - size + 1))]
    return found
