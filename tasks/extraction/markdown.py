"""The user's own Markdown as plain words under the headings that links to it can name.

The file is read in place and cited by its nearest heading, so the anchor of every part is that heading as Obsidian
links to it. Properties, comments and embeds are no text; links, emphasis and callouts are reduced to their words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tasks.extraction.extracted import Extracted, first_heading, table, unwrapped
from tasks.extraction.markdown_comments import without_comments
from tasks.records import BlockKind, Part

if TYPE_CHECKING:
    from markdown_it.token import Token

_QUERIES = frozenset({"dataview", "dataviewjs", "query", "tasks", "compressed-json", "button", "meta-bind-button"})
_TOML = re.compile(r"\ufeff?\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_TOML_TITLE = re.compile(r"^title[ \t]*=[ \t]*([\"'])(.*)\1[ \t]*$", re.MULTILINE)
# Lengths are bounded: a mark that never closes must not be looked for through a whole note, once for each mark.
_EMBED = re.compile(r"!\[\[[^\[\]\n]{0,400}\]\]|!\[[^\[\]\n]{0,400}\](?:\([^)\n]{0,2000}\)|\[[^\[\]\n]{0,200}\])")
_WIKILINK = re.compile(r"\[\[([^\[\]\n|]{0,400})(?:\\?\|([^\]\n]{0,400}))?\]\]")
_LINK = re.compile(
    r"\[((?:[^\[\]\\]|\\.|\[[^\[\]]{0,200}\]){0,1000})\]\((?:<[^>\n]{0,2000}>"
    r"|[^()\s]{0,2000}(?:\([^()\s]{0,500}\)[^()\s]{0,500}){0,8})(?:\s+(?:\"[^\"]{0,500}\"|'[^']{0,500}'))?\s*\)"
)
_REFERENCE = re.compile(r"\[([^\[\]\n]{1,400})\]\[[^\[\]\n]{0,200}\]")
_FOOTNOTE_MARK = re.compile(r"\[\^[^\]\s]{1,100}\]|\^\[[^\]\n]{0,1000}\]")
_AUTOLINK = re.compile(r"<((?:https?|mailto|ftp):[^>\s]+)>")
_TAG_HTML = re.compile(
    r"</?(?:a|abbr|b|big|br|center|cite|code|dd|del|details|div|dl|dt|em|figure|figcaption|font|hr|i"
    r"|iframe|img|ins|kbd|li|mark|ol|p|q|s|samp|section|small|span|strong|style|sub|summary|sup|table"
    r"|tbody|td|th|thead|tr|u|ul|var|video|audio|source|wbr)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_BOLD = re.compile(r"(\*{1,3}|(?<!\w)_{1,3})(?=\S)(.{1,1000}?)(?<=\S)\1(?!\w)")
_STRUCK = re.compile(r"~~(?=\S).{1,1000}?(?<=\S)~~|<(del|s|strike)\b[^<>]*>.{0,1000}?</\1>", re.IGNORECASE | re.DOTALL)
_MARKED = re.compile(r"==(?=\S)(.{1,1000}?)(?<=\S)==")
_TICKS = re.compile(r"`+")
_BLOCK_ID_TAIL = re.compile(r"(?:^|[ \t])\^[A-Za-z0-9-]+[ \t]*$")
_CALLOUT = re.compile(r"\[!([\w-]+)\][+-]?[ \t]*")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_BLOCK_FACTS = re.compile(  # what Logseq notes about a block for itself
    r"^[ \t]*(?:-[ \t]+)?(?:id|collapsed|created-at|updated-at|logseq\.[\w.-]+)::[^\n]*\n?", re.MULTILINE
)
_BLOCKS_OF_HTML = re.compile(
    r"<(?:table|ul|ol|dl|h[1-6]|pre|p|blockquote|details)\b|\bstyle\s*=|\bhidden\b", re.IGNORECASE
)
_HIDES = r"(?:\bhidden\b|\b(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?![.\d])))"
_HIDING = re.compile(_HIDES, re.IGNORECASE)
_HIDING_TAG = re.compile(rf"<(\w{{1,10}})\b[^<>]{{0,500}}?{_HIDES}[^<>]{{0,500}}>", re.IGNORECASE)
_UNLINKABLE = re.compile(r"[:#^|\[\]\\]|%%")


def heading_anchor(text: str) -> str:
    """A heading, as written, in the form that Obsidian puts into a link to it: blanks for what a link cannot hold."""
    return " ".join(_UNLINKABLE.sub(" ", text).split())


def extract(text: str, clip: bool = False) -> Extracted:
    """The plain words of a Markdown note. `clip`: it was written by Web Clipper, its properties speak of the page."""
    from markdown_it import MarkdownIt

    values, body = _properties(text)
    body, hidden = without_comments(body)
    if "::" in body:
        body = _BLOCK_FACTS.sub("", body)
    tokens = MarkdownIt("commonmark", {"maxNesting": 40}).enable("table").parse(body)
    reader = _Reader(tokens)
    parts = reader.parts()
    hidden = [*hidden, *reader.hidden]
    title = _fact(values, "title") or next(
        (part.text for part in parts if part.kind is BlockKind.HEADING and part.level == 1), ""
    )
    return Extracted(
        "markdown",
        tuple(parts),
        title=title or (first_heading(tuple(parts)) if clip else ""),
        author=_fact(values, "author") or _fact(values, "authors"),
        published=_date(_fact(values, "published") or (_fact(values, "date") if clip else "")),
        hidden_removed=len(hidden),
        hidden_text="\n".join(hidden),
    )


def _properties(text: str) -> tuple[Mapping[str, object], str]:
    """The note's properties and its body; a leading rule that is no property block stays text."""
    from tasks.markdown import properties

    toml = _TOML.match(text)
    if toml is not None and "=" in toml[1]:  # as static site generators write them
        title = _TOML_TITLE.search(toml[1])
        return ({"title": title[2]} if title else {}), text[toml.end() :]
    found = properties.read(text)
    return found.values, found.body


