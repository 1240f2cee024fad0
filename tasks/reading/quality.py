"""Does the extracted text read like text? PDFs in particular yield words glued together or letters from a broken table.

The score is 1 for sound text; below 0.5 the page is held back, and the reasons say in words what is wrong.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tasks.markdown.letters import beyond_ascii, letters

SAMPLE = 4000
FEW_LETTERS = 40
_SPACELESS = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_PRIVATE = re.compile(r"[\ufffd\ue000-\uf8ff\U000f0000-\U0010ffff]")
_GLYPH = re.compile(r"\(cid:\d+\)")
_MARK = re.compile(r"[/@\\_=&%]")
_ALIKE = frozenset({"", "LATIN", "CJK"})  # scripts that stand in one word, as in product names
_BLANKS = {code: " " for code in range(128) if not chr(code).isalpha()}  # for all ASCII but letters
_CJK = frozenset(
    {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC", "FULLWIDTH", "HALFWIDTH"}
)


@dataclass(frozen=True, slots=True)
class Quality:
    """Score from 0 to 1, and why it is not 1."""

    score: float
    reasons: tuple[str, ...]


@lru_cache(maxsize=8192)
def _script(letter: str) -> str:
    """The script of a letter by its Unicode name, '' for other signs; Chinese, Japanese and Korean count as one."""
    if not letter.isalpha():
        return ""
    word = unicodedata.name(letter, "UNKNOWN").split()[0]
    return "CJK" if word in _CJK else word


def judge(text: str) -> Quality:
    """The quality of a text, by samples from its start, middle and end. Very short texts are not judged."""
    if len(text) > 3 * SAMPLE:
        middle = len(text) // 2
        text = "\n".join((text[:SAMPLE], text[middle : middle + SAMPLE], text[-SAMPLE:]))
    words = text.split()
    if _MARK.search(text) or "www." in text:
        addresses = {word for word in set(words) if not word.isalnum() and _is_address(word)}
        words = [word for word in words if word not in addresses] if addresses else words
    sample = " ".join(words)
    others = beyond_ascii(sample)
    found = letters(sample)
    unreadable = len(_PRIVATE.findall(others)) + (len(_GLYPH.findall(sample)) if "(cid:" in sample else 0)
    if found < FEW_LETTERS and not unreadable:
        return Quality(1.0, ())
    score, reasons = 1.0, []
    visible = max(1, sum(map(len, words)))
    broken = unreadable / visible
    if broken > 0.01:
        score -= min(0.9, 0.3 + 8 * broken)
        reasons.append(f"{broken:.0%} of the characters are unreadable")
    if found / visible < 0.4:
        score -= 0.3
        reasons.append(f"only {found / visible:.0%} of the characters are letters")
    mixed = 0.0 if {_script(character) for character in set(others)} <= _ALIKE else _mixed(words)
    if mixed > 0.1:
        score -= min(0.9, 0.4 + 2 * mixed)
        reasons.append("letters of different scripts are mixed within words: the font's letter table is broken")
    if found and len(_SPACELESS.findall(others)) / found < 0.3:
        glue, reason = _glued(words)
        score -= glue
        reasons += [reason] if reason else []
    return Quality(round(max(0.0, score), 3), tuple(reasons))


def _is_address(word: str) -> bool:
    """Whether a word is an address, a path or a formula rather than words that should read like a language."""
    return "@" in word or "www." in word or len(_MARK.findall(word)) > 1


def _mixed(words: Sequence[str]) -> float:
    """Share of neighbouring letters that belong to different scripts; Latin beside Chinese or Korean is usual."""
    latin = " ".join([word for word in words if word.isascii()]).translate(_BLANKS).split()
    pairs, changes = sum(map(len, latin)) - len(latin), 0
    for word in words:
        if word.isascii():  # one script
            continue
        before = ""
        for character in word:
            script = _script(character)
            if script and before:
                pairs += 1
                changes += script != before and "CJK" not in (script, before)
            before = script
    return changes / pairs if pairs else 0.0


def _glued(words: Sequence[str]) -> tuple[float, str]:
    """How much to take off for words that are glued together or letters that are set apart, and the reason."""
    words = [word for word in words if word.isalpha() or any(map(str.isalpha, word))]
    if not words:
        return 0.0, ""
    size = sum(map(len, words))
    mean = size / len(words)
    # Weighted by letters, so that a glued passage among good ones shows; German and Finnish stay far below the limit.
    long = sum([length for length in map(len, words) if length > 40]) / size
    if mean > 14 or long > 0.25:
        return min(0.9, 0.55 + max(0.0, mean - 14) / 40 + long / 3), (
            f"words are glued together ({mean:.0f} letters a word on average)"
        )
    if len(words) > 20 and mean < 1.8:
        return 0.6, "letters are set apart by spaces"
    return 0.0, ""
