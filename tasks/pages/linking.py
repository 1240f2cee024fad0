"""Links from a page to others: the first mention of each page's title or alias, in one pass over the text.

A wrong link is worse than a missing one. So names match whole words, a name of one word only in the case it is
written in, and nothing is touched where Markdown means something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tasks.compiling.vocabulary import STOP_WORDS
from tasks.markdown import links, sentences
from tasks.markdown.escape import escape_inline
from tasks.records import BlockKind

LINKED = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.TABLE, BlockKind.QUOTE})
"""Kinds of blocks in which names become links."""

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
)
_TOKEN = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+")
_ASCII_TOKEN = re.compile(r"[a-z0-9]+")  # the same for plain lower-case ASCII, in less time
_UNSPACED_START = re.compile(f"[{_UNSPACED}]")
_KATAKANA = re.compile(r"[\u30a1-\u30fa\u30fc]")
_MASKED = re.compile(  # each repetition is bounded, so that no text makes it slow
    r"(?<!`)(`{1,40})(?!`).{0,2000}?(?<!`)\1(?!`)"  # code
    r"|!?\[\[[^\[\]\n]{0,400}\]\]"  # wikilinks and embeds
    r"|!?\[(?:[^\[\]\n]|\[[^\[\]\n]{0,100}\]|\\[\[\]]){0,400}\](?:\([^)\n]{0,2000}\)|\[[^\]\n]{0,400}\])"  # links
    r"|\[\^[^\[\]\s]{1,100}\]"  # footnote references
    r"|<!--.{0,2000}?-->|</?[A-Za-z][^<>\n]{0,500}>|<[A-Za-z][A-Za-z0-9+.-]{1,20}:[^>\s]{0,500}>"  # HTML
    r"|\b(?:https?|ftp|file|obsidian)://[^\s<>]+|\bwww\.[^\s<>]+"  # addresses
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w.-]{1,200}"
    r"|(?<!\\)\$\$.{0,2000}?(?<!\\)\$\$|(?<![\\$\w])\$(?=\S)[^$\n]{0,400}?(?<=[^\s\\])\$(?!\d)"  # formulas
    r"|%%.{0,2000}?%%|(?<![\w\\&])#[^\s#.,;:!?()\[\]]+|(?<=\s)\^[A-Za-z0-9-]+$",  # comments, tags, block ids
    re.S | re.M,
)
_FENCE = re.compile(r"^ {0,3}(?:>\s*)*(?:```|~~~)", re.M)
_NOT_TEXT = re.compile(r"^ {0,3}(?:#{1,6}(?:\s|$)|\[\^[^\]]+\]:|\[[^\]]+\]:\s|```|~~~|\$\$|<|%%)|^(?: {4}|\t)")
_TABLE = re.compile(r"^\s*\|")
_WIKILINK = re.compile(
    r"(?P<code>(?<!`)(`{1,40})(?!`).{0,2000}?(?<!`)\2(?!`))|"
    r"(?<!!)\[\[(?P<target>[^\[\]|#^\n\\]{0,300})(?P<place>[#^][^\[\]|\n\\]{0,300})?(?:\\?\|(?P<label>[^\[\]\n]{0,400}))?\]\]",
    re.S,
)


@dataclass(frozen=True, slots=True)
class _Name:
    text: str  # as it is written, possibly with Markdown escapes
    folded: str  # to compare with; equal to `text` where case counts
    exact: bool
    prefix: int  # characters before the first word
    stem: str
    second: str  # its second word as `Names` keeps it


class Names:
    """Titles and aliases of pages by their first two words, to find mentions in time linear in the text.

    One word is not enough: a thousand titles begin with 'The'.
    """

    __slots__ = ("_by_word", "_unspaced")

    def __init__(self, entries: Mapping[str, tuple[str, str]]) -> None:
        """`entries` maps each name to (stem of the page's file, title of the page)."""
        by_word: dict[str, dict[str, list[_Name]]] = {}
        unspaced: dict[str, list[_Name]] = {}
        for name, (stem, _title) in entries.items():
            for entry in _forms(name, stem):
                first = _TOKEN.search(entry.text)
                if first is None:
                    continue
                if _UNSPACED_START.match(first.group()):
                    unspaced.setdefault(entry.text[first.start() : first.start() + 2], []).append(entry)
                else:
                    by_second = by_word.setdefault(first.group().casefold(), {})
                    by_second.setdefault(entry.second, []).append(entry)
        for index in (unspaced, *by_word.values()):
            for found in index.values():
                found.sort(key=_longest_first)
        self._by_word = by_word
        self._unspaced = unspaced

    @classmethod
    def of(cls, pages: Iterable[tuple[str, str, Sequence[str]]]) -> Names:
        """Names of (stem, title, aliases); a title goes before an alias; what two pages claim links to neither."""
        titles: dict[str, list[tuple[str, str, str]]] = {}
        aliases: dict[str, list[tuple[str, str, str]]] = {}
        for stem, title, others in pages:
            titles.setdefault(title.casefold(), []).append((title, stem, title))
            for alias in others:
                aliases.setdefault(alias.casefold(), []).append((alias, stem, title))
        entries: dict[str, tuple[str, str]] = {}
        for folded in {**aliases, **titles}:
            claims = titles.get(folded) or aliases[folded]
            if len({stem for _, stem, _ in claims}) == 1 and links.linkable(claims[0][1]):
                for name, stem, title in claims:
                    entries[name] = (stem, title)
        return cls(entries)

    def begun(self, words: Sequence[str]) -> list[int]:
        """Places of the words with which, and with the word behind, a name may begin; `words` are case-folded."""
        found = []
        for number, by_second in enumerate(map(self._by_word.get, words)):
            if by_second is not None:
                following = words[number + 1] if number + 1 < len(words) else ""
                if following in by_second or "" in by_second:
                    found.append(number)
        return found

    def find(self, text: str, words: Sequence[re.Match[str]], begun: Sequence[int]) -> dict[int, _Name]:
        """The longest name that begins with each of the text's `begun` words, by the offset of the word."""
        found: dict[int, _Name] = {}
        for number in begun:
            by_second = self._by_word[words[number].group().casefold()]
            start = words[number].start()
            following = _second(words[number + 1]) if number + 1 < len(words) else ""
            standing = [
                next((entry for entry in by_second[key] if _stands(text, start - entry.prefix, entry)), None)
                for key in dict.fromkeys((following, ""))
                if key in by_second
            ]
            longest = min(filter(None, standing), key=_longest_first, default=None)
            if longest is not None:
                found[start] = longest
        return found

    def find_unspaced(self, text: str, start: int) -> _Name | None:
        """The longest name in a script without blanks that begins at `start`."""
        for entry in self._unspaced.get(text[start : start + 2], ()):
            if _stands(text, start - entry.prefix, entry):
                return entry
        return None


def _longest_first(entry: _Name) -> tuple[int, str, str]:
    return -len(entry.text), entry.text, entry.stem


def _second(word: re.Match[str]) -> str:
    """A second word to look names up by; '' for a run without blanks, whose end says nothing."""
    return "" if _UNSPACED_START.match(word.group()) else word.group().casefold()


def _folded(text: str) -> list[str]:
    """The words of a text in their order, case-folded."""
    if text.isascii():
        return _ASCII_TOKEN.findall(text.lower())
    return list(map(str.casefold, _TOKEN.findall(text)))


def _forms(name: str, stem: str) -> list[_Name]:
    """How a name may stand in Markdown, or nothing when it is no name to link."""
    name = " ".join(name.split())
    if not name or not any(letter.isalpha() for letter in name) or any(letter in "[]|\n`" for letter in name):
        return []
    parts = name.split()
    low = name.casefold()
    if low in STOP_WORDS or (len(name) == 1 and not sentences.CJK.match(name)):
        return []
    if _UNSPACED_START.match(name[0]) and len(name) < 2:
        return []
    cased = low != name or low != name.upper()
    exact = cased and (len(parts) == 1 or len(name) <= 4 or all(part.casefold() in STOP_WORDS for part in parts))
    forms = dict.fromkeys((name, escape_inline(name)))
    found = []
    for form in forms:
        first = _TOKEN.search(form)
        if first is not None:
            following = _TOKEN.search(form, first.end())
            second = _second(following) if following else ""
            found.append(_Name(form, form if exact else form.casefold(), exact, first.start(), stem, second))
    return found


def _stands(text: str, start: int, entry: _Name) -> bool:
    """Whether the name stands at `start` as whole words."""
    if start < 0:
        return False
    end = start + len(entry.text)
    found = text[start:end]
    if entry.exact:
        if found != entry.text:
            return False
    elif found.replace("\n", " ").casefold() != entry.folded:
        return False
    return _border(text[start - 1 : start] if start else "", found[:1], before=True) and _border(
        text[end : end + 1], found[-1:], before=False, beyond=text[end + 1 : end + 2]
    )


def _border(outside: str, inside: str, before: bool, beyond: str = "") -> bool:
    if not outside or outside.isspace():
        return True
    if _KATAKANA.match(outside) and _KATAKANA.match(inside):
        return False
    if _UNSPACED_START.match(outside) or _UNSPACED_START.match(inside):
        return True
    if outside.isalnum() or outside == "_":
        return not inside.isalnum()
    if outside in "-‐‑/@#&":
        return not (before or beyond.isalnum())
    if before:
        return outside not in ".'’+\\"
    return not (outside == "." and beyond.isalnum()) and not (outside == "+" and beyond == "+")


def link_block(text: str, names: Names, already: set[str]) -> str:
    """The block with the first mention of each page as `[[stem|words as they stand]]`.

    Pages whose stem is in `already` (the page itself, those linked higher up) stay words; new ones are added to it.
    """
    if _NOT_TEXT.match(text) or _FENCE.search(text):
        return text
    in_table = _TABLE.match(text) is not None
    for match in _WIKILINK.finditer(text):
        if match["target"]:
            already.add(match["target"].split("/")[-1])
    pieces: list[str] = []
    last = 0
    for start, end, stem in _mentions(text, names):
        if stem in already:
            continue
        already.add(stem)
        words = text[start:end].replace("\n", " ")
        bar = "\\|" if in_table else "|"
        link = f"[[{stem}]]" if words == stem else f"[[{stem}{bar}{words}]]"
        pieces += (text[last:start], link)
        last = end
    return "".join((*pieces, text[last:])) if pieces else text


def mentions(text: str, names: Names) -> frozenset[str]:
    """Stems of the pages that the text names where a link could stand."""
    found: set[str] = set()
    for block in re.split(r"\n[ \t]*\n", text):
        if not _NOT_TEXT.match(block) and not _FENCE.search(block):
            found |= {stem for _, _, stem in _mentions(block, names)}
    return frozenset(found)


def unlink(text: str, stems: Iterable[str]) -> str:
    """The text with links to the pages of these stems turned into the words they show."""
    gone = frozenset(stems)

    def label(match: re.Match[str]) -> str:
        target = match["target"]
        if match["code"] or not target or target.split("/")[-1] not in gone:
            return match.group()
        return match["label"] or target.split("/")[-1]

    return _WIKILINK.sub(label, text) if "[[" in text and gone else text


def _mentions(text: str, names: Names) -> Iterable[tuple[int, int, str]]:
    """(start, end, stem) of each name in running text, from left to right, longest first, without overlap."""
    spaced = text.isascii() or not _UNSPACED_START.search(text)
    begun = names.begun(_folded(text))
    if spaced and not begun:  # as in most blocks
        return
    tokens = list(_TOKEN.finditer(text))
    named = names.find(text, tokens, begun)
    if spaced and not named:
        return
    masks = [match.span() for match in _MASKED.finditer(text)]
    masks.append((len(text) + 1, len(text) + 1))
    mask = 0
    free = 0
    for token in tokens:
        start, stop = token.span()
        while masks[mask][1] <= start:
            mask += 1
        if stop > masks[mask][0]:
            continue
        if not spaced and _UNSPACED_START.match(text[start]):
            at = max(start, free)
            while at < stop - 1:
                entry = names.find_unspaced(text, at)
                end = at + len(entry.text) - entry.prefix if entry else at + 1
                if entry and end <= masks[mask][0]:
                    yield at - entry.prefix, end, entry.stem
                    free = end
                at = end
            continue
        if start < free:
            continue
        found = named.get(start)
        if found and start - found.prefix >= free:
            begin = start - found.prefix
            end = begin + len(found.text)
            if end <= masks[mask][0]:
                yield begin, end, found.stem
                free = end
