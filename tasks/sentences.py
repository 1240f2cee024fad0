"""Sentences of running text in any script: taken out of Markdown, split, read as words, made safe to print.

A page quotes whole sentences, so a wrong cut is a wrong quotation. The splitter is small and errs on the side of
not cutting: after abbreviations, initials and numbers, and before lower-case words.
"""

from __future__ import annotations

import re

from tasks.vocabulary import ABBREVIATIONS, STOP_WORDS

_MONTHS_DE = re.compile(r"\s(?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b")
_CLOSERS = "\"'”’»›)\\]」』）】》"
_STOP = re.compile(rf"[.!?…]+[{_CLOSERS}]*(?=\s)|[。！？｡]+[{_CLOSERS}]*|[؟۔।॥]+[{_CLOSERS}]*(?=\s|$)|\n[ \t]*\n")
_CJK_RANGES = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f"
CJK = re.compile(f"[{_CJK_RANGES}]")
_WORD = re.compile(rf"[{_CJK_RANGES}]+|[^\W_]+(?:['’.\-][^\W_]+)*")
_LONGEST = 600  # characters; a longer "sentence" is text without punctuation
_WINDOW = 220  # characters of a piece of such text

_IMAGE = re.compile(r"!\[\[[^\]]*\]\]|!\[[^\]]*\]\([^)]*\)")
_WIKILINK = re.compile(r"\[\[([^\]|]*)(?:\\?\|([^\]]*))?\]\]")
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?:[^()\s]|\([^()]*\))*(?:\s+\"[^\"]*\")?\)")
_FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]|\[(?:\d{1,3}(?:[,–-]\s?\d{1,3})*|citation needed|note \d+|edit)\](?!\()")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>|<!--.*?-->", re.S)
_AUTOLINK = re.compile(r"<(https?://[^>\s]+)>")
_EMPHASIS = re.compile(r"(\*\*\*|\*\*|\*|___|__|~~|==)(?=\S)(.+?)(?<=\S)\1")
_UNDERSCORE = re.compile(r"(?<![\w_])_(?=\S)(.+?)(?<=\S)_(?![\w_])")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_BLOCK_ID = re.compile(r"\s\^[A-Za-z0-9-]+$")
_MARKED = re.compile(r"[*_`\[\]<>\\~=^]")

_UNSAFE = re.compile(r"[\\*_`\[\]<>#$~|]|==|%%")
_LINE_START = re.compile(r"^(?:([-+>])(?=\s|$)|(\d{1,9})([.)])(?=\s))")


_ANAPHORA = re.compile(
    r"""[\"“‘'(«]*(?:(?:he|she|it|they|him|his|her|hers|its|their|theirs|them|this|that|these|those|such|there|here|we|
    but|and|or|so|then|yet|nor|however|moreover|furthermore|therefore|thus|hence|instead|meanwhile|afterwards?|later|also|
    otherwise|nevertheless|nonetheless|consequently|additionally|besides|likewise|similarly|still|finally|again|both|
    in\ addition|as\ a\ result|for\ example|for\ instance|in\ contrast|on\ the\ other\ hand|at\ the\ same\ time|
    the\ (?:latter|former|same|two|other|others)|another|one\ of\ (?:them|these|those)|
    er|sie|es|dies|diese|dieser|dieses|dabei|danach|dann|jedoch|aber|deshalb|daher|dadurch|damit|ihr|ihre|sein|seine|
    il|elle|ils|elles|ce|cet|cette|ces|cela|ceci|mais|puis|ensuite|donc|cependant|toutefois|
    él|ella|ellos|ellas|este|esta|estos|estas|esto|eso|pero|luego|después|además|
    он|она|они|оно|это|этот|эта|эти|его|её|их|но|однако|затем|потом|поэтому|также)\b
    |他们|她们|它们|他|她|它|这|那|其|但|而且|而|因此|所以|然而|此外|同时|随后|これ|それ|この|その|彼|しかし|また|そして|だが|さらに|ただし|
    (?:وهو|وهي|هذا|هذه|ذلك|لكن|ثم)\s)""",
    re.I | re.X,
)


