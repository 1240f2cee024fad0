"""The one link parser: wikilinks, embeds and Markdown links, and the page or file that Obsidian would open for each.

Obsidian's rule (its "shortest path" resolution, observed): an exact path wins; otherwise every file whose path ends
in the link's path counts, files in the source's own folder first, then the shortest path. Names are compared without
case and in one Unicode form. An alias is no name: Obsidian offers aliases while typing but does not resolve them.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from urllib.parse import quote, unquote

from tasks.markdown import markup
from tasks.pages.slugs import ATTACHMENTS

WIKILINK = re.compile(r"(!?)\[\[((?:(?!\]\]|\[\[)[^\n\r])+)\]\]")
MARKDOWN_LINK = re.compile(
    r"(!?)\[((?:[^\[\]\\]|\\[\s\S]|\[[^\[\]]*\](?:\([^()\s]*\))?){0,2000})\]"
    r"""\((<[^<>\r\n]*>|(?:[^\s()<]|\([^\s()]*\))(?:[^\s()]|\([^\s()]*\))*|)"""
    r"""(?:[ \t]+(?:"[^"]*"|'[^']*'))?[ \t]*\)"""
)
_PROPERTY_LINK = re.compile(r"""(["'])(!?\[\[(?:(?!\]\]|\[\[)[^\n\r])+\]\])\1[ \t]*(?=$|[,\]}]|\s#)""", re.M)
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+:")
_SEPARATOR = re.compile(r"\\?\|")
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$", re.M)
_BLOCK_ID = re.compile(r"(?<![\w^\\])\^([A-Za-z0-9-]+)[ \t]*$", re.M)
_NO_NAME = re.compile(r"""[?*<>"|\\^\[\]:]|(?:^|/)\.\.(?:/|$)|/$""")
_UNDERLINED = re.compile(r"^([^\n]*\S[^\n]*)\n {0,3}(=+|-+)[ \t]*$", re.M)
_NO_PARAGRAPH = re.compile(r" {0,3}(?:#{1,6}\s|>|[-*+] |\||\d+[.)] |-{3,}[ \t]*$)")
_BREAKS_WIKILINK = re.compile(r"[#^|\[\]`]")
_PUNCTUATION = re.compile(r"[!\"#$%&()*+,.:;<=>?@^`{|}~/\[\]\\\s]+")

Problem = Literal[
    "", "dead-page", "dead-heading", "dead-block", "alias-only", "ambiguous", "missing-attachment", "not-a-page-name"
]


@dataclass(frozen=True, slots=True)
class Link:
    """A link as it stands in a text; `start` and `end` are character offsets, `line` counts from 1."""

    kind: Literal["wiki", "markdown"]
    target: str  # page or file part, trimmed; empty for a link within the page; an address when external
    heading: str  # behind '#': 'A#B' for nested headings, '^id' for a block, empty for none
    label: str  # shown text as written, empty when none is given
    start: int
    end: int
    line: int
    embed: bool = False
    external: bool = False  # the target is an address
    property: bool = False  # stands in the properties


@dataclass(frozen=True, slots=True)
class Anchors:
    """What a note's links can point to: (level, key) of its headings in order, and block ids."""

    headings: tuple[tuple[int, str], ...]
    blocks: frozenset[str]


@dataclass(frozen=True, slots=True)
class Resolution:
    """The file that Obsidian opens for a link, or why none; `candidates` are the pages that a person may have meant."""

    path: str
    problem: Problem = ""
    candidates: tuple[str, ...] = ()


def parse(markdown: str) -> tuple[Link, ...]:
    """All links of a note in order, properties included; none inside code, comments, math or HTML blocks."""
    if "[[" not in markdown and "](" not in markdown:
        return ()
    from tasks.markdown import properties

    start = properties.body_start(markdown)
    newlines = [match.start() for match in re.finditer(r"\n|\r(?!\n)", markdown)]
    found = [
        _wiki(markdown, match.start(2), match.group(2), newlines, True)
        for match in _PROPERTY_LINK.finditer(markdown[:start])
    ]
    body = " " * start + markup.masked(markdown[start:])
    _scan(body, markdown, 0, newlines, found)
    return tuple(sorted(found, key=lambda link: link.start))


def _scan(text: str, source: str, offset: int, newlines: Sequence[int], found: list[Link]) -> None:
    taken: list[tuple[int, int]] = []
    if "[[" in text:
        for match in WIKILINK.finditer(text):
            if not _escaped(text, match.start()) and match.group(2).strip():
                start = match.start() + offset
                found.append(_wiki(source, start, source[start : match.end() + offset], newlines, False))
                taken.append(match.span())
    if "](" not in text:
        return
    for match in MARKDOWN_LINK.finditer(text):
        start = match.start()
        if _escaped(text, start) or any(low <= start < high for low, high in taken):
            continue
        whole = source[start + offset : match.end() + offset]
        label = source[match.start(2) + offset : match.end(2) + offset]
        written = match.group(3)
        address = (written[1:-1] if written[:1] == "<" else written).strip()
        external = bool(_SCHEME.match(address)) or address.startswith("//")
        target, _, heading = address.partition("#")
        found.append(
            Link(
                "markdown",
                address if external else unquote(target).strip(),
                "" if external else unquote(heading).strip(),
                label,
                start + offset,
                start + offset + len(whole),
                bisect_right(newlines, start + offset - 1) + 1,
                embed=match.group(1) == "!",
                external=external,
            )
        )
        if "](" in match.group(2):
            _scan(match.group(2), source, match.start(2) + offset, newlines, found)


def _wiki(source: str, start: int, whole: str, newlines: Sequence[int], in_property: bool) -> Link:
    embed = whole[0] == "!"
    inner = whole[3 if embed else 2 : -2]
    parts = _SEPARATOR.split(inner, maxsplit=1)
    target, _, heading = parts[0].partition("#")
    return Link(
        "wiki",
        target.strip(),
        "#".join(piece.strip() for piece in heading.split("#") if piece.strip()),
        parts[1].strip() if len(parts) > 1 else "",
        start,
        start + len(whole),
        bisect_right(newlines, start - 1) + 1,
        embed=embed,
        property=in_property,
    )


def _escaped(text: str, position: int) -> bool:
    count = 0
    while position > count and text[position - count - 1] == "\\":
        count += 1
    return count % 2 == 1


def anchors(markdown: str) -> Anchors:
    """The headings and block ids of a note that links can point to."""
    from tasks.markdown import properties

    body = re.sub(r"\r\n?", "\n", markdown[properties.body_start(markdown) :])
    text = markup.without_code_blocks(body)
    found = [(match.start(), len(match.group(1)), match.group(2)) for match in _HEADING.finditer(text)]
    for match in _UNDERLINED.finditer(text):
        if not _NO_PARAGRAPH.match(match.group(1)):
            found.append((match.start(), 1 if "=" in match.group(2) else 2, match.group(1)))
    headings = tuple((level, heading_key(heading)) for _, level, heading in sorted(found))
    return Anchors(headings, frozenset(name.lower() for name in _BLOCK_ID.findall(text)))


def heading_key(heading: str) -> str:
    """A heading as links compare it: lower case, punctuation and white space as one space."""
    return _PUNCTUATION.sub(" ", unicodedata.normalize("NFC", heading)).strip().lower()


class LinkIndex:
    """Resolves links against a vault's files; `aliases` names each page's aliases by its path."""

    def __init__(
        self,
        paths: Iterable[str],
        aliases: Mapping[str, Sequence[str]],
        anchors_of: Callable[[str], Anchors | None] | None = None,
    ) -> None:
        """`anchors_of` gives a page's headings and block ids; without it they are not checked."""
        self._files: dict[str, list[tuple[str, str]]] = {}
        self._aliases: dict[str, list[str]] = {}
        self._anchors_of = anchors_of
        for path in paths:
            key = _key(path)
            name = key.rpartition("/")[2]
            self._files.setdefault(name, []).append((key, path))
            if name.endswith(".md"):
                self._files.setdefault(name[:-3], []).append((key, path))
        for path, names in aliases.items():
            for alias in names:
                pages = self._aliases.setdefault(_key(alias), [])
                if path not in pages:
                    pages.append(path)

    def resolve(self, link: Link, source: str) -> Resolution:
        """What Obsidian opens for `link` in the note `source` (a vault path)."""
        if link.external:
            return Resolution("")
        if not link.target:
            return self._anchored(link, source) if link.heading else Resolution(source)
        found = self.find(link.target, source)
        if found:
            return self._anchored(link, found[0])
        return self._missing(link)

    def find(self, target: str, source: str) -> tuple[str, ...]:
        """Paths of the files that a link's target can mean, the one that Obsidian opens first."""
        wanted = _key(target)
        folder = _key(posixpath.dirname(source))
        if wanted.startswith(("./", "../")):
            wanted = posixpath.normpath(posixpath.join(folder, wanted))
            exact = True
        else:
            exact = wanted.startswith("/")
            wanted = wanted.lstrip("/")
        name = wanted.rpartition("/")[2]
        entries = self._files.get(name, [])
        # a file of just this name comes before a note that is called so and ends in '.md'
        entries = [entry for entry in entries if entry[0].rpartition("/")[2] == name] or entries
        whole: list[tuple[bool, str]] = []
        near: list[tuple[int, str]] = []
        far: list[tuple[int, str]] = []
        prefix = f"{folder}/" if folder else ""
        for key, path in entries:
            if key == wanted or key == f"{wanted}.md":
                whole.append((key != wanted, path))
            elif not exact and (key.endswith((f"/{wanted}", f"/{wanted}.md"))):
                (near if key.startswith(prefix) else far).append((len(path), path))
        return tuple(path for _, path in [*sorted(whole), *sorted(near), *sorted(far)])

    def _anchored(self, link: Link, path: str) -> Resolution:
        if not link.heading or self._anchors_of is None or not path.lower().endswith(".md"):
            return Resolution(path)
        anchors = self._anchors_of(path)
        if anchors is None:
            return Resolution(path)
        if link.heading.startswith("^"):
            return Resolution(path, "" if link.heading[1:].lower() in anchors.blocks else "dead-block")
        level, position = 0, 0
        for piece in link.heading.split("#"):
            key = heading_key(piece)
            for number in range(position, len(anchors.headings)):
                if anchors.headings[number][1] == key and anchors.headings[number][0] > level:
                    level, position = anchors.headings[number][0], number + 1
                    break
            else:
                return Resolution(path, "dead-heading")
        return Resolution(path)

    def _missing(self, link: Link) -> Resolution:
        target = link.target
        pages = tuple(self._aliases.get(_key(target), ()))
        if pages:
            return Resolution("", "alias-only" if len(pages) == 1 else "ambiguous", pages)
        if _NO_NAME.search(target):
            return Resolution("", "not-a-page-name")
        if target.rpartition(".")[2].lower() in ATTACHMENTS and "." in target:
            return Resolution("", "missing-attachment")
        return Resolution("", "dead-page")


@lru_cache(maxsize=256)  # a page cites the same few files again and again
def linkable(stem: str) -> bool:
    """Whether a wikilink can lead to a note of this name."""
    return not _BREAKS_WIKILINK.search(stem) and "%%" not in stem and stem.isprintable() and stem == stem.strip()


def wikilink(stem: str, title: str, in_table: bool = False) -> str:
    """`[[stem|title]]`, or `[[stem]]` when the title adds nothing; in a table the pipe is escaped.

    A Markdown link where the name allows no wikilink.
    """
    if not linkable(stem):
        return f"[{_shown(title or stem)}]({quote(stem, safe='')}.md)"
    label = " ".join(title.split()).replace("[", "(").replace("]", ")").replace("`", "'").replace("%%", "%")
    if in_table:
        label = label.replace("|", "\\|")
    if not label or label == stem:
        return f"[[{stem}]]"
    return f"[[{stem}{chr(92) if in_table else ''}|{label}]]"


def anchor_link(target: str, anchor: str) -> str:
    """A link to a place in a vault file: `[[report.pdf#page=3]]`; a Markdown link where the path allows no wikilink."""
    page = target[:-3] if target.lower().endswith(".md") else target
    if anchor[:1] != "^" and not re.fullmatch(r"page=\d+", anchor):
        anchor = " ".join(re.sub(r"[#^|\[\]\\:]|%%", " ", anchor).split())
    if not linkable(page):
        return f"[{_shown(page.rpartition('/')[2])}]({quote(target)}{'#' + quote(anchor, safe='^=') if anchor else ''})"
    return f"[[{page}{'#' + anchor if anchor else ''}]]"


def _shown(name: str) -> str:
    """A name as the label of a Markdown link."""
    printable = "".join(char if char.isprintable() else " " for char in name)
    return re.sub(r"([\[\]\\`*_<])", r"\\\1", " ".join(printable.split()) or "source")


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", name).replace("\u00a0", " ").lower()
