"""A document as numbered passages, which a model cites by number, and the windows in which it reads them.

A passage is one part of the document or a piece of a long one, so that its anchor is exactly the place cited. All
passages are in some window: a long source is read in several calls, never cut.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tasks.compiling.page_words import page_words
from tasks.markdown import sentences
from tasks.records import BlockKind, Document
from tasks.search import tokens

LONGEST = 1_500
"""Characters of a passage; longer parts are cut between sentences."""

WINDOW = 12_000
"""Characters read in one call."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A citable piece of a source."""

    number: int  # from 1, in reading order
    text: str
    anchor: str
    headings: tuple[str, ...]
    kind: BlockKind = BlockKind.PARAGRAPH

    @property
    def name(self) -> str:
        """How prompts and replies call it."""
        return f"c{self.number}"


@dataclass(frozen=True)
class Passages:
    """All passages of one source."""

    source_id: str
    title: str
    target: str
    all: tuple[Passage, ...]

    @cached_property
    def by_name(self) -> dict[str, Passage]:
        return {passage.name: passage for passage in self.all}

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of the source, as `tokens.terms`, its title and headings among them."""
        headings = {heading for passage in self.all for heading in passage.headings}
        texts = (self.title, *headings, *(passage.text for passage in self.all))
        return frozenset(term for text in texts for term in tokens.terms(text))

    @cached_property
    def digest(self) -> str:
        """16 hex digits over what the source says and where, whatever it is called and when it was read."""
        said = hashlib.sha256(self.title.encode())
        for passage in self.all:
            said.update("\x1f".join((*passage.headings, passage.anchor, passage.text, "")).encode("utf-8", "replace"))
        return said.hexdigest()[:16]

    def find(self, name: str) -> Passage | None:
        """The passage that a reply names, with or without brackets, capitals and the letter."""
        bare = name.strip(" []()").lower().removeprefix("passage").strip()
        return self.by_name.get(f"c{bare}" if bare.isdigit() else bare)


def passages(document: Document) -> Passages:
    """The passages of a document in reading order; headings are the path of what stands below them."""
    found: list[Passage] = []
    path: list[tuple[int, str]] = []
    for part in document.parts:
        if part.kind is BlockKind.HEADING:
            level = part.level or 2
            path = [(above, text) for above, text in path if above < level] + [(level, sentences.plain(part.text))]
            continue
        headings = tuple(text for _, text in path if text != document.title)
        for piece in _pieces(part.text):
            found.append(Passage(len(found) + 1, piece, part.anchor, headings, part.kind))
    return Passages(document.source_id, document.title, document.target, tuple(found))


def _pieces(text: str) -> Iterator[str]:
    if len(text) <= LONGEST:
        if text.strip():
            yield text
        return
    piece = ""
    for sentence in _cut(text):
        if piece and len(piece) + len(sentence) + 1 > LONGEST:
            yield piece
            piece = ""
        piece = f"{piece} {sentence}" if piece else sentence
    if piece:
        yield piece


def _cut(text: str) -> Iterator[str]:
    """Lines or sentences; one without an end in sight is cut hard, so that nothing is lost."""
    lines = text.split("\n") if "\n" in text else sentences.split(text)
    for line in lines:
        yield from (line[at : at + LONGEST] for at in range(0, len(line), LONGEST) if line[at : at + LONGEST].strip())


def shortened(source: Passages, longest: int, language: str = "") -> tuple[Passages, str]:
    """The source up to `longest` characters, and what that leaves out, in words of its language; '' when whole."""
    length = 0
    for number, passage in enumerate(source.all):
        length += len(passage.text)
        if length > longest and number:
            kept = Passages(source.source_id, source.title, source.target, source.all[:number])
            whole = sum(len(one.text) for one in source.all)
            read = sum(len(one.text) for one in kept.all)
            return kept, page_words(language).only_read(read, whole)
    return source, ""


def windows(
    found: Sequence[Passage], size: int = WINDOW, starts: Iterable[int] = ()
) -> tuple[tuple[Passage, ...], ...]:
    """The passages in runs of at most `size` characters; a run ends before a new topic or heading where one is near.

    `starts` are numbers of passages with which a topic begins.
    """
    topics = frozenset(starts)
    runs: list[tuple[Passage, ...]] = []
    run: list[Passage] = []
    length = 0
    for passage in found:
        cost = len(passage.text) + 20
        if run and length + cost > size:
            cut = _best_cut(run, topics)
            runs.append(tuple(run[:cut]))
            run = run[cut:]
            length = sum(len(one.text) + 20 for one in run)
            if run and length + cost > size:
                runs.append(tuple(run))
                run, length = [], 0
        run.append(passage)
        length += cost
    if run:
        runs.append(tuple(run))
    return tuple(runs)


def _best_cut(run: Sequence[Passage], topics: frozenset[int]) -> int:
    """Where a full run is cut: before a topic or a heading in its last third, else at its end."""
    low = len(run) * 2 // 3
    for at in range(len(run) - 1, max(low, 1) - 1, -1):
        if run[at].number in topics:
            return at
    for at in range(len(run) - 1, max(low, 1) - 1, -1):
        if run[at].headings != run[at - 1].headings:
            return at
    return len(run)


def shown(run: Iterable[Passage]) -> str:
    """Passages as a prompt shows them: `[c12] text`, headings on lines of their own where they change."""
    lines: list[str] = []
    before: tuple[str, ...] = ()
    for passage in run:
        if passage.headings != before:
            lines.append(f"# {' > '.join(passage.headings)}" if passage.headings else "#")
            before = passage.headings
        lines.append(f"[{passage.name}] {passage.text}")
    return "\n".join(lines)