def plain(markdown: str) -> str:
    """The words of inline Markdown on one line: links become their labels, markup and footnote marks go."""
    text = markdown
    if _MARKED.search(text):
        text = _IMAGE.sub("", text)
        text = _WIKILINK.sub(lambda m: m.group(2) or m.group(1), text)
        text = _FOOTNOTE.sub("", text)
        text = _LINK.sub(r"\1", text)
        text = _AUTOLINK.sub(r"\1", text)
        text = _TAG.sub("", text)
        for _ in range(2):
            text = _EMPHASIS.sub(r"\2", text)
        text = _UNDERSCORE.sub(r"\1", text)
        text = _ESCAPE.sub(r"\1", text)
        text = _BLOCK_ID.sub("", text)
        text = text.replace("`", "")
    return " ".join(text.split())


def escape(text: str) -> str:
    """Plain text as Markdown that Obsidian shows letter by letter: no tag, link, formula, comment or HTML comes of it."""
    if _UNSAFE.search(text):
        text = _UNSAFE.sub(_escaped, text)
    return _LINE_START.sub(lambda m: f"\\{m[1]}" if m[1] else f"{m[2]}\\{m[3]}", text)


def _escaped(match: re.Match[str]) -> str:
    found = match.group()
    if found == "_":  # between letters an underscore is only a letter
        before, after = (
            match.string[match.start() - 1 : match.start()],
            match.string[match.end() : match.end() + 1],
        )
        if before.isalnum() and after.isalnum():
            return found
    if found == "#" and not (match.string[match.end() : match.end() + 1].isalnum()):
        return found if match.start() else "\\#"
    return "".join(f"\\{letter}" for letter in found)


def split(text: str) -> list[str]:
    """The sentences of plain text in order; joined by blanks they are the text again, white space apart."""
    found: list[str] = []
    start = 0
    for match in _STOP.finditer(text):
        end = match.end()
        if match.group()[0] in ".!?…" and not _ends(text, start, match):
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


def _ends(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether a Western full stop, question or exclamation mark closes the sentence that began at `start`."""
    following = text[match.end() : match.end() + 40].lstrip()
    if not following:
        return True
    first = following.lstrip("\"'“‘«([*_¿¡-–—")[:1]
    if first.islower():
        return False
    mark = match.group()
    if mark != "." and not mark.startswith("."):
        return True
    if mark.startswith(".."):
        return True
    before = text[max(start, match.start() - 24) : match.start()]
    word = re.split(r"[\s(\[\"“‘—–/]", before)[-1]
    low = word.lower()
    if low in ABBREVIATIONS and len(mark) == 1:
        if low in {
            "etc",
            "a.m",
            "p.m",
            "u.s",
            "u.k",
            "u.n",
            "al",
            "co",
            "inc",
            "ltd",
            "corp",
            "jr",
            "sr",
            "no",
            "в",
            "г",
            "art",
        }:
            return bool(
                re.match(
                    r"[\"“]?(?:The|A|An|In|It|He|She|They|We|But|And|This|That|These|On|At|For|If|As|When)\b",
                    following,
                )
            )
        return False
    if len(word) == 1 and word.isalpha() and word.isupper() and not CJK.match(word) and len(mark) == 1:
        return word == "I" and False  # an initial
    if re.fullmatch(r"(?:[^\W\d_]\.)+[^\W\d_]", word):  # U.S.S.R
        return bool(re.match(r"(?:The|A|An|In|It|He|She|They|But|This)\b", following))
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
    found: list[str] = []
    for word in _WORD.findall(text.lower()):
        if word[0] > "\u3000" and CJK.match(word):
            found += [word[i : i + 2] for i in range(len(word) - 1)] or [word]
        elif word not in STOP_WORDS and (len(word) > 1 or word.isdigit()):
            found.append(stem(word))
    return found


def stem(word: str) -> str:
    """A lower-case word without possessive and plural ending."""
    if word.endswith(("'s", "’s")):
        word = word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-3] + "y" if word.endswith("ies") and len(word) > 4 else word[:-1]
    return word


def leans_back(sentence: str) -> bool:
    """Whether a sentence opens with a word that needs the sentence before it ('He', 'However', 'このため')."""
    return _ANAPHORA.match(sentence) is not None


def is_cjk(text: str) -> bool:
    """Whether at least three in ten letters are Chinese, Japanese or Korean."""
    letters = sum(letter.isalpha() for letter in text)
    return letters > 0 and len(CJK.findall(text)) >= 0.3 * letters


def length(text: str) -> int:
    """Length in words; two Chinese, Japanese or Korean characters count as one."""
    count = 0
    for word in _WORD.findall(text):
        count += (len(word) + 1) // 2 if word[0] > "\u3000" and CJK.match(word) else 1
    return count
