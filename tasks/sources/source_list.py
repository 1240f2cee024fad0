"""The addresses that a person lists: in `sources.yaml`, and pasted into the inbox note. Neither is written.

A wrong entry is reported with its line and costs nothing but itself.
"""

from __future__ import annotations

import difflib
import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from markdown_it.token import Token

from config.errors import SourceError
from tasks.records import Found, SourceKind
from tasks.sources.addresses import identify

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times faster where libyaml is
_KEYS = ("url", "title", "kind")
_KINDS = {"web": SourceKind.WEB, "page": SourceKind.WEB, "video": SourceKind.VIDEO, "feed": SourceKind.FEED}
_TITLE_CHARS = 200
_PARAGRAPH_CHARS = 20_000
_ADDRESS = re.compile(r"(?<![A-Za-z0-9_/.@])(?:https?://|www\.)[^\s<>\"`|\\^{}]{1,4000}", re.IGNORECASE)
_MAY_LINK = re.compile(r"://|www\.|\]", re.IGNORECASE)
_HREF = re.compile(r"""<a\b[^>]*?\bhref\s*=\s*["']?(https?://[^"'\s>]+)""", re.IGNORECASE)
_WIDE_STOPS = "、。，．：；！？「」『』【】《》〈〉（）…”“’‘»«"
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_COMMENT = re.compile(r"%%.*?%%", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something listed or dropped that could not be used; `line` is 0 for a whole file."""

    path: str
    line: int
    cause: str
    next_step: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """The addresses of one file; `complete` is False when parts were unreadable, so that absence proves
    nothing.
    """

    found: tuple[Found, ...]
    problems: tuple[Problem, ...]
    complete: bool = True


def read_list(data: bytes, path: str) -> Listing:
    """The entries of `sources.yaml`: addresses, or maps of url, title and kind, in groups of any depth."""
    text, problem = _decode(data, path)
    if problem is not None:
        return Listing((), (problem,), complete=False)
    reader = _ListReader(path)
    try:
        reader.read(_compose(text), "", 0)
    except yaml.YAMLError as error:
        reader.broken(error, 0)
        reader.forget()
        for start, piece in _pieces(text):
            try:
                reader.read(_compose(piece), "", start)
                reader.forget()
            except (yaml.YAMLError, RecursionError):
                continue
    except RecursionError:
        reader.report(1, "the list is nested too deeply", "Write one address a line: - https://…")
        reader.complete = False
    return Listing(_once(reader.found), tuple(reader.problems), reader.complete)


def read_inbox(data: bytes, path: str) -> Listing:
    """The links of the inbox note: bare addresses, <address>, Markdown links; none inside code or comments.

    An address alone in a list item takes the item's other words as its title.
    """
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

    text, problem = _decode(data, path)
    if problem is not None:
        return Listing((), (problem,), complete=False)
    if "://" not in text and "www." not in text.lower():
        return Listing((), ())
    for pattern in (_FRONT_MATTER, _COMMENT):
        text = pattern.sub(lambda hidden: "\n" * hidden[0].count("\n"), text)
    found: list[Found] = []
    problems: list[Problem] = []
    in_item = False
    markdown = MarkdownIt("commonmark").enable("table").disable("inline")  # blocks first, then only what has addresses
    environment: dict[str, object] = {}
    for token in markdown.parse(text, environment):
        if token.type in {"list_item_open", "list_item_close"}:
            in_item = token.type == "list_item_open"
        if token.type != "inline" or token.map is None or not _MAY_LINK.search(token.content):
            continue
        children: list[Token] = []
        if len(token.content) <= _PARAGRAPH_CHARS:
            markdown.inline.parse(token.content, markdown, environment, children)
        else:  # no paragraph of a person: its brackets and stars are not worth pairing
            children.append(Token("text", "", 0, content=token.content))
        for pasted in _pasted(children, token.map[0] + 1, in_item):
            try:
                address = identify(pasted.url)
            except SourceError as error:
                problems.append(Problem(path, pasted.line, f"{error.subject}: {error.cause}", error.next_step))
            else:
                title = _tidy(pasted.title)
                found.append(Found(address.kind, address.location, listed_in=path, title=title))
    return Listing(_once(found), tuple(problems))


class _ListReader:
    """Walks the nodes of a YAML list and gathers what they say."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.found: list[Found] = []
        self.problems: list[Problem] = []
        self.complete = True
        self._seen: set[int] = set()

    def forget(self) -> None:
        """Begin with another document, whose nodes may have the identities of former ones."""
        self._seen.clear()

    def report(self, line: int, cause: str, next_step: str = "") -> None:
        """Note a problem at a line, from 1."""
        self.problems.append(Problem(self.path, line, cause, next_step))

    def broken(self, error: yaml.YAMLError, offset: int) -> None:
        """Note that the file, or a piece of it, is no YAML."""
        mark = getattr(error, "problem_mark", None)
        cause = getattr(error, "problem", None) or str(error).splitlines()[0]
        step = "Put titles with colons or hash signs into quotes."
        if "cannot start any token" in cause:
            step = "Indent with blanks, not with tabs."
        self.report((mark.line if mark else 0) + 1 + offset, f"not valid YAML: {cause}", step)
        self.complete = False

    def read(self, node: yaml.Node | None, title: str, offset: int) -> None:
        """Take in a node: an address, an entry, a group, or a list of these."""
        if node is None:
            return
        line = node.start_mark.line + 1 + offset
        if id(node) in self._seen:
            self.report(line, "an alias repeats another entry", "Write the address itself.")
            return
        self._seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            for item in node.value:
                self.read(item, "", offset)
        elif isinstance(node, yaml.MappingNode):
            names = {str(key.value).strip().lower() for key, _ in node.value if isinstance(key, yaml.ScalarNode)}
            if "url" in names or names & {"title", "kind"}:
                self._entry(node, line, offset)
                return
            for key, value in node.value:
                plain = isinstance(key, yaml.ScalarNode) and isinstance(value, yaml.ScalarNode)
                if plain and _ADDRESS.match(str(key.value)) and not _ADDRESS.match(str(value.value)):
                    title = "" if value.tag.endswith(":null") else str(value.value)
                    self._add(str(key.value), title, "", key.start_mark.line + 1 + offset)
                else:
                    self.read(value, str(key.value) if isinstance(value, yaml.ScalarNode) else "", offset)
        elif isinstance(node, yaml.ScalarNode) and not node.tag.endswith(":null"):
            self._add(str(node.value), title, "", line)

    def _entry(self, node: yaml.MappingNode, line: int, offset: int) -> None:
        values: dict[str, str] = {}
        for key, value in node.value:
            name = str(key.value).strip().lower()
            at = key.start_mark.line + 1 + offset
            if name not in _KEYS:
                close = difflib.get_close_matches(name, _KEYS, n=1)
                step = f"Did you mean {close[0]}?" if close else "Known keys are url, title and kind."
                self.report(at, f"unknown key {name[:40]!r}", step)
            elif not isinstance(value, yaml.ScalarNode):
                self.report(at, f"{name} must be plain text")
            else:
                values[name] = str(value.value).strip()
        if "url" in values:
            self._add(values["url"], values.get("title", ""), values.get("kind", ""), line)
        else:
            self.report(line, "an entry without url", "Add url: https://…")

    def _add(self, url: str, title: str, kind: str, line: int) -> None:
        several = url.split()
        if len(several) > 1 and all(map(_ADDRESS.match, several)):  # lines under `|`, or without their dashes
            for one in several:
                self._add(one, "", kind, line)
            return
        wanted = _KINDS.get(kind.lower()) if kind else None
        if kind and wanted is None:
            self.report(line, f"unknown kind {kind[:40]!r}", "Kinds are web, video and feed.")
        try:
            address = identify(url)
        except SourceError as error:
            shown = error.subject or "an empty entry"
            self.report(line, f"{shown}: {error.cause}", error.next_step)
            return
        if wanted is SourceKind.VIDEO and address.kind is not SourceKind.VIDEO:
            self.report(
                line,
                "this is not the address of a YouTube video",
                "Leave kind out, or give the video's address.",
            )
            wanted = None
        chosen = address.kind if wanted is None or address.kind is SourceKind.VIDEO else wanted
        self.found.append(Found(chosen, address.location, listed_in=self.path, title=_tidy(title)))


@dataclass(frozen=True, slots=True)
class _Pasted:
    url: str
    line: int
    title: str


def _pasted(tokens: Sequence[Token], line: int, in_item: bool) -> list[_Pasted]:
    """The addresses in one run of Markdown text, with what stands beside them."""
    pasted: list[_Pasted] = []
    words: list[str] = []
    href, label, depth = "", "", 0
    for kind, content, token in _unescaped(tokens):
        if kind in {"softbreak", "hardbreak"}:
            line += 1
            words.append("\n")
        elif kind == "link_open":
            href, label, depth = str(token.attrGet("href") or ""), "", 1
        elif kind == "link_close":
            if re.match(r"(https?|file|ftp):", href, re.IGNORECASE):
                pasted.append(_Pasted(href, line, "" if _ADDRESS.match(label.strip()) else label))
            depth = 0
        elif kind == "image":
            target = str(token.attrGet("src") or "")
            if "youtu" in target and _ADDRESS.match(target):  # Obsidian plays a video embedded so
                pasted.append(_Pasted(target, line, content))
        elif depth:
            label += content
        elif kind == "text":
            bare, rest = _bare(content)
            pasted += [_Pasted(url, line, "") for url in bare]
            words.append(rest)
        elif kind == "html_inline" and (link := _HREF.match(content)):
            pasted.append(_Pasted(html.unescape(link[1]), line, ""))
    alone = len(pasted) == 1 and in_item
    beside = re.sub(r"^\s*\[[ xX/-]\]\s+", "", "".join(words).split("\n\n")[0]).strip(" \t\n-–—:|·•*,;()[]")
    title = beside if alone and len(beside) <= 120 else ""
    return [_Pasted(one.url, one.line, one.title or title) for one in pasted]


def _unescaped(tokens: Sequence[Token]) -> Iterator[tuple[str, str, Token]]:
    """Kind, content and token of each; escaped marks, as in `a\\_b`, belong to the text around them."""
    for is_text, run in groupby(tokens, lambda token: token.type in ("text", "text_special")):
        several = list(run)
        if is_text:
            yield "text", "".join(token.content for token in several), several[0]
        else:
            yield from ((token.type, token.content, token) for token in several)


def _bare(text: str) -> tuple[list[str], str]:
    """The bare addresses in a text, and the text without them."""
    found: list[str] = []
    rest, place = "", 0
    while match := _ADDRESS.search(text, place):
        before = text[place : match.start()]
        # full stops of the scripts without blanks end an address, and another one may stand right behind them
        cut = min((at for at in map(match[0].find, _WIDE_STOPS) if at > 0), default=len(match[0]))
        url = match[0][:cut]
        found.append(_trim(url.rstrip("=") if before.endswith("==") else url))
        rest += f"{before} "
        place = match.start() + cut
    return found, rest + text[place:]


def _trim(url: str) -> str:
    """A bare address without the punctuation of the sentence around it (as GitHub's Markdown cuts it)."""
    while url:
        last = url[-1]
        if last in ".,;:!?'\"*_~" or (last in ")]" and url.count(last) > url.count("(" if last == ")" else "[")):
            url = url[:-1]
        else:
            break
    return url


def _once(found: Sequence[Found]) -> tuple[Found, ...]:
    """Each address once: its first listing, with the first title that any listing gives."""
    kept: dict[str, Found] = {}
    for one in found:
        first = kept.setdefault(one.location, one)
        if not first.title and one.title:
            kept[one.location] = Found(first.kind, first.location, listed_in=first.listed_in, title=one.title)
    return tuple(kept.values())


def _compose(text: str) -> yaml.Node | None:
    node = yaml.compose(text, Loader=_LOADER)
    return node if isinstance(node, yaml.Node) else None


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """The top-level pieces of a list that is broken somewhere, each with the number of lines before it."""
    start, piece = 0, ""
    for number, line in enumerate(text.splitlines(keepends=True)):
        if piece and line[:1] not in {" ", "\t", "\n", "\r", "#"}:
            yield start, piece
            start, piece = number, ""
        piece += line
    if piece:
        yield start, piece


def _decode(data: bytes, path: str) -> tuple[str, Problem | None]:
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding).replace("\r\n", "\n").replace("\r", "\n"), None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return "", Problem(path, line, "the file is not UTF-8 text", "Save it as UTF-8.")


def _tidy(title: str) -> str:
    return " ".join("".join(char if char.isprintable() else " " for char in title).split())[:_TITLE_CHARS]