def _fact(values: Mapping[str, object], key: str) -> str:
    value = values.get(key)
    if isinstance(value, list | tuple):
        value = ", ".join(item for item in value if isinstance(item, str))
    return _plain(" ".join(value.split())) if isinstance(value, str) else ""


def _date(text: str) -> str:
    match = re.match(r"\d{4}-\d\d-\d\d", text)
    return match.group() if match else ""


def _plain(text: str) -> str:
    """Inline Markdown reduced to its words."""
    text = text.replace("\x02", "").replace("\x03", "")
    spans: list[str] = []
    if "`" in text:
        text, spans = _held(text)
    if "~~" in text or "</" in text:
        text = _STRUCK.sub("", text)  # who strikes words out does not say them
    if "[" in text:
        text = _EMBED.sub("", text)
        text = _WIKILINK.sub(lambda match: (match.group(2) or _target_words(match.group(1))).strip(), text)
        text = _FOOTNOTE_MARK.sub("", text)
        text = _LINK.sub(r"\1", text)
        text = _REFERENCE.sub(r"\1", text)
    if "<" in text:
        text = _AUTOLINK.sub(r"\1", text)
        text = re.sub(r"<br\s*/?>", "\n", text, flags=re.IGNORECASE)
        text = _TAG_HTML.sub("", text)
    for _ in range(3):
        text = _BOLD.sub(r"\2", text) if "*" in text or "_" in text else text
    if "==" in text:
        text = _MARKED.sub(r"\1", text)
    if "^" in text:
        text = _BLOCK_ID_TAIL.sub("", text)
    text = _ESCAPE.sub(r"\1", text)
    if "&" in text:
        import html

        text = html.unescape(text)
    return re.sub("\x02(\\d+)\x03", lambda match: spans[int(match.group(1))], text)


def _held(text: str) -> tuple[str, list[str]]:
    """The text with each code span replaced by a mark and its number, and the spans' words; in one pass."""
    runs = list(_TICKS.finditer(text))
    closing: dict[int, list[int]] = {}
    for number in range(len(runs) - 1, -1, -1):
        closing.setdefault(len(runs[number].group()), []).append(number)
    pieces, spans, position, number = [], list[str](), 0, 0
    while number < len(runs):
        run = runs[number]
        later = closing[len(run.group())]
        while later and later[-1] <= number:
            later.pop()
        if not later:
            number += 1
            continue
        end = runs[later[-1]]
        pieces.append(f"{text[position : run.start()]}\x02{len(spans)}\x03")
        spans.append(text[run.end() : end.start()].strip())
        position, number = end.end(), later[-1] + 1
    return "".join((*pieces, text[position:])), spans


def _target_words(target: str) -> str:
    """What Obsidian shows for a link without a label: `note#Heading` as `note > Heading`."""
    return " > ".join(piece.strip() for piece in target.split("#") if piece.strip())


