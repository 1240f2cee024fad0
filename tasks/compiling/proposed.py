"""A proposal as the blocks that will really stand on a page.

Text of a compiler is brought into a form that keeps to itself: each piece is exactly one block wherever it is put,
opens nothing that it does not close, and can never be read as properties.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace

from tasks.markdown import properties
from tasks.markdown.blocks import Block, plain_hash, references, split
from tasks.markdown.links import anchor_link
from tasks.records import BlockKind, Citation, PageProposal, ProposedBlock

TITLE = "title"
"""Id of the block that holds a page's title."""

# how a line begins that is running text: with a letter, quotation marks before it, or a number that numbers nothing
_WORDS = r"(?:[\"“„‘'«(]{0,2}(?:\\\[)?[^\W\d_]|\d++(?![.)]))"
_SIMPLE = {
    BlockKind.PARAGRAPH: re.compile(rf"{_WORDS}(?:[^\n]*\S)?"),
    BlockKind.HEADING: re.compile(r"#{1,6} [^\s#][^\n#]*[^\s#]"),
    BlockKind.LIST: re.compile(rf"(?:- {_WORDS}[^\n]*\n)*- {_WORDS}[^\n]*\S"),
    BlockKind.QUOTE: re.compile(r"(?:> [^\n]*\n)*> [^\n]*\S"),
}
_MARKUP = re.compile(r"[\\`<$\[\]]|(?:^|(?<=\s))#(?=\w)")
_MARKUP_SIGN = re.compile(r"[\\`<$\[\]#]")
_PLAIN_START = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Piece:
    """One block to stand on the page."""

    id: str
    kind: BlockKind
    text: str
    level: int = 0
    citations: tuple[Citation, ...] = ()


def pieces(proposal: PageProposal) -> tuple[Piece, ...]:
    """The title and every block of a proposal, each exactly one block on disk, ids unique, two lists never in one."""
    found: list[Piece] = []
    taken: set[str] = set()
    if all(block.key != TITLE for block in proposal.blocks):
        found.append(Piece(TITLE, BlockKind.HEADING, title_line(proposal.title), 1))
        taken.add(TITLE)
    for block in proposal.blocks:
        for number, part in enumerate(_parts(block)):
            key = f"p-{block.key}" if block.key.startswith(("u-", "fn:")) else block.key
            name = key if number == 0 else f"{key}~{number}"
            while name in taken:
                name += "~"
            taken.add(name)
            piece = Piece(name, part.kind, part.text, part.level, block.citations)
            lists = bool(found) and found[-1].kind is piece.kind is BlockKind.LIST
            if lists and marker(found[-1].text) == marker(piece.text):
                piece = replace(piece, text=other_marker(piece.text))
            found.append(piece)
    return tuple(found)


def proposal_hash(proposal: PageProposal) -> str:
    """A hash of what a proposal says, links and labels aside: a discarded proposal is not made again."""
    said = (f"{block.key}\x1f{plain_hash(block.text, block.kind)}" for block in proposal.blocks)
    words = [proposal.title, *said]
    return hashlib.sha256("\x1e".join(words).encode()).hexdigest()


def title_line(title: str) -> str:
    """The first heading of a page; nothing in a title is taken for markup that hides or links."""
    text = " ".join(title.split()) or "Untitled"
    text = re.sub(r"([\\`<$]|\[\[|\[\^|%%|#+$|(?:^|(?<=\s))#(?=[^\W\d]))", lambda found: "\\" + found.group(), text)
    return f"# {text}"


def definition(citation: Citation, label: str) -> str:
    """The footnote definition of a citation, on one line."""
    words = " ".join(citation.quote.split())
    if _MARKUP_SIGN.search(words):
        words = _MARKUP.sub(r"\\\g<0>", words)
    words = words.replace("%%", "%\\%")
    return f'[^{label}]: {anchor_link(citation.target, citation.anchor)} "{words}"'


def label_of(citation: Citation, digits: int = 8) -> str:
    """The citation's label, or one made of its source, place and words."""
    if citation.label and digits == 8:
        return citation.label
    text = "\n".join((citation.source_id, citation.anchor, citation.quote))
    return "nw-" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]


