"""What a source is about: a clean title, its subject key, and the other names it gives the subject.

Two sources meet on one page only through these names, so they are precise rather than greedy: a wrong meeting
mixes two things on one page, a missed one leaves two pages that a person can join.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import urlsplit

from tasks.compiling.vocabulary import GENERIC, STOP_WORDS
from tasks.markdown import sentences
from tasks.pages.slugs import slugify

_SEPARATOR = re.compile(r"\s+[|–—·•‹›»«:]{1,2}\s+|\s+-{1,2}\s+|\s*[|｜]\s*|\s*_\s*(?=[^_]*$)(?<=[\u4e00-\u9fff]_)")
_SITE_WORDS = re.compile(
    r"\b(?:wikipedia|wiki|encyclop\w+|news|blog|magazine|times|post|journal|guardian|telegraph|reuters|bbc|"
    r"cnn|medium|youtube|"
    r"substack|github|official (?:site|website)|home ?page|online|\w+\.(?:com|org|net|io|de|fr|co\.uk|edu|gov))\b|"
    r"维基百科|維基百科|百度百科|ウィキペディア|위키백과|Википедия|ويكيبيديا",
    re.I,
)
_FILE_NOISE = re.compile(
    r"\.(?:pdf|docx?|html?|md|txt|xlsx?|pptx?|csv|indd|tex|dvi|ps)$|\s*\(\d{1,2}\)$|\s*-\s*copy$|"
    r"^(?:microsoft word|untitled)\s*-\s*|"
    r"[ _-]+(?:final|draft|v\d+(?:\.\d+)*|rev\d*|copy|scan(?:ned)?|ocr|compressed|print|web)$",
    re.I,
)
_NO_TITLE = re.compile(
    r"^(?:untitled|document\d*|title|index|home|new note|slide \d+|presentation\d*|sheet\d*|book\d*|"
    r"scan[ _]?\d*|page \d+|(?:table of )?contents|inhalt(?:sverzeichnis)?|abstract|cover|目录|目次)$",
    re.I,
)
_RUBRIC = re.compile(
    r"^(?:opinion|analysis|editorial|review|perspective|exclusive|watch|video|live|feature)\s*[|]\s+", re.I
)
_ARTICLE = re.compile(r"^(?:the|a|an|der|die|das|le|la|les|el|los|las|il|lo|gli|het)\s+(?=\S)|^l['’]", re.I)
_QUALIFIER = re.compile(r"^(.{1,80}?)\s*[(（]([^()（）]{1,60})[)）]\s*$")
_POSSESSIVE = re.compile(
    r"^(?:[^\W\d_][\w.\-]*\s+){0,2}([^\W\d_][\w\-]*)['’]s\s+((?:\S*\d\S*|[A-Z]{2,}\S*)(?:\s\S*\d\S*)?)$"
)

_NAME = (
    r"[\"“‘'«*_]*((?:[^\W\d_][\w.\-+&/']*|\d[\w.\-]*)(?:\s(?:of|the|de|and|for|&|"
    r"[^\W_][\w.\-+&/']*)){0,6}?)[\"”’'»*_]*"
)
_KNOWN_AS = re.compile(
    rf"\b(?:also|better|commonly|sometimes|often|formerly|originally|previously|otherwise|usually|"
    rf"widely)\s+(?:known|called|named|styled|referred\sto|titled)\s+(?:as\s+)?(?:the\s+)?{_NAME}(?=\s*[,;.)(]|"
    rf"\s+(?:is|was|are|were|and|or|which|who)\b|$)|"
    rf"\b(?:abbreviated|short\sfor|a\.k\.a\.|aka|acronym\sfor|auch\sbekannt\sals|auch|aussi\sappelée?|"
    rf"también\sconocid[oa]\scomo|также\sизвестн\w+\sкак)\s+(?:as\s+|to\s+)?(?:the\s+)?{_NAME}(?=\s*[,;.)(]|$)"
)
_NAMING = (  # words of which one stands wherever `_KNOWN_AS` matches
    *("known", "called", "named", "styled", "referred", "titled", "abbreviated", "short", "a.k.a.", "aka", "acronym"),
    *("auch", "aussi", "también", "также"),
)
_KNOWN_AS_CJK = re.compile(
    r"(?:又称|又稱|又名|简称|簡稱|亦称|亦稱|别名|別名|俗称|俗稱|通称|通稱|略称|略稱)(?:は|为|為|：|"
    r":)?\s*[「『“\"《]?([^\s，,。、（）()「」『』“”《》；;]{1,20})[」』”\"》]?"
)
_IN_LANGUAGE = re.compile(
    r"(?:auf |in |en )?(?:englisch|english|engl\.|deutsch|german|dt\.|französisch|french|fr\.|français|anglais|"
    r"allemand|spanisch|spanish|español|inglés|italienisch|italian|latein(?:isch)?|latin|lat\.|英语|英語|英文|德语|ドイツ語|法语|仏)"
    r"\s*[:：]?\s+[\"“„«*_]*([^\W\d_][\w .'’-]{1,60}?)[\"”“»*_]*$",
    re.I,
)
_PARENTHESIS = re.compile(r"[(（]([^()（）]{2,80})[)）]")
_MIDDLE = re.compile(r"^[\s,]*(?:or|oder|ou|o|или)\s+(?:the\s+)?([^,;()]{2,60})[,;]")


def bare(title: str) -> str:
    """A title without a leading article."""
    return _ARTICLE.sub("", title.strip()) or title


@lru_cache(maxsize=8192)
def key_of(title: str) -> str:
    """The subject key of a title: its slug without a leading article."""
    return slugify(bare(title))


def clean_title(title: str, url: str = "", media: str = "") -> str:
    """A title without site name, file ending, version marks, markup and line breaks; may be empty."""
    text = sentences.plain(unicodedata.normalize("NFC", title)).strip()
    text = text if text.isprintable() else "".join(filter(str.isprintable, text))
    for _ in range(4):
        shorter = _FILE_NOISE.sub("", text).strip()
        if shorter == text or not shorter:
            break
        text = shorter
    if " " not in text and text.count("_") + text.count("-") >= 2 and not url:
        text = re.sub(r"[_-]+", " ", text)
    elif " " not in text and "_" in text:
        text = text.replace("_", " ")
    text = _RUBRIC.sub("", text)
    if media in {"html", "markdown", "text", ""} or url:
        text = _without_site(text, url)
    text = text.strip(" \t-–—|:·•*#")
    return "" if _NO_TITLE.match(text) or not any(letter.isalnum() for letter in text) else text


def _without_site(title: str, url: str) -> str:
    host = re.sub(r"\W", "", (urlsplit(url).hostname or "").removeprefix("www."))
    for _ in range(3):
        cuts = list(_SEPARATOR.finditer(title))
        if not cuts:
            return title
        head, tail = title[: cuts[-1].start()].strip(), title[cuts[-1].end() :].strip()
        squeezed = re.sub(r"\W", "", tail.lower())
        bar = "|" in cuts[-1].group() or "｜" in cuts[-1].group()
        is_host = len(squeezed) >= 3 and bool(host) and (squeezed in host or squeezed.removeprefix("the") in host)
        few = sentences.length(tail) <= 4
        named = sentences.length(head) >= 4 and all(word[:1].isupper() for word in tail.split())
        if not head or not (is_host or (few and (bar or named or _SITE_WORDS.search(tail) is not None))):
            first, rest = title[: cuts[0].start()].strip(), title[cuts[0].end() :].strip()
            squeezed = re.sub(r"\W", "", first.lower())
            site = squeezed in host or (_SITE_WORDS.search(first) is not None and sentences.length(first) <= 3)
            if host and len(squeezed) >= 3 and site and rest:  # 'BBC News - A headline'
                title = rest
                continue
            return title
        title = head
    return title


def title_aliases(title: str) -> tuple[str, tuple[str, ...]]:
    """The title without a parenthesis that only abbreviates it, and the names that the title itself holds."""
    found: list[str] = []
    match = _QUALIFIER.match(title)
    if match:
        head, inner = match[1].strip(), match[2].strip()
        if stands_for(inner, head) or stands_for(head, inner):
            return head, (inner,)
        if inner[:1].islower() or inner.lower() in GENERIC:  # 'Z3 (computer)'
            found.append(head)
    possessive = _POSSESSIVE.match(title)
    if possessive:  # "Konrad Zuse's Z3"
        found.append(f"{possessive[1]} {possessive[2]}")
    return title, tuple(found)


def short_name(title: str, texts: Sequence[str]) -> str:
    """The designation at the end of a title that the text uses alone ('Z3' of 'Zuse Z3'), or ''.

    It serves for links, never for joining sources: too many things share such short names.
    """
    last = title.rsplit(" ", 1)[-1]
    if last == title or not re.fullmatch(r"(?=.*\d)(?=.*[^\W\d_])[\w.\-]{2,12}", last):
        return ""
    alone = re.compile(rf"(?<![\w-]){re.escape(last)}(?![\w-])")
    rest = title.rsplit(" ", 1)[0].rsplit(" ", 1)[-1]
    used = sum(len(alone.findall(text)) - text.count(f"{rest} {last}") for text in texts)
    return last if used >= 2 else ""


def stands_for(short: str, long: str) -> bool:
    """Whether `short` is an abbreviation of `long`: its letters begin the words of `long`, in order."""
    letters = re.sub(r"[\W_]", "", short)
    if not 2 <= len(letters) <= 10 or " " in short.strip() or sum(c.isupper() for c in letters) < 2:
        return False
    parts = [part for part in re.split(r"[\s\-/]+", long) if part[:1].isalnum()]
    if len(parts) < 2:
        return False
    wanted = letters.lower()
    initials = "".join(part[0].lower() for part in parts)
    content = "".join(part[0].lower() for part in parts if part.lower() not in STOP_WORDS)
    if wanted in (initials, content):
        return True
    at = 0
    for number, part in enumerate(
        parts
    ):  # 'ENIAC': Electronic Numerical Integrator And Computer; 'UNIVAC': ... Automatic Computer
        low = part.lower()
        if at < len(wanted) and low.startswith(wanted[at]):
            taken = 1
            while taken < 3 and at + taken < len(wanted) and low[taken : taken + 1] == wanted[at + taken]:
                following = parts[number + 1][:1].lower() if number + 1 < len(parts) else ""
                if following == wanted[at + taken]:
                    break
                taken += 1
            at += taken
    return at == len(wanted) and wanted[0] == initials[0]


def text_aliases(title: str, opening: Sequence[str]) -> tuple[str, ...]:
    """Other names that the opening sentences give the subject of that title."""
    found: list[str] = []
    names = [name for name in (title, _ARTICLE.sub("", title), *title_aliases(title)[1]) if name]
    for sentence in opening[:4]:
        low = sentence.lower()
        name = next((name for name in names if 0 <= low.find(name.lower()) <= 30), "")
        if not name:
            for match in _PARENTHESIS.finditer(
                sentence
            ):  # 'the Electronic Numerical Integrator and Computer (ENIAC)', titled ENIAC
                before = _spelled_out(match[1], sentence[: match.start()])
                if before and match[1].lower() in (known.lower() for known in names):
                    found.append(before)
            continue
        rest = sentence[low.find(name.lower()) + len(name) :]
        rest = rest.lstrip("\"”’'*_")
        opened = _PARENTHESIS.match(rest.lstrip())
        if opened:
            found += _inside(opened[1], name)
        middle = _MIDDLE.match(rest)
        if middle and middle[1][:1].isupper():
            found.append(middle[1])
        for match in _KNOWN_AS.finditer(rest[:160]) if any(map(rest.__contains__, _NAMING)) else ():
            found.append(match[1] or match[2])
        for match in _KNOWN_AS_CJK.finditer(rest[:120]):
            found.append(match[1])
    return tuple(found)


def _inside(inner: str, name: str) -> list[str]:
    """Names in the parenthesis that follows the subject's name."""
    found = []
    for piece in re.split(r"[;,，；]", inner):
        other = _IN_LANGUAGE.match(piece.strip())
        if other:
            found.append(other[1])
            continue
        piece = re.sub(
            r"^(?:or|also|short for|abbreviated(?: as)?|formerly|originally|for short|simply)\s+",
            "",
            piece.strip(),
        )
        if stands_for(piece, name) or stands_for(name, piece):
            found.append(piece)
    return found


