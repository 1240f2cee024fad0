"""Sentences of running text in any script: taken out of Markdown, split, read as words, made safe to print.

A page quotes whole sentences, so a wrong cut is a wrong quotation. The splitter is small and errs on the side of
not cutting: after abbreviations, initials and numbers, and before lower-case words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tasks.compiling.vocabulary import ABBREVIATIONS, MAY_END, STOP_WORDS
from tasks.markdown.letters import letters
from tasks.remembered import Remembered

_MONTHS_DE = re.compile(r"\s(?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b")
_CLOSERS = "\"'”’»›)\\]」』）】》"
_STOP = re.compile(  # one class of all signs comes first, for then the engine skips from sign to sign
    rf"[.!?…。！？｡؟۔।॥\n](?:(?<=[.!?…])[.!?…]*[{_CLOSERS}]*(?=\s)|(?<=[。！？｡])[。！？｡]*[{_CLOSERS}]*"
    rf"|(?<=[؟۔।॥])[؟۔।॥]*[{_CLOSERS}]*(?=\s|$)|(?<=\n)[ \t]*\n)"
)
_CJK_RANGES = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f"
CJK = re.compile(f"[{_CJK_RANGES}]")
_HANGUL = re.compile("[\uac00-\ud7af]")
_SPACED_WORD = re.compile(r"[^\W_]+(?:['’.\-][^\W_]+)*")
_WORD = re.compile(rf"[{_CJK_RANGES}]+|{_SPACED_WORD.pattern}")
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+(?:['.\-][A-Za-z0-9]+)*")  # the same for plain ASCII, in less time
_INNER_STOP = re.compile(r"\.\s(?=[a-zа-яà-ÿ])")
_SHORT_WORD = re.compile(r"(?<![\w.])[^\W\d_]{1,5}$")
_BEFORE = 7  # characters before an inner stop that tell whether a short word stands there
_SAID = re.compile(
    r"(?:[^\W\d_][\w’'-]*\s){1,4}?(?:said|says|tweeted|wrote|writes|asked|asks|added|adds|told|replied|"
    r"answered|explained|shouted|cried|recalled|continued|concluded|noted)\b"
)
_STARTER = re.compile(
    r"[\"“]?(?:The|A|An|In|It|He|She|They|We|But|And|This|That|These|On|At|For|If|As|When|By|After|Its|His|Her)\b"
)
_NUMBERED = frozenset({"table", "figure", "section", "chapter", "tabelle", "abbildung", "kapitel", "abschnitt"})
_LONGEST = 600  # characters; a longer "sentence" is text without punctuation
_WINDOW = 220  # characters of a piece of such text

_BEFORE_STOP = re.compile(r"[\s(\[\"“‘—–/]")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_MARK = re.compile(r"\s?\[(?:\d{1,3}(?:[,–-]\s?\d{1,3})*|[a-z]|note \d+|citation needed|edit)\](?!\()")

_OPENING = 60  # characters of a sentence that hold any opening below
_ANAPHORA = re.compile(  # of a lower-case text: the engine passes over words with another first letter
    r"""[\"“‘'(«]*(?:(?:he|she|it|they|him|his|her|hers|its|their|theirs|them|this|that|these|those|such|there|here|we|
    but|and|or|so|then|yet|nor|however|moreover|furthermore|therefore|thus|hence|instead|meanwhile|afterwards?|later|also|
    otherwise|nevertheless|nonetheless|consequently|additionally|besides|likewise|similarly|still|finally|again|both|
    in\ addition|as\ a\ result|for\ example|for\ instance|in\ contrast|on\ the\ other\ hand|at\ the\ same\ time|
    the\ (?:latter|former|same|two|other|others)|another|
    (?:one|part|some|most|many|all|none|each|half|two|both)\ of\ (?:it|them|these|those|this)|

    er|sie|es|dies|diese|dieser|dieses|dabei|danach|dann|jedoch|aber|deshalb|daher|dadurch|damit|ihr|ihre|sein|seine|
    il|elle|ils|elles|ce|cet|cette|ces|cela|ceci|mais|puis|ensuite|donc|cependant|toutefois|
    él|ella|ellos|ellas|este|esta|estos|estas|esto|eso|pero|luego|después|además|
    он|она|они|оно|это|этот|эта|эти|его|её|их|но|однако|затем|потом|поэтому|также)\b
    |他们|她们|它们|他|她|它|这|那|其|但|而且|而|因此|所以|然而|此外|同时|随后|これ|それ|この|その|彼|しかし|また|そして|だが|さらに|ただし|
    (?:وهو|وهي|هذا|هذه|ذلك|لكن|ثم)\s)""",
    re.X,
)


def plain(text: str) -> str:
    """The words on one line."""
    return " ".join(text.split())


def unmarked(text: str) -> str:
    """The text without the reference marks of an encyclopedia or paper, as in 'in 1945.[3]'."""
    return _MARK.sub("", text).strip() or text if "[" in text else text


def abbreviations(texts: Iterable[str]) -> frozenset[str]:
    """Short words that a document writes with a full stop inside a sentence ('ID.' in 'all ID. models'), lower-case."""
    found = set()
    for text in texts:
        for stop in _INNER_STOP.finditer(text):
            word = _SHORT_WORD.search(text[max(0, stop.start() - _BEFORE) : stop.start()])
            if word:
                found.add(word.group().lower())
    return frozenset(found)


def split(text: str, known: frozenset[str] = frozenset()) -> list[str]:
    """The sentences of plain text in order; joined by blanks they are the text again, white space apart.

    `known` are further abbreviations, lower-case and without the full stop.
    """
    found: list[str] = []
    start = 0
    for match in _STOP.finditer(text):
        end = match.end()
        if match.group()[0] in ".!?…" and not _ends(text, start, match, known):
            continue
        piece = text[start:end].strip()
        if piece:
            found.append(piece)
        start = end
    rest = text[start:].strip()
    if rest:
        found.append(rest)
    if any(len(piece) > _LONGEST for piece in found):
        return [part for piece in found for part in (_windows(piece) if len(piece) > _LONGEST else [piece])]
    return found


def _ends(text: str, start: int, match: re.Match[str], known: frozenset[str]) -> bool:
    """Whether a Western full stop, question or exclamation mark closes the sentence that began at `start`."""
    following = text[match.end() : match.end() + 40].lstrip()
    if not following:
        return True
    first = following.lstrip("\"'“‘«([*_¿¡-–—")[:1]
    if first.islower():
        return False
    mark = match.group()
    if mark[0] != ".":
        return not (len(mark) > 1 and _SAID.match(following))
    if mark.startswith(".."):
        return True
    before = text[max(start, match.start() - 24) : match.start()]
    word = _BEFORE_STOP.split(before)[-1]
    low = word.lower()
    if low in known and len(mark) == 1 and match.end() < len(text.rstrip()):
        return False
    if low in _NUMBERED and first.isdigit():
        return False
    if low in ABBREVIATIONS and len(mark) == 1:
        return low in MAY_END and _STARTER.match(following) is not None
    if len(word) == 1 and word.isalpha() and not CJK.match(word) and len(mark) == 1:
        return _STARTER.match(following) is not None  # else an initial, or half of 'z. B.'
    if _INITIALS.fullmatch(word):  # U.S.S.R
        return _STARTER.match(following) is not None
    if word.isdigit():
        if start + len(word) >= match.start() - 1:  # '1.' opens a numbered item
            return False
        if len(word) <= 2 and _MONTHS_DE.match(text[match.end() :]):
            return False
    return True


def _windows(text: str) -> list[str]:
    """Text without punctuation in pieces of about `_WINDOW` characters, cut at line ends, clauses or words."""
    pieces: list[str] = []
    for line in text.splitlines():
        line = line.strip()
        while len(line) > _WINDOW * 1.5:
            cut = -1
            for marks in ("；;", "，,、:：", " "):
                cut = max(line.rfind(mark, _WINDOW // 2, _WINDOW) for mark in marks)
                if cut > 0:
                    break
            cut = cut + 1 if cut > 0 else _WINDOW
            pieces.append(line[:cut].strip())
            line = line[cut:].strip()
        if line:
            pieces.append(line)
    return pieces


def words(text: str) -> list[str]:
    """Content words in order, lower-cased, a plural s taken off; Chinese, Japanese and Korean as character pairs."""
    if text.isascii():
        return list(filter(None, map(_CONTENT.__getitem__, _ASCII_WORD.findall(text.lower()))))
    if CJK.search(text) is None:
        return list(filter(None, map(_CONTENT.__getitem__, _SPACED_WORD.findall(text.lower()))))
    found: list[str] = []
    for word in _WORD.findall(text.lower()):
        if CJK.match(word):
            found += [word[i : i + 2] for i in range(len(word) - 1)] or [word]
        elif base := _CONTENT[word]:
            found.append(base)
    return found


def content(word: str) -> str:
    """The stem of a lower-case word, or '' when it carries no content."""
    return "" if word in STOP_WORDS or (len(word) == 1 and not word.isdigit()) else stem(word)


_CONTENT = Remembered(content)


def stem(word: str) -> str:
    """A lower-case word without possessive and plural ending."""
    if word.endswith(("'s", "’s")):
        word = word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-3] + "y" if word.endswith("ies") and len(word) > 4 else word[:-1]
    return word


def leans_back(sentence: str) -> bool:
    """Whether a sentence opens with a word that needs the sentence before it ('He', 'However', 'このため')."""
    return _ANAPHORA.match(sentence[:_OPENING].lower()) is not None


def is_cjk(text: str) -> bool:
    """Whether at least three in ten letters are Chinese, Japanese or Korean."""
    found = 0 if text.isascii() else len(CJK.findall(text))
    return found > 0 and found >= 0.3 * letters(text)


def gap(text: str) -> str:
    """What stands between two sentences of a text's script: nothing in Chinese and Japanese, else a blank."""
    return "" if is_cjk(text) and _HANGUL.search(text) is None else " "


def length(text: str) -> int:
    """Length in words; two Chinese, Japanese or Korean characters count as one."""
    if text.isascii():
        return len(_ASCII_WORD.findall(text))
    if CJK.search(text) is None:
        return len(_SPACED_WORD.findall(text))
    count = 0
    for word in _WORD.findall(text):
        count += (len(word) + 1) // 2 if word[0] > "\u3000" and CJK.match(word) else 1
    return count