def relabelled(piece: Piece, old: str, new: str) -> Piece:
    """The piece with its references to one footnote under another label."""
    text = re.sub(re.escape(f"[^{old}]") + r"(?!:)", f"[^{new}]", piece.text)
    return replace(piece, text=text)


def cited_labels(piece: Piece) -> tuple[str, ...]:
    """Labels that the piece refers to."""
    return references(piece.text)


def marker(text: str) -> str:
    """What makes a list go on: its bullet, or the sign behind its number."""
    match = re.match(r"[ \t]*(?:([-*+])|\d{1,9}([.)]))", text)
    return (match.group(1) or match.group(2)) if match else ""


def other_marker(text: str) -> str:
    """The same list with the other bullet, so that it stays a list of its own behind a list."""
    if marker(text) in (".", ")"):
        old, new = (r"\.", ")") if marker(text) == "." else (r"\)", ".")
        return re.sub(rf"^(\d{{1,9}}){old}(?=[ \t]|$)", rf"\g<1>{new}", text, flags=re.M)
    old, new = (re.escape(marker(text)), "-" if marker(text) == "*" else "*")
    return re.sub(rf"^{old}(?=[ \t]|$)", new, text, flags=re.M)


def _parts(block: ProposedBlock) -> list[Block]:
    text = re.sub(r"\r\n?", "\n", block.text) if "\r" in block.text else block.text
    text = text.replace("\0", "").strip("\n")
    if text.startswith("---"):
        # a compiler that answers with properties does not get a second block of them
        found = properties.read(text)
        text = found.body if found.values and not found.problem else text
    simple = _SIMPLE.get(block.kind)
    if simple and simple.fullmatch(text) and "%%" not in text and "$$" not in text:
        # the usual shapes need no parser: they are one block wherever they stand
        return [Block(block.kind, text, 0, len(text), len(text) - len(text.lstrip("#")))]
    return [part for raw in split(text) if (part := _closed(raw)) is not None]


def _closed(raw: Block) -> Block | None:
    """The block in a form that neither swallows what follows nor is swallowed by what stands before."""
    text = raw.text.rstrip()
    if raw.kind is BlockKind.RULE:
        return replace(raw, text="***")
    if raw.kind is BlockKind.CODE and not re.match(r" {0,3}(?:```|~~~)", text):
        rows = [row[4:] if row.startswith("    ") else row.lstrip(" ") for row in text.expandtabs(4).split("\n")]
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
        text = "\n".join([fence, *rows, fence])
    text = _dedented(text)
    if raw.kind is BlockKind.HEADING and not text.startswith("#"):
        above = " ".join(text.split("\n")[:-1])
        text = f"{'#' * raw.level} {above}"
    if _alone(text, raw.kind):
        return replace(raw, text=text)
    if raw.kind is BlockKind.CODE:
        opening = re.match(r"`{3,}|~{3,}", text)
        closed = f"{text}\n{opening.group() if opening else '```'}"
        if _alone(closed, raw.kind):
            return replace(raw, text=closed)
    text = " ".join(text.split())
    text = text if _PLAIN_START.match(text) else "\\" + text if text[:1] in "<$%#>|*+-_=`~[" else f"\u2060{text}"
    text = re.sub(r"<!--|%%|\$\$", lambda found: "\\" + found.group()[0] + "\\" + found.group()[1:], text)
    return replace(raw, kind=BlockKind.PARAGRAPH, text=text, level=0) if _alone(text, BlockKind.PARAGRAPH) else None


def _dedented(text: str) -> str:
    indent = len(text) - len(text.lstrip(" "))
    return re.sub(rf"^ {{1,{indent}}}", "", text, flags=re.M) if indent else text


def _alone(text: str, kind: BlockKind) -> bool:
    """Whether the text is one block behind any other, and opens nothing that something later could close."""
    found = split(f"{'a' if kind is BlockKind.LIST else '- a'}\n\n{text}\n\nb\n\n%%\n\n$$\n\n-->\n")
    return len(found) == 6 and found[1].text == text and found[1].kind is kind and not text[:1].isspace()