def _spelled_out(short: str, before: str) -> str:
    parts = before.split()
    for count in range(2, min(9, len(parts)) + 1):
        long = " ".join(parts[-count:])
        if parts[-count][:1].isupper() and stands_for(short, long):
            return long
    return ""


def fit_aliases(title: str, names: Sequence[str], limit: int = 6) -> tuple[str, ...]:
    """The names that may serve as aliases: no repetition, not the title, nothing generic, in the given order."""
    found: dict[str, str] = {}
    own = bare(title).casefold()
    for name in names:
        name = " ".join(name.strip(" \t\"'“”‘’«»*_.,;:()").split())
        if bare(name).casefold() != own and is_name(name) and name.casefold() not in found:
            found[name.casefold()] = name
    return tuple(found.values())[:limit]


def is_name(name: str) -> bool:
    """Whether words can serve as a name: not long, not generic, no date, not one common lower-case word."""
    parts = name.split()
    if not 1 <= len(parts) <= 8 or len(name) > 80 or not any(letter.isalpha() for letter in name):
        return False
    if sentences.CJK.search(name):
        return 2 <= len(name) <= 30 and name not in GENERIC
    if len(name) < 2 or all(part.lower() in STOP_WORDS | GENERIC for part in parts):
        return False
    if re.fullmatch(r"(?:in |since |from )?(?:\w+ )?\d{3,4}s?", name.lower()):
        return False
    caseless = not any(letter.islower() or letter.isupper() for letter in name)
    return caseless or any(letter.isupper() or letter.isdigit() for letter in name) or len(parts) > 1


def heading_subject(heading: str) -> str:
    """The subject key of a heading that could name a subject of its own, else empty."""
    text = re.sub(r"^(?:\d+(?:\.\d+)*\.?|[A-Z]\.|[IVX]+\.)\s+", "", heading).strip()
    short, _ = title_aliases(text)
    return key_of(short) if is_name(short) and len(short.split()) <= 6 else ""