class _Reader:
    """Walks the parser's tokens once, remembering the heading above."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._anchor = ""
        self.hidden: list[str] = []  # by the styles of HTML

    def parts(self) -> list[Part]:
        found: list[Part] = []
        index = 0
        while index < len(self._tokens):
            if self._tokens[index].type == "html_block":
                found += self._html(self._tokens[index].content)
                index += 1
                continue
            part, index = self._next(index)
            if part is not None and part.text.strip():
                found.append(part)
        return found

    def _close(self, index: int) -> int:
        """The index of the token that closes the one at `index`."""
        level, kind = self._tokens[index].level, self._tokens[index].type.replace("_open", "_close")
        while index < len(self._tokens) and not (
            self._tokens[index].type == kind and self._tokens[index].level == level
        ):
            index += 1
        return min(index, len(self._tokens) - 1)

    def _next(self, index: int) -> tuple[Part | None, int]:
        token = self._tokens[index]
        if token.type == "heading_open":
            raw = self._tokens[index + 1].content
            text = " ".join(_plain(raw).split())
            self._anchor = heading_anchor(raw)
            return Part(BlockKind.HEADING, text, level=int(token.tag[1]), anchor=self._anchor), index + 3
        if token.type == "paragraph_open":
            return self._paragraph(self._tokens[index + 1].content), index + 3
        if token.type in ("bullet_list_open", "ordered_list_open"):
            end = self._close(index)
            return self._part(BlockKind.LIST, "\n".join(self._items(index, end))), end + 1
        if token.type == "blockquote_open":
            end = self._close(index)
            return self._quote(index, end), end + 1
        if token.type == "table_open":
            end = self._close(index)
            return self._part(BlockKind.TABLE, self._table(index, end)), end + 1
        if token.type == "fence" and token.info.strip().lower() in _QUERIES:
            return None, index + 1  # it asks for text that stands elsewhere
        if token.type in ("fence", "code_block"):
            return self._part(BlockKind.CODE, token.content.rstrip("\n")), index + 1
        return None, index + 1

    def _part(self, kind: BlockKind, text: str) -> Part:
        return Part(kind, text, anchor=self._anchor)

    def _html(self, content: str) -> list[Part]:
        """The blocks of a piece of HTML, without what its styles hide."""
        if not _BLOCKS_OF_HTML.search(content):
            plain = _words(re.sub(r"<(script|style)\b.*?</\1\s*>|<[^<>]*>", " ", content, flags=re.S | re.I))
            return [self._part(BlockKind.PARAGRAPH, plain)] if plain else []
        from tasks.extraction import hidden_html, html_tree, small_page

        tree = html_tree.parse(f"<html><body>{content}</body></html>")
        if tree is None:
            return []
        hidden = hidden_html.remove(tree, "")
        self.hidden += [hidden.text] * bool(hidden.removed)
        return [replace(part, anchor=self._anchor) for part in small_page.blocks(tree)]

    def _shown(self, content: str) -> str:
        """Text of a paragraph without the pieces of it that tags inside it hide; code is text."""
        if "<" not in content or not _HIDING.search(content):
            return content

        text, spans = _held(content)
        pieces, place = [], 0
        while tag := _HIDING_TAG.search(text, place):
            close = re.compile(rf"</{tag[1]}\s*>", re.IGNORECASE).search(text, tag.end())
            end = close.end() if close else len(text)  # one that nobody closes hides all that follows
            self.hidden.append(_words(_TAG_HTML.sub(" ", text[tag.end() : end])))
            pieces.append(f"{text[place : tag.start()]} ")
            place = end
        text = "".join((*pieces, text[place:]))
        return re.sub("\x02(\\d+)\x03", lambda match: f"`` {spans[int(match[1])]} ``", text)

    def _paragraph(self, content: str) -> Part | None:
        if re.match(r"\[\^[^\]\s]+\]:", content):
            content = re.sub(r"^\[\^[^\]\s]+\]:[ \t]*", "", content, flags=re.MULTILINE)
            return self._part(BlockKind.FOOTNOTE, _words(_plain(content)))
        lines = [line.removesuffix("\\") for line in content.split("\n") if not re.match(r"\s*\^[\w-]+\s*$", line)]
        text = _words(_plain(self._shown(unwrapped(lines))))
        return self._part(BlockKind.PARAGRAPH, text) if text else None

    def _items(self, start: int, end: int) -> list[str]:
        lines: list[str] = []
        counters: list[int | None] = []
        fresh = False
        for token in self._tokens[start : end + 1]:
            if token.type in ("bullet_list_open", "ordered_list_open"):
                counters.append(int(token.attrs.get("start", 1)) if token.type.startswith("ordered") else None)
            elif token.type in ("bullet_list_close", "ordered_list_close"):
                counters.pop()
            elif token.type == "list_item_open":
                fresh = True
            elif token.type in ("inline", "fence", "code_block"):
                words = _words(
                    re.sub(r"^\[(.)\] ", "", _plain(self._shown(unwrapped(token.content.split("\n")))))
                    if token.type == "inline"
                    else token.content
                )
                if not words or not counters:
                    continue
                number = counters[-1]
                if fresh:
                    lines.append("    " * (len(counters) - 1) + (f"{number}. " if number is not None else "- ") + words)
                    if number is not None:
                        counters[-1] = number + 1
                    fresh = False
                elif lines:
                    lines[-1] += f" {words}"
        return lines

    def _quote(self, start: int, end: int) -> Part:
        lines: list[str] = []
        for token in self._tokens[start : end + 1]:
            if token.type == "inline":
                content = self._shown(token.content)
                callout = _CALLOUT.match(content)
                if callout:
                    content = content[callout.end() :]
                lines += [words for line in _plain(content).split("\n") if (words := _words(line))]
            elif token.type in ("fence", "code_block"):
                lines.append(token.content.rstrip("\n"))
        return self._part(BlockKind.QUOTE, "\n".join(lines))

    def _table(self, start: int, end: int) -> str:
        rows: list[list[str]] = []
        for token in self._tokens[start : end + 1]:
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "inline" and rows:
                rows[-1].append(_words(_plain(self._shown(token.content))))
        return table(rows)


def _words(text: str) -> str:
    return " ".join(text.split())
